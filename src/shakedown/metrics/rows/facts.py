"""Reads values of an event with checks, because the log may be malformed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shakedown.model.figures import LARGEST, no_measurement


def number(value: Any) -> float | None:
    """Purpose: the value as a number; None for anything that is no number, not finite, or too large for a measurement."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < LARGEST else None


def measured(value: Any) -> float | str:
    """Purpose: the value of a figure, or in words why it is none. Versions before 0.14 recorded numbers of any size."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{str(value)[:40]!r} is no number"
    try:
        return no_measurement(value) or float(value)
    except OverflowError:
        return "a whole number that long is no measurement"


def said_at(value: Mapping[str, Any], heard: float) -> float:
    """Purpose: when a statement was made, if its value says so; never later than ``heard``, when it was recorded."""
    said = number(value.get("said"))
    return heard if said is None else min(said, heard)


def whole(value: Any, default: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def words(value: Any) -> dict[str, str]:
    """A mapping with its keys and values as text; {} if the value is no mapping."""
    return {str(key): str(word) for key, word in value.items()} if isinstance(value, dict) else {}
