"""Numbers as programs print them, and what is made of several of them."""

from __future__ import annotations

import math
import re
import statistics

from shakedown.checks.text import show

Entry = float | str  # a number, or the sentence that says why it is none

# A number as programs write it: Fortran's exponent letters too; inf and nan in all their spellings.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf(?:inity)?|nan(?:\([^)]*\))?)", re.IGNORECASE)
_EXPONENTS = str.maketrans("dDqQ", "eeee")


def number(text: str) -> Entry:
    """Purpose: a finite number as programs write them (1.5E+03, 1.5D+03, .5), or the sentence that says why it is none."""
    text = text.strip()
    if _NUMBER.fullmatch(text) is None:
        if _NOT_FINITE.fullmatch(text):
            return f"{show(text)} is no finite number"
        return f"{show(text)} is not a number" if text else "what should be a number is empty"
    value = float(text.translate(_EXPONENTS))
    return value if math.isfinite(value) else f"{show(text)} is too large for a number"


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
    """The value below which a share of them lies, on the line between the two nearest (numpy's default)."""
    place = share * (len(ordered) - 1)
    below = int(place)
    if below + 1 >= len(ordered):
        return ordered[-1]
    weight = place - below
    return ordered[below] * (1 - weight) + ordered[below + 1] * weight
