"""Contract rows on scores of the plan: met, not met or undecided by the score's number."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from shakedown.metrics.judging.contract import ContractScore, RowScore, of_rows, with_waiver
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import figures_of
from shakedown.metrics.modelled import of_score
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.inputs import inputs_of
from shakedown.metrics.scores.results import result_of, score_words
from shakedown.metrics.words import SCORE_DIGITS, plural, some
from shakedown.model.contracts import beside, holds
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Document
from shakedown.model.scores import COMPONENT, named_by, part_of


def with_score_rows(
    contract: ContractScore | None, document: Document, people: Mapping[str, Population], record: Record
) -> ContractScore | None:
    """Purpose: the contract with its rows on scores judged. A row on a score that the plan lacks is unjudged."""
    if contract is None or not any(is_on_a_score(score.row, document) for score in contract.rows):
        return contract
    waivers = of_rows(document, record.waivers)
    rows = [
        with_waiver(_judged(score.row, document, people, record), waivers)
        if is_on_a_score(score.row, document)
        else score
        for score in contract.rows
    ]
    return replace(contract, rows=tuple(rows))


def is_on_a_score(row: ContractRow, document: Document) -> bool:
    """Purpose: whether a row sets a bound for a score of the plan."""
    return row.test == COMPONENT and not any(test.name == COMPONENT for test in document.tests)


def _judged(row: ContractRow, document: Document, people: Mapping[str, Population], record: Record) -> RowScore:
    named = named_by(row.figure, document.scores)
    if named is None:
        return RowScore(row, "unjudged", reason=f"the plan has no score '{row.figure}'")
    score = part_of(named[0], row.figure, named[1])
    inputs = inputs_of(score, people, figures_of(document))
    result = result_of(score, None, inputs, of_score(score, record.rehearsal), brief=True)
    cases = tuple(dict.fromkeys(part.case for part in score.parts if part.case))
    count, coming = sum(one.value is not None for one in inputs), sum(one.to_come for one in inputs)
    found = RowScore(row, "undecided", None, count, to_come=coming, cases=cases, runs=result.runs)
    if result.value is None:
        why = result.reason or f"{plural(len(result.missing), 'value')} missing: {some(list(result.missing))}"
        return replace(found, outcome="unjudged" if result.unavailable else "undecided", reason=why,
                       unavailable=result.unavailable)  # fmt: skip
    text = f"{score_words(result, beside(result.value, row, SCORE_DIGITS))}, must be {row.must}"
    found = replace(found, measured=result.value, least=result.value, arithmetic=text)
    if not result.settled:
        return replace(found, reason="results are still to come")
    return replace(found, outcome="met" if holds(row, result.value) else "not met")
