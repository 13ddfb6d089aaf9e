"""``shakedown verify``: is the record whole, and what it was sealed as?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.model.errors import MET, NOT_MET

if TYPE_CHECKING:
    from shakedown.audit.verifying import Verified


@click.command()
@click.argument("campaign", required=False)
@click.option(
    "--digest", default=None, metavar="HEX", help="The digest on the signed page, or its first 8 digits or more."
)
@click.option(
    "--allowed-signers",
    "allowed",
    default=None,
    metavar="FILE",
    help="Keys that are known, as ssh-keygen reads them; each seal's signature must then be by one of them.",
)
@site_option
@json_option
def command(campaign: str | None, digest: str | None, allowed: str | None, site: str | None, as_json: bool) -> int:
    """Check a campaign, also a copy of one, anywhere: its log, seals, frozen plans and evidence, and the site's files.

    Figures and checks of kept outputs are evaluated again and held against the verdicts.

    Exit status 0: nothing changed. 1: something did, and it is shown: the first damage, files of the site that changed since the
    start, or a signature that does not hold.
    """
    from shakedown.audit.verifying import verify_campaign
    from shakedown.events.campaigns import find_campaign
    from shakedown.model.layout import Layout

    root = Path(site) if site else None
    found = verify_campaign(
        Layout(find_campaign(root, campaign)), root, digest, Path(allowed) if allowed is not None else None
    )
    emit(found, as_json, lambda: _render(found))
    return MET if found.whole and not found.changed and found.signatures_hold else NOT_MET


def _render(found: Verified) -> str:
    if found.damage is not None:
        lines = [f"{found.campaign} is DAMAGED: {found.damage}"]
    elif found.changed:
        lines = [f"{found.campaign}: the record is whole; but files of the site are not as at the start:"]
        lines += [f"  {line}" for line in found.changed]
    else:
        lines = [f"{found.campaign} is whole"]
    lines += [f"sealed as {' '.join(digest[at : at + 8] for at in range(0, 64, 8))}" for digest in found.seals]
    lines += [f"signature under {one.digest[:8]}: {one}" for one in found.signatures]
    lines += found.counter_seals
    if not found.signatures_hold:
        lines.append("the signatures are NOT as they should be")
    lines += [f"checked: {line}" for line in found.checked] + [f"not checked: {line}" for line in found.unchecked]
    return printable("\n".join(lines))
