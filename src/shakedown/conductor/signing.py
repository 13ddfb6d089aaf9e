"""Signing a seal and telling who signed: which seal, which file of allowed signers, and what the page says."""

from __future__ import annotations

from pathlib import Path

from shakedown.events.signatures import GOOD, Signature
from shakedown.model.errors import FileProblems
from shakedown.model.layout import Layout


def allowed_signers(layout: Layout, named: Path | None, site: Path | None) -> Path | None:
    """Purpose: the file of allowed signers: the one that is named, or the one that the site's own file names, or None."""
    from shakedown.plans.site import read_allowed_signers

    if named is not None:
        return named
    place = site or layout.root.resolve().parent.parent
    try:
        return read_allowed_signers(place) if (place / "site.yaml").is_file() else None
    except FileProblems:
        return None  # 'shakedown check' tells what is wrong with the site


def words_of(signatures: list[Signature], sealed: list[str], named: bool) -> tuple[list[str], list[str]]:
    """Purpose: what was found about signatures, as sentences: what was checked, and what was not.

    ``named``: a person named the file of allowed signers.
    """
    if not sealed:
        return [], []
    if not signatures:
        return [], ["signatures: nobody signed a seal with a key; the digest may be signed on paper"]
    good = sum(one.status == GOOD for one in signatures)
    checked = [f"signatures: {good} of {len(signatures)} by keys that the file of allowed signers knows"]
    if good or named or not all(one.holds for one in signatures):
        return checked, []
    return [], ["signatures: whose keys they are; name a file of allowed signers with --allowed-signers"]


def not_met(signatures: list[Signature], named: bool) -> bool:
    """Purpose: whether signatures keep the record from being as it should: a bad one always; where a person named the
    allowed signers, each one that is not good, and none at all."""
    if any(not one.holds and one.status != "not checked" for one in signatures):
        return True
    return named and (not signatures or any(one.status != GOOD for one in signatures))
