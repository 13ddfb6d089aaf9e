"""The runs that a criterion counts: of one test, one mode, some epochs, without those it leaves out. ``choose`` is the way in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.epochs import least_epoch
from shakedown.metrics.judging.populations import CaseRuns, Population, counts_as_passed
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import outliers
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case

OUTLIERS = "outliers"
NEVER_LEFT_OUT = (
    "correct / completed"  # this measure leaves nothing out: it counts runs that reached their end, right or wrong
)
_NOT_PASSED = "attempts that did not pass are left out, and results all of whose attempts are"
_SLOW = "values of runs that came to their end too slow (performance) are left out; those of runs that passed never"
BY_RULING = {  # measure -> the effect of leaving out runs by ruling
    "passed / attempts": _NOT_PASSED,
    "passed / wanted": _NOT_PASSED,
    "correct / completed": "nothing: a wrong answer is one whoever caused it, and a right one needs no excuse",
    "value": _SLOW,
    "sd / mean": _SLOW,
    "fill / isolated": _SLOW,
    "rows met": _SLOW,
}


_SHARES = frozenset(measure for measure, what in BY_RULING.items() if what == _NOT_PASSED)


class Chosen(Struct, frozen=True):
    """``population``: the runs that count; ``everything``: the same with nothing left out; ``left_out``: the number of runs by
    reason.
    """

    population: Population
    everything: Population
    left_out: tuple[tuple[str, int], ...] = ()


def choose(criterion: Criterion, population: Population, record: Record) -> Chosen:
    """Purpose: the runs that a criterion counts, and the numbers of those it leaves out."""
    mine = population.of_test(criterion.test).each(lambda case: case.of_mode(criterion.mode))
    least = least_epoch(criterion, record)
    everything = mine.each(lambda case: case.keep(lambda row: row.epoch >= least)) if least > 1 else mine
    parties = {word.removeprefix("ruled ") for word in criterion.leave_out if word.startswith("ruled ")}
    kept, counts = everything, Counter[str]()
    if parties:
        dropped = _leaves_out(criterion, parties)
        gone = {row.run for case in everything.cases for row in case.rows if dropped(row, case.case)}
        counts.update(f"ruled {row.ruling}" for row in everything.rows if row.run in gone)
        kept = everything.each(lambda case: case.keep(lambda row: row.run not in gone)) if gone else everything
        kept = _excusing(kept, parties, counts) if criterion.measure in _SHARES else kept
    if OUTLIERS in criterion.leave_out:
        flagged = outlier_runs(kept, criterion.of)
        counts.update({"outlier": len(flagged)} if flagged else {})
        kept = kept.each(lambda case: _set_aside(case, flagged))
    return Chosen(kept, everything, tuple(counts.items()))


def _excusing(population: Population, parties: set[str], counts: Counter[str]) -> Population:
    """Runs cut off by the end of the time and ruled as one of ``parties``: left out if they failed, counted if they passed."""
    counts.update(f"ruled {row.ruling}" for case in population.cases for row in case.excused_by(parties))

    def excusing(case: CaseRuns) -> CaseRuns:
        return replace(case, excused=len({(row.mode, row.result) for row in case.excused_by(parties)}))

    return population.each(excusing) if population.cut_off else population


def outlier_runs(population: Population, figure: str) -> frozenset[str]:
    """The runs whose value of a figure lies far from the median of their case in their mode."""
    found: set[str] = set()
    for case in population.cases:
        for mode, _ in case.wanted:
            pairs = [(row, value) for row, value in case.values(figure) if row.mode == mode]
            found.update(pairs[place][0].run for place in outliers([value for _, value in pairs]))
    return frozenset(found)


def _set_aside(case: CaseRuns, flagged: frozenset[str]) -> CaseRuns:
    mine = {row.run: "outlier" for row in case.rows if row.run in flagged}
    return replace(case, aside={**case.aside, **mine}) if mine else case


def _leaves_out(criterion: Criterion, parties: set[str]) -> Callable[[RunRow, Case], bool]:
    """A test of which runs a ruling leaves out, see ``BY_RULING``; never runs that passed or ended as expected."""
    if criterion.measure == NEVER_LEFT_OUT:
        return lambda row, case: False
    return lambda row, case: row.ruling in parties and not counts_as_passed(row, case)
