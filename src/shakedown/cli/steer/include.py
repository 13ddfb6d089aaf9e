"""``shakedown include``: excluded nodes are given work again."""

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
    """Give excluded NODES, such as n[1-4,9], work again. Their failures are counted anew from here."""
    from shakedown.cli.steer.override import expanded, give, in_parts

    campaign, (text,) = campaign_of(names, 1, "include [CAMPAIGN] NODES --by WHO --because WHY")
    nodes = expanded(text)
    words = f"{text} {'is' if len(nodes) == 1 else 'are'} given work again"
    return give(site, campaign, "include", in_parts(nodes), who, because, as_json, words)
