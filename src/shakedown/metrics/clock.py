"""The clock of each component: what started, stopped and restarted the clock, the time it ran, and which part of it lies in a
period.

Start reading at ``clocks_of``. A clock starts with the component's first order, or when a person declares it, as the plan
says. Statements about the clock itself move it, and so do pauses; the plan says what a pause does, by the pause's cause.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.facts import said_at
from shakedown.metrics.rows.rows import STEPS, NoteRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model import clocks
from shakedown.model.nouns import Component, Document

MAINTENANCE = "maintenance"
TAKES_UP = ("again", "amended")  # events that resume a component that was over: its clock stood still until then
_AFTER = {"stops": "go on", "restarts": "restart"}  # the act on the clock when a pause begins -> the act when it ends


class Word(Struct, frozen=True):
    """One statement that moves a clock at the time ``at``; ``act`` is start, stop, go on or restart. ``kind``: the event that
    carries the statement, "" if the plan itself makes it. ``said``: when the statement was made.
    """

    at: float
    act: str
    cause: str = ""
    why: str = ""
    by: str = ""
    kind: str = ""
    said: float = 0.0


class Clock(Struct, frozen=True):
    """When a component's clock ran. ``spans``: the periods in which it ran. They lie between ``begin``, when the clock was last
    started or restarted, and ``end``, the end of the component's last run or of its time. ``maintenance``: announced maintenance
    between the two.
    """

    begin: float
    end: float
    spans: tuple[Span, ...]
    maintenance: tuple[Span, ...] = ()

    @property
    def ran(self) -> float:
        """Seconds of clock time."""
        return length(self.spans)


class Hours:
    """Sums how much of any period lies inside a fixed set of spans, in logarithmic time."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = tuple(spans)
        self._begins = [begin for begin, _ in self.spans]
        self._before = [0.0, *accumulate(end - begin for begin, end in self.spans)]

    def inside(self, span: Span) -> float:
        """The seconds of the given period that lie inside the spans."""
        place = bisect_right(self._begins, span[0]) - 1
        if place >= 0 and span[1] <= self.spans[place][1]:  # the usual case: the period lies within one of the spans
            return max(0.0, span[1] - span[0])
        return max(0.0, self.until(span[1]) - self.until(span[0]))

    def until(self, time: float) -> float:
        """The seconds of the spans that lie before the given time."""
        place = bisect_right(self._begins, time) - 1
        if place < 0:
            return 0.0
        begin, end = self.spans[place]
        return self._before[place] + min(time, end) - begin

    def moment(self, amount: float) -> float | None:
        """The time at which ``amount`` seconds of the spans had passed; None if they are shorter."""
        return clocks.reached(self.spans, amount)


def clocks_of(document: Document, record: Record) -> dict[str, Clock | None]:
    """Purpose: the clock of every component; None where the clock has not run. Takes one pass over the rows."""
    ends = _last_ends(record)
    return {component.name: _clock(component, record, ends.get(component.name)) for component in document.components}


def component_clock(component: Component, record: Record) -> Clock | None:
    """Purpose: one component's clock; None where the clock has not begun or no run of the component is judged."""
    return _clock(component, record, _last_ends(record).get(component.name))


def words_of(component: Component, record: Record) -> tuple[Word, ...]:
    """Purpose: every statement about a component's clock, by the time it takes effect; for equal times in the order of the log."""
    return tuple(sorted(_words(component, record), key=lambda word: word.at))


def began(component: Component, record: Record) -> float | None:
    """Purpose: when the clock was last started or restarted; None if it never was."""
    return clocks.since(_acts(component, record))


def time_has_passed(component: Component, record: Record) -> bool:
    """Purpose: whether a component that runs for a planned time has run for that time, or was told to end."""
    spans = _counted(component, record, record.last)
    return clocks.reached(spans, component.duration_s) is not None or _told_to_end(component, record) is not None


def time_is_up_at(component: Component, record: Record) -> float | None:
    """Purpose: when the planned time of a component ends, or will end if nothing else moves its clock; None while its clock stands
    still or was never started. The drain is ignored, because it does not end the planned time.
    """
    first, terms = record.first_orders.get(component.name), component.clock
    acts = _acts(component, record)
    if first is not None and terms.start == "first order" and not terms.ramp:
        acts = [(at + component.fill.ramp_s if at == first and act == "start" else at, act) for at, act in acts]
    return clocks.when(acts, component.duration_s, record.last)


def is_anew(component: Component, record: Record) -> bool:
    """Purpose: whether the clock began later than with the first order, so that earlier runs do not count."""
    first = record.first_orders.get(component.name)
    if not component.duration_s or first is None:
        return False
    since = began(component, record)
    return since is None or since > first


def enough(ran: float, asked: float) -> bool:
    """Whether a clock has run for the required seconds; a difference of a thousandth of a second counts as rounding."""
    return ran >= asked - 1e-3


def length(spans: Iterable[Span]) -> float:
    return sum(end - begin for begin, end in spans)


def cut(spans: Iterable[Span], window: Span) -> tuple[Span, ...]:
    """The part of some spans inside a window."""
    low, high = window
    return tuple((max(a, low), min(b, high)) for a, b in spans if min(b, high) > max(a, low))


# ---- how it is made ------------------------------------------------------------------------------------------------------


def _clock(component: Component, record: Record, last_end: float | None) -> Clock | None:
    begin = began(component, record)
    if begin is None or last_end is None:
        return None
    up = record.time_up.get(component.name) if component.duration_s else None
    over = not component.duration_s or record.ended is not None or _told_to_end(component, record) is not None
    end = clocks.read_until(begin, last_end, up, record.last, over)
    spans = _counted(component, record, end)
    return Clock(begin, end, spans, cut(_maintenance(component, record, end), (begin, end)))


def _counted(component: Component, record: Record, until: float) -> tuple[Span, ...]:
    """The spans that count: those in which the clock ran, without ramp and drain where the plan excludes these."""
    first, terms = record.first_orders.get(component.name), component.clock
    by_itself = first is not None and terms.start == "first order"
    ramp = (first, first + component.fill.ramp_s) if first is not None and by_itself and not terms.ramp else None
    ends = None if terms.drain else _told_to_end(component, record)
    return clocks.counted(clocks.running(_acts(component, record), until), ramp, ends)


def _told_to_end(component: Component, record: Record) -> float | None:
    """When the component began to be emptied: when its time was up, or a drain was requested, after its clock began.

    A cancellation of the whole campaign counts too. An amendment takes all of these back.
    """
    said = [record.time_up[component.name]] if component.name in record.time_up else []
    taken_up = max([record.amended, *record.again.get(component.name, ())])
    drains = [row for row in record.standing if row.kind == "drain_request" and row.seq > taken_up]
    said += [row.time for row in drains if _concerns(row, component)]
    cancelled = record.cancelled if record.cancelled_seq > taken_up or not record.cancelled_seq else None
    said += [cancelled] if cancelled is not None else []
    since = began(component, record)
    return min((time for time in said if since is not None and time >= since), default=None)


def _acts(component: Component, record: Record) -> list[clocks.Act]:
    return [(word.at, word.act) for word in _words(component, record)]


def _words(component: Component, record: Record) -> Iterator[Word]:
    """The statements about a clock in the order of the log; the start that the plan itself prescribes comes first.
    The end of a pause restarts a clock, but only a clock that was started before.
    """
    first = record.first_orders.get(component.name)
    begun = component.clock.start == "first order" and first is not None
    if begun and first is not None:
        yield Word(first, "start", why="the first order", said=first)
    waiting = ""  # the act on the clock that the end of the current pause will cause
    for row in record.standing:
        if not _concerns(row, component):
            continue
        if row.kind == "clock":
            begun = begun or row.value.get("act") in clocks.BEGINS
            yield _word(row, str(row.value.get("act", "")))
        elif row.kind == "again" and row.value.get("clock"):
            yield _word(row, str(row.value["clock"]))
        elif row.kind in TAKES_UP and isinstance(row.value.get("stopped"), int | float):
            yield replace(_word(row, "stop"), at=float(row.value["stopped"]))
            yield _word(row, "go on")
        elif row.kind == "paused":
            waiting = _AFTER.get(_does(component, row), "")
            if waiting:
                yield _word(row, "stop")
        elif row.kind == "continued" and not row.case and waiting:
            yield _word(row, waiting if begun else "go on")
            waiting = ""


def _does(component: Component, row: NoteRow) -> str:
    """What a pause does to the clock: as stated with the pause, else by its cause; a pause between two phases stops the clock."""
    if row.value.get("phase"):
        return "stops"
    if row.value.get("clock"):
        return str(row.value["clock"])
    return component.clock.act_for(str(row.value.get("cause") or "other"))


def _word(row: NoteRow, act: str) -> Word:
    value = row.value
    at = value.get("from")
    when = float(at) if isinstance(at, int | float) and not isinstance(at, bool) else row.time
    by = str(value.get("by") or value.get("who") or "")
    return Word(when, act, str(value.get("cause") or ""), row.reason, by, row.kind, said_at(value, row.time))


def _concerns(row: NoteRow, component: Component) -> bool:
    named = str(row.value.get("component") or "")
    return named == component.name or (not named and row.kind == "drain_request")


def _maintenance(component: Component, record: Record, until: float) -> tuple[Span, ...]:
    """Announced maintenance: from a pause or a clock stop with that cause until the component continues or its clock goes on."""
    told = sorted(_of_maintenance(component, record), key=lambda pair: pair[0])
    spans: list[Span] = []
    since: float | None = None
    for at, opens in told:
        if opens and since is None:
            since = at
        elif not opens and since is not None:
            spans, since = [*spans, (since, at)], None
    if since is not None:
        spans.append((since, max(since, until)))
    return tuple(span for span in spans if span[1] > span[0])


def _of_maintenance(component: Component, record: Record) -> Iterator[tuple[float, bool]]:
    """(time, whether maintenance begins (True) or ends (False)), in the order of the log."""
    for row in record.standing:
        if row.kind not in ("clock", "paused", "continued") or row.case or not _concerns(row, component):
            continue
        word = _word(row, str(row.value.get("act") or row.kind))
        begins = word.act in ("stop", "paused")
        if not begins or word.cause == MAINTENANCE:
            yield word.at, begins


def _last_ends(record: Record) -> Mapping[str, float]:
    """Component -> the end of the last of its judged runs, without set-ups and clean-ups.

    A run with unknown end counts as over when it was first judged; a later verdict on the same run moves no end.
    """
    judged = {row.run: row.time for row in record.runs if not row.supersedes}
    ends: dict[str, float] = {}
    for row in record.runs:
        if not row.superseded_by and row.mode not in STEPS:
            end = end_of(row, judged)
            ends[row.component] = max(end, ends.get(row.component, end))
    return ends


def end_of(row: RunRow, judged: Mapping[str, float]) -> float:
    span = span_of(row)
    return span[1] if span else judged.get(row.run, row.time)
