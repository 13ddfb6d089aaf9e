"""Values as they stand beside the bound of a criterion: in the unit that the bound is written in, with digits enough."""

from __future__ import annotations

from shakedown.metrics.words import show_beside, show_value, side
from shakedown.model.bounds import converted, is_in_parts, written_unit
from shakedown.model.judging import Criterion
from shakedown.model.units import show_duration


def at_bound(value: float, criterion: Criterion, unit: str, digits: int = 4) -> str:
    """Purpose: a value of ``unit``, in which the bound is kept too, so that it stands to the bound as it does in truth."""
    shown = written_unit(criterion.must, unit)
    return show_beside(converted(value, unit, shown), converted(criterion.bound, unit, shown), shown, digits)


def in_its_unit(value: float, criterion: Criterion, unit: str) -> str:
    """Purpose: a number that is not compared with the bound, such as the end of an interval, in the bound's unit."""
    shown = written_unit(criterion.must, unit)
    return show_value(converted(value, unit, shown), shown)


def in_parts(criterion: Criterion, unit: str) -> str:
    """Purpose: a bound of several units (1h30m) in the one that its values are printed in: " (1.5 h)"; else ""."""
    return f" ({show_value(criterion.bound, unit)})" if is_in_parts(criterion.must, unit) else ""


def duration_at(seconds: float, bound: float) -> tuple[str, str]:
    """Purpose: a duration and its bound, both in seconds, as people say them; to the last digit where what is less would
    look alike."""
    texts = show_duration(seconds), show_duration(bound)
    if texts[0] != texts[1] or side(seconds, bound) >= 0:
        return texts
    return show_beside(seconds, bound, "s"), f"{show_beside(bound, bound, 's')} ({texts[1]})"
