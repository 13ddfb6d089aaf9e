"""The measure ``score``: a score of the plan, or one part of it, as a criterion of the component ``scores``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.at_bound import at_bound
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.modelled import of_score
from shakedown.metrics.scores.inputs import Input, inputs_of
from shakedown.metrics.scores.results import ScoreResult, result_of, score_words
from shakedown.metrics.words import SCORE_DIGITS, plural, some
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document
from shakedown.model.scores import Score, named_by, part_of

_NO_INPUTS = frozenset({"parts", "about", "clause", "faster", "name"})  # a score's fields that do not affect its number


def score_value(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """Purpose: the number of a score or of one part; without bounds while a run is to come."""
    named = _named(criterion, around)
    if named is None:
        return Measured(None, 0, "", reason=f"the plan has no score '{criterion.of}'")
    score, inputs = named
    result = result_of(score, criterion, inputs, of_score(score, around.record.rehearsal), True)
    return replace(_measured(result, inputs, criterion), runs=result.runs)


def runs_behind(criterion: Criterion, around: MeasureContext) -> set[str]:
    """Purpose: the runs whose values a criterion on a score uses; empty for any other criterion."""
    named = _named(criterion, around) if criterion.inputs else None
    return {run for one in named[1] for run in one.runs} if named else set()


def score_changes(name: str, before: Document, after: Document) -> list[str]:
    """Purpose: the changes between two plans in the inputs of a score or part, one phrase each: "part A: tflop 1 -> 3"."""
    old, new = (named_by(name, document.scores) for document in (before, after))
    if old is None or new is None:
        return ["what it is computed from"]
    (was, place), (now, _) = old, new
    parts = {part.label: part for part in now.parts}
    mine = was.parts if place < 0 else (was.parts[place],)
    found = [] if place >= 0 else [f"no longer part {part.label}" for part in mine if part.label not in parts]
    found += [] if place >= 0 else [f"now part {label}" for label in parts if label not in {one.label for one in mine}]
    for part in (part for part in mine if part.label in parts):
        found += [f"part {part.label}: {said}" for said in _changes(part, parts[part.label])]
    return [*_changes(was, now), *found] or ["the order of its parts"]


def _changes(old: Struct, new: Struct, within: str = "") -> Iterator[str]:
    """Fields that differ, with old and new value; a load is compared field by field."""
    for name in (one for one in old.__struct_fields__ if one not in _NO_INPUTS):
        was, now = getattr(old, name), getattr(new, name)
        if isinstance(was, Struct) and isinstance(now, Struct):
            yield from _changes(was, now, f"{within}{name}.")
        elif was != now:
            yield f"{within}{name} {_word(was)} -> {_word(now)}"


def _word(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, tuple):
        return ", ".join(f"{name or 'all'} {_word(amount)}" for name, amount in value) or "none"
    if isinstance(value, Struct):
        return ", ".join(f"{name} {_word(getattr(value, name))}" for name in value.__struct_fields__)
    return str(value) if value not in (None, "") else "none"


def _named(criterion: Criterion, around: MeasureContext) -> tuple[Score, tuple[Input, ...]] | None:
    """The score of a criterion, reduced to one part if the criterion names one, and its inputs; None if the plan lacks it."""
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
    text = score_words(result, at_bound(result.value, criterion, result.unit, SCORE_DIGITS))
    if not result.settled:
        waits = some([one.part.label for one in inputs if one.to_come])
        why = f"{plural(coming, 'result')} still to come of {waits}"
        return Measured(result.value, count, text, None, None, result.interval, reason=why)
    return Measured(result.value, count, text, result.value, result.value, result.interval)
