"""Signing a seal and saying who signed: which seal, which file of allowed signers, and the words for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shakedown.events.signatures import GOOD, UNKNOWN, Signature, fingerprint_of
from shakedown.model.errors import FileProblems
from shakedown.model.layout import Layout
from shakedown.model.nouns import Party
from shakedown.model.speakers import names_another, party_of, party_of_key
from shakedown.model.ssh_keys import key_of_text


def allowed_signers(layout: Layout, named: Path | None, site: Path | None) -> Path | None:
    """Purpose: the file of allowed signers: the one named on the command line, else the one in the site's file; None without
    either.
    """
    from shakedown.plans.site import read_allowed_signers

    if named is not None:
        return named
    place = site or layout.root.resolve().parent.parent
    try:
        return read_allowed_signers(place) if (place / "site.yaml").is_file() else None
    except FileProblems:
        return None  # 'shakedown check' tells what is wrong with the site


def words_of(signatures: list[Signature], sealed: list[str], named: bool) -> tuple[list[str], list[str]]:
    """Purpose: what was found about signatures, as sentences: what was checked, and what was not. ``named``: whether a person named
    the file of allowed signers.
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
    """Purpose: whether the signatures are a reason to reject the record: a bad one always is; if a person named the allowed
    signers, so is one that is not good, and having none at all.
    """
    if any(not one.holds and one.status != "not checked" for one in signatures):
        return True
    return named and (not signatures or any(one.status != GOOD for one in signatures))


def sides_of(parties: Sequence[Party]) -> Mapping[str, str]:
    """Purpose: fingerprint of a key -> the party that the plan gives it to. A key of two parties counts for none."""
    found = {key: party_of_key(parties, key) for party in parties for key in party.keys}
    keys = ((key_of_text(written), party) for written, party in found.items() if party)
    return {fingerprint_of(key.blob): party for key, party in keys if key is not None}


def signed_for(parties: Sequence[Party], signatures: Sequence[Signature]) -> Mapping[str, str]:
    """Purpose: file of a signature -> the party whose key it is by the plan; with a remark where the name beside it is of a person
    of another party. The key decides for whom it is.
    """
    sides = sides_of(parties)
    return {one.file: _as_named(parties, one, sides[one.fingerprint]) for one in signatures if one.fingerprint in sides}


def why_not_signed(parties: Sequence[Party], by: str, key: str, fingerprint: str) -> str:
    """Purpose: why nobody may sign a seal under this name with this key: the person belongs to a party to which the plan gives
    keys, and this is not one of them; else "". A person of no party may sign beside the parties.
    """
    mine = party_of(parties, by)
    if mine is None or not mine.keys or party_of_key(parties, key) == mine.name:
        return ""
    return f"{by} speaks for {mine.name}, and the key {fingerprint} is none that the plan gives to {mine.name}: nothing was signed"


def _as_named(parties: Sequence[Party], one: Signature, side: str) -> str:
    why = names_another(parties, one.by, side)
    return f"{side} ({why})" if why else side


def counter_seals(
    parties_of: Mapping[str, Sequence[Party]], signatures: Sequence[Signature], checked: bool = False
) -> list[str]:
    """Purpose: for each signed seal, which parties signed with a key of theirs and which did not. ``parties_of``: digest of a seal
    -> the parties when it was made. ``checked``: whether signatures were also checked against a file of allowed signers.
    """
    lines = []
    for digest in dict.fromkeys(one.digest for one in signatures):
        parties = parties_of.get(digest, ())
        if not any(party.keys for party in parties):
            continue
        sides = sides_of(parties)
        by = {
            sides[one.fingerprint]: one
            for one in signatures
            if one.holds and one.digest == digest and one.fingerprint in sides
        }
        said = [_party_in_words(party, parties, by.get(party.name), checked) for party in parties]
        whole = "counter-sealed by every party" if len(by) == len(parties) else "not by every party"
        lines.append(f"seal {digest[:8]}: signed {', '.join(said)}: {whole}")
    return lines


def _party_in_words(party: Party, parties: Sequence[Party], one: Signature | None, checked: bool) -> str:
    if one is None:
        return f"not for {party.name}"
    return f"for {_as_named(parties, one, party.name)} by {one.by}{_as_known(one) if checked else ''}"


def _as_known(one: Signature) -> str:
    """A remark where the file of allowed signers does not know a key of the plan: neither of them vouches for the other."""
    return (
        " (with the key of the plan, which the file of allowed signers does not know)" if one.status == UNKNOWN else ""
    )
