"""``shakedown cap``: at most so many runs of a test at once."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@names_after_campaign("[CAMPAIGN] TEST N|none")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Allow at most N runs of TEST at once, in all components; 'none' lifts the cap. No run is ended for it."""
    from shakedown.cli.steer.override import give

    campaign, (test, count) = campaign_of(names, 2, "cap [CAMPAIGN] TEST N|none --by WHO --because WHY")
    lifted = count == "none"
    words = f"the cap on {test} is lifted" if lifted else f"{test} is capped at {count} at once"
    value = {"test": test, "copies": None if lifted else count}
    return give(site, campaign, "cap", [value], who, because, as_json, words)
