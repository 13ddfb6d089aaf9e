"""Rows of a contract on a score of the plan: ``[scores, {}, ssp, ">= 489 TFLOP/s", contract, SOW 7.2]``.

A contract is read without a plan, so that only the plan that names it tells whether there is such a score, and its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from shakedown.model.judging import Contract, ContractRow
from shakedown.model.scores import COMPONENT, Score, inputs_digest, named_by, part_of
from shakedown.model.units import Quantity, parse_quantity
from shakedown.plans.contracts.contract_files import Written
from shakedown.plans.schema.criteria import read_must
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue

_WITHOUT = ("mode", "statistic", "verdict")  # columns that are about runs


def score_row(
    written: Written, values: Mapping[str, Any], contract: str, name: str, problems: Problems
) -> ContractRow | None:
    """Purpose: a row on a score, its bound in the unit that is written; None where something is wrong with it."""
    for column in _WITHOUT:
        if values.get(column) not in (None, "each", False):
            written.wrong(problems, column, "a row on a score is about no single run", f"leave '{column}' empty")
    if written.where:
        written.wrong(problems, "where", "a score has its cases from the plan", "leave 'where' empty")
    try:
        must = read_must(values["must"])
        if not must.comparison.startswith(">"):
            raise InvalidValue(f"'{must.text}' is no bound of a score: more is better", "write >= or >")
        quantity = parse_quantity(must.amount)
        if not 0 < quantity.value < 1e30:
            raise InvalidValue(f"'{must.amount}' is no amount of a score", "it is above 0")
    except InvalidValue as error:
        written.wrong(problems, "must", str(error), error.hint)
        return None
    except ValueError as error:
        message, _, hint = str(error).rpartition("; ")
        written.wrong(problems, "must", message or str(error), hint or "write a number, with the unit of the score")
        return None
    if written.faulty:
        return None
    return ContractRow(
        name=name,
        contract=contract,
        test=COMPONENT,
        figure=values["figure"],
        must=values["must"],
        basis=values["basis"],
        low=quantity.value,
        strict=must.comparison == ">",
        value=None,
        unit=quantity.unit,
        clause=values.get("clause", ""),
        about=values.get("about", ""),
        text=values.get("text", ""),
        place=f"{written.path}:{written.line}",
    )


def with_scores(
    contract: Contract, scores: Sequence[Score], places: Mapping[str, Written], problems: Problems
) -> Contract:
    """Purpose: a contract whose rows on scores are in the units of the plan's scores, and hold what these are computed from.

    A row on a score that another plan has and this one does not stays as it is: it is unjudged.

    Problems: a unit that is not the score's.
    """
    return replace(contract, rows=tuple(_with_score(row, scores, places, problems) for row in contract.rows))


def _with_score(
    row: ContractRow, scores: Sequence[Score], places: Mapping[str, Written], problems: Problems
) -> ContractRow:
    named = named_by(row.figure, tuple(scores)) if row.test == COMPONENT and row.low is not None else None
    if named is None or row.low is None:
        return row
    score = named[0]
    try:
        low = Quantity(row.low, row.unit).to(score.unit) if row.unit else row.low
    except ValueError:
        unit = score.unit or "no unit"
        places[row.name].wrong(problems, "must", f"score {row.figure} is in {unit}, not in {row.unit}", f"write {unit}")
        return row
    return replace(row, low=low, unit=score.unit, inputs=inputs_digest(part_of(score, row.figure, named[1])))
