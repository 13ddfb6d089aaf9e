"""Measures of runs, figures and contract rows: each is a function from a population to a ``Measured``.

``model.measures`` declares every measure and names its function, which is here or in a neighbouring file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from shakedown.metrics import statistics
from shakedown.metrics.judging.at_bound import at_bound
from shakedown.metrics.judging.contract import of_rows
from shakedown.metrics.judging.contract_measure import rows_met
from shakedown.metrics.judging.exclusions import outlier_runs
from shakedown.metrics.judging.populations import (
    Population,
    as_expected,
    completed,
    correct,
    count_verdicts,
    counts_as_passed,
    measured_value,
)
from shakedown.metrics.judging.scope import ELAPSED, MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.words import plural, show_share, show_value, some
from shakedown.model.entry_points import declared_by, function, words_of
from shakedown.model.judging import Criterion
from shakedown.model.measures import GROUP, Measure, measure_named
from shakedown.model.units import Quantity

Function = Callable[[Criterion, Population, MeasureContext], Measured]


def measure(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: the value of a criterion's measure in a population, in the criterion's unit; shares are fractions of one."""
    declared = measure_named(criterion.measure)
    if not population.cases and not (declared and declared.without_cases):
        return _nobody(criterion, population)
    if declared is None:
        return Measured(None, 0, "", reason=f"this version does not know the measure '{criterion.measure}'")
    if declared_by(GROUP, declared.name):
        return _of_a_package(declared, criterion, population, around)
    return _function(declared.function)(criterion, population, around)


def _of_a_package(declared: Measure, criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The value of another package's measure. If the measure fails there is no value, and the reason names the package."""
    whose = f"the measure '{declared.name}' of {declared_by(GROUP, declared.name)}"
    try:
        found = _function(declared.function)(criterion, population, around)
    except Exception as error:  # noqa: BLE001 - the code of another package may raise anything
        return Measured(None, 0, "", reason=f"{whose} failed: {words_of(error)}")
    if not isinstance(found, Measured):
        return Measured(None, 0, "", reason=f"{whose} gave {type(found).__name__} instead of Measured")
    return found


@cache
def _function(path: str) -> Function:
    found: Function = function(path)
    return found


def _nobody(criterion: Criterion, population: Population) -> Measured:
    if population.unavailable:
        count = len(population.unavailable)
        reason = "its only case is unavailable" if count == 1 else f"all its {count} cases are unavailable"
        return Measured(None, 0, "", reason=reason, restricted=True)
    whose = f"of test '{criterion.test}' " if criterion.test else ""
    return Measured(None, 0, "", reason=f"no case {whose}is in this component")


def only_unavailable(criterion: Criterion, population: Population, around: MeasureContext) -> Population:
    """Purpose: the population, reduced to its unavailable cases if all cases that have the criterion's figure are unavailable.

    The other cases can never give a value: the criterion is not judged, and restricts, as if it named the test.
    """
    if not criterion.of or criterion.of == ELAPSED.name:
        return population
    mine = population.of_test(criterion.test)
    missing = tuple(row for row in mine.unavailable if around.has(row.test, criterion.of))
    if not missing or any(around.has(case.case.test, criterion.of) for case in mine.cases):
        return population
    return Population((), missing)


# ---- shares of runs --------------------------------------------------------------------------------------------------


def passed_of_attempts(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``passed / attempts``: attempts that passed, of all attempts. A result to come may have many failed attempts."""
    rows, cases = population.rows, {case.case.id: case.case for case in population.cases}
    hits = sum(counts_as_passed(row, cases[row.case]) for row in rows)
    coming = population.most_to_come
    most = max(len(rows) + coming, 1)
    least = max(most - population.excused, 1)
    low = hits / least if population.cut_off == coming else 0.0  # results that were cut off are not tried again
    return _share(hits, len(rows), criterion, population, (low, (hits + coming) / most), _others(population, rows))


def passed_of_wanted(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``passed / wanted``: wanted results that passed, at any attempt, of all wanted results."""
    hits, judged = population.passed, population.judged
    open_results = population.wanted - judged
    most = population.wanted + (population.most_to_come if population.more else 0)
    if not judged:
        return _nothing_yet(population)
    least = max(most - population.excused, 1)
    reach = hits / least, (hits + open_results + most - population.wanted) / most
    wanted = population.wanted - population.cut_off  # results that the end of the time cut off are no longer wanted
    return _share(hits, wanted, criterion, population, reach, count=judged)


def correct_of_completed(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``correct / completed``: right answers, of runs that reached their end. No retry follows a wrong answer, so each
    counts.
    """
    cases = {case.case.id: case.case for case in population.cases}
    rows = [row for row in population.rows if completed(row)]
    hits, coming = sum(correct(row, cases[row.case]) for row in rows), population.most_to_come
    if not rows and population.rows and not coming:
        return Measured(None, 0, "", reason="no run ran to its end")
    most = max(len(rows) + coming, 1)
    parties = {word.removeprefix("ruled ") for word in criterion.leave_out}
    ruled = sum(row.verdict == "incorrect" and row.ruling in parties for row in rows)
    note = f" ({ruled} incorrect counted whatever the ruling)" if ruled else ""
    return _share(hits, len(rows), criterion, population, (hits / most, (hits + coming) / most), note)


def _share(
    hits: int,
    total: int,
    criterion: Criterion,
    population: Population,
    reach: tuple[float, float],
    note: str = "",
    count: int | None = None,
) -> Measured:
    """A share with its interval. ``reach``: the least and the most the share can be once the results to come are in."""
    if not total:
        return _nothing_yet(population)
    value = hits / total
    top, bottom = criterion.measure.split(" / ")
    arithmetic = f"{hits} {top} / {total} {bottom} = {show_share(value, criterion.bound)}{_later(population)}{note}"
    low, high = reach if population.to_come else (value, value)
    interval = statistics.share_interval(hits, total)
    return Measured(value, total if count is None else count, arithmetic, low, high, interval, population.why_open)


def _nothing_yet(population: Population) -> Measured:
    if not population.to_come:
        return Measured(None, 0, "", reason="no run is left that counts")
    if not population.unfinished:
        return Measured(None, 0, "", reason=f"nothing is judged; {population.why_open}")
    return Measured(None, 0, "", reason=f"nothing is judged yet; {population.to_come} to come")


def _later(population: Population) -> str:
    """What the numbers lack, in words: results that the end of the time cut off, and results to come."""
    cut = f", {population.cut_off} undetermined when the time was over" if population.cut_off else ""
    coming = population.to_come - population.cut_off
    return cut + (", more to come" if population.more else f", {coming} to come" if coming else "")


def _others(population: Population, rows: list[RunRow]) -> str:
    """The verdicts of attempts that did not pass, and those of expected failures, in words."""
    cases = {case.case.id: case.case for case in population.cases}
    bad = count_verdicts(row for row in rows if not counts_as_passed(row, cases[row.case]))
    expected = count_verdicts(row for row in rows if as_expected(row, cases[row.case]))
    parts = [f"{count} {verdict}" for verdict, count in bad.items()]
    parts += [f"{count} {verdict} as expected" for verdict, count in expected.items()]
    return f" ({', '.join(parts)})" if parts else ""


# ---- figures ---------------------------------------------------------------------------------------------------------


def figure_value(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``value``: a statistic of a figure's values, or of the run time."""
    values, unit, trouble = _values(criterion, population, around)
    if trouble:
        return Measured(None, len(values), "", reason=trouble)
    if criterion.statistic == "sd" and len(values) < 2:
        return Measured(None, len(values), "", reason="a standard deviation needs two values")
    value = statistics.take(criterion.statistic, values)
    shown = at_bound(value, criterion, unit)
    of = f"{criterion.of}{_of_tests(criterion, population)}"
    text = f"{criterion.statistic} of {plural(len(values), 'value')} of {of} = {shown}"
    return _figure(value, len(values), text, criterion, population, _interval(criterion.statistic, values))


def figure_spread(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``sd / mean``: sample standard deviation over mean of a figure; judged with outliers, also shown without."""
    values, unit, trouble = _values(criterion, population, around)
    if trouble:
        return Measured(None, len(values), "", reason=trouble)
    if len(values) < 2:
        return Measured(None, len(values), "", reason="a standard deviation needs two values")
    middle, spread = statistics.mean(values), statistics.sample_sd(values)
    if middle <= 0:
        return Measured(None, len(values), "", reason=f"the mean of {criterion.of} is not positive")
    shown = [show_value(number, unit) for number in (spread, middle)]
    share = show_share(spread / middle, criterion.bound)
    of = f"{criterion.of}{_of_tests(criterion, population)}"
    text = f"sd {shown[0]} / mean {shown[1]} = {share} over {len(values)} values of {of}"
    without = _without_outliers(criterion, population, around)
    return _figure(spread / middle, len(values), text + without, criterion, population, None)


def _of_tests(criterion: Criterion, population: Population) -> str:
    """The tests whose figures of one name are put together, in words; "" for those of one test, and for run times."""
    tests = dict.fromkeys(case.case.test for case in population.cases if case.values(criterion.of))
    return f" of tests {some(list(tests), 4)}" if len(tests) > 1 and criterion.of != ELAPSED.name else ""


def _interval(statistic: str, values: list[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean or the median; None for other statistics, which have no useful one in small samples."""
    if statistic == "median":
        return statistics.median_interval(sorted(values))
    return statistics.mean_interval(values) if statistic == "mean" and len(values) > 1 else None


def _without_outliers(criterion: Criterion, population: Population, around: MeasureContext) -> str:
    flagged = outlier_runs(population, criterion.of)
    if not flagged:
        return ""
    rest = population.each(lambda case: case.keep(lambda row: row.run not in flagged))
    kept, _, trouble = _values(criterion, rest, around)
    if trouble or len(kept) < 2 or statistics.mean(kept) <= 0:
        return ""
    share = statistics.sample_sd(kept) / statistics.mean(kept)
    return f" ({show_share(share)} without {plural(len(flagged), 'outlier')})"


def _figure(
    value: float,
    count: int,
    text: str,
    criterion: Criterion,
    population: Population,
    interval: tuple[float, float] | None,
) -> Measured:
    """The measured figure; while results are to come, it has no bounds, because they can move it anywhere."""
    text += _aside(criterion, population) + _later(population)
    if population.to_come:
        return Measured(value, count, text, None, None, interval, population.why_open)
    return Measured(value, count, text, value, value, interval)


def _aside(criterion: Criterion, population: Population) -> str:
    """How many correct runs do not count for figures, and why one of them does not, in words."""
    found = [(row.run, case.aside[row.run]) for case in population.cases for row in case.rows if row.run in case.aside
             and case.aside[row.run] != "outlier" and measured_value(row, criterion.of) is not None]  # fmt: skip
    return f" ({plural(len(found), 'run')} not counted, such as {found[0][0]}: {found[0][1]})" if found else ""


def _values(criterion: Criterion, population: Population, around: MeasureContext) -> tuple[list[float], str, str]:
    """(values in one unit, that unit, what is wrong with the values or "").

    The unit is the bound's unit; for a spread, whose bound is a share, it is the first figure's unit.
    """
    found = [
        (value, around.figure(case.case.test, criterion.of).unit)
        for case in population.cases
        for _, value in case.values(criterion.of)
    ]
    shown = criterion.unit if criterion.unit and criterion.measure == "value" else next((u for _, u in found), "")
    if not found:
        text = f"no run gave a value of {criterion.of}" + _aside(criterion, population)
        if population.cut_off and not population.unfinished:
            text = f"{text}; {population.why_open}"
        return [], shown, f"no value of {criterion.of} yet" if population.unfinished else text
    try:
        return [Quantity(value, unit).to(shown) for value, unit in found], shown, ""
    except ValueError as error:
        return [], shown, f"the values of {criterion.of} cannot be compared: {error}"


def contract_rows_met(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``rows met``: contract rows that are met, of those for the population's cases."""
    rows = {row.name: row for item in around.document.contracts for row in item.rows}
    waivers = of_rows(around.document, around.record.waivers)
    return rows_met(criterion, population, rows, waivers, around.component.name, around.rows_waived)
