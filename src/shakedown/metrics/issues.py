"""The issue ledger: faults of the machine and accepted deviations, each with when and by whom it was opened and closed.

Start reading at ``issues``; ``restricting`` has the issues that restrict an acceptance by their severity. All issues are derived
from the record: pauses and held queues, nodes that failed or were excluded, rulings, waivers, conditions that changed. An issue is
closed by the event that ends it (``_CLOSES``), or by a person who accepts it as it is (``waive --issue``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.availability import UNSCHEDULED
from shakedown.metrics.clock import MAINTENANCE
from shakedown.metrics.overlap import span_of
from shakedown.metrics.rows.rows import NoteRow, RulingRow, RunRow, WaiverRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, some
from shakedown.model.nouns import Document
from shakedown.model.said_words import restricts_nothing
from shakedown.model.waived import conditions_digest

if TYPE_CHECKING:
    from shakedown.metrics.time_spent import Out, TimeSpent

Severity = Literal["major", "minor", "note"]
SEVERITIES = {
    "major": "the machine as a whole stood still or changed, or something is accepted although it is not met",
    "minor": "nodes, or runs that failed by the machine or the site",
    "note": "what was announced, or lies with the tests or with us",
}
_CLOSES = {  # a finding or a standing order -> the event that ends it, and the field that names the same thing in both
    "queue_held": ("queue_released", "pool"),
    "node_left_out": ("node_let_in", "nodes"),
    "disk_full": ("disk_has_room", ""),
    "halted": ("goes_on", ""),
    "paused": ("continued", "component"),
    "case_stopped": ("continued", ""),
    "observed_silent": ("observed", "budget"),
}
_TAKES_IN = frozenset({"included", "queue_held"})  # these events name nodes that are in use again
_SEVERITY: dict[str, Severity] = {
    "queue_held": "major",
    "disk_full": "note",
    "halted": "minor",
    "case_stopped": "minor",
    "observed_silent": "note",
}
_NAMES = {"observed_silent": "load that is measured by nobody"}  # names that do not follow from the event's kind
_TICKET = re.compile(
    r"(?i:\b(?:ticket|bug|case|issue|incident)s?\b[ :#]*)([A-Z]{0,8}-?\d+)"
    r"|\b([A-Z]{2,8}-\d+|(?:INC|CHG|PRB|REQ|RITM|TASK)\d{3,})\b|(?<!\w)#(\d+)\b"
)


class Issue(Struct, frozen=True):
    """One issue. ``kind``: its kind in a few words; ``ticket``: the ticket that people attached to its runs, else the ticket named
    in their reason, "" = none.

    ``closed`` is None while it is open; ``closed_by``: the person or the event that closed it. ``restricts``: whether it restricts
    the acceptance. ``events``: the numbers of the events that opened and closed it. Times are in seconds since 1970.
    """

    kind: str
    what: str
    severity: Severity
    opened: float
    opened_by: str
    closed: float | None = None
    closed_by: str = ""
    ticket: str = ""
    restricts: bool = False
    events: tuple[int, ...] = ()

    @property
    def state(self) -> str:
        return "open" if self.closed is None else "closed"

    @property
    def number(self) -> int:
        """The number of the event that opened the issue, by which people refer to it; 0 if no event did."""
        return self.events[0] if self.events else 0


class Month(Struct, frozen=True):
    """One month in UTC: how many issues were opened and closed in it, and how many were open at its end."""

    month: str
    opened: int
    closed: int
    open: int


def issues(record: Record, spent: TimeSpent | None, document: Document | None = None) -> tuple[Issue, ...]:
    """Purpose: every issue: open ones first, then the most severe first, then by the time they were opened. ``document``: the plan,
    which may say which severities restrict the acceptance while an issue is open.
    """
    words = document.issues if document is not None else ()
    every = [
        *(replace(one, restricts=one.closed is None and one.severity in words) for one in told_issues(record)),
        *_idle(record, spent),
        *_failed_nodes(spent.outs if spent else ()),
        *_waivers(record),
        *_conditions(record),
    ]
    severities = list(SEVERITIES)
    return tuple(
        sorted(every, key=lambda one: (one.closed is not None, severities.index(one.severity), one.opened, one.what))
    )


def told_issues(record: Record) -> list[Issue]:
    """Purpose: the issues that the record alone opens and closes, each identified by an event: pauses, held queues, full disks,
    nodes that are left out or excluded, stopped cases and components, rulings. Issues about failed and idle nodes are not included,
    because they depend on what a scheduler reported.
    """
    waivers: dict[str, list[WaiverRow]] = defaultdict(list)
    for row in record.waivers:
        waivers[row.name].append(row)
    every = (*_incidents(record), *_exclusions(record), *_rulings(record))
    return [_accepted(one, waivers.get(str(one.number), ())) for one in every]


def restricting(document: Document, record: Record) -> list[Issue]:
    """Purpose: the open issues whose severity restricts the acceptance under the plan, in the order of their events."""
    told = told_issues(record) if document.issues else []
    found = [one for one in told if one.closed is None and one.severity in document.issues]
    return sorted(found, key=lambda one: one.number)


def _accepted(one: Issue, waivers: Sequence[WaiverRow]) -> Issue:
    """The issue, closed by the first waiver that names it, unless the record closed it earlier. ``waivers``: the waivers of the
    issue's number.
    """
    waived = next((row for row in waivers if row.is_of_issue(one.number, one.kind, one.what)), None)
    if waived is None or (one.closed is not None and one.closed <= waived.time):
        return one
    return replace(one, closed=waived.time, closed_by=f"{waived.by} accepted it as it is: {waived.reason}")


def by_month(every: Sequence[Issue]) -> tuple[Month, ...]:
    """Purpose: counts by month, from the first month in which an issue was opened to the last month in which one was opened or
    closed.
    """
    if not every:
        return ()
    moments = [time for one in every for time in (one.opened, one.closed) if time is not None]
    first, last = _month(min(moments)), _month(max(moments))
    found, open_, at = [], 0, first
    while at <= last:
        opened = sum(_month(one.opened) == at for one in every)
        closed = sum(one.closed is not None and _month(one.closed) == at for one in every)
        open_ += opened - closed
        found.append(Month(f"{at[0]:04d}-{at[1]:02d}", opened, closed, open_))
        at = (at[0] + at[1] // 12, at[1] % 12 + 1)
    return tuple(found)


def _month(time: float) -> tuple[int, int]:
    when = datetime.fromtimestamp(time, UTC)
    return when.year, when.month


def ticket_in(text: str) -> str:
    """Purpose: the first ticket that a text names: "ticket 17", "bug 770068", "INC-1234" or "#17"; "" if none."""
    found = _TICKET.search(text)
    return next((part for part in found.groups() if part), "") if found else ""


def _by(value: Mapping[str, Any]) -> str:
    return str(value.get("by") or value.get("who") or "")


# ---- findings and standing orders that end ---------------------------------------------------------------------------------


def _incidents(record: Record) -> Iterator[Issue]:
    open_: dict[tuple[str, str], NoteRow] = {}
    for row in _told(record):
        kind = str(row.value.get("kind", "")) if row.kind == "finding" else row.kind
        for begins, (ends, fact) in _CLOSES.items():
            key = (begins, _thing(row, begins, fact))
            if kind == begins and _is_incident(row):
                open_.setdefault(key, row)
            elif kind == ends and key in open_:
                yield _incident(open_.pop(key), begins, row)
            elif kind in _TAKES_IN and begins == "node_left_out":
                for node in map(str, row.value.get("nodes") or ()):
                    if (begins, node) in open_:
                        yield _incident(open_.pop((begins, node)), begins, row)
    for (begins, _), row in open_.items():
        yield _incident(row, begins, None)


def _told(record: Record) -> Iterable[NoteRow]:
    """The notes, with the observed numbers that came after a finding that a budget's numbers stopped; in the order of the log."""
    silent = [row for row in record.notes if row.value.get("kind") == "observed_silent"]
    if not silent:
        return record.notes
    came = [row for row in record.observed if row.seq > silent[0].seq and row.value.get("number") is not None]
    return sorted([*record.notes, *came], key=lambda row: row.seq)


def _thing(row: NoteRow, begins: str, fact: str) -> str:
    """What an incident is about; two incidents about the same thing are one until it ends."""
    if begins in ("halted", "case_stopped"):
        return row.run or row.case
    value = row.value.get(fact) if fact else ""
    return str(value[0]) if isinstance(value, list) and value else str(value or "")


def _is_incident(row: NoteRow) -> bool:
    return row.kind != "paused" or row.value.get("cause") in (MAINTENANCE, *UNSCHEDULED)


def _incident(row: NoteRow, kind: str, end: NoteRow | None) -> Issue:
    cause = str(row.value.get("cause") or "")
    severity = _SEVERITY.get(kind, "minor")
    if kind == "paused":
        severity = "note" if cause == MAINTENANCE else "major"
    name = f"pause for {cause}" if kind == "paused" else _NAMES.get(kind, kind.replace("_", " "))
    by = _by(row.value) or ("the plan" if row.kind in ("paused", "case_stopped") else "the conductor")
    closed = (end.time, _by(end.value) or "the conductor") if end is not None else (None, "")
    events = (row.seq, *((end.seq,) if end is not None else ()))
    return Issue(name, row.reason, severity, row.time, by, closed[0], closed[1], ticket_in(row.reason), events=events)


def _exclusions(record: Record) -> Iterator[Issue]:
    """One issue for each exclusion of nodes, closed when all its nodes are in use again."""
    open_: list[tuple[NoteRow, set[str]]] = []
    for row in record.standing:
        nodes = {str(node) for node in row.value.get("nodes") or ()} if row.kind in ("excluded", "included") else set()
        if row.kind == "excluded":
            open_.append((row, nodes))
        for one, left in list(open_) if row.kind == "included" else ():
            if left & nodes:
                left -= nodes
            if not left:
                open_.remove((one, left))
                yield _exclusion(one, row)
    for one, _ in open_:
        yield _exclusion(one, None)


def _exclusion(row: NoteRow, end: NoteRow | None) -> Issue:
    what = f"{some([str(node) for node in row.value.get('nodes') or ()])}: {row.reason}"
    by = _by(row.value) or "the plan"
    if end is None:
        return Issue("excluded nodes", what, "minor", row.time, by, ticket=ticket_in(row.reason), events=(row.seq,))
    by_whom = _by(end.value) or "the plan"
    return Issue(
        "excluded nodes",
        what,
        "minor",
        row.time,
        by,
        end.time,
        by_whom,
        ticket_in(row.reason),
        events=(row.seq, end.seq),
    )


def _idle(record: Record, spent: TimeSpent | None) -> Iterator[Issue]:
    """Issues from findings of idle nodes while jobs waited; closed if that period ended before the record does."""
    for row in record.notes:
        if row.kind != "finding" or row.value.get("kind") != "idle_while_pending":
            continue
        pool = str(row.value.get("pool", ""))
        ends = [
            one.end
            for one in (spent.pending if spent else ())
            if pool in one.ground.split(", ") and one.begin <= row.time <= one.end
        ]
        end = max(ends, default=None) if spent is not None else None
        over = end is not None and spent is not None and end < spent.end
        since = row.value.get("since")
        opened = float(since) if isinstance(since, int | float) else row.time
        closed = (end, "the scheduler started them, or nodes were idle no more") if over else (None, "")
        yield Issue(
            "idle nodes beside waiting jobs",
            row.reason,
            "minor",
            opened,
            "the conductor",
            closed[0],
            closed[1],
            events=(row.seq,),
        )


def _failed_nodes(outs: Iterable[Out]) -> Iterator[Issue]:
    for one in outs:
        if one.failed:
            what = f"{one.node} failed: {one.why}" if one.why else f"{one.node} failed"
            closed = (one.end, "the record shows it at work or idle again") if one.known else (None, "")
            yield Issue(
                "failed node", what, "minor", one.begin, "the scheduler", closed[0], closed[1], ticket_in(one.why)
            )


# ---- what people said ----------------------------------------------------------------------------------------------------


def _rulings(record: Record) -> Iterator[Issue]:
    """One issue for all rulings of one person for one reason. It is opened when the first of the runs ended, and closed when each
    of the cases has passed again, or when the rulings were taken back or replaced.
    """
    groups: dict[tuple[str, str, str], list[RulingRow]] = defaultdict(list)
    for row in record.rulings:
        if row.party:
            groups[row.party, row.by, row.reason].append(row)
    passes, taken_back = _passes(record), _taken_back(record)
    for (party, by, reason), mine in groups.items():
        runs = list(dict.fromkeys(row.run for row in mine))
        rows = [found for run in runs if (found := record.row_of(run)) is not None]
        opened = min((row.over or row.time for row in rows), default=mine[0].time)
        again = [passes(row.case, row.over or row.time) for row in rows]
        closed: tuple[float | None, str] = (None, "")
        if not any(row.ruling == party for row in rows):
            closed = taken_back(runs, mine), "the ruling was taken back or replaced"
        elif all(again):
            end, run = max(found for found in again if found is not None)
            closed = end, f"{run} passed, as every case of it did again"
        severity: Severity = "minor" if party in ("vendor", "site") else "note"
        what = f"{plural(len(runs), 'run')} ruled {party}: {reason} ({some(runs)})"
        events = tuple(row.seq for row in mine)
        ticket = _noted(rows) or ticket_in(reason)
        yield Issue("ruling", what, severity, opened, by, closed[0], closed[1], ticket, events=events)


def _noted(rows: Iterable[RunRow]) -> str:
    """The tickets that people attached to these runs (``note``); they take precedence over tickets found in a reason's text."""
    return ", ".join(dict.fromkeys(row.ticket for row in rows if row.ticket))


def _taken_back(record: Record) -> Callable[[Sequence[str], Sequence[RulingRow]], float]:
    """A function that tells when rulings that no longer stand were replaced or withdrawn. Rulings are indexed by run, because the
    ledger is built in each what-if and must not scan all rulings for each.
    """
    last = {row.run: row for row in record.rulings}  # in the order of the log
    asked = frozenset(record.withdrawn.values())
    times = {row.seq: row.time for row in record.notes if row.seq in asked} if asked else {}

    def when(runs: Sequence[str], mine: Sequence[RulingRow]) -> float:
        later = [row.time for run in runs if (row := last[run]).seq > mine[-1].seq]
        gone = [times[record.withdrawn[row.seq]] for row in mine if record.withdrawn.get(row.seq) in times]
        return max((*later, *gone), default=mine[-1].time)

    return when


def _passes(record: Record) -> Callable[[str, float], tuple[float, str] | None]:
    """A function that tells when a case first passed in a run that began at or after some time, and in which run."""
    passed: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for row in record.current():
        span = span_of(row)
        if row.verdict == "passed" and span is not None:
            passed[row.case].append((span[0], span[1], row.run))
    begins: dict[str, list[float]] = {}
    firsts: dict[str, list[tuple[float, str]]] = {}  # for each begin: the first end from there on
    for case, spans in passed.items():
        spans.sort()
        begins[case] = [begin for begin, _, _ in spans]
        ends = accumulate(((end, run) for _, end, run in reversed(spans)), min)
        firsts[case] = list(ends)[::-1]

    def first(case: str, after: float) -> tuple[float, str] | None:
        place = bisect_left(begins.get(case, ()), after)
        return firsts[case][place] if place < len(firsts.get(case, ())) else None

    return first


def _waivers(record: Record) -> Iterator[Issue]:
    """One issue for each waiver; it restricts the acceptance as long as the waiver stands."""
    times = {row.seq: row for row in record.notes}
    for act in record.acts:
        if act.event != "waived":
            continue
        value = act.value
        names = (str(value.get(key) or "") for key in ("what", "component", "name"))
        restriction = str(value.get("restriction") or "")
        if value.get("what") in ("conditions", "issue") and not restriction:
            continue  # this waiver only closes another issue
        words = act.reason if restricts_nothing(restriction) else restriction
        what = f"{' '.join(filter(None, names))} is accepted as it is: {words}"
        end = times.get(record.withdrawn.get(act.seq, 0))
        closed = (end.time, f"{_by(end.value)} withdrew it") if end is not None else (None, "")
        ticket = ticket_in(f"{act.reason} {restriction}")
        yield Issue("waiver", what, "major", act.time, act.by, closed[0], closed[1], ticket, end is None, (act.seq,))


def _conditions(record: Record) -> Iterator[Issue]:
    """Issues from findings of changed inputs, programs or settings; each restricts the acceptance until a waiver replaces it."""
    for row in record.notes:
        if row.kind != "finding" or row.value.get("kind") != "conditions_changed":
            continue
        digest = conditions_digest(row.value)
        waived = next(
            (
                one
                for one in record.waivers
                if one.what == "conditions" and (one.name, one.digest) == (str(row.seq), digest)
            ),
            None,
        )
        closed = (waived.time, f"{waived.by} waived it") if waived is not None else (None, "")
        words = ("changed conditions", row.reason)
        yield Issue(
            *words,
            "major",
            row.time,
            "the conductor",
            closed[0],
            closed[1],
            restricts=waived is None,
            events=(row.seq,),
        )
