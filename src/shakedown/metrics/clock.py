"""The clock of each component: what started, stopped and restarted it, the time it has run, and what lies inside of it.

``clocks_of`` is the table of contents. A clock starts with the component's first order, or when a person declares it, as the plan
says. It is moved by words about the clock itself, and by pauses: what a pause does is said by the plan for its cause.
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
TAKES_UP = ("again", "amended")  # what takes up a component that was over: its clock stood still until then
_AFTER = {"stops": "go on", "restarts": "restart"}  # what a pause does to the clock -> what its end does


class Word(Struct, frozen=True):
    """One word on a clock, as of ``at``: ``act`` is start, stop, go on, restart. ``kind``: the event that said it, "" where the
    plan did. ``said``: when it was said.
    """

    at: float
    act: str
    cause: str = ""
    why: str = ""
    by: str = ""
    kind: str = ""
    said: float = 0.0


class Clock(Struct, frozen=True):
    """When a component's clock ran. ``spans``: that time; it lies between ``begin``, when it was last started or started anew, and
    ``end``, the end of the component's last run or of its time. ``maintenance``: what of that was announced maintenance.
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
    """How much of any stretch lies inside some spans, in logarithmic time."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = tuple(spans)
        self._begins = [begin for begin, _ in self.spans]
        self._before = [0.0, *accumulate(end - begin for begin, end in self.spans)]

    def inside(self, span: Span) -> float:
        """Seconds of a stretch that lie inside."""
        place = bisect_right(self._begins, span[0]) - 1
        if place >= 0 and span[1] <= self.spans[place][1]:  # the rule: all of it within one
            return max(0.0, span[1] - span[0])
        return max(0.0, self.until(span[1]) - self.until(span[0]))

    def until(self, time: float) -> float:
        """Seconds of the spans that lie before a moment."""
        place = bisect_right(self._begins, time) - 1
        if place < 0:
            return 0.0
        begin, end = self.spans[place]
        return self._before[place] + min(time, end) - begin

    def moment(self, amount: float) -> float | None:
        """When so many seconds of the spans had passed."""
        return clocks.reached(self.spans, amount)


def clocks_of(document: Document, record: Record) -> dict[str, Clock | None]:
    """Purpose: the clock of every component; None where it has not run. One pass over the rows."""
    ends = _last_ends(record)
    return {component.name: _clock(component, record, ends.get(component.name)) for component in document.components}


def component_clock(component: Component, record: Record) -> Clock | None:
    """Purpose: one component's clock, None where it has not begun or nothing of it is judged."""
    return _clock(component, record, _last_ends(record).get(component.name))


def words_of(component: Component, record: Record) -> tuple[Word, ...]:
    """Purpose: everything that was said of a component's clock, by time; of the same moment in the order of the log."""
    return tuple(sorted(_words(component, record), key=lambda word: word.at))


def began(component: Component, record: Record) -> float | None:
    """Purpose: when the clock was last started or started anew; None where it was not."""
    return clocks.since(_acts(component, record))


def time_has_passed(component: Component, record: Record) -> bool:
    """Purpose: whether a component that runs for a time has had it, or was told to come to its end."""
    spans = _counted(component, record, record.last)
    return clocks.reached(spans, component.duration_s) is not None or _told_to_end(component, record) is not None


def time_is_up_at(component: Component, record: Record) -> float | None:
    """Purpose: when a component that runs for a time has had it, as its clock stands, or will have had it if nothing more is said;
    None where its clock stands still or was not started. The drain is not asked about: it ends no time.
    """
    first, terms = record.first_orders.get(component.name), component.clock
    acts = _acts(component, record)
    if first is not None and terms.start == "first order" and not terms.ramp:
        acts = [(at + component.fill.ramp_s if at == first and act == "start" else at, act) for at, act in acts]
    return clocks.when(acts, component.duration_s, record.last)


def is_anew(component: Component, record: Record) -> bool:
    """Purpose: whether the clock began later than with the first order, so that runs from before do not count."""
    first = record.first_orders.get(component.name)
    if not component.duration_s or first is None:
        return False
    since = began(component, record)
    return since is None or since > first


def enough(ran: float, asked: float) -> bool:
    """Whether a clock has run for as long as is asked; a thousandth of a second is rounding."""
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
    """The time that counts: what the clock ran, without ramp and drain where the plan says so."""
    first, terms = record.first_orders.get(component.name), component.clock
    by_itself = first is not None and terms.start == "first order"
    ramp = (first, first + component.fill.ramp_s) if first is not None and by_itself and not terms.ramp else None
    ends = None if terms.drain else _told_to_end(component, record)
    return clocks.counted(clocks.running(_acts(component, record), until), ramp, ends)


def _told_to_end(component: Component, record: Record) -> float | None:
    """When the machine began to be emptied: its time was up, or somebody wanted it drained, after its clock began.

    So does a cancellation of the whole campaign. An amendment takes all of these back.
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
    """What was said, in the order of the log; what the plan says of its own comes first.

    The end of a pause starts a clock anew, but none that nobody has started yet.
    """
    first = record.first_orders.get(component.name)
    begun = component.clock.start == "first order" and first is not None
    if begun and first is not None:
        yield Word(first, "start", why="the first order", said=first)
    waiting = ""  # what the end of a pause is to do to the clock
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
    """What a pause does to the clock: as was said then, else by its cause; one between two parts of the time stops it."""
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
    """Announced maintenance: from a pause or a stop of the clock with that cause until it is continued or let go on."""
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
    """(when, whether maintenance begins or ends), in the order of the log."""
    for row in record.standing:
        if row.kind not in ("clock", "paused", "continued") or row.case or not _concerns(row, component):
            continue
        word = _word(row, str(row.value.get("act") or row.kind))
        begins = word.act in ("stop", "paused")
        if not begins or word.cause == MAINTENANCE:
            yield word.at, begins


def _last_ends(record: Record) -> Mapping[str, float]:
    """Component -> the end of its last run that is judged, set-ups and clean-ups left aside.

    A run whose end is not known was over when it was first judged; judging it again moves no end.
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
