"""A measured number beside a model's: by how much the machine is away from what the model says.

``beside`` makes a row of both; ``beside_law`` those of a scaling series, beside the law that fits it best.
"""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.scaling import Series, Step
from shakedown.model.scaling import Point


class Beside(Struct, frozen=True):
    """``measured``: the median of ``count`` values, in ``unit``; ``low`` and ``high``: the least and the greatest of them.

    ``about``: what it is measured of (a case, or a size); ``deviation``: measured / model - 1, None where the model says 0.
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
    """Purpose: a row. ``values``: at least one, in ``unit`` as ``model`` is."""
    ordered = sorted(values)
    half = len(ordered) // 2
    middle = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    deviation = middle / model - 1 if model else None
    return Beside(about, figure, unit, len(ordered), middle, ordered[0], ordered[-1], model, deviation)


def beside_law(series: Series) -> list[Beside]:
    """Purpose: a series beside its law: Amdahl's (1967) with the serial share that fits best, Gustafson's (1988) where the work
    grows with the size. Through the smallest size by its making. Empty where one size alone is measured.
    """
    if series.serial is None:
        return []
    return [_at_size(series, step, step.point, series.serial) for step in series.steps if step.point is not None]


def law_speedup(kind: str, serial: float, ideal: float) -> float:
    """Purpose: the speed-up at ``ideal`` times the smallest size: 1 / (s + (1 - s) / k), or k - s (k - 1) of weak scaling."""
    return ideal - serial * (ideal - 1) if kind == "weak" else 1 / (serial + (1 - serial) / ideal)


def _at_size(series: Series, step: Step, point: Point, serial: float) -> Beside:
    faster = point.speedup / law_speedup(series.kind, serial, point.ideal)  # the machine than the law
    model = point.value / faster if series.higher else point.value * faster
    about, value = f"{series.along}={point.size:g}", point.value
    low, high = (value if end is None else end for end in (step.least, step.most))
    return Beside(about, series.figure, series.unit, point.count, value, low, high, model, value / model - 1)
