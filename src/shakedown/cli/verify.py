"""``shakedown verify``: is the record whole, and what it was sealed as?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, site_option
from shakedown.metrics.words import plural
from shakedown.model.errors import MET, NOT_MET, UsageError

if TYPE_CHECKING:
    from shakedown.audit.register_check import RegisterVerified
    from shakedown.audit.verifying import Verified


@click.command()
@campaign_argument
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
@click.option(
    "--page",
    default=None,
    metavar="FILE",
    help="A report (HTML or PDF), or a page to sign, that must be what the record gives.",
)
@click.option(
    "--register", "whole_site", is_flag=True, help="Check the register of the site against all its campaigns."
)
@site_option
@json_option
def command(
    campaign: str | None,
    digest: str | None,
    allowed: str | None,
    page: str | None,
    whole_site: bool,
    site: str | None,
    as_json: bool,
) -> int:
    """Check a campaign, also a copy of one, anywhere: its log, seals, frozen plans and evidence, and the site's files.

    Figures and checks of kept outputs are evaluated again and held against the verdicts. With --register no campaign is named:
    the chain of the site's register is checked, and each campaign against what it says.

    Exit status 0: nothing changed. 1: something did, and it is shown: the first damage, files of the site that changed since the
    start, a signature that does not hold, a page that the record does not give, a newer seal than the one that --digest or
    --page names, or what is not as the register says.
    """
    from shakedown.audit.verifying import verify_campaign
    from shakedown.cli.record import tell_other_name
    from shakedown.events.campaigns import find_campaign
    from shakedown.model.layout import Layout

    root = Path(site) if site else None
    if whole_site:
        _refuse_more({"CAMPAIGN": campaign, "--digest": digest, "--allowed-signers": allowed, "--page": page})
        return _register(root, as_json)
    signers, held = (Path(name) if name is not None else None for name in (allowed, page))
    layout = Layout(find_campaign(root, campaign))
    tell_other_name(layout)
    found = verify_campaign(layout, root, digest, signers, held)
    emit(found, as_json, lambda: fitted(_render(found)))
    return MET if found.as_it_was else NOT_MET


def _refuse_more(given: dict[str, str | None]) -> None:
    more = [name for name, value in given.items() if value is not None]
    if more:
        raise UsageError(
            f"--register looks at all campaigns of a site, so {' and '.join(more)} cannot be given with it",
            hint="check one campaign in a command of its own: shakedown verify CAMPAIGN",
        )


def _register(site: Path | None, as_json: bool) -> int:
    from shakedown.audit.register_check import verify_register
    from shakedown.plans import find_site

    found = verify_register(find_site(site))
    emit(found, as_json, lambda: fitted(printable(_render_register(found))))
    return MET if found.whole else NOT_MET


def _render_register(found: RegisterVerified) -> str:
    long = plural(found.entries, "entry", "entries")
    whole = f"the register {found.register} is whole: {long} in a chain" if found.register else ""
    lines = ["the register and the campaigns do NOT agree:"] if found.troubles else [whole] if whole else []
    lines += [f"  {line}" for line in found.troubles]
    lines += [found.summary] if found.register else []
    return "\n".join(lines + [f"note: {line}" for line in found.remarks])


def _render(found: Verified) -> str:
    if found.damage is not None:
        lines = [f"{found.campaign} is DAMAGED: {found.damage}"]
    elif found.changed:
        lines = [f"{found.campaign}: the record is whole; but files of the site are not as they were frozen:"]
        lines += [f"  {line}" for line in found.changed]
    elif found.as_it_was:
        lines = [f"{found.campaign} is whole"]
    else:
        lines = [f"{found.campaign}: the record is whole; but:"]
    lines += [found.newer] if found.newer else []
    lines += found.register
    if found.page is not None and found.page.differs:
        lines.append(f"the page {found.page.file} is NOT what the record gives:")
        lines += [f"  {line}" for line in found.page.differs]
    if not found.signatures_hold:
        lines.append("the signatures are NOT as they should be")
    words = {seal.digest: f"\n  {seal.words}" for seal in found.sealed}
    for digest in found.seals:
        lines.append(f"sealed as {' '.join(digest[at : at + 8] for at in range(0, 64, 8))}{words.get(digest, '')}")
    lines += [f"signature under {one.digest[:8]}: {one}" for one in found.signatures]
    lines += found.counter_seals
    lines += [f"checked: {line}" for line in found.checked] + [f"not checked: {line}" for line in found.unchecked]
    return printable("\n".join(lines))
