"""Read how a part of a score is measured: figures with weights, their unit, and the divisor of a value."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.figures import FigureSpec, figure_of, measured_as, misnamed
from shakedown.model.nouns import Test
from shakedown.model.units import UNITS, Quantity, parse_duration, parse_quantity
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import place

ELAPSED = "elapsed"
_NEAR = 1e-9

Better = Literal["lower", "higher"]


class Measured(Struct, frozen=True):
    """Figures with their weights and unit, and the direction in which they get better."""

    figures: tuple[tuple[str, float], ...]
    unit: str
    better: Better


def read_figures(node: Node, written: dict[str, Any], test: Test, times: bool, problems: Problems) -> Measured | None:
    """Purpose: what a part is measured by; None where that is a fault, which is told. ``times``: it must be a run time."""
    asked = written.get("figure", ELAPSED)
    weights = asked if isinstance(asked, dict) else {asked: 1.0}
    at = place(node, "figure")
    if abs(sum(weights.values()) - 1) > _NEAR:
        problems.at(at, f"the weights make {100 * sum(weights.values()):g}% together", "they make 100%")
        return None
    specs = [_spec(at, name, test, problems) for name in weights]
    known = [spec for spec in specs if spec is not None]
    if len(known) < len(specs):
        return None
    unit = "s" if times else written.get("unit", known[0].unit)
    better: Better | None = "lower" if times else _better(known)
    why = _why_not(known, unit, better, times, "reference" in written)
    if why or better is None:
        message, hint = why or ("", "")
        problems.at(at, message, hint, f"what is measured of test {test.name}: {message}")
        return None
    return Measured(tuple(weights.items()), unit, better)


def _spec(at: Node, name: str, test: Test, problems: Problems) -> FigureSpec | None:
    if name == ELAPSED:
        return FigureSpec(ELAPSED, unit="s", better="lower")
    found = measured_as(name, test.figures)
    if found is None:
        names = [ELAPSED, *(spec.name for spec in test.figures)]
        near = did_you_mean(name, names) or f"there are: {', '.join(names)}"
        problems.at(at, f"test '{test.name}' has no figure '{name}'", near, f"figure {name}")
        return None
    table = next((spec.table for spec in test.figures if spec.name == figure_of(name) != name), None)
    wrong = misnamed(name, table.by) if table is not None else None
    if wrong is not None:
        problems.at(at, *wrong, f"figure {name}")
        return None
    return found


def _better(specs: list[FigureSpec]) -> Better | None:
    """The direction in which the figures get better; None where they differ. A figure without a direction counts as a rate."""
    lower = {spec.better == "lower" for spec in specs}
    return None if len(lower) > 1 else "lower" if lower.pop() else "higher"


def _why_not(
    specs: list[FigureSpec], unit: str, better: Better | None, times: bool, reference: bool
) -> tuple[str, str] | None:
    """Why these figures cannot be used, and a hint; None where they can."""
    for spec in specs:
        try:
            Quantity(1.0, spec.unit).to(unit)
        except ValueError:
            what = "a run time" if times else f"in {unit}"
            return (
                f"figure '{spec.name}' is in {spec.unit or 'plain numbers'}, and must be {what}",
                "name another figure",
            )
    if not better:
        return (
            "of these figures some get better when higher, some when lower",
            "make parts of them, each with a reference",
        )
    if better == "lower" and not times and not reference:
        way = "reference: an amount that is divided by it"
        return f"of figure '{specs[0].name}' lower is better, and a mean of it says nothing", way
    return None


def read_reference(text: str | None, measured: Measured) -> float:
    """Purpose: the divisor of a value, in the unit of the figure. Raises InvalidValue."""
    if text is None:
        return 0.0
    try:
        seconds = UNITS.get(measured.unit, ("",))[0] == "seconds"
        quantity = Quantity(parse_duration(text), "s") if seconds else parse_quantity(text)
        value = quantity.to(measured.unit) if quantity.unit else quantity.value
    except ValueError as error:
        raise InvalidValue(f"'{text}' is no amount in {measured.unit or 'plain numbers'}", str(error)) from error
    if not 0 < value < 1e30:
        raise InvalidValue(f"'{text}' is no amount that a value can be held against", "it is above 0")
    return value
