"""Numbers as documents print them: how exact the digits are, and whether a number that was derived is the same one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from shakedown.model.units import UNITS, USUAL, Quantity

Relation = Literal["", ">", "<"]
Agreement = Literal["", "exact", "rounded", "truncated", "above", "below"]

_PRINTED = re.compile(
    r"\s*([<>]?)\s*(([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?)(\s*)([A-Za-z%µμ][A-Za-z0-9%/^_.-]*)?\s*"
)
_NEARLY = 1e-12  # what arithmetic in floating point may lose


@dataclass(frozen=True, slots=True)
class Published:
    """A number that a document prints of a machine, and the expression that derives it from the machine's file.

    ``value`` is as printed, ``because`` what explains it where it does not add up; ``line`` and ``column`` are those of ``of``.
    """

    what: str
    value: str
    of: str
    source: str = ""
    because: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed. ``step`` is one in its last digit, in its unit; ``relation`` ">" stands for "over", "<" for "under"."""

    quantity: Quantity
    step: float
    relation: Relation = ""


def parse_printed(text: str) -> Printed:
    """Purpose: read "41.5 PFLOP/s", "> 217 TB", "3.6e6", "28%". Raises ValueError with a sentence that says what is wrong."""
    match = _PRINTED.fullmatch(text)
    relation, number, _, _, decimals, exponent, blank, unit = match.groups() if match else (None,) * 8
    if match is None or number is None or (unit and unit not in UNITS and not blank):
        raise ValueError(f"'{text}' is no number as it is printed; write it as 41.5 PFLOP/s, > 217 TB or 153216")
    step = 10.0 ** (int(exponent or 0) - len(decimals or ""))
    return Printed(Quantity(float(number), unit or ""), step, ">" if relation == ">" else "<" if relation else "")


def agreement(printed: Printed, derived: float) -> Agreement:
    """Purpose: how a derived number, in the printed unit's base unit, is the printed one; "" where it is not.

    ``rounded``: it rounds to the printed digits; ``truncated``: they are its first digits, cut off. For "over" and "under" it is
    ``above`` or ``below``, or rounds to the digits themselves, though it is not over or under them.
    """
    value, number = printed.quantity.value, derived / _factor(printed.quantity.unit)
    apart, slack = number - value, _NEARLY * max(abs(value), abs(number))
    if printed.relation == ">" and apart > slack:
        return "above"
    if printed.relation == "<" and apart < -slack:
        return "below"
    found = _digits(apart if value >= 0 else -apart, printed.step, slack)
    return "" if printed.relation and found == "truncated" else found


def other_unit(printed: Printed, derived: float) -> str:
    """Purpose: the unit in which the printed digits would be right, "" where there is none: GB/s for Gb/s, PiB for PB."""
    unit = printed.quantity.unit
    if unit not in UNITS or not printed.quantity.value:
        return ""
    dimension, own = UNITS[unit]
    factors = {name: factor for name, (kind, factor) in USUAL.items() if kind == dimension and name and factor != own}
    if dimension in ("bytes", "bytes/s"):
        factors |= {
            name.replace("B", "b"): factor / 8 for name, factor in factors.items() | {(unit, own)} if "i" not in name
        }
    fitting = [
        name
        for name, factor in factors.items()
        if agreement(Printed(Quantity(printed.quantity.value), printed.step), derived / factor)
    ]
    return min(fitting, key=lambda name: abs(factors[name] / own - 1), default="")


def in_unit(derived: float, unit: str) -> float:
    """A number in base units, in ``unit``."""
    return derived / _factor(unit)


def _factor(unit: str) -> float:
    return UNITS[unit][1] if unit in UNITS else 1.0


def _digits(apart: float, step: float, slack: float) -> Agreement:
    if abs(apart) <= slack:
        return "exact"
    if abs(apart) <= step / 2 + slack:
        return "rounded"
    return "truncated" if 0 < apart < step - slack else ""
