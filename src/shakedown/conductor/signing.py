"""Signing a seal and telling who signed: which seal, which file of allowed signers, and what the page says."""

from __future__ import annotations

from pathlib import Path

from shakedown.conductor.sealing import Sealed
from shakedown.events.seal_check import check_seals
from shakedown.events.seals import read_seal, seals_of
from shakedown.events.signatures import GOOD, Signature
from shakedown.model.errors import FileProblems, RecordError, UsageError
from shakedown.model.layout import Layout


def find_seal(layout: Layout, beginning: str) -> Sealed:
    """Purpose: a seal that stands, by the beginning of its digest. Nobody signs under a record that is not as it was sealed.

    Errors: UsageError where none or several begin so; RecordError where the record is damaged.
    """
    found = check_seals(layout)
    if found.damage is not None:
        raise RecordError(
            f"it is not as it was sealed: {found.damage}", hint="shakedown verify says more; restore a backup"
        )
    wanted = "".join(beginning.split()).lower()
    digests = [digest for digest in found.digests if len(wanted) >= 8 and digest.startswith(wanted)]
    if len(digests) != 1:
        known = ", ".join(digest[:16] for digest in found.digests) or "none: 'shakedown seal --by WHO' makes one"
        raise UsageError(f"{layout.root.name} has no seal {beginning[:80]}", hint=f"its seals are: {known}")
    seal = read_seal(seals_of(layout) / f"{digests[0]}.json")
    return Sealed(digests[0], seal.through + 1, seal.signed, again=True)


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
