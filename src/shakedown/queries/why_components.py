"""Explain why a component, a criterion or a drill has its state: from the scorecard, and for drills from the state."""

from __future__ import annotations

from shakedown.engine import State
from shakedown.metrics.judging.scorecard import ComponentScore, CriterionScore
from shakedown.model.layout import Layout
from shakedown.queries.folds import Folds
from shakedown.queries.status import drills_now, look
from shakedown.queries.why import Answer
from shakedown.report.reading import read_campaign, scorecard_of


def why_component(layout: Layout, subject: str, folds: Folds | None = None) -> Answer | None:
    """Purpose: the answer where ``subject`` names a component, a criterion or a drill; None where it names none of these."""
    state = look(layout, folds)
    if state.plan is None:
        return None
    scores = scorecard_of(read_campaign(layout.root)).components
    for score in scores:
        if score.name == subject:
            return Answer(subject, "component", _of_component(score) + _drills(state, subject))
    lines = [
        line
        for score in scores
        for item in score.criteria
        if item.name == subject
        for line in _of_criterion(score, item)
    ]
    drills = [
        f"{one['component']}: drill {one['drill']} {one['says']}"
        for one in drills_now(state)
        if one["drill"] == subject
    ]
    of_drills = [
        line
        for score in scores
        for item in score.criteria
        if item.name.startswith(f"drill {subject}:")
        for line in _of_criterion(score, item)
    ]
    found = drills + lines + of_drills
    return Answer(subject, "drill" if drills else "criterion", found) if found else None


def _of_component(score: ComponentScore) -> list[str]:
    """The outcome, what is to come, the results of its ladders, and every criterion that prevents acceptance; where none does, all
    criteria: they are the reason for acceptance.
    """
    to_come = f", {score.to_come} to come" if score.to_come else ""
    lines = [f"{score.outcome}: {score.passed} of {score.wanted} wanted results passed{to_come}"]
    lines += [f"ladder: {row.in_words()}" for row in score.ladders]
    open_ones = [item for item in score.criteria if item.outcome not in ("met", "waived")]
    lines += [line for item in open_ones or score.criteria for line in _of_criterion(None, item)]
    met = len(score.criteria) - len(open_ones)
    return lines + ([f"its other criteria are met or waived: {met}"] if met and open_ones else [])


def _of_criterion(score: ComponentScore | None, item: CriterionScore) -> list[str]:
    place = f"{score.name}: " if score is not None else ""
    said = "; ".join(filter(None, (item.arithmetic, item.reason))) or f"must be {item.must}"
    worst = [f"  shakedown why '{item.worst_case}' says more of its worst case"] if item.worst_case else []
    return [f"{place}{item.name} is {item.outcome_words}: {said}", *worst]


def _drills(state: State, component: str) -> list[str]:
    return [f"drill {one['drill']} {one['says']}" for one in drills_now(state) if one["component"] == component]
