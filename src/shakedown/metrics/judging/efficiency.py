"""The measure ``efficiency``: how well a test scales at a size; the worst of several series counts."""

from __future__ import annotations

from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.scaling import Series, Step, of_component
from shakedown.metrics.words import plural, show_number, show_share
from shakedown.model.judging import Criterion


def efficiency(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: the least efficiency of all series at the criterion's size. While results of that size, or of the smallest, are to
    come, the value can still become anything.
    """
    tests = {test.name: test for test in around.document.tests}
    series = of_component(around.component, population, tests)
    series = [one for one in series if criterion.test in ("", one.test) and criterion.mode in ("", one.mode)]
    pairs = [(one, step) for one in series if (step := one.at(criterion.at)) is not None]
    if not pairs:
        return Measured(
            None, 0, "", reason="no case of that size can run here", restricted=bool(population.unavailable)
        )
    coming = sum(step.to_come + one.steps[0].to_come for one, step in pairs)
    missing = next(((one, step) for one, step in pairs if step.point is None), None)
    if missing is not None:
        return Measured(None, 0, "", reason=_missing(*missing, coming))
    worst, step = min(pairs, key=lambda pair: pair[1].point.efficiency if pair[1].point else 0.0)
    assert step.point is not None
    value = step.point.efficiency
    text = f"{worst.name} at {worst.along}={show_number(step.size)}: {_words(worst, step)} = {show_share(value, criterion.bound)}"
    text += f"; the worst of {plural(len(pairs), 'series', 'series')}" if len(pairs) > 1 else ""
    text += f", {coming} to come" if coming else ""
    sure = None if coming else value
    both = {
        one.size: one.point.count for one in (worst.steps[0], step) if one.point
    }  # one where it is the smallest itself
    return Measured(value, step.point.count, text, sure, sure, step.interval, runs=sum(both.values()))


def _words(series: Series, step: Step) -> str:
    """The calculation in words: 1.9 times the speed / 2 times the nodes."""
    point = step.point
    assert point is not None
    return f"{show_number(point.speedup)} times the speed / {show_number(point.ideal)} times the {series.along}"


def _missing(series: Series, step: Step, coming: int) -> str:
    """Why there is no efficiency, in a sentence."""
    lacking = step if not series.steps[0].point or step.point is None else series.steps[0]
    first = series.steps[0]
    lacking = first if first.point is None else lacking
    if coming:
        return f"nothing is measured of {lacking.case} yet, {coming} to come"
    return f"no run of {lacking.case} gave a value of {series.figure} above 0"
