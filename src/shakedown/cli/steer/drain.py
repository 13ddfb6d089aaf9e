"""``shakedown drain``: a component, or the whole campaign, comes to its end; what runs may end."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@campaign_argument
@click.option("--component", default=None, metavar="NAME", help="Only this part of the plan; without it all of it.")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(
    campaign: str | None, component: str | None, who: str, because: str, site: str | None, as_json: bool
) -> int:
    """Bring a component, or the campaign, to its end: order nothing new, and let what runs end.

    A component that runs for a time counts as at the end of its time. Of other components, wanted results that have not begun are
    judged cancelled. 'shakedown amend' or 'shakedown again' takes the work up again.
    """
    from shakedown.cli.steer.override import give

    of = f"component {component}" if component else "the campaign"
    words = f"{of} is drained: what runs may end, nothing new is ordered"
    return give(site, campaign, "drain", [{"component": component}], who, because, as_json, words)
