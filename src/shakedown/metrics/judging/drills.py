"""The measures of drills: what the record shows of the load while people did something to the machine.

Start reading at ``drills_of``. The window of a drill begins when the drill begins. It ends after the drill's end plus the time that
the plan gives the load to settle, but not later than the component's time. Times are seconds since 1970.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from shakedown.metrics.clock import Clock, Hours
from shakedown.metrics.interrupts import RULED_OTHERS
from shakedown.metrics.judging.at_bound import at_bound
from shakedown.metrics.judging.people import A_MOMENT_S
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.node_hours import RIGHT
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.rows import DRILL, STEPS, DrillRow, OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, some
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document, Drill
from shakedown.model.units import show_duration
from shakedown.model.wording import wording_of_drill

FELL = 0.95  # the load counts as fallen below this share of the load before
_BADLY = ("failed", "timeout", "node_fail", "interrupted", "lost")  # verdicts of runs that did not reach their end


class DrillScore(Struct, frozen=True):
    """The known facts of a drill. ``why``: why nothing can be measured yet, "" if it can.

    ``begun``, ``ended``: as people said, or as its run began and ended; ``until``: the end of its window. ``words``: people's
    statements; ``backdated``: its begin was stated afterwards. ``over``: the measured values can no longer change.
    ``lost``: the lost runs; ``live``: how many runs of the window are not judged yet. ``hole``: the longest period without
    progress, with ``hole_s`` of clock time; ``hole_before_s``: the longest in an equal time before. ``level``: nodes in use before;
    ``lowest``: the fewest in the window; ``back``: when the load was restored, None if it was not.
    """

    component: str
    drill: Drill
    why: str = ""
    begun: float | None = None
    ended: float | None = None
    until: float | None = None
    words: tuple[DrillRow, ...] = ()
    run: str = ""
    backdated: bool = False
    over: bool = False
    lost: tuple[str, ...] = ()
    live: int = 0
    hole: Span | None = None
    hole_s: float = 0.0
    hole_before_s: float = 0.0
    level: float = 0.0
    lowest: float = 0.0
    back: float | None = None

    @property
    def back_s(self) -> float | None:
        """Seconds from the start of the drill until the load was restored; None if it was not."""
        return None if self.back is None or self.begun is None else self.back - self.begun


class _Live(Struct, frozen=True):
    """A run that held nodes: begin and end (None: still live), whether it ended right, and whether it ended badly (was lost)."""

    run: str
    begin: float
    end: float | None
    nodes: float
    right: bool
    bad: bool


def drills_of(around: MeasureContext) -> list[DrillScore]:
    """Purpose: the known facts of every drill of a component."""
    if not around.component.drills:
        return []
    runs = _live_runs(around)
    return [_score(drill, around, runs) for drill in around.component.drills]


def every_drill(document: Document, record: Record) -> list[DrillScore]:
    """Purpose: the known facts of every drill of a plan, in its order."""
    if not any(component.drills for component in document.components):
        return []
    return [score for around in arounds(document, record) for score in drills_of(around)]


def drill_score(name: str, around: MeasureContext) -> DrillScore:
    """Purpose: the known facts of one drill of a component, by its name."""
    drill = next(one for one in around.component.drills if one.name == name)
    return _score(drill, around, _live_runs(around))


# ---- criteria ----------------------------------------------------------------------------------------------------------------


def lost_runs(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``drill: lost``: how many runs that were live in the drill's window did not finish."""
    score = drill_score(criterion.files, around)
    if score.why:
        return Measured(None, 0, "", reason=score.why, whole=True)
    count = len(score.lost)
    text = f"{plural(count, 'run')} lost, {_window(score)}" + (f" ({some(list(score.lost))})" if count else "")
    text += f", {score.live} live then and not judged yet" if score.live else ""
    most = float(count) if score.over and not score.live else math.inf
    return Measured(float(count), count, text, float(count), most, whole=True)


def longest_standstill(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``drill: hole``: the longest time without progress that began in the window, in seconds."""
    score = drill_score(criterion.files, around)
    if score.why:
        return Measured(None, 0, "", reason=score.why, whole=True)
    shown = at_bound(score.hole_s, criterion, "s")
    where = f" from {_after(score.hole[0], score)}" if score.hole is not None else ""
    before = show_duration(score.hole_before_s)
    text = f"{shown} without progress{where}, {_window(score)}; {before} at the most in as long a time before"
    return Measured(score.hole_s, 1, text, score.hole_s, score.hole_s if score.over else math.inf, whole=True)


def back_after(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``drill: back``: how long it took until as many nodes were in use as before the drill, in seconds."""
    score = drill_score(criterion.files, around)
    if score.why:
        return Measured(None, 0, "", reason=score.why, whole=True)
    if not score.level:
        return Measured(
            None, 0, "", reason="no run was live before it began: there was no load to come back", whole=True
        )
    load = f"{score.lowest:.4g} of {score.level:.4g} nodes in use at the least"
    begun = score.begun or 0.0
    if score.back is None:
        so_far = max(0.0, min(around.record.last, around.record.time_up.get(score.component, math.inf)) - begun)
        text = f"the load was not back after {at_bound(so_far, criterion, 's')} ({load})"
        return Measured(so_far, 1, text, math.inf if score.over else so_far, math.inf, whole=True)
    took = score.back_s or 0.0
    text = f"the load was back after {at_bound(took, criterion, 's')} ({load}), {_window(score)}"
    return Measured(took, 1, text, took, took if score.over else math.inf, whole=True)


def _window(score: DrillScore) -> str:
    lasted = show_duration((score.ended or 0.0) - (score.begun or 0.0))
    late = ", its begin said afterwards" if score.backdated else ""
    return f"in a drill of {lasted} and {show_duration(score.drill.settle_s)} after it{late}"


def _after(moment: float, score: DrillScore) -> str:
    return f"{show_duration(max(0.0, moment - (score.begun or 0.0)))} after its begin"


# ---- one drill -----------------------------------------------------------------------------------------------------------------


def _score(drill: Drill, around: MeasureContext, runs: Sequence[_Live]) -> DrillScore:
    name, record, clock = around.component.name, around.record, around.clock
    words = tuple(row for row in record.drilled if (row.component, row.drill) == (name, drill.name))
    score = DrillScore(name, drill, words=words)
    score = _by_its_run(score, drill, around) if drill.case else _by_people(score, drill, words)
    if score.why or score.begun is None or score.ended is None:
        return score
    if clock is None or score.begun < clock.begin:
        return _without(score, "it was done before the component's clock was started, or started anew")
    return _measured(score, around, clock, runs)


def _without(score: DrillScore, why: str) -> DrillScore:
    return DrillScore(
        score.component, score.drill, why, score.begun, score.ended, words=score.words, run=score.run,
        backdated=score.backdated,
    )  # fmt: skip


def _by_people(score: DrillScore, drill: Drill, words: Sequence[DrillRow]) -> DrillScore:
    """A drill from people's statements: the last stated begin counts, and the last stated end that is not before it."""
    begin = next((row for row in reversed(words) if row.act == "begun"), None)
    if begin is None:
        who = f" by the {drill.who}" if drill.who else ""
        return DrillScore(score.component, drill, f"it was not done yet{who}", words=score.words)
    late = begin.at < begin.time - A_MOMENT_S
    end = next((row for row in reversed(words) if row.act == "ended" and row.at >= begin.at), None)
    found = DrillScore(score.component, drill, "", begin.at, end.at if end else None, words=score.words, backdated=late)
    if end is None:
        return _without(found, f"it began, by {begin.by or 'somebody'}; nobody has said that it ended")
    files = len({digest for _, digest in end.evidence})
    if any(row.wording and row.wording != wording_of_drill(drill) for row in (begin, end)):
        return _without(found, "it was done before the plan asked for something else")
    if files < drill.evidence:
        return _without(found, f"{files} of the {plural(drill.evidence, 'file')} of evidence that it asks for")
    return found


def _by_its_run(score: DrillScore, drill: Drill, around: MeasureContext) -> DrillScore:
    """A drill that is a test: the drill's times are those of its run, the last one if it ran again."""
    rows = [row for row in around.record.current() if _is_of(row, score.component, drill) and span_of(row) is not None]
    if not rows:
        live = any(_is_of(run, score.component, drill) for run in around.record.open.values())
        return DrillScore(score.component, drill, "it is under way" if live else "its test has not run yet")
    row = max(rows, key=lambda one: one.seq)
    begin, end = span_of(row) or (0.0, 0.0)
    found = DrillScore(score.component, drill, "", begin, end, run=row.run)
    if row.verdict not in RIGHT:
        return _without(found, f"its test did not pass: it was judged {row.verdict} as {row.run}")
    return found


def _is_of(row: RunRow | OpenRun, component: str, drill: Drill) -> bool:
    return (row.component, row.mode, row.case) == (component, DRILL, drill.case) and row.of in ("", drill.name)


def _measured(score: DrillScore, around: MeasureContext, clock: Clock, runs: Sequence[_Live]) -> DrillScore:
    begin, end = score.begun or 0.0, score.ended or 0.0
    up = around.record.time_up.get(score.component, math.inf)
    until, last = min(end + score.drill.settle_s, up), min(around.record.last, up)
    over = around.record.last >= until or around.record.ended is not None
    mine = [run for run in runs if run.begin <= until and (run.end is None or run.end > begin)]
    hours = Hours(clock.spans)
    hole, more = _hole(runs, begin, until, last)
    width = until - begin
    before, _ = _hole([run for run in runs if run.begin < begin], begin - width, begin, begin)
    level, lowest, back, fell = _load(runs, begin, until, last, score.drill.settle_s)
    closed = around.record.ended is not None
    return DrillScore(
        score.component,
        score.drill,
        "",
        begin,
        end,
        until,
        score.words,
        score.run,
        score.backdated,
        over=over and (closed or not more) and (closed or back is not None or not fell),
        lost=tuple(run.run for run in mine if run.bad),
        live=0 if closed else sum(run.end is None for run in mine),
        hole=hole,
        hole_s=hours.inside(hole) if hole is not None else 0.0,
        hole_before_s=hours.inside(before) if before is not None else 0.0,
        level=level,
        lowest=lowest,
        back=back,
    )


def _live_runs(around: MeasureContext) -> list[_Live]:
    """All runs of a component that held nodes, including fillers, without set-ups, clean-ups and drills."""
    record, nodes, name = around.record, around.nodes, around.component.name
    found = []
    for row in record.current():
        span = _held(row) if row.component == name and row.mode not in STEPS else None
        if span is not None and row.case in nodes.cases:
            bad = row.verdict in _BADLY and row.ruling not in RULED_OTHERS
            held = nodes.held_by(row)
            found.append(_Live(row.run, span[0], span[1], held, row.verdict in RIGHT, bad))
    for run in record.open.values():
        counts = run.component == name and run.mode not in STEPS and run.case in nodes.cases
        if counts and run.started is not None:
            found.append(_Live(run.run, run.started, None, nodes.held_by(run), False, False))
    return found


def _held(row: RunRow) -> Span | None:
    """From when to when a run held its nodes. If a node failure left no end, the run held them until its verdict."""
    if row.started is None:
        return None
    return span_of(row) or (row.started, max(row.started, row.ended if row.ended is not None else row.time))


def _hole(runs: Iterable[_Live], begin: float, until: float, last: float) -> tuple[Span | None, bool]:
    """(hole, open): the longest period that begins in the window and in which no run begins or ends right; and whether the period
    that is open at the end of the window still continues. ``last``: the time up to which the record is known.
    """
    moments = {run.begin for run in runs} | {run.end for run in runs if run.right and run.end is not None}
    inside = sorted(moment for moment in moments if begin < moment <= until)
    after = min((moment for moment in moments if moment > until), default=None)
    edges = [begin, *inside, max(until, after if after is not None else last) if last > until else last]
    stretches = [(one, two) for one, two in pairwise(edges) if two > one]
    worst = max(stretches, key=lambda stretch: stretch[1] - stretch[0], default=None)
    return worst, after is None


def _load(
    runs: Sequence[_Live], begin: float, until: float, last: float, over_s: float
) -> tuple[float, float, float | None, bool]:
    """(average nodes in use before, fewest in the window, when the load was restored, whether the load had fallen)."""
    since = begin - over_s
    level = sum(run.nodes * max(0.0, min(begin, _end(run)) - max(since, run.begin)) for run in runs)
    known = begin - max(since, min((run.begin for run in runs), default=begin))
    level = level / known if known > 0 else 0.0
    steps = list(_steps(runs, begin, last))
    window = [load for moment, load in steps if moment <= until]
    if not window:
        return level, 0.0, None, True
    usual = max(
        (end - at for at, end, _ in _dips(_steps(runs, since, begin), FELL * level) if end < begin), default=0.0
    )
    dips = [dip for dip in _dips(steps, FELL * level) if dip[0] <= until and dip[1] - dip[0] > usual]
    if not dips:
        return level, min(window), begin, False
    _, back, lowest = min(dips, key=lambda dip: (dip[2], dip[0]))
    return level, lowest, None if back == math.inf else back, True


def _dips(steps: Iterable[tuple[float, float]], least: float) -> list[tuple[float, float, float]]:
    """The periods in which fewer than ``least`` nodes were in use: (begin, end, fewest nodes); the end is infinite while a period
    lasts. Such a gap also occurs where one run follows another; callers ignore gaps no longer than those before the drill.
    """
    found: list[tuple[float, float, float]] = []
    for moment, load in steps:
        low, open_one = load < least, bool(found) and found[-1][1] == math.inf
        if low and open_one:
            found[-1] = (found[-1][0], math.inf, min(found[-1][2], load))
        elif low:
            found.append((moment, math.inf, load))
        elif open_one:
            found[-1] = (found[-1][0], moment, found[-1][2])
    return found


def _end(run: _Live) -> float:
    return math.inf if run.end is None else run.end


def _steps(runs: Sequence[_Live], begin: float, last: float) -> Iterator[tuple[float, float]]:
    """(time, nodes in use from then on), from the begin of a window. Ends and begins at the same time are one step."""
    load = math.fsum(run.nodes for run in runs if run.begin <= begin < _end(run))
    changes: dict[float, float] = {begin: 0.0}
    for run in runs:
        for moment, nodes in ((run.begin, run.nodes), (_end(run), -run.nodes)):
            if begin < moment <= last:
                changes[moment] = changes.get(moment, 0.0) + nodes
    for moment in sorted(changes):
        load += changes[moment]
        yield moment, load
