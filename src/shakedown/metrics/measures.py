"""The measures a criterion can name, each a function from a population to a ``Measured``. ``MEASURES`` lists them.

A new measure is a function here and a line in the table; plans may then use its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from shakedown.metrics import statistics
from shakedown.metrics.populations import (
    Population,
    as_expected,
    completed,
    correct,
    count_verdicts,
    good,
    measured_value,
)
from shakedown.metrics.rows import RunRow
from shakedown.metrics.scorecard import Measured
from shakedown.metrics.words import plural, show_beside, show_share, show_value
from shakedown.model.nouns import Criterion
from shakedown.model.units import Quantity

Units = Mapping[tuple[str, str], str]  # (test, figure) -> unit


def measure(criterion: Criterion, population: Population, units: Units) -> Measured:
    """Purpose: what a criterion measures in a population; values are in its unit, shares are fractions of one."""
    if not population.cases:
        return _nobody(criterion, population)
    known = MEASURES.get(criterion.measure)
    if known is None:
        return Measured(None, 0, "", reason=f"this version does not know the measure '{criterion.measure}'")
    return known(criterion, population, units)


def _nobody(criterion: Criterion, population: Population) -> Measured:
    if population.unavailable:
        count = len(population.unavailable)
        reason = "its only case is unavailable" if count == 1 else f"all its {count} cases are unavailable"
        return Measured(None, 0, "", reason=reason, restricted=True)
    whose = f"of test '{criterion.test}' " if criterion.test else ""
    return Measured(None, 0, "", reason=f"no case {whose}is in this component")


# ---- shares of runs --------------------------------------------------------------------------------------------------


def passed_of_attempts(criterion: Criterion, population: Population, units: Units) -> Measured:
    """Attempts that passed, of all attempts. Whatever is still to come may be tried, and fail, many times."""
    rows, cases = population.rows, {case.case.id: case.case for case in population.cases}
    hits = sum(good(row, cases[row.case]) for row in rows)
    coming = population.to_come
    high = (hits + coming) / max(len(rows) + coming, 1)
    share = _share(hits, len(rows), "passed / attempts", coming, (0.0, high), criterion.bound)
    return replace(share, arithmetic=share.arithmetic + _others(population, rows))


def passed_of_wanted(criterion: Criterion, population: Population, units: Units) -> Measured:
    """Wanted results that passed, at whichever attempt, of all that are wanted."""
    hits, wanted, coming = population.passed, population.wanted, population.to_come
    if not population.judged:
        return _nothing_yet(coming)
    share = _share(hits, wanted, "passed / wanted", coming, (hits / wanted, (hits + coming) / wanted), criterion.bound)
    return replace(share, count=population.judged)


def correct_of_completed(criterion: Criterion, population: Population, units: Units) -> Measured:
    """Runs with the right answer, of those that ran to their end. No retry follows a wrong answer, so each counts."""
    cases = {case.case.id: case.case for case in population.cases}
    rows = [row for row in population.rows if completed(row)]
    hits, coming = sum(correct(row, cases[row.case]) for row in rows), population.to_come
    if not rows and population.rows and not coming:
        return Measured(None, 0, "", reason="no run ran to its end")
    most = max(len(rows) + coming, 1)
    return _share(
        hits, len(rows), "correct / completed", coming, (hits / most, (hits + coming) / most), criterion.bound
    )


def _share(hits: int, count: int, names: str, coming: int, reach: tuple[float, float], bound: float) -> Measured:
    """``count`` is the denominator; ``reach`` is the least and the most the share can be once the coming results are in."""
    if not count:
        return _nothing_yet(coming)
    value = hits / count
    top, bottom = names.split(" / ")
    arithmetic = f"{hits} {top} / {count} {bottom} = {show_share(value, bound)}"
    low, high = reach if coming else (value, value)
    later = f", {coming} to come" if coming else ""
    return Measured(value, count, arithmetic + later, low, high, statistics.share_interval(hits, count))


def _nothing_yet(coming: int) -> Measured:
    return Measured(None, 0, "", reason="nothing is judged yet" + (f"; {coming} to come" if coming else ""))


def _others(population: Population, rows: list[RunRow]) -> str:
    """What the attempts that did not pass ended as, and which that did are expected failures."""
    cases = {case.case.id: case.case for case in population.cases}
    bad = count_verdicts(row for row in rows if not good(row, cases[row.case]))
    expected = count_verdicts(row for row in rows if as_expected(row, cases[row.case]))
    parts = [f"{count} {verdict}" for verdict, count in bad.items()]
    parts += [f"{count} {verdict} as expected" for verdict, count in expected.items()]
    return f" ({', '.join(parts)})" if parts else ""


# ---- figures ---------------------------------------------------------------------------------------------------------


def figure_value(criterion: Criterion, population: Population, units: Units) -> Measured:
    """A statistic of a figure's values, or of the run time."""
    values, unit, trouble = _values(criterion, population, units)
    if trouble:
        return Measured(None, len(values), "", reason=trouble)
    if criterion.statistic == "sd" and len(values) < 2:
        return Measured(None, len(values), "", reason="a standard deviation needs two values")
    value = _STATISTICS[criterion.statistic](values)
    shown = show_beside(value, criterion.bound, unit)
    text = f"{criterion.statistic} of {plural(len(values), 'value')} of {criterion.of} = {shown}"
    interval = statistics.mean_interval(values) if criterion.statistic == "mean" and len(values) > 1 else None
    return _figure(value, len(values), text, population, interval)


def figure_spread(criterion: Criterion, population: Population, units: Units) -> Measured:
    """The sample standard deviation over the mean of a figure; also said without outliers, judged with them."""
    values, unit, trouble = _values(criterion, population, units)
    if trouble:
        return Measured(None, len(values), "", reason=trouble)
    if len(values) < 2:
        return Measured(None, len(values), "", reason="a standard deviation needs two values")
    middle, spread = statistics.mean(values), statistics.sample_sd(values)
    if middle <= 0:
        return Measured(None, len(values), "", reason=f"the mean of {criterion.of} is not positive")
    shown = [show_value(number, unit) for number in (spread, middle)]
    share = show_share(spread / middle, criterion.bound)
    text = f"sd {shown[0]} / mean {shown[1]} = {share} over {len(values)} values of {criterion.of}"
    return _figure(spread / middle, len(values), text + _without_outliers(values), population, None)


def _without_outliers(values: list[float]) -> str:
    flagged = set(statistics.outliers(values))
    kept = [value for place, value in enumerate(values) if place not in flagged]
    if not flagged or len(kept) < 2:
        return ""
    share = statistics.sample_sd(kept) / statistics.mean(kept)
    return f" ({show_share(share)} without {plural(len(flagged), 'outlier')})"


def _figure(
    value: float, count: int, text: str, population: Population, interval: tuple[float, float] | None
) -> Measured:
    """What is still to come may move a figure anywhere."""
    coming = population.to_come
    if coming:
        return Measured(value, count, f"{text}, {coming} to come", None, None, interval)
    return Measured(value, count, text, value, value, interval)


def _values(criterion: Criterion, population: Population, units: Units) -> tuple[list[float], str, str]:
    """The values in one unit, that unit, and what is wrong with them, if anything is.

    The unit is the bound's own; a spread, whose bound is a share, is taken in the first figure's unit.
    """
    found = list(_measured(criterion.of, population, units))
    shown = criterion.unit if criterion.unit and criterion.measure == "value" else next((u for _, u in found), "")
    if not found:
        coming = population.to_come
        return [], shown, f"no value of {criterion.of} yet" if coming else f"no run gave a value of {criterion.of}"
    try:
        return [Quantity(value, unit).to(shown) for value, unit in found], shown, ""
    except ValueError as error:
        return [], shown, f"the values of {criterion.of} cannot be compared: {error}"


def _measured(figure: str, population: Population, units: Units) -> Iterator[tuple[float, str]]:
    """Every value of a figure, with its unit as the test states it."""
    for case in population.cases:
        unit = "s" if figure == "elapsed" else units.get((case.case.test, figure), "")
        for row in case.rows:
            value = measured_value(row, figure)
            if value is not None:
                yield value, unit


_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "mean": statistics.mean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "sd": statistics.sample_sd,
}

MEASURES: dict[str, Callable[[Criterion, Population, Units], Measured]] = {
    "passed / attempts": passed_of_attempts,
    "passed / wanted": passed_of_wanted,
    "correct / completed": correct_of_completed,
    "value": figure_value,
    "sd / mean": figure_spread,
}
