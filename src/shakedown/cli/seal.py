"""``shakedown seal``: close the record under a digest that both sides sign."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.audit.sealing import Sealed
    from shakedown.events.signatures import Signature
    from shakedown.model.layout import Layout


@click.command()
@campaign_argument
@said_by("Who seals it.", "", optional=True)
@click.option("--open", "unfinished", is_flag=True, help="Seal it although results are open; the page to sign says so.")
@click.option("--sign", "key", default=None, metavar="KEY", help="Sign the seal with your own SSH key.")
@click.option(
    "--digest", default=None, metavar="HEX", help="Make no seal; sign the one with this digest, or its first 8 digits."
)
@site_option
@json_option
def command(
    campaign: str | None,
    who: str,
    because: str,
    unfinished: bool,
    key: str | None,
    digest: str | None,
    site: str | None,
    as_json: bool,
) -> int:
    """Seal a campaign (the newest one, if none is named) and write the page that both sides sign.

    What is recorded later, such as a ruling, is under no seal until the campaign is sealed again; earlier seals stay. A record that
    'verify' calls damaged is not sealed. With --sign, ssh-keygen signs the seal too. Several people can sign the same seal, each
    with their own key.
    """
    from shakedown.audit.sealing import counter_seals_of, find_seal, newer_seal, seal_campaign, signature_page
    from shakedown.cli.record import find_whole_campaign
    from shakedown.events.signatures import check_key, signatures_of
    from shakedown.model.layout import Layout
    from shakedown.report.page.signature import signature_words

    if digest is not None and key is None:
        raise UsageError("--digest names a seal to sign, and there is no key", hint="add --sign KEY")
    if key is not None:
        check_key(Path(key))
    layout = Layout(find_whole_campaign(Path(site) if site else None, campaign))
    sealed = seal_campaign(layout, who, because, unfinished) if digest is None else find_seal(layout, digest)
    _sign_or_tell(layout, sealed.digest, key, who)
    signatures = signatures_of(layout, [sealed.digest])
    newer = newer_seal(layout, sealed) if digest is not None else ""
    page = signature_page(layout, sealed, older=bool(newer))
    signed = "".join(f"signed: {signature_words(one)}\n" for one in signatures)
    signed += "".join(f"{line}\n" for line in counter_seals_of(layout, signatures))
    signed += f"{newer}; sign that one where you stand by what came after\n" if newer else ""
    words = f"{_sealed_words(sealed, digest is not None)}\n{signed}to be signed: {page}"
    emit(
        {
            "digest": sealed.digest,
            "event": sealed.event,
            "page": page,
            "signatures": signatures,
            "newer": newer,
            **sealed.signed,
        },
        as_json,
        lambda: printable(words),
    )
    return 0


def _sign_or_tell(layout: Layout, digest: str, key: str | None, who: str) -> None:
    """Sign a seal where there is a key; else say so where whoever sealed speaks for no party."""
    if key is not None:
        _sign(layout, digest, Path(key), who)
    else:
        _tell_of_nobody(layout, digest, who)


def _tell_of_nobody(layout: Layout, digest: str, who: str) -> None:
    """Say that whoever sealed speaks for no party that counted then."""
    from shakedown.cli.steer.requests import tell_of_no_party
    from shakedown.conductor.record.settling import parties_of_seals

    tell_of_no_party(parties_of_seals(layout, [digest])[digest], who)


def _sign(layout: Layout, digest: str, key: Path, who: str) -> None:
    """Sign a seal. Raise UsageError where the key may not sign in this name, or signed in another one before."""
    from shakedown.conductor.record.settling import parties_of_seals
    from shakedown.conductor.record.signing import why_not_signed
    from shakedown.events.signatures import sign

    refused = partial(why_not_signed, parties_of_seals(layout, [digest])[digest], who)
    _refuse_other_name(sign(layout, digest, key, who, refused), who)


def _refuse_other_name(signature: Signature, who: str) -> None:
    """A key signs a seal once. Raise UsageError where it did so under another name: nothing is signed for this one."""
    if signature.by != " ".join(who.split())[:100]:
        before = f"this key signed the seal {signature.digest[:16]} already, as {printable(signature.by) or 'nobody'}"
        raise UsageError(
            f"{before}; nothing was signed for {who}",
            hint="each person signs with a key of their own: --sign KEY",
        )


def _sealed_words(sealed: Sealed, named: bool) -> str:
    """What was sealed, its digest, the outcome, and outputs that were gone. ``named``: somebody named the seal; none was made."""
    from shakedown.report.page.signature import kept_words

    groups = " ".join(sealed.digest[at : at + 8] for at in range(0, len(sealed.digest), 8))
    what = "nothing was recorded since it was sealed as" if sealed.again else f"sealed up to event {sealed.event}:"
    what = f"the seal of event {sealed.event}:" if named else what
    kept = kept_words(sealed.signed.get("outputs"))
    return f"{what}\n  {groups}\noutcome: {sealed.signed['outcome']}" + (f"\n{kept}" if "GONE" in kept else "")
