"""Parse the bounds of a figure as contracts write them (one-sided, two-sided, or around a value) in the figure's own unit.

<= 4355 s      4148 s +-2%      4148 s +2%      12 GB/s -5%      10 GB/s +1 GB/s -5%      10..20 GB/s      = 4
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shakedown.model.units import UNITS, Quantity, parse_duration, parse_quantity, refuse_marks
from shakedown.plans.schema.amounts import unlike
from shakedown.plans.schema.scalars import InvalidValue

HOW = "write '<= 4355 s', '>= 12 GB/s', '= 4', '10..20 GB/s', '4148 s +-2%', '4148 s +2%' or '12 GB/s -5%'"
_SIGNS = {"≤": "<=", "≥": ">=", "==": "="}
_COMPARED = re.compile(r"(<=|>=|==|=|<|>|≤|≥)\s*([^<>=\s].*)")
_RANGE = re.compile(r"(.*\S)\s*\.\.\s*(\S.*)")
_BOTH = re.compile(r"(.*\S)\s*(?:\+/?-|±)\s*([\d.].*)")
_WIDTH = r"[\d.]\S*(?:\s+[^\s+-]\S*)?"  # a number, perhaps with a blank before its unit
_UPPER = re.compile(rf"(.*\S)\s+\+\s*({_WIDTH})")
_LOWER = re.compile(rf"(.*\S)\s+-\s*({_WIDTH})")
_NUMBER = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lower and the upper bound, None where a side is free; ``strict``: the bound itself does not meet it.

    ``value``: what the bounds lie around, where a value is written and not only how far one may go.
    """

    low: float | None
    high: float | None
    strict: bool = False
    value: float | None = None


def parse_must(text: str, unit: str, figure: str = "the figure", never_negative: bool = False) -> Bounds:
    """Purpose: the bounds in ``unit``, the figure's own. ``never_negative``: the figure cannot lie below 0.

    Errors: InvalidValue for what cannot be read, measures something else, or what nothing can meet.
    """
    bounds = _read(text.strip(), unit, figure)
    if bounds.low is not None and bounds.high is not None and bounds.low > bounds.high:
        raise InvalidValue(
            f"'{text}' can never be met: {bounds.low:g} is more than {bounds.high:g}", "the least comes first"
        )
    below = bounds.high is not None and (bounds.high < 0 or (bounds.strict and bounds.high == 0))
    if never_negative and below:
        raise InvalidValue(f"'{text}' can never be met: {figure} is never below 0")
    return bounds


def _read(text: str, unit: str, figure: str) -> Bounds:
    if not text:
        raise InvalidValue("an empty bound", HOW)
    try:
        refuse_marks(text)
    except ValueError as error:
        message, _, hint = str(error).rpartition("; ")
        raise InvalidValue(message, hint) from error
    compared = _COMPARED.fullmatch(text)
    if compared and re.search(r"[<>=≤≥]", compared[2]):
        raise InvalidValue(f"'{text}' has two bounds", "write both as one, such as '10..20 GB/s'")
    if compared:
        sign, value = _SIGNS.get(compared[1], compared[1]), _amount(compared[2], unit, figure)
        return Bounds(
            value if ">" in sign or sign == "=" else None, value if "<" in sign or sign == "=" else None, sign in "<>"
        )
    between = _RANGE.fullmatch(text)
    if between:
        return _between(between[1], between[2], unit, figure)
    both = _BOTH.fullmatch(text)
    if both:
        value = _amount(both[1], unit, figure)
        width = _width(both[2], value, unit, figure)
        return Bounds(value - width, value + width, value=value)
    return _around(text, unit, figure)


def _between(low: str, high: str, unit: str, figure: str) -> Bounds:
    """The bounds of a range low..high; a unit written only at the end holds for both."""
    if _NUMBER.fullmatch(low) and not _NUMBER.fullmatch(high):
        number = _NUMBER.match(high)
        low += high[number.end() :] if number else ""
    return Bounds(_amount(low, unit, figure), _amount(high, unit, figure))


def _around(text: str, unit: str, figure: str) -> Bounds:
    """The bounds around a value, with the allowed distance above or below it; a side without a distance is free."""
    upper = lower = None
    rest = text
    while True:
        if lower is None and (match := _LOWER.fullmatch(rest)):
            rest, lower = match[1], match[2]
        elif upper is None and (match := _UPPER.fullmatch(rest)):
            rest, upper = match[1], match[2]
        else:
            break
    if upper is None and lower is None:
        raise InvalidValue(f"'{text}' is not a bound", HOW)
    value = _amount(rest, unit, figure)
    low = None if lower is None else value - _width(lower, value, unit, figure)
    high = None if upper is None else value + _width(upper, value, unit, figure)
    return Bounds(low, high, value=value)


def _width(text: str, value: float, unit: str, figure: str) -> float:
    """The allowed distance from a value: a percentage of the value, or an amount."""
    if text.rstrip().endswith("%"):
        share = _quantity(text, "%")
        if share.unit != "%":  # more than one distance
            raise InvalidValue(f"'{text.strip()}' is no distance from a value", HOW)
        return abs(value) * share.value / 100
    return _amount(text, unit, figure)


def _amount(text: str, unit: str, figure: str) -> float:
    quantity = _quantity(text, unit)
    try:
        return quantity.to(unit)
    except ValueError as error:
        raise unlike(text, quantity, unit, figure) from error


def _quantity(text: str, unit: str) -> Quantity:
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        if UNITS.get(unit, ("",))[0] != "seconds":
            raise InvalidValue(str(error), HOW) from error
        quantity = Quantity(_duration(text), "s")
    if quantity.unit not in UNITS and quantity.unit != unit and UNITS.get(unit, ("",))[0] == "seconds":
        quantity = Quantity(_duration(text), "s")  # 1h30m is a number with a strange unit otherwise
    if not abs(quantity.value) < 1e30:
        raise InvalidValue(f"'{text.strip()}' is too large a number")
    return quantity


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise InvalidValue(
            f"'{text.strip()}' is not a duration", "write it with its units, such as 90s, 2h or 1h30m"
        ) from error
