"""The figures of components that run for a time: clock, nodes in use, holes, loads, days. ``draw_stability`` lists them."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.loads import Load
from shakedown.metrics.rows.table import Record
from shakedown.metrics.stability import Stability
from shakedown.model.nouns import Document
from shakedown.report.figures.clock import draw_clock
from shakedown.report.figures.days import draw_days
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.idle_gaps import draw_holes
from shakedown.report.figures.loads import draw_loads
from shakedown.report.figures.style import Drawing
from shakedown.report.figures.usage import draw_usage


def draw_stability(
    document: Document, record: Record, stability: Sequence[Stability], loads: Sequence[Load], begin: float
) -> list[Drawing]:
    """Purpose: each component's figures, then one of the load on the budgets by all components. ``begin`` is time zero."""
    found: list[Drawing] = []
    for number, one in enumerate(stability, 1):
        found += draw_clock(number, one, record, begin)
        found += draw_usage(number, one, document, record, begin)
        found += draw_holes(number, one, document, record, begin)
        found += draw_days(number, one)
    return [*found, *draw_loads(loads, begin, record.last)]


def _stability(material: Material) -> Drawn:
    evidence = material.evidence
    return draw_stability(evidence.document, evidence.record, evidence.stability, evidence.loads, material.begin), []


FIGURES = (ReportFigure("stability", "stability", _stability),)
