"""The whole campaign as plain rows, folded from its events; the result is the same for events in bulk or one by one.

``fold_runs`` reads all events; a follower keeps a ``Record`` and adds each new event. ``_HANDLERS`` at the end maps events to
handlers. Known events without a handler are only counted; events with an unknown name are counted by name, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from shakedown.metrics.failures import failure_fields
from shakedown.metrics.rows import builds
from shakedown.metrics.rows import overrides as acts
from shakedown.metrics.rows.facts import measured, number, whole, words
from shakedown.metrics.rows.record_rows import RecordRows
from shakedown.metrics.rows.rows import (
    STEPS,
    NoteRow,
    OpenRun,
    OverRow,
    RunRow,
    UnavailableRow,
)
from shakedown.model.events import EVENTS, NO_LONGER_WANTED, OPENS_EPOCH, Event, is_act, is_afterwards
from shakedown.model.ports import ENDED
from shakedown.model.recorded import read_recorded


def fold_runs(events: Iterable[Event]) -> Record:
    """Purpose: the record folded from all events of a campaign."""
    record = Record()
    for event in events:
        record.add(event)
    return record


class Record(RecordRows):
    """The log as rows: ``RecordRows``, with the code that adds one event."""

    def add(self, event: Event) -> None:
        """Add one event, in constant time."""
        self.events += 1
        self.seq = event.seq
        if not is_afterwards(event):
            self.last = max(self.last, event.time)
        if is_act(event):
            acts.note_act(self, event)
        if event.event in OPENS_EPOCH:
            _in_a_new_epoch(self, event)
        handler = _HANDLERS.get(event.event)
        if handler is not None:
            handler(self, event)
        elif event.event not in EVENTS:
            self.unknown[event.event] = self.unknown.get(event.event, 0) + 1


def _in_a_new_epoch(record: Record, event: Event) -> None:
    """A change of the machine that no function of its own keeps is kept as a note."""
    if OPENS_EPOCH[event.event] == "plan":
        acts.open_epoch(record, event)
        return
    acts.machine_is_new(record, event)
    if event.event not in _HANDLERS:
        record.note(event)


# ---- the campaign ----------------------------------------------------------------------------------------------------


def _campaign_start(record: Record, event: Event) -> None:
    value = event.value
    record.campaign, record.plan = str(value.get("campaign", "")), str(value.get("plan", ""))
    record.document, record.seed = str(value.get("document", "")), whole(value.get("seed"))
    record.documents = [record.document]
    said = value.get("rehearsal")
    record.rehearsal = said if isinstance(said, dict) else {}
    record.register = acts.register_words(event)
    record.started = event.time
    record.identity = acts.digest_of_event("", event)
    record.epochs = [acts.epoch_row(event, 1)]


def _amended(record: Record, event: Event) -> None:
    """Put a new plan in force; unavailable cases are determined anew, by later events or by the plan itself."""
    if record.ended is not None and record.cancelled is None:
        record.over = OverRow(record.ended, record.document, record.unavailable.copy(), record.time_up.copy())
    record.document = str(event.value.get("document", record.document))
    record.documents.append(record.document)
    record.ended = None
    record.unavailable.clear()
    record.time_up.clear()
    record.cancelled = None
    record.amended = event.seq
    _note(record, event)
    stopped = event.value.get("stopped")
    for name, at in stopped.items() if isinstance(stopped, dict) else ():
        record.standing.append(replace(record.notes[-1], value={"component": name, "stopped": at}))


def _again(record: Record, event: Event) -> None:
    """Resume a component: its time is not up, and earlier drains and cancellations do not hold for it."""
    component = str(event.value.get("component", ""))
    record.again[component] = [*record.again.get(component, ()), event.seq]  # a copy of the record keeps its own
    record.time_up.pop(component, None)
    record.ended = record.over = None
    record.note(event)
    record.standing.append(record.notes[-1])


def _campaign_end(record: Record, event: Event) -> None:
    record.ended = event.time


def _note(record: Record, event: Event) -> None:
    record.note(event)


def _cancel_request(record: Record, event: Event) -> None:
    record.note(event)
    if event.value.get("all"):
        record.cancelled, record.cancelled_seq = event.time, event.seq


def _finding(record: Record, event: Event) -> None:
    record.note(event)
    if event.value.get("kind") == "time_is_up":
        record.time_up[str(event.value.get("component", ""))] = event.time
    elif event.value.get("kind") == "conditions_changed" and not event.value.get("late"):
        acts.machine_is_new(record, event)


def _observed(record: Record, event: Event) -> None:
    """Keep an observed number, not as a note, because there are many and nobody reads them one by one."""
    record.observed.append(NoteRow(event.event, event.time, event.reason, event.value, event.seq))


def _unavailable(record: Record, event: Event) -> None:
    component = str(event.value.get("component", ""))
    record.unavailable[component, event.case] = UnavailableRow(component, event.case, event.reason, event.seq)


# ---- runs ------------------------------------------------------------------------------------------------------------


def _submit_order(record: Record, event: Event) -> None:
    value = event.value
    component, repeat = str(value.get("component", "")), whole(value.get("repeat"), 1)
    attempt, mode = whole(value.get("attempt"), 1), acts.mode_of(value)
    result = _result(record, (component, *mode, event.case, str(repeat)), attempt, event.run)
    ordered = (component, repeat, attempt, event.job, event.time, event.seq, result, record.epoch)
    later = value.get("held") or value.get("after") or value.get("bundle")
    row = OpenRun(event.run, event.case, *ordered, mode=mode[0], of=mode[1], charged=None if later else event.time)
    if value.get("after"):
        record._followers[str(value["after"])] = event.run
        record._leaders[event.run] = str(value["after"])
    before = record.row_of(str(value.get("previous", "")))  # a restart of the same job has the same loads
    targets = words(value.get("targets")) or (before.targets if before else {})
    record.open[event.run] = replace(row, targets=targets)
    may_have = value.get("may_have")
    for node in may_have if isinstance(may_have, list) and event.job not in record._jobs else ():
        record.looked[str(node)] = [*record.looked.get(str(node), ()), event.time]  # a copy of the record keeps its own
    record._jobs[event.job] = event.run
    if mode[0] not in STEPS:
        record.first_orders.setdefault(component, event.time)
    record.ended = record.over = None


def _result(record: Record, key: tuple[str, ...], attempt: int, run: str) -> int:
    """The number of the wanted result of an attempt: a first attempt opens a new number, unless its order is renewed.

    ``key`` identifies a wanted result: component, mode, the mode to which a warm-up belongs, case, repeat.
    """
    if run in record.open:
        return record.open[run].result
    if attempt <= 1 or key not in record._chains:
        record._results += 1
        record._chains[key] = record._results
    return record._chains[key]


def _job_report(record: Record, event: Event) -> None:
    run, state = event.run or record._jobs.get(event.job, ""), str(event.value.get("state", ""))
    if run in record.open:
        row = record.open[run]
        began = number(event.value.get("began"))
        started = (began or event.time) if state == "running" and row.started is None else row.started
        freed = event.time if state in ENDED and row.freed is None else row.freed
        charged = event.time if row.charged is None and (state == "running" or state in ENDED) else row.charged
        record.open[run] = replace(row, state=state, started=started, freed=freed, charged=charged)
        _is_over(record, record._leaders.pop(run, "") if charged is not None else "", event.time)
    if state in ENDED:
        _pass_on(record, event)


def _is_over(record: Record, job: str, now: float) -> None:
    """Mark a job as over because the scheduler started the job that follows it, whenever its own end is reported."""
    run = record._jobs.get(job, "")
    if run in record.open and record.open[run].freed is None:
        record.open[run] = replace(record.open[run], freed=now)


def _pass_on(record: Record, event: Event) -> None:
    """After the end of a job: the run that follows it may start, and takes over its loads."""
    follower = record._followers.pop(event.job, "")
    record._leaders.pop(follower, None)
    if follower in record.open and record.open[follower].charged is None:
        record.open[follower] = replace(record.open[follower], charged=event.time)


def _release_order(record: Record, event: Event) -> None:
    """Release a held job: its loads count from now on, on the targets that the event names."""
    run = event.run or record._jobs.get(event.job, "")
    if run in record.open:
        targets = words(event.value.get("targets"))
        record.open[run] = replace(record.open[run], targets=targets, charged=event.time)


def _verdict(record: Record, event: Event) -> None:
    older = record.row_of(event.run)
    if older is None:
        _append(record, _first_row(record, event))
        if event.job and not event.value.get("alive"):
            _pass_on(record, event)
    elif not event.value.get("supersedes"):
        record.irregular.append(
            f"event {event.seq}: a second verdict on {event.run} that supersedes nothing; the first, event {older.seq}, stands"
        )
    else:
        _supersede(record, event, older)


def _append(record: Record, row: RunRow) -> None:
    record._place[row.run] = len(record.runs)
    record.runs.append(row)
    record.open.pop(row.run, None)


def _first_row(record: Record, event: Event) -> RunRow:
    value, ordered = event.value, record.open.get(event.run)
    component = _component(value, ordered)
    case = event.case or (ordered.case if ordered else "")
    repeat = whole(value.get("repeat", ordered.repeat if ordered else 1), 1)
    attempt = whole(value.get("attempt", ordered.attempt if ordered else 1), 1)
    mode = acts.mode_of(value)
    key = (component, *mode, case, str(repeat))
    return RunRow(
        run=event.run,
        case=case,
        component=component,
        repeat=repeat,
        attempt=attempt,
        verdict=str(value.get("verdict", "")),
        reason=event.reason,
        seq=event.seq,
        time=event.time,
        result=ordered.result if ordered else _result(record, key, attempt, event.run),
        mode=mode[0] or (ordered.mode if ordered else ""),
        of=mode[1],
        epoch=ordered.epoch if ordered else record.epoch,
        job=event.job or (ordered.job if ordered else ""),
        **(_loads(ordered, event.time) | _evidence(value) | failure_fields(event)),
    )


def _component(value: dict[str, Any], ordered: OpenRun | None) -> str:
    """The component of a run. A run that was live when an amendment removed its case keeps that component, whatever old records
    say; one that was cancelled before it began belongs to none.
    """
    said = str(value.get("component", ordered.component if ordered else ""))
    began = value.get("verdict") != "cancelled" or "started" in value or "elapsed_s" in value
    return ordered.component if ordered is not None and said == NO_LONGER_WANTED and began else said


def _loads(ordered: OpenRun | None, now: float) -> dict[str, Any]:
    """The loads of a run with their begin and end; without a reported end, they end with the verdict."""
    if ordered is None:
        return {}
    known = {"targets": ordered.targets, "charged": ordered.charged, "freed": ordered.freed or now}
    return known | {"ordered": ordered.ordered, "ordered_by": ordered.seq}


def _supersede(record: Record, event: Event, older: RunRow) -> None:
    """Replace the older row by a later verdict; fields that the new event lacks keep their values, as does the time of judging."""
    said = event.value.get("rejudged")
    said = said if isinstance(said, dict) else {}
    record.runs[record._place[older.run]] = replace(older, superseded_by=event.seq)
    newer = replace(
        older,
        verdict=str(event.value.get("verdict", "")),
        reason=event.reason,
        seq=event.seq,
        supersedes=older.seq,
        judged_by=str(said.get("by", "")),
        judged_because=str(said.get("because", "")),
        checks=(),
        excerpt="",
    )
    _append(record, replace(newer, **_evidence(event.value), **failure_fields(event)))


def _evidence(value: dict[str, Any]) -> dict[str, Any]:
    """The optional fields of a verdict, converted for a row; absent ones are left out."""
    found: dict[str, Any] = {}
    for name in ("started", "ended", "elapsed_s", "halted_s"):
        if number(value.get(name)) is not None:
            found[name] = number(value[name])
    if isinstance(value.get("exit"), int):
        found["exit"] = value["exit"]
    for name in ("nodes", "excerpt"):
        if value.get(name):
            found[name] = str(value[name])
    if isinstance(value.get("failed_nodes"), list):
        found["failed_nodes"] = tuple(map(str, value["failed_nodes"]))
    if isinstance(value.get("output"), dict):
        found["output"] = value["output"]
    if isinstance(value.get("checks"), list):
        found["checks"] = tuple(_check(item) for item in value["checks"])
    said = value["figures"] if isinstance(value.get("figures"), dict) else {}
    figures = {str(name): measured(amount) for name, amount in said.items()}
    found["figures"] = {name: amount for name, amount in figures.items() if isinstance(amount, float)}
    found["recorded"] = read_recorded(value.get("recorded", {}))
    problems = value["problems"] if isinstance(value.get("problems"), list) else []
    strange = [f"figure {name}: {why}" for name, why in figures.items() if isinstance(why, str)]
    found["problems"] = (*map(str, problems), *strange)
    return found


def _check(item: Any) -> tuple[str, bool | None, str]:
    parts = [*item, None, ""] if isinstance(item, list) else [str(item), None, ""]
    text, held, detail = parts[0], parts[1], parts[2]
    return str(text), held if isinstance(held, bool) else None, str(detail or "")


def _retry(record: Record, event: Event) -> None:
    place = record._place.get(event.run)
    if place is not None:
        record.runs[place] = replace(record.runs[place], retried=True)
    record.ended = record.over = None


def _given_up(record: Record, event: Event) -> None:
    record.given_up[event.run] = event.seq


def _waits_again(record: Record, event: Event) -> None:
    """A run waits again under its own id: its job was refused, or never ran and never will."""
    run = event.run or record._jobs.get(event.job, "")
    if run in record.open:
        claimed = event.event != "submit_deferred"
        row = replace(record.open[run], charged=None, freed=None)
        record.open[run] = replace(row, state="waiting again", job="") if claimed else row


_HANDLERS: dict[str, Callable[[Record, Event], None]] = {
    **builds.HANDLERS,
    **acts.HANDLERS,
    "campaign_start": _campaign_start,
    "campaign_end": _campaign_end,
    "amended": _amended,
    "again": _again,
    "driver_start": _note,
    "driver_stop": _note,
    "stop_request": _note,
    "cancel_request": _cancel_request,
    "command_refused": _note,
    "waiting": _note,
    "finding": _finding,
    "submit_order": _submit_order,
    "requeued": _submit_order,
    "job_report": _job_report,
    "release_order": _release_order,
    "claim_taken": _waits_again,
    "returned": _waits_again,
    "submit_deferred": _waits_again,
    "verdict": _verdict,
    "retry": _retry,
    "given_up": _given_up,
    "observed": _observed,
    "unavailable": _unavailable,
}
