"""``shakedown again``: run a component again, as in a new epoch, or what is missing of its planned time."""

from __future__ import annotations

import click

from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="[CAMPAIGN] COMPONENT")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Want every result of COMPONENT once more. What was judged before stays, and counts as it did.

    Of a component that runs for a time what is missing of it is run; where nothing is missing its clock starts anew. It undoes a
    drain and a cancellation of COMPONENT, of no other.
    """
    from shakedown.cli.steer.override import campaign_of, give

    campaign, (name,) = campaign_of(names, 1, "again [CAMPAIGN] COMPONENT --by WHO --because WHY")
    return give(site, campaign, "again", [{"component": name}], who, because, as_json, f"component {name} is run again")
