"""``shakedown drain``: a component, or the whole campaign, comes to its end; what runs may end."""

from __future__ import annotations

import click

from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@click.argument("campaign", required=False)
@click.option("--component", default=None, metavar="NAME", help="Only this part of the plan; without it all of it.")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(
    campaign: str | None, component: str | None, who: str, because: str, site: str | None, as_json: bool
) -> int:
    """Order nothing new any more, let what runs end, and be over then.

    Of a component that runs for a time the time is up; results that another still wants are judged cancelled. An amendment
    takes it up again.
    """
    from shakedown.cli.steer.override import give

    of = f"component {component}" if component else "the campaign"
    words = f"{of} is drained: what runs may end, nothing new is ordered"
    return give(site, campaign, "drain", [{"component": component}], who, because, as_json, words)
