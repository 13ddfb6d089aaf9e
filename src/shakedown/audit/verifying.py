"""Verifies a campaign or a copy of it, anywhere: the log, the seals, the frozen plans, the evidence of people; and the site's
files.

``verify_campaign`` is the table of contents. Damage of the record is kept apart from changes of the site's files: where a
contract, a test or a golden file was edited after the start, the record still holds the agreed content, and the difference is
reported.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from shakedown.audit.held_outputs import hold_outputs
from shakedown.audit.links import look_for_links
from shakedown.audit.page_check import PageCheck, check_page
from shakedown.audit.payloads import changed_payloads
from shakedown.audit.register_check import own_entry
from shakedown.audit.seals_seen import (
    SealSeen,
    newer_than,
    sealed_right_after,
    seals_seen,
    under_no_seal,
    without_effect_after,
)
from shakedown.conductor.driver.sense import nonsense_of
from shakedown.conductor.driver.snapshots import Snapshots
from shakedown.conductor.record.baselines import look_at
from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.environments import read_named
from shakedown.conductor.record.settling import consent_of, parties_of_seals
from shakedown.conductor.record.signing import allowed_signers, counter_seals, not_met, words_of
from shakedown.events.campaigns import read_document
from shakedown.events.chain import bytes_lost, damage_of
from shakedown.events.entered import entry_trouble, vouched_by
from shakedown.events.lease import changed_leases
from shakedown.events.plain_files import read_plain
from shakedown.events.reader import read_events
from shakedown.events.recorded_name import recorded_name
from shakedown.events.seal_check import SEAL_GONE, Damage, SealCheck, check_seals
from shakedown.events.seals import seals_of
from shakedown.events.segments import spans
from shakedown.events.signatures import Signature, need_program, signatures_of
from shakedown.events.verification import Verification, verify
from shakedown.machine.fingerprint_facts import digest_of_content
from shakedown.metrics.judging.closed import closed_at
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.metrics.words import plural
from shakedown.model.baselines import AWAY, SAME
from shakedown.model.errors import RecordError, ShakedownError, UsageError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Source
from shakedown.plans.files import CATALOGUE

_DIGEST = re.compile("[0-9a-fA-F]{8,64}")


class Verified(Struct):
    """The result of a verification. ``damage``: the first place where the record is damaged; ``changed``: files of the site, and
    payloads, that differ from what was frozen; ``checked`` and ``unchecked``: sentences; ``counter_seals``: which parties
    signed which seal; ``sealed``: each seal with its outcome; ``newer``: a sentence where a seal exists that is newer than the
    digest or page given; ``register``: why the site's register does not match the campaign's entry; ``page``: how a page
    compares. ``campaign``: the name in the record; ``directory``: the name of the directory now.
    """

    campaign: str
    whole: bool = True
    damage: Damage | None = None
    seals: list[str] = []
    changed: list[str] = []
    checked: list[str] = []
    unchecked: list[str] = []
    signatures: list[Signature] = []
    signatures_hold: bool = True
    counter_seals: list[str] = []
    sealed: list[SealSeen] = []
    newer: str = ""
    register: list[str] = []
    page: PageCheck | None = None
    directory: str = ""

    @property
    def as_it_was(self) -> bool:
        """Whether there is nothing that a person must look at."""
        troubles = (self.damage, self.changed, self.newer, self.register)
        return not any(troubles) and self.signatures_hold and (self.page is None or not self.page.differs)


def verify_campaign(
    layout: Layout,
    site: Path | None = None,
    digest: str | None = None,
    allowed: Path | None = None,
    page: Path | None = None,
) -> Verified:
    """Purpose: check everything that can be checked here. ``site``: the site directory; None: derived from the campaign's place.

    ``digest``: the digest on a signed page, or its beginning. ``allowed``: a file of allowed signers, in place of the site's
    own. ``page``: a report or a page to sign, to compare with the record. Errors: RecordError where there is no log; UsageError
    where ``digest`` has no valid form, ``allowed`` cannot be read or ``page`` is no page of this campaign.
    """
    if digest is not None and not _DIGEST.fullmatch("".join(digest.split())):
        shown = f"'{digest[:80]}' is no digest, nor its beginning"
        raise UsageError(
            shown, hint="give the digits 0 to 9 and a to f on the signed page, the first 8 of the 64 or more"
        )
    found = Verified(recorded_name(layout) or layout.root.resolve().name, directory=layout.root.resolve().name)
    seals = check_seals(layout)
    found.seals = seals.digests
    chain = verify(layout.log)
    found.damage = seals.damage or _of_chain(layout, chain)
    if found.damage is None:
        record = fold_runs(read_events(layout.log))
        found.damage = _beside_the_log(layout, record, seals) or nonsense_of(layout, kinds=False)
        _say_log(found, chain, seals, record)
        _say_lost(found, layout)
        _say_made(found, layout)
        _say_not_believed(found, layout)
        if found.damage is None:
            _look_for_links(found, layout, record, seals)
        if found.damage is None and not record.rehearsal:
            _hold_outputs(found, layout, seals)
        if found.damage is None:
            _compare_sources(found, layout, record, site)
            found.changed += changed_payloads(layout)
        if found.damage is None:
            _say_seals(found, layout, record, digest)
        if found.damage is None and page is not None:
            _hold_page(found, layout, page, site)
    _check_signatures(found, layout, allowed, site)
    found.whole = found.damage is None
    return found


def _say_not_believed(found: Verified, layout: Layout) -> None:
    """Report leases that differ from what their drivers wrote, and snapshots that do not follow from the log."""
    for name in changed_leases(layout):
        found.unchecked.append(f"lease/{name} is not what its driver wrote: who drove then, and where, is not known")
    for name in Snapshots(layout, Documents(layout)).do_not_follow() if found.damage is None else ():
        found.unchecked.append(
            f"log/snapshots/{name} is not what the log leads to: no reader believes it; resume makes it again"
        )


def _say_seals(found: Verified, layout: Layout, record: Record, digest: str | None) -> None:
    """Report each seal with its outcome, the seal on the signed page, and what the register of the site says of this campaign."""
    closed = closed_at(consent_of(layout, record)) if record.document else 0
    found.sealed = seals_seen(record, found.seals, parties_of_seals(layout, found.seals), closed)
    found.unchecked += under_no_seal(record, found.sealed)
    if digest:
        found.damage = _signed(digest, found)
        mine = [seal for seal in found.sealed if seal.digest.startswith("".join(digest.split()).lower())]
        found.newer = newer_than(record, found.sealed, mine[-1].events) if mine else ""
        found.unchecked += without_effect_after(record, found.sealed, mine[-1].events) if mine else []
    if not record.rehearsal:
        checked, unchecked, found.register = own_entry(layout)
        found.checked += checked
        found.unchecked += unchecked


def _hold_page(found: Verified, layout: Layout, page: Path, site: Path | None) -> None:
    """Compare a page that somebody holds with the record."""
    found.page = held = check_page(layout, page, site)
    found.checked += held.checked
    found.unchecked += held.unchecked
    record = fold_runs(read_events(layout.log))
    found.newer = found.newer or newer_than(record, found.sealed, held.through)
    later = without_effect_after(record, found.sealed, held.through)
    found.unchecked += [line for line in later if line not in found.unchecked]
    seal = sealed_right_after(record, found.sealed, held.through)
    if not held.differs and seal is not None:
        name = "newest seal" if seal.newest else "seal to which every party agreed"
        found.checked.append(
            f"{page.name}: made before the {name} (event {seal.events}), and nothing else was recorded between"
        )


def _check_signatures(found: Verified, layout: Layout, allowed: Path | None, site: Path | None) -> None:
    """Report who signed the valid seals."""
    if allowed is not None:
        need_program()
    signers = allowed_signers(layout, allowed, site)
    found.signatures = signatures_of(layout, found.seals, signers)
    checked, unchecked = words_of(found.signatures, found.seals, allowed is not None)
    found.checked += checked
    found.unchecked += unchecked
    found.signatures_hold = not not_met(found.signatures, allowed is not None)
    found.counter_seals = _counter_seals(found, layout, signers is not None)


def _counter_seals(found: Verified, layout: Layout, checked: bool) -> list[str]:
    """Sentences on the parties that signed each seal, as far as the plan can be read."""
    if found.damage is not None or not found.signatures:
        return []
    return counter_seals(parties_of_seals(layout, found.seals), found.signatures, checked)


def _of_chain(layout: Layout, chain: Verification) -> Damage | None:
    if chain.whole:
        return None
    name = chain.path or "log"
    with suppress(ShakedownError, OSError):
        exact = damage_of(layout)  # a broken seal tells only the segment, not the line
        if exact is not None and exact.line and exact.path < name:
            return exact
    why = chain.problem.removeprefix(f"{layout.root / name}: ").removeprefix(f"line {chain.line}: ")
    return Damage(name, why, chain.segment, chain.line, event=chain.event)


def _say_log(found: Verified, chain: Verification, seals: SealCheck, record: Record) -> None:
    found.checked.append(
        f"log: {plural(chain.events, 'event')} in {plural(chain.segments, 'segment')}, a chain without a gap"
    )
    if not seals.digests:
        found.unchecked.append(
            "there is no seal: who changes a line and makes all sums and the chain again is not found"
        )
        found.unchecked.append(
            "kept outputs: only a seal holds their digests; without one they are held against their sums and the verdicts"
        )
    else:
        found.checked.append(
            f"seals: {len(seals.digests)}; the newest covers events 1 to {seals.through}, {plural(seals.files, 'file')}"
        )
        later = chain.events - seals.through
        if later > 0:
            found.unchecked.append(f"{plural(later, 'event')} came after the newest seal, under none: seal again")
        found.unchecked.append(
            "builds/, jobs/, payloads/ and work/ are not sealed: programs, scripts and what runs left in their directories"
        )
    if chain.torn_bytes:
        found.unchecked.append(
            f"the last {plural(chain.torn_bytes, 'byte')} of the log: no whole line, and no part of it"
        )
    if chain.late_bytes:
        found.unchecked.append(
            f"behind the end of a segment: {plural(chain.late_bytes, 'byte')} that are no part of the log"
        )
    found.unchecked += [
        f"of a later version: {plural(count, 'event')} '{name}'" for name, count in chain.unknown_events.items()
    ]


def _say_lost(found: Verified, layout: Layout) -> None:
    lost = bytes_lost(layout) if found.damage is None else 0
    if lost:
        why = "they were not durable: a power cut takes them, and so could a person"
        found.unchecked.append(f"gone from behind the log's end: {plural(lost, 'byte')}; {why}")


def _look_for_links(found: Verified, layout: Layout, record: Record, seals: SealCheck) -> None:
    """Report symbolic links: a link may lead to the same bytes today, and to other bytes tomorrow."""
    newest = seals.newest
    named = [item.path for item in (*newest.files, *newest.segments, newest.lines)] if newest is not None else []
    named += [str(span.path.relative_to(layout.root)) for span in spans(layout.log)]
    named += [str((seals_of(layout) / f"{digest}.json").relative_to(layout.root)) for digest in seals.digests]
    links = look_for_links(
        layout, read_events(layout.log), [*named, *(path for path, _ in _named_files(layout, record))]
    )
    found.damage = links.damage
    found.unchecked += links.remarks


def _hold_outputs(found: Verified, layout: Layout, seals: SealCheck) -> None:
    """Evaluate the figures and checks of every kept output again, and report the result."""
    files = seals.newest.files if seals.newest is not None else ()
    sealed = {item.path.removeprefix("packs/"): item.bytes for item in files if item.path.startswith("packs/")}
    held = hold_outputs(layout, read_events(layout.log), sealed)
    found.damage = held.damage
    found.checked.append(
        f"kept outputs: {plural(held.same, 'verdict')} of what they say, figures and checks, came out again"
    )
    for why, count in held.unread.items():
        whose = "its kept output" if count == 1 else "their kept outputs"
        found.unchecked.append(f"{plural(count, 'verdict')} against {whose}: {why}")
    found.unchecked += held.remarks


def _say_made(found: Verified, layout: Layout) -> None:
    """Report pages in the campaign's directory that a person may take for the record: whoever can write there can change them."""
    pages = ("report.html", "report.pdf", "report", "signature.html")
    there = [name for name in pages if os.path.lexists(layout.root / name)]
    there += sorted(path.name for path in layout.root.glob("signature-*.html"))
    if there:
        found.unchecked.append(
            f"{', '.join(there)}: made from the record and not sealed; 'shakedown report' and 'seal' make them again"
        )


def _signed(digest: str, found: Verified) -> Damage | None:
    wanted = "".join(digest.split()).lower()
    if any(seal.startswith(wanted) for seal in found.seals):
        found.checked.append(f"the digest {wanted[:16]}... is that of a seal of this campaign")
        return None
    return Damage("seals", f"none of them has the digest {wanted[:80]}: this is not the record that was signed")


# ---- files that the log names --------------------------------------------------------------------------------------------------


def _beside_the_log(layout: Layout, record: Record, seals: SealCheck) -> Damage | None:
    """The first file that the log names by digest and that is missing or changed; or a seal of the log that is missing."""
    for row in record.seals:
        if row.digest not in seals.digests:
            return Damage(
                str((seals_of(layout) / f"{row.digest}.json").relative_to(layout.root)), SEAL_GONE, event=row.seq
            )
    said = vouched_by(layout)
    trouble = entry_trouble(layout, said) if said is not None else ""
    if trouble:
        return Damage("entry.json", trouble)
    for path, why in _named_files(layout, record):
        if why:
            return Damage(path, why, event=_first_naming(layout, Path(path).stem))
    return None


def _first_naming(layout: Layout, digest: str) -> int:
    """The seq of the first event that names a file by its digest; 0 where none does."""
    return next((event.seq for event in read_events(layout.log) if digest in str(event.value)), 0)


def _named_files(layout: Layout, record: Record) -> Iterator[tuple[str, str]]:
    """(path, what is wrong with the file or "") for every file that the log names by its digest."""
    started = [str(epoch.seq) for epoch in record.epochs[:1]]
    for digest in _documents(layout) if started else ():
        try:
            thaw(read_document(layout, digest))
            yield f"documents/{digest}.json", ""
        except RecordError as error:
            yield f"documents/{digest}.json", error.message
    for digest in _environments(layout):
        path = f"environments/{digest}.json"
        try:
            read_named(layout, digest)
            yield path, ""
        except RecordError as error:
            yield path, error.message.partition(f"{path}, ")[2] or error.message.partition(f"{path} ")[2]
    brought = [*(row.evidence for row in record.attested), *(row.evidence for row in record.drilled)]
    named = dict.fromkeys((digest, name) for evidence in brought for name, digest in evidence)
    for digest, name in named:  # of every attestation: a later one replaces an earlier one, but not its evidence
        yield f"evidence/{digest}", _digest_trouble(layout.evidence / digest, digest, name)
    for found in record.fingerprints:
        yield found.facts_file, _facts_trouble(layout.root / found.facts_file, found.digest)


def _documents(layout: Layout) -> list[str]:
    """Digests of the plans that were in force, in the order of the log."""
    events = (event for event in read_events(layout.log) if event.event in ("campaign_start", "amended"))
    return list(dict.fromkeys(str(event.value.get("document", "")) for event in events))


def _environments(layout: Layout) -> list[str]:
    """Digests of the environments of the drivers, and of the inputs that they found, in the order of the log."""
    kinds = ("driver_start", "driver_stop", "finding")
    values = (event.value for event in read_events(layout.log) if event.event in kinds)
    found = dict.fromkeys(str(value.get(key, "")) for value in values for key in ("environment", "inputs"))
    return [name for name in found if name]


def _digest_trouble(path: Path, digest: str, name: str) -> str:
    try:
        same = hashlib.sha256(read_plain(path)).hexdigest() == digest
    except OSError as error:
        return f"the evidence file {name} cannot be read: {error.strerror}"
    return "" if same else f"the evidence file {name} was changed: its bytes no longer match its name"


def _facts_trouble(path: Path, digest: str) -> str:
    try:
        return "" if digest_of_content(read_plain(path)) == digest else "these are not the facts that were found"
    except OSError as error:
        return f"the facts of a fingerprint cannot be read: {error.strerror or error}"
    except ValueError as error:
        return f"the facts of a fingerprint cannot be read: {error}"


# ---- the site's files ----------------------------------------------------------------------------------------------------------


def _compare_sources(found: Verified, layout: Layout, record: Record, site: Path | None) -> None:
    """Compare contracts, tests, golden files and the plan as they are now with the digests in the plan in force."""
    document = thaw(read_document(layout, record.document))
    found.checked.append("frozen plans, environments, evidence files and fingerprints: as the log names them")
    place = site or _site_of(layout)
    if place is None:
        found.unchecked.append("the site's files: this campaign lies in no site directory (name one with --site)")
        return
    own = [source for source in document.sources if not source.path.startswith(CATALOGUE)]
    since = "since the start" if len(record.documents) < 2 else "since the plan was amended last"
    found.changed = [line for line in (_source_trouble(place, source, since) for source in own) if line]
    same = len(own) - len(found.changed)
    then = "at the start" if len(record.documents) < 2 else "when the plan was amended last"
    found.checked.append(f"contracts, tests, golden files, the plan and the system: {same} of {len(own)} are as {then}")
    _compare_baselines(found, document, place)
    catalogue = _catalogue_differs(source for source in document.sources if source.path.startswith(CATALOGUE))
    if catalogue:
        what = "1 test of the catalogue is" if len(catalogue) == 1 else f"{len(catalogue)} tests of the catalogue are"
        found.unchecked.append(f"{what} not as in this version: {catalogue[0]}")


def _compare_baselines(found: Verified, document: Document, site: Path) -> None:
    """Compare the campaigns that the plan in force uses as baselines with what was frozen of them."""
    for baseline in (one for one in document.baselines if one.campaign):
        state, said = look_at(site, baseline)
        if state == SAME:
            found.checked.append(said)
        elif state == AWAY:
            found.unchecked.append(said)
        else:
            found.changed.append(said)


def _site_of(layout: Layout) -> Path | None:
    place = layout.root.resolve().parent.parent
    return place if (place / "site.yaml").is_file() else None


def _source_trouble(site: Path, source: Source, since: str = "since the start") -> str:
    path = site / source.path
    try:
        same = hashlib.sha256(read_plain(path)).hexdigest() == source.sha256
    except OSError as error:
        return f"{source.path} cannot be read any more {since}: {error.strerror}"
    return "" if same else f"{source.path} was changed {since}; what was agreed is in the frozen plan"


def _catalogue_differs(sources: Iterable[Source]) -> list[str]:
    from shakedown.plans.finding import CATALOGUE_TESTS

    place = Path(CATALOGUE_TESTS)
    return [s.path for s in sources if _source_trouble(place, Source(s.path.removeprefix(CATALOGUE), s.sha256))]
