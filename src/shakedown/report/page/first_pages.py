"""The first two pages: what was tested, what failed, and whether to sign; then what is signed, and the lines to sign on.

``first_pages`` is the table of contents. The content is cut so that each page fits on a sheet of A4, whatever the names are; the
later sections and the tables hold everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from shakedown.metrics.judging.rows_beside import rows_beside
from shakedown.metrics.judging.scorecard import Acceptance, ActScore, ComponentScore, Scorecard
from shakedown.metrics.words import plural, some
from shakedown.model.nouns import Component, Document
from shakedown.report.words import one_line


class Most(Struct, frozen=True):
    """How many entries of each kind fit, and how many letters an entry may have; ``room`` is the limit for all restrictions
    together.
    """

    components: int = 8
    faults: int = 8
    scores: int = 4
    restrictions: int = 8
    acts: int = 6
    seals: int = 4
    longest: int = 230
    room: int = 1500


MOST = Most()


def first_pages(document: Document, scorecard: Scorecard) -> dict[str, Any]:
    """Purpose: the values for the templates of both pages, in addition to those that every section has."""
    return {
        "tested": tested(document, scorecard),
        "advice": advice(scorecard),
        "beside": contract_line(scorecard),
        "most": MOST,
        "acts_to_know": acts_to_know(scorecard.acts),
        "restrictions_that_fit": restrictions_that_fit(scorecard.restrictions),
        "restrictions_cut": is_cut(scorecard.restrictions),
    }


class Tested(Struct, frozen=True):
    """A component on the first page. ``what``: its tests and how many cases; ``others``: attempts that did not pass, by verdict,
    including those that ended as expected. ``met`` of ``asked`` criteria.
    """

    component: str
    kind: str
    what: str
    passed: int
    wanted: int
    others: str
    met: int
    asked: int
    outcome: Acceptance


def tested(document: Document, scorecard: Scorecard) -> tuple[Tested, ...]:
    """Purpose: what was tested, component by component, in the order of the plan."""
    components = {one.name: one for one in document.components}
    tests = {case.id: case.test for case in document.cases}
    return tuple(_tested(score, components.get(score.name), tests) for score in scorecard.components)


def _tested(score: ComponentScore, component: Component | None, tests: dict[str, str]) -> Tested:
    cases = component.cases if component else ()
    names = list(dict.fromkeys(tests[case] for case in cases if case in tests))
    parts = [f"{some(names, 4)}: {plural(len(cases), 'case')}"] if names else []
    if component and component.procedures:
        parts.append(plural(len(component.procedures), "procedure"))
    others = [f"{count} {verdict}" for verdict, count in score.verdicts if verdict != "passed"]
    if score.as_expected and others:
        others.append(f"{score.as_expected} of these as expected")
    met = sum(item.outcome == "met" for item in score.criteria)
    results = (score.passed, score.wanted, ", ".join(others))
    return Tested(score.name, score.kind, "; ".join(parts), *results, met, len(score.criteria), score.outcome)


def advice(scorecard: Scorecard) -> str:
    """Purpose: whether to sign, in one or two sentences. It follows from the outcome, and names contract rows that the outcome does
    not show.
    """
    count, rows = len(scorecard.restrictions), contract_line(scorecard)
    beside = f" {plural(count, 'restriction')} of it would stand all the same." if count else ""
    if scorecard.rehearsal:
        return "This is a rehearsal: there is nothing to sign."
    if scorecard.outcome == "accepted" and rows:
        return f"It can be signed: every criterion is met, and nothing restricts the acceptance. {rows}."
    if scorecard.outcome == "accepted":
        return "It can be signed as it is: everything that was asked for is met, and nothing restricts the acceptance."
    if scorecard.outcome == "accepted with restrictions":
        signs = (
            f"It can be signed with {plural(count, 'restriction')}: who signs accepts what stands under restrictions."
        )
        return f"{signs} {rows}." if rows else signs
    if scorecard.outcome == "rejected":
        return f"It is not to be signed as an acceptance: what is not met stands below.{beside}"
    if scorecard.outcome == "disputed":
        return f"It is not to be signed before both sides agree: the outcome hangs on what one side alone did.{beside}"
    return f"It is too early to sign: what is still to come or undecided stands below.{beside}"


def contract_line(scorecard: Scorecard) -> str:
    """Purpose: a line on contract rows that are not met, undecided or not judged, cut to fit; "" where there are none."""
    return one_line(rows_beside(scorecard), 2 * MOST.longest)


def restrictions_that_fit(restrictions: Sequence[str]) -> tuple[str, ...]:
    """Purpose: the first restrictions, as many as fit on the second page."""
    fit, room = [], MOST.room
    for text in restrictions[: MOST.restrictions]:
        room -= min(len(one_line(text)), MOST.longest)
        if room < 0:
            break
        fit.append(text)
    return tuple(fit)


def is_cut(restrictions: Sequence[str]) -> bool:
    """Purpose: whether the second page leaves out some of the restrictions, or some of their words."""
    whole = all(len(one_line(text)) <= MOST.longest for text in restrictions)
    return not whole or len(restrictions_that_fit(restrictions)) < len(restrictions)


def acts_to_know(acts: Sequence[ActScore]) -> tuple[ActScore, ...]:
    """Purpose: the acts that the outcome depends on or that restrict; the others are in their own section."""
    return tuple(act for act in acts if act.matters)
