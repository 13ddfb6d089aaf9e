"""``shakedown resume``: go on with a campaign whose conductor left, was killed, or lost its machine."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import json_option, say, site_option


@click.command()
@click.argument("campaign", required=False)
@site_option
@click.option(
    "--if-needed", is_flag=True, help="Do nothing, with exit status 0, if it is over or driven already (for cron)."
)
@click.option("--take-over", is_flag=True, help="Take the lease although its holder on another host may be alive.")
@click.option("--detach", is_flag=True, help="Drive it in the background.")
@click.option("--report", is_flag=True, help="Write the report at the end.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing while it runs.")
@json_option
def command(
    campaign: str | None,
    site: str | None,
    if_needed: bool,
    take_over: bool,
    detach: bool,
    report: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Go on with a campaign (the newest one, if none is named)."""
    from shakedown.cli.driving import drive_and_show, drive_detached, needs_driver
    from shakedown.events.campaigns import find_campaign
    from shakedown.model.layout import Layout

    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    if if_needed and not needs_driver(layout):
        say(f"{layout.root.name} needs no driver: it is over, or driven already")
        return 0
    if detach:
        return drive_detached(layout, as_json)
    return drive_and_show(layout, quiet=quiet, as_json=as_json, report=report, take_over=take_over)
