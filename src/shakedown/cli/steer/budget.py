"""``shakedown budget``: at most so much of a budget."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@names_after_campaign("[CAMPAIGN] NAME VALUE|none")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Allow at most VALUE of budget NAME to be taken; 'none' restores the plan's own amount. No run is ended for it.

    NAME is a budget of the system: VALUE then holds for each of its targets. NAME@TARGET is one target. VALUE is a number with its
    unit (3, 40 GB/s), or a share of the plan's own amount (40%).
    """
    from shakedown.cli.steer.override import give

    campaign, (name, amount) = campaign_of(names, 2, "budget [CAMPAIGN] NAME VALUE|none --by WHO --because WHY")
    back = amount == "none"
    words = f"budget {name} has the plan's own amount again" if back else f"budget {name} holds at most {amount}"
    value = {"budget": name, "amount": None if back else amount}
    return give(site, campaign, "budget", [value], who, because, as_json, words)
