"""``shakedown run PLAN``: freeze the plan, make a campaign of it, drive it, print the scorecard."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import json_option, say, site_option
from shakedown.cli.unavailable import unavailable_option


@click.command()
@click.argument("plan")
@site_option
@click.option("--id", "identifier", default=None, help="The campaign's name; without it the plan's and a number.")
@unavailable_option
@click.option("--detach", is_flag=True, help="Drive it in the background; ends once it is driven.")
@click.option("--report", is_flag=True, help="Write the report at the end, without its PDF.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing while it runs.")
@json_option
def command(
    plan: str,
    site: str | None,
    identifier: str | None,
    unavailable: str | None,
    detach: bool,
    report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run a plan: build, submit, watch, judge.

    PLAN is the name of a plan of the site, or the path of its file. Ctrl-C once: nothing new is submitted; twice: leave.
    What runs on this machine ends with the command; the jobs of a cluster go on, and 'shakedown resume' picks them up.

    A plan with cases that cannot run here is refused, unless it or --unavailable says that it may start without them.

    Exit status: that of the scorecard (0 met, 1 not met, 4 undecided or not finished); with --detach 0 once it is driven.
    """
    from shakedown.cli.detached import drive_detached
    from shakedown.cli.driving import drive_and_show, how_to_name, new_campaign

    layout = new_campaign(plan, Path(site) if site else None, identifier, unavailable, quiet)
    if not quiet:
        say(f"campaign {layout.root.name} in {layout.root}")
    if detach:
        options = [*(["--report"] if report else []), *(["--quiet"] if quiet else [])]
        return drive_detached(layout, how_to_name(layout), options, as_json)
    return drive_and_show(layout, quiet=quiet, as_json=as_json, report=report)
