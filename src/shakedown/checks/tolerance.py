"""Compare numbers within a tolerance, and find the difference that lies farthest outside."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``|a - b| <= absolute + relative * |b|``, where ``a`` is the run's number and ``b`` that of the reference.

    This is the rule of ``numpy.allclose``: infinities of one sign are equal, and NaN equals nothing, unless ``nan_equal``.
    """

    absolute: float = 0.0
    relative: float = 0.0
    nan_equal: bool = False

    def allowed(self, reference: float) -> float:
        """The largest allowed difference from this number of the reference."""
        return self.absolute + self.relative * abs(reference)

    def holds(self, found: float, reference: float) -> bool:
        """Purpose: whether two numbers are equal within the tolerance."""
        if found == reference:
            return True
        if math.isnan(found) or math.isnan(reference):
            return self.nan_equal and math.isnan(found) and math.isnan(reference)
        if math.isinf(found) or math.isinf(reference):
            return False
        return abs(found - reference) <= self.allowed(reference)

    def excess(self, found: float, reference: float) -> float:
        """The difference divided by the allowed difference; infinite where one of the numbers is not finite."""
        difference, allowed = abs(found - reference), self.allowed(reference)
        if not math.isfinite(difference):
            return math.inf
        return difference / allowed if allowed else math.inf


@dataclass(slots=True)
class Outside:
    """The count of compared numbers, and the worst one outside the tolerance. ``place``: its place, in words."""

    tolerance: Tolerance
    compared: int = 0
    outside: int = 0
    place: str = ""
    found: float = 0.0
    reference: float = 0.0
    words: str = field(default="")  # of two fields that are no numbers and differ
    _worst: tuple[float, float] = (-1.0, -1.0)

    def number(self, place: str, found: float, reference: float) -> None:
        """Compare two numbers."""
        self.compared += 1
        if not self.tolerance.holds(found, reference):
            self.worse(place, found, reference, 1)

    def worse(self, place: str, found: float, reference: float, count: int) -> None:
        """Record that ``count`` numbers lie outside the tolerance, and that these two differ most among them."""
        self.outside += count
        difference = abs(found - reference)
        rank = self.tolerance.excess(found, reference), difference if math.isfinite(difference) else math.inf
        if rank > self._worst:
            self._worst = rank
            self.place, self.found, self.reference = place, found, reference

    def sentence(self) -> str:
        """The worst place, both values, their difference, what is allowed, and how many lie outside; "" where none does."""
        if self.words:
            return self.words
        if not self.outside:
            return ""
        found, reference = self.found, self.reference
        said = f"{self.place}: {show_number(found)}, where the reference has {show_number(reference)}"
        if math.isfinite(found - reference):
            allowed = self.tolerance.allowed(reference)
            said += f": they differ by {abs(found - reference):.3g}, and {allowed:.3g} is allowed"
        many = "it is the only one" if self.outside == 1 else f"the worst of {self.outside} that are"
        return f"{said}; {many} outside, of {self.compared} numbers"


def show_number(number: float) -> str:
    """A number with all digits that distinguish it from other numbers."""
    return "NaN" if math.isnan(number) else repr(float(number)).removesuffix(".0")
