"""Values printed beside the bound of a criterion: in the unit in which the bound is written, with enough digits."""

from __future__ import annotations

from shakedown.metrics.words import show_beside, show_value, side
from shakedown.model.bounds import converted, is_in_parts, written_unit
from shakedown.model.judging import Criterion
from shakedown.model.units import show_duration


def at_bound(value: float, criterion: Criterion, unit: str, digits: int = 4) -> str:
    """Purpose: a value as text in the bound's unit, with enough digits to show on which side of the bound it lies. The value and
    the bound are given in ``unit``.
    """
    shown = written_unit(criterion.must, unit)
    return show_beside(converted(value, unit, shown), converted(criterion.bound, unit, shown), shown, digits)


def in_its_unit(value: float, criterion: Criterion, unit: str) -> str:
    """Purpose: a number that is not compared with the bound, such as the end of an interval, as text in the bound's unit."""
    shown = written_unit(criterion.must, unit)
    return show_value(converted(value, unit, shown), shown)


def in_parts(criterion: Criterion, unit: str) -> str:
    """Purpose: a bound written in several units (1h30m), in the single unit of its printed values: " (1.5 h)"; else ""."""
    return f" ({show_value(criterion.bound, unit)})" if is_in_parts(criterion.must, unit) else ""


def duration_at(seconds: float, bound: float) -> tuple[str, str]:
    """Purpose: a duration and its bound, both in seconds, as readable texts; with all digits if the duration is shorter than the
    bound but the rounded texts would be equal.
    """
    texts = show_duration(seconds), show_duration(bound)
    if texts[0] != texts[1] or side(seconds, bound) >= 0:
        return texts
    return show_beside(seconds, bound, "s"), f"{show_beside(bound, bound, 's')} ({texts[1]})"
