"""The CSV file of scaling: a line for each size of each series, with every number that the page shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.scaling import Series
from shakedown.report.tables.csv_files import Cell

SCALING = (
    "campaign", "component", "test", "mode", "series", "kind", "along", "size", "case", "figure", "unit", "n", "median", "speedup",
    "ideal", "efficiency", "interval_low", "interval_high", "serial", "serial_fitted", "falls_below", "falls_at", "falls_at_about",
    "to_come",
)  # fmt: skip


def scaling_rows(series: Iterable[Series]) -> Iterable[Sequence[Cell]]:
    """Purpose: the lines of scaling.csv; numbers with every digit."""
    for one in series:
        at, about = one.falls or (None, None)
        for step in one.steps:
            point = step.point
            low, high = step.interval or (None, None)
            numbers: tuple[Cell, ...] = (step.count, step.median, None, None, None)
            if point is not None:
                numbers = (point.count, point.value, point.speedup, point.ideal, point.efficiency)
            yield (
                one.source, one.component, one.test, one.mode, one.label, one.kind, one.along, step.size, step.case, one.figure,
                one.unit, *numbers, low, high, point.serial if point else None, one.serial, one.low, at, about, step.to_come,
            )  # fmt: skip
