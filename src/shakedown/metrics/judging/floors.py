"""The least work of a stability campaign: runs and node-hours of each test, hours on each node, and no long hole.

Their units are in ``model.measures``; times are in hours unless the bound has another unit. ``DEFINITIONS`` explains them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.clock import Clock, Hours
from shakedown.metrics.interrupts import Interrupts, interrupts
from shakedown.metrics.judging.at_bound import at_bound, in_its_unit
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.node_hours import RIGHT
from shakedown.metrics.nodes_used import node_times
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.wanted import FILLER
from shakedown.metrics.words import plural, show_beside
from shakedown.model.judging import Criterion
from shakedown.model.measures import measure_named
from shakedown.model.units import UNITS as KNOWN_UNITS
from shakedown.model.units import Quantity, show_duration

RUNS, NODE_HOURS, PER_NODE = "runs", "node-hours", "hours per node"
INTERRUPT, HOLE = "mean time to interrupt", "longest hole"
DEFINITIONS = {
    RUNS: "Runs of the component that ran to their end with the right answer, warm-up and filler not counted.",
    NODE_HOURS: "What these took of the machine while the clock ran.",
    PER_NODE: "Of the partitions that the component's cases run on, the node that was held least: the clock's time in which one of "
    "our runs held it, of whatever component and verdict, filler and warm-up too. A node that none held counts 0, whether it was "
    "excluded, down or never chosen.",
    INTERRUPT: "The clock's time over the interrupts in it: runs of the component, fillers too, that ended as node_fail, "
    "interrupted or lost, or that did not pass and were ruled the vendor's or the site's; not those that were ruled the "
    "application's, the harness's or excused. The interval is exact (Poisson) at 95 %.",
    HOLE: "Of each test the longest stretch of the clock's time in which no run of it that is counted, whatever its verdict, was "
    "live: from the beginning of the clock to the first, between two, from the last to the end. Filler is no such run.",
}


def unit_of(criterion: Criterion) -> str:
    """Purpose: the unit of a count or a time: the bound's unit if it is a time unit, else the measure's unit."""
    declared = measure_named(criterion.measure)
    own = declared.unit if declared else ""
    if own == "h" and KNOWN_UNITS.get(criterion.unit, ("", 0))[0] == "seconds":
        return criterion.unit
    return own


# ---- runs and node-hours -----------------------------------------------------------------------------------------------


def runs(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``runs``: how many counting runs reached their end with the right answer."""
    count = sum(row.verdict in RIGHT for row in population.rows)
    text = f"{plural(count, 'right run')} of {plural(len(population.rows), 'attempt')}"
    high = count + population.most_to_come
    return Measured(count, count, text + _later(population), count, high, whole=True)


def node_hours(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``node-hours``: the node-hours of right runs while the clock ran."""
    clock = around.clock
    if clock is None:
        return Measured(None, 0, "", reason=around.no_clock)
    rows = [row for row in population.rows if row.verdict in RIGHT]
    taken = around.nodes.sum(rows, Hours(clock.spans))
    text = f"{show_beside(taken.node_hours, criterion.bound)} node-hours of {plural(taken.runs, 'right run')}"
    text += f" ({plural(taken.untimed, 'run')} of unknown times not counted)" if taken.untimed else ""
    found = _floor(taken.node_hours, taken.runs, text, population)
    return (
        replace(found, high=math.inf) if population.cut_off else found
    )  # what could not be judged may have been right


def hours_per_node(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``hours per node``: how long the node that was held least was held."""
    clock, nodes = around.clock, around.nodes
    if clock is None:
        return Measured(None, 0, "", reason=around.no_clock)
    found = node_times(around.record.current(), nodes, nodes.places(around.component), clock)
    if found.worst is None:
        return Measured(None, 0, "", reason="its partitions have no nodes")
    seconds = found.seconds[found.worst]
    value = _in_unit(seconds, criterion)
    same = sum(other == seconds for other in found.seconds.values())
    text = f"{_shown(value, criterion)} on {found.worst[1]}, held least of {plural(len(found.seconds), 'node')}"
    text += f" ({plural(same, 'node')} as little)" if same > 1 else ""
    text += f", of {_shown(_in_unit(clock.ran, criterion), criterion)} on the clock"
    text += f" ({plural(found.unknown, 'run')} of unknown times or nodes not counted)" if found.unknown else ""
    return _floor(value, len(found.seconds), text, population)


def _floor(value: float, count: int, text: str, population: Population) -> Measured:
    """A number that can only grow while more results are to come."""
    high = math.inf if population.unfinished else value
    return Measured(value, count, text + _later(population), value, high, whole=True)


# ---- interrupts --------------------------------------------------------------------------------------------------------


def mean_time_to_interrupt(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``mean time to interrupt``: clock time over job interrupts; without any, the time itself is a lower limit."""
    clock = around.clock
    if clock is None or clock.ran <= 0:
        return Measured(None, 0, "", reason=around.no_clock)
    found = interrupts(around.component, clock, around.record)
    time = _in_unit(found.seconds, criterion)
    if not found.count:
        return _without_interrupt(time, found, criterion, population)
    value = time / found.count
    low, high = (_in_unit(end or math.inf, criterion) for end in found.interval or (0.0, None))
    text = f"{_shown(time, criterion)} of clock / {plural(found.count, 'interrupt')} = {_shown(value, criterion)} ("
    text += ", ".join(f"{count} {verdict}" for verdict, count in found.jobs) + f"; {_plainly(low, criterion)} to "
    text += f"{in_its_unit(high, criterion, unit_of(criterion))} at 95 %; {plural(found.system, 'system interrupt')})"
    sure = None if population.unfinished else value
    return Measured(value, found.count, text + _later(population), sure, sure, (low, high), whole=True)


def _without_interrupt(time: float, found: Interrupts, criterion: Criterion, population: Population) -> Measured:
    """No interrupt in 240 h: at least 80.1 h at 95 %. If the time is too short to reach the bound, the criterion is undecided."""
    least = (found.interval or (0.0, None))[0]
    said = f"no interrupt in {_shown(time, criterion)} of clock"
    text = f"{said}: at least {_shown(_in_unit(least, criterion), criterion)} at 95 %"
    if not population.unfinished and criterion.comparison.startswith(">") and time < criterion.bound:
        return Measured(None, 0, text, reason=f"{said}, which is too short a time to tell", whole=True)
    sure = None if population.unfinished else time
    return Measured(time, 0, text + _later(population), sure, sure, whole=True)


# ---- holes -------------------------------------------------------------------------------------------------------------


_STILL_S = 1e-6  # shorter times are rounding errors


class Hole(Struct, frozen=True):
    """A period without a live run of a test. ``seconds``: its clock time; ``last``: it lasts to the clock's end."""

    test: str
    seconds: float
    begin: float
    end: float
    last: bool = False


def longest_hole(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``longest hole``: the longest hole of any test."""
    clock = around.clock
    if clock is None or clock.ran <= 0:
        return Measured(None, 0, "", reason=around.no_clock)
    every = [hole for holes in holes_of(population, around, clock).values() for hole in holes]
    worst = max(every, key=lambda hole: hole.seconds, default=None)
    tests = len({case.case.test for case in population.cases})
    if worst is None:
        return Measured(0.0, tests, "no hole" + _later(population), 0.0, _yet(population, 0.0), whole=True)
    value = _in_unit(worst.seconds, criterion)
    text = f"{_shown(value, criterion)} without a run of {worst.test}, from {_since(worst.begin, clock)} to "
    text += f"{_since(worst.end, clock)} after the clock began"
    still = worst.end - worst.begin - worst.seconds
    text += f", of which it stood still for {show_duration(still)}" if still > _STILL_S else ""
    sure = (
        max((hole.seconds for hole in every if not hole.last), default=0.0) if population.unfinished else worst.seconds
    )
    return Measured(
        value, tests, text + _later(population), _in_unit(sure, criterion), _yet(population, value), whole=True
    )


def holes_of(population: Population, around: MeasureContext, clock: Clock) -> dict[str, list[Hole]]:
    """Purpose: test -> its holes, by time. The begin of a run that is live now ends the last hole."""
    spans: dict[str, list[Span]] = {case.case.test: [] for case in population.cases}
    tests = {case.case.id: case.case.test for case in population.cases}
    for row in (*population.rows, *(row for case in population.cases for row in case.undetermined)):
        if (span := span_of(row)) is not None:  # whatever its verdict, because it ran
            spans[tests[row.case]].append(span)
    for run in around.record.open.values():
        counts = run.component == around.component.name and run.mode != FILLER and run.case in tests
        if counts and run.started is not None:
            spans[tests[run.case]].append((run.started, max(run.started, clock.end)))
    hours = Hours(clock.spans)
    return {test: _holes(test, mine, clock, hours) for test, mine in spans.items()}


def _holes(test: str, spans: Iterable[Span], clock: Clock, hours: Hours) -> list[Hole]:
    found, until = [], clock.begin
    for begin, end in sorted(spans):
        if begin > until:
            found.append(Hole(test, hours.inside((until, begin)), until, min(begin, clock.end), begin >= clock.end))
        until = max(until, end)
    if until < clock.end:
        found.append(Hole(test, hours.inside((until, clock.end)), until, clock.end, last=True))
    return [hole for hole in found if hole.seconds > 0]


def _yet(population: Population, value: float) -> float:
    """The largest value that a hole can still reach."""
    return math.inf if population.unfinished else value


# ---- words -------------------------------------------------------------------------------------------------------------


def _in_unit(seconds: float, criterion: Criterion) -> float:
    return Quantity(seconds, "s").to(unit_of(criterion))


def _shown(value: float, criterion: Criterion) -> str:
    return at_bound(value, criterion, unit_of(criterion))


def _plainly(value: float, criterion: Criterion) -> str:
    """The number without its unit: the text shows the unit once, after the last number."""
    return in_its_unit(value, criterion, unit_of(criterion)).partition(" ")[0]


def _since(moment: float, clock: Clock) -> str:
    return show_duration(max(0.0, moment - clock.begin))


def _later(population: Population) -> str:
    if population.more:
        return ", more to come"
    return f", {coming} to come" if (coming := population.to_come - population.cut_off) else ""
