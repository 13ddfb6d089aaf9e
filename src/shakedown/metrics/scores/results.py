"""The results of a plan's scores: number, interval, each part's contribution, and what the target requires. Start reading at
``results_of``.

A score has a number once every part has a value. It is settled once no result of its cases is still to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import figures_of
from shakedown.metrics.modelled import of_score
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.formulas import Combined
from shakedown.metrics.scores.inputs import Input, inputs_of
from shakedown.metrics.scores.intervals import interval
from shakedown.metrics.words import plural, show_number, show_score, show_value, some, with_unit
from shakedown.model.bounds import same
from shakedown.model.entry_points import declared_by, function, words_of
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document
from shakedown.model.scores import COMPONENT, GROUP, RULE, Score, ScorePart, score_kinds

SCORE_RULES = (
    "A score takes one value of each of its cases by the rule that the plan states; without a word of the plan that of the run of "
    "record, so that nobody can choose the best run afterwards.",
    "A score is undecided while a part has no value, or a result of its cases is still to come.",
    "The interval of a score at 95 % is that of what all repeats say: the errors of the logarithms of each part's values, as much "
    "as the formula lets them move the score. It informs and decides nothing. The score of the runs of record may lie outside of "
    "it, and there is none where a case has one value.",
    "A value that the plan gives is no measurement; a score that has one says so.",
)
_MOST_FACTOR = 1e6  # if a part needs a larger factor, it cannot reach a target alone
_STEPS = 50  # of bisection: more exact than the printed digits
_TIMES = 10.0  # larger factors are shown as multiples


class PartResult(Struct, frozen=True):
    """One part of a score.

    ``value`` in ``unit``: of the run ``run``, or by the plan's rule from ``runs`` runs; ``result``: the part's own number;
    ``share``: its share of the sum over its place, None if no sum decides the score. ``if_faster``: the score if the part ran
    faster by the plan's ``faster``; ``needs``: how many times faster this part alone must be to meet the score's bound, 1 if the
    bound is met, None if that cannot meet it. ``over``: how much better the value is than the proposed one, as a share, below 0 if
    it is worse.
    """

    part: ScorePart
    label: str
    value: float | None
    unit: str
    run: str = ""
    runs: int = 0
    given: bool = False
    result: float | None = None
    share: float | None = None
    if_faster: float | None = None
    needs: float | None = None
    to_come: int = 0
    missing: str = ""

    @property
    def over(self) -> float | None:
        proposed = self.part.proposed
        if self.value is None or not proposed:
            return None
        return (self.value / proposed if self.part.better == "higher" else proposed / self.value) - 1.0


class ScoreResult(Struct, frozen=True):
    """One score of the campaign. ``value`` is None if ``missing`` (or ``reason``) tells why; ``settled``: nothing can change it.
    ``needs``: how many times faster every part must be to meet the bound. ``least``: the part with the smallest own number.
    ``beside``: other numbers by name, such as the three means. ``unavailable``: none of its parts can run here.
    ``proposed``: the score of the proposed values, None if a part has none. ``runs``: how many different runs it rests on.
    """

    name: str
    kind: str
    about: str
    value: float | None
    unit: str
    parts: tuple[PartResult, ...]
    rule: str
    formula: str
    part_name: str
    settled: bool = False
    interval: tuple[float, float] | None = None
    beside: tuple[tuple[str, float], ...] = ()
    nodes: tuple[tuple[str, float], ...] = ()
    missing: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    needs: float | None = None
    least: str = ""
    faster: float = 0.0
    must: str = ""
    reason: str = ""
    clause: str = ""
    unavailable: bool = False
    mean: str = ""
    proposed: float | None = None
    runs: int = 0

    @property
    def over(self) -> float | None:
        """By which share the score exceeds the score of the proposed values; None without either."""
        return self.value / self.proposed - 1.0 if self.value is not None and self.proposed else None

    @property
    def proposals(self) -> bool:
        return any(one.part.proposed for one in self.parts)

    @property
    def hangs_on(self) -> tuple[str, ...]:
        """The run of each part: "miniFE r000012"."""
        return tuple(f"{part.label} {part.run}" for part in self.parts if part.run)

    @property
    def means(self) -> str:
        """The numbers of ``beside``, in words."""
        return ", ".join(f"{name} {show_score(value)}" for name, value in self.beside)


def results_of(document: Document, people: Mapping[str, Population], record: Record) -> tuple[ScoreResult, ...]:
    """Purpose: every score of the plan, in its order. ``people``: each component's population."""
    bounds = bounds_of(document)
    figures = figures_of(document) if document.scores else {}
    return tuple(
        result_of(score, bounds.get(score.name), inputs_of(score, people, figures), of_score(score, record.rehearsal))
        for score in document.scores
    )


def bounds_of(document: Document) -> dict[str, Criterion]:
    """The criteria on scores and on their parts, by the name of the score or part."""
    return {
        criterion.of: criterion
        for component in document.components
        if component.name == COMPONENT and document.scores
        for criterion in component.criteria
    }


def result_of(
    score: Score,
    bound: Criterion | None,
    inputs: Sequence[Input],
    not_modelled: str = "",
    brief: bool = False,
) -> ScoreResult:
    """Purpose: one score from its inputs. ``brief``: without the speed that its parts need to meet its bound."""
    missing = tuple(f"{one.part.label}: {one.missing}" for one in inputs if one.missing)
    values = tuple(one.value for one in inputs if one.value is not None)
    whole, reason = (None, not_modelled) if missing or not_modelled else combine(score, values)
    shown = whole is not None
    kind = score_kinds().get(score.kind)
    target = bound.bound if bound and not brief else None
    return ScoreResult(
        name=score.name,
        kind=score.kind,
        about=score.about,
        value=whole.value if whole else None,
        unit=score.unit,
        parts=_parts(score, inputs, None if brief else whole, target, bool(not_modelled)),
        rule=RULE[score.take],
        formula=kind.recipe if kind else "",
        part_name=kind.part_name if kind else "result",
        settled=shown and not any(one.to_come for one in inputs),
        interval=_interval(score, tuple(one.values for one in inputs)) if shown else None,
        beside=whole.beside if whole else (),
        nodes=score.nodes,
        missing=() if not_modelled else missing,
        given=tuple(one.part.label for one in inputs if one.given),
        needs=_factor(lambda factor: _at(score, [_faster(*pair, factor) for pair in _pairs(score, values)]), target)
        if shown
        else None,
        least=min(zip(whole.parts, score.parts, strict=True), key=lambda pair: pair[0])[1].label if whole else "",
        faster=score.faster,
        must=bound.must if bound else "",
        reason=reason,
        clause=score.clause,
        mean=score.mean if kind and "mean" in kind.keys else "",
        unavailable=bool(inputs) and all(one.unavailable for one in inputs),
        proposed=_proposed(score),
        runs=len({run for one in inputs for run in one.runs[: 1 if score.take == "record" else None]}),
    )


def _proposed(score: Score) -> float | None:
    values = [part.proposed for part in score.parts]
    return _at(score, values) if values and all(values) else None


def combine(score: Score, values: Sequence[float]) -> tuple[Combined | None, str]:
    """Purpose: (number of a score, ""), or (None, why not). If another package's function fails, the reason names the package."""
    kind = score_kinds().get(score.kind)
    if kind is None:
        return None, f"this version does not know the kind of score '{score.kind}'"
    try:
        return _function(kind.function)(score, values), ""
    except (ValueError, ArithmeticError) as error:
        return None, str(error)
    except Exception as error:
        whose = declared_by(GROUP, kind.name)
        if not whose:
            raise
        return None, f"the kind of score '{kind.name}' of {whose} failed: {words_of(error)}"


@cache
def _function(path: str) -> Callable[[Score, Sequence[float]], Combined]:
    found: Callable[[Score, Sequence[float]], Combined] = function(path)
    return found


# ---- the parts -------------------------------------------------------------------------------------------------------


def _parts(
    score: Score, inputs: Sequence[Input], whole: Combined | None, target: float | None, hidden: bool
) -> tuple[PartResult, ...]:
    return tuple(_part(score, inputs, place, whole, target, hidden) for place in range(len(inputs)))


def _part(
    score: Score, inputs: Sequence[Input], place: int, whole: Combined | None, target: float | None, hidden: bool
) -> PartResult:
    """One part of a score. ``hidden``: a rehearsal made its value up."""
    one = inputs[place]
    known = {"part": one.part, "label": one.part.label, "unit": one.part.unit, "given": one.given}
    if hidden and not one.given:
        return PartResult(**known, value=None, missing="not modelled")  # type: ignore[arg-type]
    more = {"run": one.run if score.take == "record" else "", "runs": 0 if one.given else len(one.values)}
    found = PartResult(**known, **more, value=one.value, to_come=one.to_come, missing=one.missing)  # type: ignore[arg-type]
    if whole is None:
        return found
    values = [other.value for other in inputs if other.value is not None]
    beside = math.fsum(whole.parts[k] for k, other in enumerate(score.parts) if other.place == one.part.place)

    def alone(factor: float) -> float | None:
        return _at(
            score, [_faster(p, v, factor if k == place else 1.0) for k, (p, v) in enumerate(_pairs(score, values))]
        )

    return PartResult(
        **known,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
        value=one.value,
        to_come=one.to_come,
        result=whole.parts[place],
        share=whole.parts[place] / beside if beside and _is_of_a_sum(score) else None,
        if_faster=alone(1.0 + score.faster),
        needs=_factor(alone, target),
    )


def _is_of_a_sum(score: Score) -> bool:
    """Whether shares of the sum of the parts are shown: if the sum decides the score (not for a geometric or harmonic mean), and
    for the sustained performance of a system, for which people ask for each application's share.
    """
    kind = score_kinds().get(score.kind)
    return kind is not None and (score.kind == "ssp" or ("mean" in kind.keys and score.mean == "arithmetic"))


def _pairs(score: Score, values: Sequence[float]) -> list[tuple[ScorePart, float]]:
    return list(zip(score.parts, values, strict=True))


def _faster(part: ScorePart, value: float, factor: float) -> float:
    return value / factor if part.better == "lower" else value * factor


def _at(score: Score, values: Sequence[float]) -> float | None:
    whole, _ = combine(score, values)
    return whole.value if whole else None


def _factor(at: Callable[[float], float | None], target: float | None) -> float | None:
    """How many times faster a score must be to reach its target, by bisection, for any kind that grows with speed; else None."""
    if target is None:
        return None
    now, most = at(1.0), at(_MOST_FACTOR)
    if now is not None and (now >= target or same(now, target)):
        return 1.0
    if most is None or most < target:
        return None
    low, high = 1.0, _MOST_FACTOR
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        reached = at(middle)
        low, high = (low, middle) if reached is not None and reached >= target else (middle, high)
    return high


# ---- the interval ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _interval(score: Score, samples: tuple[tuple[float, ...], ...]) -> tuple[float, float] | None:
    return interval(
        score.take, samples, [part.given is not None for part in score.parts], lambda values: _at(score, values)
    )


# ---- in words --------------------------------------------------------------------------------------------------------


def score_words(result: ScoreResult, shown: str) -> str:
    """Purpose: a score in one line: its number as ``shown``, the numbers beside it, and the runs that it depends on."""
    parts = [f"{result.name} = {shown}"]
    if result.means and len(result.parts) > 1:
        parts.append(f"({result.means})")
    runs = some(list(result.hangs_on), 4)
    text = " ".join(parts) + (f"; it hangs on {runs}" if runs else f"; {result.rule}")
    if result.given:
        text += f"; given by the plan, not measured: {some(list(result.given), 4)}"
    return text


def factor_words(factor: float | None) -> str:
    """The required speed-up in words: "would have to be 12% faster"."""
    if factor is None:
        return "cannot reach it"
    if factor >= _TIMES:
        return f"would have to be {show_number(factor)} times as fast"
    return f"would have to be {with_unit(show_number(100 * (factor - 1), 3), '%')} faster"


def needs_words(result: ScoreResult) -> str:
    """Purpose: the speed that the bound of a score requires, in words; "" without a bound or a number. A score may meet its bound
    while one of its parts misses its own.
    """
    if not result.must or not result.needs:
        return ""
    return "as a whole it is fast enough" if result.needs == 1.0 else f"every part {factor_words(result.needs)}"


def over_words(over: float) -> str:
    """Purpose: a value compared with the proposed one: "6.9% better", "12.8% worse"."""
    size = with_unit(show_number(100 * abs(over), 3), "%")
    return f"{size} {'worse' if over < 0 else 'better'}"


def part_words(result: ScoreResult, part: PartResult) -> str:
    """Purpose: one part in words: its value and run, its own number, and the speed that it needs."""
    if part.value is None:
        return part.missing
    source = "given by the plan, not measured" if part.given else part.run or f"of {plural(part.runs, 'run')}"
    text = f"{show_value(part.value, part.unit)} ({source})"
    if part.result is not None:
        text += f", {result.part_name} {show_score(part.result)}"
    if part.over is not None:
        text += f"; proposed {show_value(part.part.proposed, part.unit)}, {over_words(part.over)}"
    if part.if_faster is not None:
        faster = with_unit(show_number(100 * result.faster, 3), "%")
        text += f"; {faster} faster: {show_value(part.if_faster, result.unit)}"
    if result.must and result.needs not in (None, 1.0):
        text += f"; alone it {factor_words(part.needs)}"
    return text + (f"; {plural(part.to_come, 'result')} to come" if part.to_come else "")
