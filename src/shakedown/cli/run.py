"""``shakedown run``: freeze a plan, or tests that are named here, make a campaign of it, drive it, print the scorecard."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import json_option, say, site_option
from shakedown.cli.unavailable import unavailable_option


@click.command()
@click.argument("plan", required=False)
@click.option("--test", "tests", multiple=True, metavar="NAME[,NAME...]", help="Run these tests, without a plan.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Run all tests with this tag, beside those of --test."
)
@click.option(
    "--last-failed",
    "failed",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[CAMPAIGN]",
    help="Run only cases whose last result did not pass in this campaign, or in the newest one.",
)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only cases of these tests that have this value; a name may be given several times, with each value that is meant.",
)
@click.option("--partition", "partitions", multiple=True, metavar="P", help="Only cases on this partition.")
@click.option(
    "--system",
    default=None,
    metavar="S",
    help="On this system; 'here' is this machine, which is meant without it where the site describes no cluster.",
)
@click.option("--repeats", type=int, default=None, metavar="N", help="Results of each case; without it 1.")
@site_option
@click.option("--id", "identifier", default=None, help="The campaign's name; without it the plan's and a number.")
@unavailable_option
@click.option("--dry-run", is_flag=True, help="Show what would be submitted; nothing is made.")
@click.option("--scripts", is_flag=True, help="With --dry-run: the scripts too.")
@click.option("--detach", is_flag=True, help="Drive it in the background; ends once it is driven.")
@click.option("--report", is_flag=True, help="Write the report at the end, without its PDF.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing while it runs.")
@json_option
def command(
    plan: str | None,
    tests: tuple[str, ...],
    tags: tuple[str, ...],
    failed: str | None,
    parameters: tuple[str, ...],
    partitions: tuple[str, ...],
    system: str | None,
    repeats: int | None,
    site: str | None,
    identifier: str | None,
    unavailable: str | None,
    dry_run: bool,
    scripts: bool,
    detach: bool,
    report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run a plan, or tests without one: build, submit, watch, judge.

    PLAN is the name of a plan of the site, the path of its file, or catalogue:survey: the plan of the package that looks at a whole
    machine in about an hour. Ctrl-C once: nothing new is submitted; twice: leave.
    What runs on this machine ends with the command; the jobs of a cluster go on, and 'shakedown resume' picks them up.

    Without PLAN, --test, --tag and --last-failed say what is run. That makes a campaign like any other, called adhoc-TEST-1; each
    result must pass.

    A plan with cases that cannot run here is refused, unless it or --unavailable says that it may start without them.

    Exit status: that of the scorecard (0 met, 1 not met, 4 undecided or not finished); with --detach 0 once it is driven; with
    --dry-run 0, or 2 where it would be refused.
    """
    from shakedown.cli.ad_hoc import Options, document_of
    from shakedown.cli.detached import drive_detached
    from shakedown.cli.driving import drive_and_show, how_to_name, new_campaign
    from shakedown.cli.dry_run import refuse_together, show_dry_run

    refuse_together(dry_run, scripts, {"--detach": detach, "--report": report})
    options = Options(tests, tags, failed, parameters, partitions, system, repeats)
    root, document = document_of(plan, options, Path(site) if site else None)
    if dry_run:
        return show_dry_run(root, document, identifier, unavailable, scripts, as_json)
    layout = new_campaign(root, document, identifier, unavailable, quiet)
    if not quiet:
        say(f"campaign {layout.root.name} in {layout.root}")
    if detach:
        kept = [*(["--report"] if report else []), *(["--quiet"] if quiet else [])]
        return drive_detached(layout, how_to_name(layout), kept, as_json)
    return drive_and_show(layout, quiet=quiet, as_json=as_json, report=report)
