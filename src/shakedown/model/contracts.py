"""Contract rows against cases and values: which row asks about which case, which wins, and whether a value lies inside.

The plan's reader freezes what follows from this into ``Case.rows``; judging and reports only look it up.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from shakedown.model.bounds import converted, same, written_unit
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Case, Document


def rows_of(document: Document, case: Case) -> tuple[ContractRow, ...]:
    """Purpose: the rows in force for a case, in the order of the contracts."""
    if not case.rows:
        return ()
    names = set(case.rows)
    return tuple(in_case(row, case) for contract in document.contracts for row in contract.rows if row.name in names)


def in_case(row: ContractRow, case: Case) -> ContractRow:
    """Purpose: the row as it applies to a case: with the one bound that no more specific row has replaced, or both."""
    side = next((side for name, side in case.sides if name == row.name), "")
    return row if not side else one_side(row, side)


def one_side(row: ContractRow, side: str) -> ContractRow:
    """Purpose: the row with one of its bounds, ``low`` or ``high``; its ``must`` says which."""
    bound, sign = (row.low, ">") if side == "low" else (row.high, "<")
    if bound is None or None in (row.low, row.high):
        return row
    said = f"{sign}{'' if row.strict else '='} {beside(bound, replace(row, low=None, high=None))} (of {row.must})"
    other = {"high": None} if side == "low" else {"low": None}
    return replace(row, must=said, value=None, **other)


# ---- which cases -----------------------------------------------------------------------------------------------------


def facts_of(case: Case, system: str) -> dict[str, tuple[str, ...]]:
    """What ``where`` can ask of a case: each key with the spellings of its value. A partition may name its cluster."""
    facts = {
        "system": (system,),
        "partition": (case.partition.rpartition(":")[2], case.partition),
        "toolchain": (case.toolchain,),
    }
    return facts | {name: (value,) for name, value in case.parameters}


def matches(row: ContractRow, case: Case, system: str) -> bool:
    """Whether a row asks about a case: its test, and every key of ``where`` has one of the values."""
    if row.test != case.test:
        return False
    facts = facts_of(case, system) if row.where else {}
    return all(not set(facts.get(key, ())).isdisjoint(values) for key, values in row.where)


def subject(row: ContractRow) -> tuple[str, str, str, str, str, str]:
    """Rows with the same subject compete for a case; all others stand side by side."""
    return row.contract, row.test, row.figure, row.basis, row.statistic, row.mode


def specificity(row: ContractRow) -> tuple[int, int]:
    """Keys in ``where``, then keys with a single value: of competing rows the greatest wins."""
    return len(row.where), sum(len(values) == 1 for _, values in row.where)


def content(row: ContractRow) -> dict[str, Any]:
    """Purpose: what a row asks for, as plain data. Its name is its place, which another row may have after an amendment."""
    said: dict[str, Any] = {key: getattr(row, key) for key in ("contract", "test", "figure", "must", "basis")}
    said |= {"where": {key: list(values) for key, values in row.where}, "statistic": row.statistic, "mode": row.mode}
    said |= {"inputs": row.inputs}
    return {key: value for key, value in said.items() if value}


# ---- values ----------------------------------------------------------------------------------------------------------


def holds(row: ContractRow, value: float) -> bool:
    """Whether a value, in the row's unit, lies inside its bounds."""
    return not (_beyond(row.low, value, -1, row.strict) or _beyond(row.high, value, 1, row.strict))


def _beyond(bound: float | None, value: float, side: int, strict: bool) -> bool:
    """Whether the value lies beyond a bound, upwards for side 1."""
    if bound is None:
        return False
    if same(value, bound):
        return strict
    return (value - bound) * side > 0


def distance(row: ContractRow, value: float) -> float:
    """How far a value lies beyond its nearest bound, in the row's unit; below 0 inside. The greatest is the worst value."""
    beyond = []
    if row.low is not None:
        beyond.append(row.low - value)
    if row.high is not None:
        beyond.append(value - row.high)
    return max(beyond)


# ---- in words --------------------------------------------------------------------------------------------------------


def where_text(row: ContractRow) -> str:
    """The cases a row asks about, as a person would write them: ``threads=1|2; toolchain=gcc``; "" for all of the test."""
    return "; ".join(f"{key}={'|'.join(values)}" for key, values in row.where)


def source_text(row: ContractRow) -> str:
    """The row by name, with its basis and clause: ``c5:3, contract, SOW 4.2.1``."""
    return ", ".join(filter(None, (row.name, row.basis, row.clause)))


def beside(value: float, row: ContractRow, digits: int = 4) -> str:
    """A value in the unit that the bound is written in, with enough digits that it stands to each bound as printed as in truth:
    4355.2 s beside 4355.
    """
    unit = written_unit(row.must, row.unit)
    bounds = [converted(bound, row.unit, unit) for bound in (row.low, row.high) if bound is not None]
    value, text = converted(value, row.unit, unit), ""
    for more in range(digits, 18):
        text = _number(value, more)
        shown = float(text)
        if all(_side(shown, bound) == _side(value, bound) for bound in bounds):
            break
    return f"{text}%" if unit == "%" else f"{text} {unit}".rstrip()


def _side(value: float, bound: float) -> int:
    """Above a bound, below it, or on it, as it is judged."""
    return 0 if same(value, bound) else (value > bound) - (value < bound)


def _number(value: float, digits: int) -> str:
    """So many significant digits at least; whole numbers whole."""
    plain = f"{value:z.0f}"
    if 10**digits <= abs(value) < 1e9 and len(plain.lstrip("-")) > digits:
        return plain
    return f"{value:z.{digits}g}"
