"""The figures of components that run for a time: clock, nodes in use, holes, loads, days. ``draw_stability`` lists them."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.loads import Load
from shakedown.metrics.stability import Stability
from shakedown.metrics.table import Record
from shakedown.model.nouns import Document
from shakedown.report.draw_clock import draw_clock
from shakedown.report.draw_days import draw_days
from shakedown.report.draw_holes import draw_holes
from shakedown.report.draw_loads import draw_loads
from shakedown.report.draw_usage import draw_usage
from shakedown.report.drawing import Drawing
from shakedown.report.report_figure import Drawn, Material, ReportFigure


def draw_stability(
    document: Document, record: Record, stability: Sequence[Stability], loads: Sequence[Load], begin: float
) -> list[Drawing]:
    """Purpose: each component's figures, then what loaded the budgets, whosever it was. ``begin`` is time zero."""
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
