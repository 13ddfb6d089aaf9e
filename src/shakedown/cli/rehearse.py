"""``shakedown rehearse PLAN``: the same engine on a simulated machine in virtual time; what comes out, and what limits it."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import json_option, site_option


def _show_faults(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from shakedown.rehearsal.faults import fault_lines

        click.echo("\n".join(fault_lines()))
        context.exit(0)


@click.command()
@click.argument("plan")
@click.option("--system", "system", default=None, metavar="S", help="Rehearse it on this system instead of the plan's.")
@click.option(
    "--scenario", default=None, metavar="NAME", help="How the machine behaves: a file rehearsals/NAME.yaml of the site."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    metavar="N",
    help="Another draw of the same machine; without it the plan's seed.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="WORD[=VALUE]",
    help="Add a fault, such as node_fail=5% or crash=3d; may be repeated. --faults lists them.",
)
@click.option(
    "--faults",
    "list_faults",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_faults,
    help="List the faults there are, and end.",
)
@click.option("--open-gates", is_flag=True, help="Open gates that stay closed, to see what comes after them.")
@click.option(
    "--try/--no-try",
    "try_all",
    default=None,
    help="Loosen each limit in turn, rehearse again, and measure the gain; what helps on several seeds. Without either: where that "
    "is quick.",
)
@site_option
@click.option("--id", "identifier", default=None, help="The rehearsal's name; without it the plan's and a number.")
@click.option("--report", is_flag=True, help="Write the report at the end, without its PDF.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing while it runs.")
@json_option
def command(
    plan: str,
    system: str | None,
    scenario: str | None,
    seed: int | None,
    faults: tuple[str, ...],
    open_gates: bool,
    try_all: bool | None,
    site: str | None,
    identifier: str | None,
    report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Rehearse a plan on a simulated machine: days in seconds, with the engine of the real campaign.

    PLAN is the name of a plan of the site, or the path of its file. Nothing real is run: no job, no build, no program. The
    rehearsal is kept in rehearsed/ of the site; status, why, log, runs, nodes, figures and report take its name like any other.
    The same plan, scenario and seed give the same log, byte for byte.

    --try measures what limits the plan: it rehearses the plan again with one limit loosened at a time, as many at once as there
    are cores. What may be advised is rehearsed on three to eight further seeds, beside the plan as it is on the same seeds: a
    change is advised where its mean gain is larger than its spread. Without --try this is done only where it is quick; else a
    first guess is shown.

    Exit status: that of the scorecard (0 met, 1 not met, 4 undecided or not finished).
    """
    from shakedown.cli.rehearsing import Show, Wish, rehearse_and_show

    wish = Wish(plan, Path(site) if site else None, system, scenario, seed, faults, open_gates, identifier)
    show = Show(quiet, as_json, report, try_all)
    return rehearse_and_show(wish, show)
