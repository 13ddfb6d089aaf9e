"""``shakedown exclude``: nodes are given no more work."""

from __future__ import annotations

import click

from shakedown.cli.naming import campaign_of, names_after_campaign
from shakedown.cli.output import json_option, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@names_after_campaign("[CAMPAIGN] NODES")
@said_by("Who decided it.", "")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, site: str | None, as_json: bool) -> int:
    """Give NODES, such as n[1-4,9], no more work of this campaign. Runs there go on. Utilisation still counts these nodes."""
    from shakedown.cli.steer.override import expanded, give, in_parts

    campaign, (text,) = campaign_of(names, 1, "exclude [CAMPAIGN] NODES --by WHO --because WHY")
    nodes = expanded(text)
    words = f"{text} {'is' if len(nodes) == 1 else 'are'} given no more work"
    return give(site, campaign, "exclude", in_parts(nodes), who, because, as_json, words)
