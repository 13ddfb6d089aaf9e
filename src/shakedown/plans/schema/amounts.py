"""Compare amounts with what they apply to: whether both measure the same, and the error message where they do not."""

from __future__ import annotations

from shakedown.model.units import (
    KNOWN_IN_WORDS,
    UNITS,
    USUAL,
    Quantity,
    example_unit,
    near_unit,
    parse_quantity,
    show_bytes,
    show_duration,
)
from shakedown.plans.schema.scalars import InvalidValue

_PLAIN = "number"


def check_dimension(quantity: Quantity, dimension: str, thing: str) -> None:
    """Purpose: raise InvalidValue where an amount does not have the dimension of ``thing``."""
    if quantity.dimension == dimension:
        return
    fitting = _units_of(dimension) or [dimension]
    near = None if quantity.unit in UNITS else near_unit(quantity.unit, fitting)
    hint = "write a plain number" if dimension == _PLAIN else near or f"write it in {example_unit(dimension)}"
    raise InvalidValue(
        f"'{quantity}' and {thing}, which is in {_in_words(dimension)}, do not measure the same thing", hint
    )


def unlike(written: str, quantity: Quantity, unit: str, thing: str) -> InvalidValue:
    """Purpose: the error for an amount that cannot be converted into ``unit``, the unit of ``thing``, with a hint.

    The hint does not repeat the number with another unit, which would be another amount; only a number without a unit gets one.
    """
    written = written.strip()
    if not unit:
        shown = f"'{written}' and {thing}, which is a plain number, do not measure the same thing"
        return InvalidValue(shown, "write a plain number")
    if not quantity.unit:
        return InvalidValue(f"'{written}' has no unit, and {thing} is in {unit}", _with_unit(written, quantity, unit))
    if quantity.unit not in UNITS:
        near = near_unit(quantity.unit, _units_of(UNITS[unit][0]) if unit in UNITS else [unit])
        said = f"'{written}': there is no unit '{quantity.unit}' that is known, and {thing} is in {unit}"
        return InvalidValue(said, near or f"write it in {unit}; {KNOWN_IN_WORDS}")
    if unit not in UNITS:
        said = f"'{written}' cannot be converted into {unit}, which {thing} is in: that unit is not known"
        return InvalidValue(said, f"write it in {unit}, or give the figure a unit that is known; {KNOWN_IN_WORDS}")
    said = f"'{written}' and {thing}, which is in {unit}, do not measure the same thing"
    return InvalidValue(said, f"write it in {unit}")


def _with_unit(written: str, quantity: Quantity, unit: str) -> str:
    """The hint for a number without a unit. A person who writes 0.95 for percentages hardly means 0.95 %."""
    if unit == "%":
        share = 0 < abs(quantity.value) <= 1
        return (
            f"write '{quantity.value * 100:g}%', or '{written}%' where that is meant"
            if share
            else f"write '{written}%'"
        )
    return f"write '{written} {unit}' where that is meant"


def _units_of(dimension: str) -> list[str]:
    return [unit for unit, (kind, _) in USUAL.items() if kind == dimension and unit]


def known_amount(text: str) -> Quantity:
    """Purpose: an amount above zero in a known unit, or in a person's own unit that does not resemble a known one. Raises
    InvalidValue.
    """
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        raise InvalidValue(str(error), "write it as 4 GB/s, or 8") from error
    if not 0 < quantity.value < 1e30:
        raise InvalidValue(f"'{text}' is no amount", "write an amount above zero")
    near = None if quantity.unit in UNITS else near_unit(quantity.unit, USUAL)
    if near:
        raise InvalidValue(f"'{text}': there is no unit '{quantity.unit}'", near)
    return quantity


def show_amount(amount: float, dimension: str) -> str:
    """An amount in base units, as text with a readable unit."""
    if dimension == "bytes/s":
        return f"{amount / 1e9:g} GB/s"
    if dimension == "bytes":
        return show_bytes(amount)
    if dimension == "seconds":
        return show_duration(amount)
    return f"{amount:g}" if dimension == _PLAIN else f"{amount:g} {dimension}"


def _in_words(dimension: str) -> str:
    return "plain numbers" if dimension == _PLAIN else dimension
