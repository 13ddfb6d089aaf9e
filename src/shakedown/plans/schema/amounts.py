"""Amounts against what they are compared with: whether both measure the same, and how to say it where they do not."""

from __future__ import annotations

from shakedown.model.errors import did_you_mean
from shakedown.model.units import UNITS, Quantity, example_unit, parse_quantity, show_bytes, show_duration
from shakedown.plans.schema.scalars import InvalidValue

_PLAIN = "number"


def check_dimension(quantity: Quantity, dimension: str, thing: str) -> None:
    """Purpose: raise Wrong where an amount does not measure what ``thing`` is measured in."""
    if quantity.dimension == dimension:
        return
    fitting = [unit for unit, (kind, _) in UNITS.items() if kind == dimension and unit] or [dimension]
    if dimension == _PLAIN:
        hint: str | None = "write a plain number"
    else:
        hint = did_you_mean(quantity.unit, fitting) or f"write it in {example_unit(dimension)}"
    raise InvalidValue(
        f"'{quantity}' and {thing}, which is in {_in_words(dimension)}, do not measure the same thing", hint
    )


def known_amount(text: str) -> Quantity:
    """Purpose: an amount above zero, in a known unit or one of a person that is not nearly a known one. Raises InvalidValue."""
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        raise InvalidValue(str(error), "write it as 4 GB/s, or 8") from error
    if not 0 < quantity.value < 1e30:
        raise InvalidValue(f"'{text}' is no amount", "it is above zero")
    near = None if quantity.unit in UNITS else did_you_mean(quantity.unit, UNITS)
    if near:
        raise InvalidValue(f"'{text}': there is no unit '{quantity.unit}'", near)
    return quantity


def show_amount(amount: float, dimension: str) -> str:
    """An amount in base units as people write it."""
    if dimension == "bytes/s":
        return f"{amount / 1e9:g} GB/s"
    if dimension == "bytes":
        return show_bytes(amount)
    if dimension == "seconds":
        return show_duration(amount)
    return f"{amount:g}" if dimension == _PLAIN else f"{amount:g} {dimension}"


def _in_words(dimension: str) -> str:
    return "plain numbers" if dimension == _PLAIN else dimension
