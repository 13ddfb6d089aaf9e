"""A measured number beside a model's number: how far the machine deviates from the model.

``beside`` makes one row; ``beside_law`` makes the rows of a scaling series beside the scaling law that fits it best.
"""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.scaling import Series, Step
from shakedown.model.scaling import Point


class Beside(Struct, frozen=True):
    """A measured value beside a model's. ``measured``: the median of ``count`` values in ``unit``; ``low``, ``high``: their least
    and greatest.

    ``about``: the case, or the size, that was measured; ``deviation``: measured / model - 1, None where the model's value is 0.
    """

    about: str
    figure: str
    unit: str
    count: int
    measured: float
    low: float
    high: float
    model: float
    deviation: float | None


def beside(about: str, figure: str, unit: str, values: list[float], model: float) -> Beside:
    """Purpose: one row of measured against model. ``values``: at least one value, in the same unit as ``model``."""
    ordered = sorted(values)
    half = len(ordered) // 2
    middle = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    deviation = middle / model - 1 if model else None
    return Beside(about, figure, unit, len(ordered), middle, ordered[0], ordered[-1], model, deviation)


def beside_law(series: Series) -> list[Beside]:
    """Purpose: the rows of a series beside its law: Amdahl's (1967) with the serial share that fits best, or Gustafson's (1988)
    where the work grows with the size. The law passes through the smallest size by construction. Empty where only one size is
    measured.
    """
    if series.serial is None:
        return []
    return [_at_size(series, step, step.point, series.serial) for step in series.steps if step.point is not None]


def law_speedup(kind: str, serial: float, ideal: float) -> float:
    """Purpose: the law's speed-up at ``ideal`` (k) times the smallest size: 1 / (s + (1 - s) / k), or k - s (k - 1) for weak
    scaling.
    """
    return ideal - serial * (ideal - 1) if kind == "weak" else 1 / (serial + (1 - serial) / ideal)


def _at_size(series: Series, step: Step, point: Point, serial: float) -> Beside:
    faster = point.speedup / law_speedup(series.kind, serial, point.ideal)  # the machine's speed over the law's
    model = point.value / faster if series.higher else point.value * faster
    about, value = f"{series.along}={point.size:g}", point.value
    low, high = (value if end is None else end for end in (step.least, step.most))
    return Beside(about, series.figure, series.unit, point.count, value, low, high, model, value / model - 1)
