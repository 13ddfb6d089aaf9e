"""The measure ``score``: a score of the plan, or one part of it, as a criterion of the component ``scores``."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.judging.at_bound import at_bound
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.scores.inputs import Input, inputs_of
from shakedown.metrics.scores.results import ScoreResult, made_up, result_of, score_words
from shakedown.metrics.words import plural, some
from shakedown.model.judging import Criterion
from shakedown.model.scores import Score, named_by, part_of


def score_value(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: the number of a score, or of a part alone; without a bound on both sides while a run is to come."""
    named = _named(criterion, around)
    if named is None:
        return Measured(None, 0, "", reason=f"the plan has no score '{criterion.of}'")
    score, inputs = named
    result = result_of(score, criterion, inputs, made_up(score, around.record), around.document.seed, True)
    return _measured(result, inputs, criterion)


def runs_behind(criterion: Criterion, around: MeasureContext) -> set[str]:
    """Purpose: the runs whose values a criterion on a score looks at; none of any other criterion."""
    named = _named(criterion, around) if criterion.inputs else None
    return {run for one in named[1] for run in one.runs} if named else set()


def _named(criterion: Criterion, around: MeasureContext) -> tuple[Score, tuple[Input, ...]] | None:
    """The score that a criterion is about, cut down to one part where it names one, and its inputs."""
    named = named_by(criterion.of, around.document.scores)
    if named is None:
        return None
    score, place = named
    asked = part_of(score, criterion.of, place)
    return asked, inputs_of(asked, around.people, around.figures)


def _measured(result: ScoreResult, inputs: Sequence[Input], criterion: Criterion) -> Measured:
    count, coming = sum(one.value is not None for one in inputs), sum(one.to_come for one in inputs)
    if result.value is None:
        why = result.reason or f"{plural(len(result.missing), 'value')} missing: {some(list(result.missing))}"
        return Measured(None, count, "", reason=why, restricted=result.unavailable)
    text = score_words(result, at_bound(result.value, criterion, result.unit))
    if not result.settled:
        waits = some([one.part.label for one in inputs if one.to_come])
        why = f"{plural(coming, 'result')} still to come of {waits}"
        return Measured(result.value, count, text, None, None, result.interval, reason=why)
    return Measured(result.value, count, text, result.value, result.value, result.interval)
