"""Seals a campaign: who seals, what is signed, the event, and the page for the signatures of both sides.

``seal_campaign`` is the table of contents.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from shakedown.audit.verifying import verify_campaign
from shakedown.conductor.commands.offline import carry_out
from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.registering import head_for_a_seal, note_end, note_seal
from shakedown.conductor.record.settling import parties_of_seals, plan_in_effect
from shakedown.conductor.record.signing import counter_seals, signed_for
from shakedown.conductor.workers.settling import settle_campaign
from shakedown.events.campaigns import refuse_rehearsal
from shakedown.events.identity import user_name
from shakedown.events.lease import Lease, holder
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.recorded_name import campaign_name
from shakedown.events.seal_check import check_seals
from shakedown.events.seals import NO_DIGEST, make_seal, publish, read_seal, seals_of
from shakedown.events.segments import spans
from shakedown.events.set_back import refuse_other
from shakedown.events.signatures import Signature, signatures_of
from shakedown.metrics.judging.rows_beside import rows_beside
from shakedown.metrics.judging.scorecard import ActScore, Scorecard
from shakedown.metrics.judging.settled_words import NO_EFFECT, ONE_SIDED, WITHDRAWN
from shakedown.metrics.rows.rows import SealRow
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.errors import LeaseHeld, RecordError, UsageError
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.report.terminal import standing_words
from shakedown.schedulers.output_sums import is_named, missing_output

MOST_PARTIES = 4
MOST_MISSING = 20  # missing outputs that are named; verify counts all of them
MOST_ACTS = 20  # acts in a seal; the report has all of them


class Sealed(Struct, frozen=True):
    """A seal in force. ``signed``: the text above the signatures on the page to sign; ``again``: the seal existed already."""

    digest: str
    event: int
    signed: dict[str, Any]
    again: bool = False


def seal_campaign(layout: Layout, by: str, because: str = "", unfinished: bool = False) -> Sealed:
    """Purpose: seal the record as it stands now. Commands that wait in the inbox are recorded first.

    Errors: LeaseHeld while somebody drives the campaign; UsageError where results are open and ``unfinished`` is false, or
    where the campaign has not started; RecordError where ``verify`` finds damage, or the record cannot be written.
    """
    refuse_rehearsal(layout, "sealed")
    held = holder(layout)
    if held is not None and not held.gone:
        raise LeaseHeld(f"{campaign_name(layout)} is {held}", hint="seal it when that is over")
    refuse_other(layout)
    carry_out(layout)
    record = fold_runs(read_events(layout.log))
    if not record.events:
        raise UsageError(f"{campaign_name(layout)} has not started; there is nothing to seal")
    for row in record.seals:
        publish(layout, row.digest)  # finishes a sealing that was interrupted just after its event
    damage = verify_campaign(layout).damage
    if damage is not None:
        raise RecordError(
            f"the record of {campaign_name(layout)} is damaged, so it is not sealed: {damage}",
            hint="put that file back from a backup; 'shakedown verify' says more",
        )
    if record.seals and record.seals[-1].seq == record.seq:
        note_seal(layout, record.seals[-1])
        return _again(layout, record.seals[-1])
    document = Documents(layout)(record.document)
    scorecard = settle_campaign(layout, document, record)
    if not (scorecard.finished or unfinished):
        raise UsageError(
            f"{campaign_name(layout)} is not over: {scorecard.summary}",
            hint="let it end, or seal it as it is with --open; the page to sign then says so",
        )
    note_end(layout, scorecard.outcome)
    sealed = _seal(layout, plan_in_effect(layout, record), record, scorecard, by, because)
    words = "it is sealed, and not in the register of the site yet: "
    row = SealRow(sealed.digest, by[:100], record.seq, scorecard.outcome, seq=sealed.event)
    try:
        note_seal(layout, row)
    except RecordError as error:
        raise RecordError(
            words + error.message, hint=f"{error.hint}; then seal it again: nothing new is made"
        ) from error
    return sealed


def find_seal(layout: Layout, beginning: str) -> Sealed:
    """Purpose: find a seal by the beginning of its digest.

    Errors: UsageError where no seal or several seals begin so; RecordError where the record was changed after it was sealed.
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
        raise UsageError(f"{campaign_name(layout)} has no seal {beginning[:80]}", hint=f"its seals are: {known}")
    seal = read_seal(seals_of(layout) / f"{digests[0]}.json")
    return Sealed(digests[0], seal.through + 1, seal.signed, again=True)


def _again(layout: Layout, row: SealRow) -> Sealed:
    seal = read_seal(seals_of(layout) / f"{row.digest}.json")
    return Sealed(row.digest, row.seq, seal.signed, again=True)


def _seal(layout: Layout, document: Document, record: Record, scorecard: Scorecard, by: str, because: str) -> Sealed:
    """Hold the lease, begin a segment so that all earlier ones are closed, write the seal, then append its event."""
    with Lease.acquire(layout) as lease:
        log, tail = open_log(layout.log, lease)
        try:
            if tail.seq != record.seq:
                raise UsageError(f"{campaign_name(layout)} went on just now", hint="seal it again")
            now = max(tail.time, time.time())
            register = head_for_a_seal(layout)
            signed = signed_words(layout, document, scorecard, by, now) | {"outputs": kept_outputs(layout, record)}
            signed |= {"register": register} if register else {}
            value = {"digest": NO_DIGEST, "through": record.seq, "outcome": scorecard.outcome, "by": by[:100]}
            value |= {"who": user_name(os.getuid())} | ({"register": register} if register else {})
            event = Event("sealed", record.seq + 1, now, value=value, reason=because or scorecard.summary)
            _, digest = make_seal(layout, spans(layout.log), event, signed)
            value["digest"] = digest
            log.append([event])
            log.commit()
            publish(layout, digest)
        finally:
            log.close()
    return Sealed(digest, event.seq, signed)


def signed_words(layout: Layout, document: Document, scorecard: Scorecard, by: str, now: float) -> dict[str, Any]:
    """Purpose: what both sides sign, as text and plain values; stored in the seal, so that the page can be made again from the
    seal.
    """
    titles = [contract.title or contract.name for contract in document.contracts]
    parties = dict(pair for contract in document.contracts for pair in contract.parties)
    return {
        "campaign": campaign_name(layout),
        "plan": document.plan,
        "system": document.system.name,
        "contracts": titles,
        "parties": [list(pair) for pair in list(parties.items())[:MOST_PARTIES]],
        "outcome": scorecard.outcome,
        "summary": scorecard.summary,
        "finished": scorecard.finished,
        "restrictions": list(scorecard.restrictions),
        "beside": rows_beside(scorecard),
        "acts": [_act_words(act) for act in _first_those_that_matter(scorecard)],
        "acts_in_all": sum(act.kind != "agree" for act in scorecard.acts),
        "without_acts": scorecard.without_acts,
        "epochs": scorecard.epoch,
        "sealed_by": by[:100],
        "sealed_at": round(now, 3),
    } | ({"ad_hoc": True} if document.ad_hoc else {})


def kept_outputs(layout: Layout, record: Record) -> dict[str, Any]:
    """Purpose: for the page to sign: ``of``: how many runs have a named output, ``kept``: how many of these outputs are still
    there, ``missing``: the first runs whose output is gone.
    """
    named = [row for row in record.current() if is_named(row.output)]
    gone = [row.run for row in named if missing_output(layout.root, row.output)]
    return {"of": len(named), "kept": len(named) - len(gone), "missing": gone[:MOST_MISSING]}


def _first_those_that_matter(scorecard: Scorecard) -> list[ActScore]:
    """The most important acts, at most MOST_ACTS: first acts without which the outcome would differ, then acts that change
    anything, one-sided acts last.
    """

    def place(act: ActScore) -> tuple[bool, bool, bool, int]:
        return not act.differs, not act.matters, act.standing != ONE_SIDED, act.number

    return sorted((act for act in scorecard.acts if act.kind != "agree"), key=place)[:MOST_ACTS]


def _act_words(act: ActScore) -> dict[str, Any]:
    """An act as the page to sign shows it, as plain data."""
    standing = standing_words(act, short=True)
    words = f"event {act.number}: {act.by or 'somebody'} {act.what}"
    said: dict[str, Any] = {"what": words, "because": act.because, "said": round(act.said, 3), "standing": standing}
    said |= {"takes": act.takes_words, "without": "" if act.standing in (NO_EFFECT, WITHDRAWN) else act.without}
    return said | ({"as_of": act.as_of} if act.backdated else {})


def signature_page(layout: Layout, sealed: Sealed, older: bool = False) -> str:
    """Purpose: write the page to sign into the campaign. Returns its path. ``older``: the seal is not the newest; the page gets a
    file name of its own, so that the page of the newest seal stays.
    """
    from shakedown.events.segment_file import unwritable
    from shakedown.report.page.signature import render_signature_page

    path = layout.root / (f"signature-{sealed.digest[:16]}.html" if older else "signature.html")
    signatures = signatures_of(layout, [sealed.digest])
    try:
        sides = signed_for(parties_of_seals(layout, [sealed.digest])[sealed.digest], signatures)
        path.write_bytes(render_signature_page(sealed.digest, sealed.event, sealed.signed, signatures, sides))
    except OSError as error:
        raise unwritable(path, error) from error
    return str(path)


def newer_seal(layout: Layout, sealed: Sealed) -> str:
    """Purpose: a warning for a person who signs a seal that is not the newest: the newest seal and later acts; else ""."""
    from shakedown.audit.seals_seen import newer_than, seals_seen

    record = fold_runs(read_events(layout.log))
    return newer_than(record, seals_seen(record, check_seals(layout).digests, {}), sealed.event)


def counter_seals_of(layout: Layout, signatures: Sequence[Signature]) -> list[str]:
    """Purpose: sentences on which parties signed which seal."""
    return counter_seals(parties_of_seals(layout, {one.digest for one in signatures}), signatures)
