"""``shakedown again``: run a component again, as in a new epoch, or what is missing of its planned time."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@names_after_campaign("[CAMPAIGN] COMPONENT")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Run COMPONENT again: every result is wanted once more. Earlier verdicts stay, and count as before.

    A component that runs for a time runs for the time that it lacks; where it lacks none, its clock starts again at zero. The
    command undoes a drain and a cancellation of COMPONENT, and of no other component.
    """
    from shakedown.cli.steer.override import give

    campaign, (name,) = campaign_of(names, 1, "again [CAMPAIGN] COMPONENT --by WHO --because WHY")
    return give(site, campaign, "again", [{"component": name}], who, because, as_json, f"component {name} is run again")
