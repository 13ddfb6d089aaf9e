"""Met, not met or undecided: one number against its bound, or the cases of a criterion ``per: case`` together."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.judging.scorecard import CaseScore, Measured, Outcome
from shakedown.metrics.words import plural
from shakedown.model.bounds import same
from shakedown.model.judging import Criterion


def decide(criterion: Criterion, measured: Measured) -> tuple[Outcome, str]:
    """Purpose: (met, not met or undecided; why undecided). ``measured`` is in the bound's unit."""
    if measured.value is None:
        return "undecided", measured.reason
    if measured.count < criterion.enough and not measured.whole:
        return "undecided", f"{measured.count} of the {criterion.enough} that are enough to judge"
    if measured.low is None or measured.high is None:
        return "undecided", measured.reason or "results are still to come"
    if holds(criterion, measured.low) and holds(criterion, measured.high):
        return "met", ""
    if _out_of_reach(criterion, measured.low, measured.high):
        return "not met", ""
    return "undecided", measured.reason or "results are still to come"


def holds(criterion: Criterion, value: float) -> bool:
    """Purpose: whether a value is within the bound."""
    if same(value, criterion.bound):
        return "=" in criterion.comparison
    if criterion.comparison == "=":
        return False
    return value > criterion.bound if criterion.comparison.startswith(">") else value < criterion.bound


def _out_of_reach(criterion: Criterion, low: float, high: float) -> bool:
    """Whether no value between ``low`` and ``high`` satisfies the criterion."""
    if criterion.comparison == "=":
        return not (same(low, criterion.bound) or same(high, criterion.bound) or low < criterion.bound < high)
    return not holds(criterion, high if criterion.comparison.startswith(">") else low)


def worst(criterion: Criterion, cases: Sequence[CaseScore]) -> int:
    """Purpose: the index of the case that decides: not met before undecided, then the one nearest to failing."""
    return max(range(len(cases)), key=lambda place: _badness(criterion, cases[place]))


def _badness(criterion: Criterion, case: CaseScore) -> tuple[int, float]:
    rank = {"not met": 2, "undecided": 1}.get(case.outcome, 0)
    if case.measured is None:
        return rank, float("-inf")
    if criterion.comparison == "=":
        return rank, abs(case.measured - criterion.bound)
    return rank, -case.measured if criterion.comparison.startswith(">") else case.measured


def together(criterion: Criterion, cases: Sequence[CaseScore]) -> tuple[Outcome, str]:
    """Purpose: the outcome of all cases (or tests) together, and which are undecided."""
    outcomes = {case.outcome for case in cases}
    outcome: Outcome = "not met" if "not met" in outcomes else "undecided" if "undecided" in outcomes else "met"
    undecided = [case for case in cases if case.outcome == "undecided"]
    if not undecided:
        return outcome, ""
    count = plural(len(undecided), criterion.per or "case")
    return outcome, f"{count} of {len(cases)} undecided, such as {undecided[0].case}: {undecided[0].reason}"
