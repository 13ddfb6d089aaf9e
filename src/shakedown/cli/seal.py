"""``shakedown seal``: close the record under a digest that both sides sign."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.wishes import said_by


@click.command()
@click.argument("campaign", required=False)
@said_by("Who seals it.", "", optional=True)
@click.option("--open", "unfinished", is_flag=True, help="Seal it although results are open; the page to sign says so.")
@site_option
@json_option
def command(campaign: str | None, who: str, because: str, unfinished: bool, site: str | None, as_json: bool) -> int:
    """Seal a campaign (the newest one, if none is named) and write the page that both sides sign.

    What is recorded after that, such as a ruling, is under no seal until it is sealed again; earlier seals stay.
    What 'verify' would call damaged is not sealed.
    """
    from shakedown.cli.record import find_whole_campaign
    from shakedown.conductor.sealing import seal_campaign, signature_page
    from shakedown.model.layout import Layout

    layout = Layout(find_whole_campaign(Path(site) if site else None, campaign))
    sealed = seal_campaign(layout, who, because, unfinished)
    page = signature_page(layout, sealed)
    groups = " ".join(sealed.digest[at : at + 8] for at in range(0, len(sealed.digest), 8))
    what = "nothing was recorded since it was sealed as" if sealed.again else f"sealed up to event {sealed.event}:"
    words = f"{what}\n  {groups}\noutcome: {sealed.signed['outcome']}\nto be signed: {page}"
    emit(
        {"digest": sealed.digest, "event": sealed.event, "page": page, **sealed.signed},
        as_json,
        lambda: printable(words),
    )
    return 0
