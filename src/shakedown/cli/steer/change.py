"""``shakedown change``: declare that the machine or its surroundings were changed."""

from __future__ import annotations

import click

from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@click.argument("campaign", required=False)
@said_by("Who declares it.", "What was changed and why; it is kept in the record.")
@site_option
@json_option
def command(campaign: str | None, who: str, because: str, site: str | None, as_json: bool) -> int:
    """Declare a change of the machine or its surroundings: it opens a new epoch, earlier results keep theirs."""
    from shakedown.cli.steer.requests import find_started, record_wishes

    layout, state = find_started(site, campaign, "change")
    data = record_wishes(layout, "change", [{"by": who}], because)
    opened = f"epoch {state.epoch + 1} begins; " if data["recorded"] else ""
    emit(data, as_json, lambda: printable(opened + data["said"]))
    return 0
