"""Parse numbers as programs print them, and combine several numbers into one."""

from __future__ import annotations

import math
import re
import statistics

from shakedown.checks.text import show
from shakedown.model.units import UNITS, Quantity

Entry = float | str  # a number, or the sentence that says why it is none

# A number as programs write it: Fortran's exponent letters too; inf and nan in all their spellings.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf(?:inity)?|nan(?:\([^)]*\))?)", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d*|(?:,\d{3}){2,})")  # 1,234.5 and 1,234,567
_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
# Run times as programs print them: 1d 2h, 1h 5m, 9h10:09 of some, 1m30.12s, 12.3s; 0:01:30 and 01:30.5
_PARTS = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+\.?\d*)s)?")
_CLOCK = re.compile(r"(?:(\d+)[-:](?=\d+:\d+:))?(?:(\d+):)?(\d+):([0-5]?\d(?:\.\d*)?)")
_SECONDS = (86400.0, 3600.0, 60.0, 1.0)
_EXPONENTS = str.maketrans("dDqQ", "eeee")


def number(text: str) -> Entry:
    """Purpose: a finite number as programs write them (1.5E+03, 1.5D+03, .5, 1,234.5), or the sentence that says why it is none."""
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    if _DOUBTFUL.fullmatch(text):
        return f"{show(text)} may be {text.replace(',', '')} or {text.replace(',', '.')}"
    if _NUMBER.fullmatch(text) is None:
        if _NOT_FINITE.fullmatch(text):
            return f"{show(text)} is no finite number"
        return f"{show(text)} is not a number" if text else "what should be a number is empty"
    value = float(text.translate(_EXPONENTS))
    return value if math.isfinite(value) else f"{show(text)} is too large for a number"


def number_in(unit: str, text: str) -> Entry:
    """Purpose: a number in ``unit``. Where that is one of time, a run time counts too: 1m30.5s, 1h 5m, 0:01:30, 1-02:03:04,
    and a number with that unit behind it: 2041ms.
    """
    found = number(text)
    if isinstance(found, str) and unit in UNITS and UNITS[unit][0] == "seconds":
        seconds = _run_time(text.strip())
        if seconds is not None:
            return Quantity(seconds, "s").to(unit)
        own = number(text.strip().removesuffix(unit))
        return found if isinstance(own, str) else own
    return found


def _run_time(text: str) -> float | None:
    """The seconds of a run time, written in parts (1h 5m) or as on a clock (0:01:30); None for any other text."""
    match = _CLOCK.fullmatch(text) or (_PARTS.fullmatch(text) if text else None)
    if match is None:
        return None
    parts = [part or "0" for part in match.groups()]
    return sum(float(part) * seconds for part, seconds in zip(parts, _SECONDS, strict=True))


def combine(pick: str, numbers: list[float]) -> Entry:
    """Purpose: one number of several: min, max, mean, median, sum, count, sd (of a sample), p5, p95, p99.

    Quantiles lie on the line between the two nearest values.
    """
    try:
        return _combined(pick, numbers)
    except (OverflowError, statistics.StatisticsError):
        few = len(numbers) < 2
        return "one value alone has no sd" if few else f"the {pick} of all values is too large for a number"


def _combined(pick: str, numbers: list[float]) -> Entry:
    if pick == "min":
        return min(numbers)
    if pick == "max":
        return max(numbers)
    if pick == "count":
        return float(len(numbers))
    if pick == "median":
        return _quantile(sorted(numbers), 0.5)
    if pick.startswith("p"):
        return _quantile(sorted(numbers), int(pick[1:]) / 100)
    if pick == "sd":
        return statistics.stdev(numbers)
    total = math.fsum(numbers)
    return total if pick == "sum" else total / len(numbers)


def _quantile(ordered: list[float], share: float) -> float:
    """The quantile at ``share`` of sorted numbers, interpolated linearly between the two nearest values (numpy's default)."""
    place = share * (len(ordered) - 1)
    below = int(place)
    if below + 1 >= len(ordered):
        return ordered[-1]
    weight = place - below
    return ordered[below] * (1 - weight) + ordered[below + 1] * weight
