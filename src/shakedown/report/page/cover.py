"""The first page: what prevents acceptance, and the parties that sign."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.metrics.judging.scorecard import ComponentScore
from shakedown.metrics.words import plural, some
from shakedown.model.nouns import Document
from shakedown.report.evidence import Evidence
from shakedown.report.words import one_line

SIGNERS = ("site", "vendor")  # whose lines are there whatever the contracts say


def what_is_missing(evidence: Evidence) -> list[tuple[str, str]]:
    """Purpose: what prevents acceptance without restriction, as (outcome, sentence), the worst first."""
    scorecard = evidence.scorecard
    found = [line for component in scorecard.components for line in _of_component(component)]
    order = ("not met", "undecided", "still to come", "waived", "unavailable", "unjudged")
    if not scorecard.finished and not any(word == "still to come" for word, _ in found):
        found.append(("still to come", "the campaign has not ended"))
    return sorted([*found, *_of_contract(evidence)], key=lambda line: order.index(line[0]))


def _of_component(component: ComponentScore) -> Iterator[tuple[str, str]]:
    for item in component.criteria:
        if item.outcome != "met" and not item.restricted:
            why = "; ".join(filter(None, (item.arithmetic, item.reason, item.waiver)))
            yield item.outcome, f"{component.name}: {item.name}{_clause(item.clause)}: {why}"
    if component.to_come:
        yield "still to come", f"{component.name}: {plural(component.to_come, 'result')}"
    if component.unavailable:
        cases = some([row.case for row in component.unavailable])
        yield "unavailable", f"{component.name}: {plural(len(component.unavailable), 'case')}: {cases}"


def _of_contract(evidence: Evidence) -> Iterator[tuple[str, str]]:
    contract = evidence.scorecard.contract
    if contract is None:
        return
    for score in contract.rows:
        if score.outcome == "not met":
            word = "waived" if score.waived else "not met"
            row = f"{score.row.name}{_clause(score.row.clause)}, {score.row.test}"
            yield word, f"contract row {row}: {score.arithmetic}; {score.row.basis}"
    waiting = [score for score in contract.rows if score.outcome == "undecided" and not score.waived]
    if waiting:
        which = some([score.row.name for score in waiting])
        reasons = list(dict.fromkeys(score.reason for score in waiting if score.reason))
        yield "undecided", f"{plural(len(waiting), 'contract row')}: {which}: {some(reasons, 2)}"
    rows = [score.row.name for score in contract.rows if score.outcome == "unjudged"]
    if rows:
        yield "unjudged", f"{plural(len(rows), 'contract row')} that nothing was judged by: {some(rows)}"
    if contract.figures:
        names = [f"{figure.figure} of {figure.test}" for figure in contract.figures]
        yield "unjudged", f"{plural(len(names), 'figure')} that no contract row asks about: {some(names)}"


def parties(document: Document) -> list[tuple[str, str]]:
    """Purpose: the parties that sign, as (role, name); the name is from the contracts, "" where they have none."""
    named = {role: name for contract in document.contracts for role, name in contract.parties}
    return [(role, named.get(role, "")) for role in dict.fromkeys((*SIGNERS, *named))]


def _clause(clause: str) -> str:
    return f" (clause {one_line(clause, 160)})" if clause else ""
