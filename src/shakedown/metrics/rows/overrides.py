"""What people say and what is found of the machine, as rows of the record: one event, one row.

``HANDLERS`` at the end says which event changes what. The log is not trusted to be well-formed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from shakedown.metrics.rows.facts import said_at, whole
from shakedown.metrics.rows.rows import (
    ActRow,
    AgreementRow,
    AttestationRow,
    DrillRow,
    EpochRow,
    FingerprintRow,
    OutcomeRow,
    RejudgedRow,
    RulingRow,
    SealRow,
    WaiverRow,
)
from shakedown.model.event_kinds import EVENT_KINDS
from shakedown.model.events import ACTS, Event, machine_changed

if TYPE_CHECKING:
    from shakedown.metrics.rows.record_rows import RecordRows

STANDING_ORDERS = tuple(kind.name for kind in EVENT_KINDS if kind.section == "Standing orders")
_ALSO_BY_THE_PLAN = frozenset({"paused", "continued", "excluded", "included", "capped", "budget_set", "drain_request"})
_NOT_STARTED = frozenset({"ordered", "queued", "waiting again", "absent", "no_answer", "unknown"})


def ruling_row(event: Event) -> RulingRow:
    """Purpose: whose failure it was said to be; the word ``none`` takes a ruling back."""
    party = _text(event, "as")
    return RulingRow(event.run, "" if party == "none" else party, _by(event), event.reason, event.seq, event.time)


def epoch_row(event: Event, number: int, difference: tuple[str, ...] = ()) -> EpochRow:
    """Purpose: what opened an epoch. ``difference`` stands in where the event itself tells none."""
    told = _lines(event, "difference") or difference
    return EpochRow(number, event.event, _by(event), event.reason, told, event.seq, event.time)


def waiver_row(event: Event) -> WaiverRow:
    """Purpose: what a person accepted as it is."""
    what, component, name = (_text(event, key) for key in ("what", "component", "name"))
    restriction = _text(event, "restriction")
    said = event.value.get("row")
    row = said if isinstance(said, dict) else {}
    digest, asked = _text(event, "digest"), _text(event, "asked")
    return WaiverRow(
        what, component, name, restriction, _by(event), event.reason, event.seq, event.time, row, digest, asked
    )


def attestation_row(event: Event) -> AttestationRow:
    """Purpose: what a person attested of a procedure."""
    return AttestationRow(
        component=_text(event, "component"),
        procedure=_text(event, "procedure"),
        met=event.value.get("met") is True,
        by=_by(event),
        evidence=_files(event),
        reason=event.reason,
        seq=event.seq,
        time=event.time,
        wording=_text(event, "wording"),
    )


def drill_row(event: Event) -> DrillRow:
    """Purpose: what a person said of a drill, and as of when."""
    said = event.value.get("from")
    at = float(said) if isinstance(said, int | float) and not isinstance(said, bool) else event.time
    return DrillRow(
        component=_text(event, "component"),
        drill=_text(event, "drill"),
        act=_text(event, "act"),
        at=at,
        by=_by(event),
        evidence=_files(event),
        reason=event.reason,
        seq=event.seq,
        time=said_at(event.value, event.time),
        wording=_text(event, "wording"),
    )


def _files(event: Event) -> tuple[tuple[str, str], ...]:
    """The evidence that came with a word, as name and digest."""
    files = event.value.get("evidence")
    evidence = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return tuple((str(file.get("name", "")), str(file.get("sha256", ""))) for file in evidence)


def agreement_row(event: Event) -> AgreementRow:
    """Purpose: what a person agreed to. Nothing is checked here: whether it counts is for ``metrics.consent``."""
    said = event.value.get("acts")
    pairs = [pair for pair in said if isinstance(pair, list) and len(pair) == 2] if isinstance(said, list) else []
    acts = tuple((whole(number), str(digest)) for number, digest in pairs)
    words = (_by(event), event.reason, acts, _text(event, "signed_at"), _text(event, "signature"))
    return AgreementRow(event.seq, event.time, *words)


def digest_of_event(identity: str, event: Event) -> str:
    """Purpose: the sha256 of an event with all that it says, in the campaign that began with the event ``identity``."""
    said = [identity, event.event, event.seq, event.time, event.case, event.run, event.value, event.reason]
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def note_act(record: RecordRows, event: Event) -> None:
    """Keep what a person did, as an act; what the plan, or the engine by the plan, does is none."""
    by = _by(event)
    if event.event in _ALSO_BY_THE_PLAN and not (by or event.value.get("request")):
        return
    record.acts.append(
        ActRow(
            event.event,
            ACTS[event.event],
            event.seq,
            event.time,
            by,
            event.reason,
            event.value,
            digest_of_event(record.identity, event),
            event.run,
            event.case,
            _text(event, "together"),
        )
    )


def fingerprint_row(event: Event, before: FingerprintRow | None, epoch: int) -> FingerprintRow:
    """Purpose: the machine as found. ``before``: the last time; the first one is no change. ``epoch``: that it was found in."""
    digest, groups = _text(event, "digest"), event.value.get("groups")
    pairs = [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    return FingerprintRow(
        digest=digest,
        groups=tuple((str(group.get("nodes", "")), str(group.get("digest", ""))) for group in pairs),
        facts_file=_text(event, "facts_file"),
        between_nodes=_lines(event, "between_nodes"),
        since_last=_lines(event, "since_last"),
        unanswered=_lines(event, "unanswered"),
        changed=before is not None and machine_changed(event.value, before.digest),
        epoch=epoch,
        reason=event.reason,
        seq=event.seq,
        time=event.time,
    )


def seal_row(event: Event) -> SealRow:
    """Purpose: a seal, as the record names it."""
    through = event.value.get("through")
    number = through if isinstance(through, int) else event.seq
    words = register_words(event)
    return SealRow(
        _text(event, "digest"), _by(event), number, _text(event, "outcome"), event.reason, event.seq, event.time, words
    )


def register_words(event: Event) -> str:
    """Purpose: what the event that began a campaign, or a seal, says of the site's register."""
    said = event.value.get("register")
    return str(said.get("words", "")) if isinstance(said, dict) else ""


def rejudged_row(event: Event) -> RejudgedRow:
    """Purpose: an act of judging again, as the record tells it."""
    counts = {name: whole(event.value.get(name)) for name in ("examined", "replaced", "kept", "not_judged")}
    return RejudgedRow(
        _by(event), event.reason, **counts, document=_text(event, "document"), seq=event.seq, time=event.time
    )


def outcome_row(event: Event) -> OutcomeRow:
    """Purpose: how an awaited component came out."""
    return OutcomeRow(_text(event, "component"), _text(event, "outcome"), event.reason, event.seq, event.time)


def mode_of(value: dict[str, Any]) -> tuple[str, str]:
    """Purpose: the mode that an event speaks of, and, of a warm-up, the mode it belongs to."""
    return str(value.get("mode") or ""), str(value.get("of") or "")


def _by(event: Event) -> str:
    return _text(event, "by") or _text(event, "who")


def _text(event: Event, key: str) -> str:
    return str(event.value.get(key) or "")


def _lines(event: Event, key: str) -> tuple[str, ...]:
    lines = event.value.get(key)
    return tuple(map(str, lines)) if isinstance(lines, list) else ()


# ---- what people say, and the machine as found ---------------------------------------------------------------------------


def _ruled(record: RecordRows, event: Event) -> None:
    """Beside the verdict, never instead of it. A later ruling replaces it."""
    record.note(event)
    row, older = ruling_row(event), record.row_of(event.run)
    record.rulings.append(row)
    if older is None:
        record.irregular.append(f"event {event.seq}: a ruling on {event.run or 'no run'}, which is not judged")
    else:
        record.runs[record._place[event.run]] = replace(older, ruling=row.party)


def _noted(record: RecordRows, event: Event) -> None:
    """The class of its failure, or a ticket, beside the verdict: nothing is judged by it. A later word replaces an earlier one."""
    record.note(event)
    older = record.row_of(event.run)
    if older is None:
        record.irregular.append(f"event {event.seq}: a note on {event.run or 'no run'}, which is not judged")
        return
    given, ticket = ("" if (text := _text(event, key)) == "none" else text or None for key in ("class", "ticket"))
    if given is not None:
        by = _by(event) if given else ""
        older = replace(older, said_class=given, said_family=_text(event, "family"), said_by=by)
    if ticket is not None:
        older = replace(older, ticket=ticket, ticket_by=_by(event) if ticket else "")
    record.runs[record._place[event.run]] = older


def machine_is_new(record: RecordRows, event: Event) -> None:
    """Purpose: the machine, inputs, programs or settings are not as they were: what runs from now on is of another epoch."""
    open_epoch(record, event)
    _move_unstarted(record)


def open_epoch(record: RecordRows, event: Event, difference: tuple[str, ...] = ()) -> None:
    record.epoch += 1
    record.epochs.append(epoch_row(event, record.epoch, difference))


def _move_unstarted(record: RecordRows) -> None:
    """What was ordered in the epoch before and is not known to run will run on the changed machine."""
    for run, row in record.open.items():
        if row.epoch == record.epoch - 1 and row.state in _NOT_STARTED:
            record.open[run] = replace(row, epoch=record.epoch)


def _fingerprint(record: RecordRows, event: Event) -> None:
    """A machine that is not as it was the last time opens an epoch; the first fingerprint opens none."""
    before = record.fingerprints[-1] if record.fingerprints else None
    row = fingerprint_row(event, before, record.epoch)
    if row.changed:
        open_epoch(record, event, row.since_last)
        _move_unstarted(record)
        row = replace(row, epoch=record.epoch)
    record.fingerprints.append(row)
    record.note(event)


def _waived(record: RecordRows, event: Event) -> None:
    record.waivers.append(waiver_row(event))
    record.note(event)


def _agreed(record: RecordRows, event: Event) -> None:
    record.agreements.append(agreement_row(event))
    record.note(event)


def _withdrawn(record: RecordRows, event: Event) -> None:
    """A waiver or a ruling is taken back: it is as if it had not been said, and stays in the list of acts."""
    numbers = event.value.get("events")
    for number in map(whole, numbers if isinstance(numbers, list) else []):
        record.withdrawn.setdefault(number, event.seq)
    take_back(record)
    record.note(event)


def take_back(record: RecordRows, more: Container[int] = ()) -> None:
    """Purpose: make what was withdrawn, and ``more`` events, without effect: waivers, rulings, attestations, drills."""
    gone = {row.seq for row in record.acts if row.seq in record.withdrawn or row.seq in more}
    record.waivers = [row for row in record.waivers if row.seq not in gone]
    record.drilled = [row for row in record.drilled if row.seq not in gone]
    parties: dict[str, str] = {}
    for ruling in record.rulings:
        parties.setdefault(ruling.run, "")
        if ruling.seq not in gone:
            parties[ruling.run] = ruling.party
    for run, party in parties.items():
        row = record.row_of(run)
        if row is not None and row.ruling != party:
            record.runs[record._place[run]] = replace(row, ruling=party)
    if any(row.seq in gone for row in record.attested):
        standing = [row for row in record.attested if row.seq not in gone]
        record.attestations = {(row.component, row.procedure): row for row in standing}


def _attested(record: RecordRows, event: Event) -> None:
    row = attestation_row(event)
    record.attested.append(row)
    record.attestations[row.component, row.procedure] = row
    record.note(event)


def _drilled(record: RecordRows, event: Event) -> None:
    record.drilled.append(drill_row(event))
    record.note(event)


def _component_outcome(record: RecordRows, event: Event) -> None:
    row = outcome_row(event)
    record.outcomes[row.component] = row
    record.note(event)


def _standing(record: RecordRows, event: Event) -> None:
    """A standing order, of a person or of the plan."""
    record.note(event)
    record.standing.append(record.notes[-1])


def _rejudged(record: RecordRows, event: Event) -> None:
    record.rejudged.append(rejudged_row(event))
    record.note(event)


def _sealed(record: RecordRows, event: Event) -> None:
    record.seals.append(seal_row(event))
    record.register = record.seals[-1].register or record.register
    record.note(event)


HANDLERS: dict[str, Callable[[RecordRows, Event], None]] = {
    "ruled": _ruled,
    "noted": _noted,
    "waived": _waived,
    "attested": _attested,
    "drilled": _drilled,
    "agreed": _agreed,
    "withdrawn": _withdrawn,
    "fingerprint": _fingerprint,
    "component_outcome": _component_outcome,
    "sealed": _sealed,
    "rejudged": _rejudged,
    **dict.fromkeys(STANDING_ORDERS, _standing),
}
