"""Figures of what the kernels measured. A new kind of picture needs a record in ``records``, a file here, and a line below."""

from __future__ import annotations

from collections.abc import Callable

from shakedown.metrics.words import plural
from shakedown.report.figures.declaration import ReportFigure
from shakedown.report.figures.io import draw_io
from shakedown.report.figures.nodes_measured import draw_measured_nodes, has_several
from shakedown.report.figures.noise import draw_noise
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.pairs import draw_matrix
from shakedown.report.figures.style import Drawing

EACH_LIMIT = 8  # figures of one kind


def draw_machine(gathered: list[CasePictures]) -> tuple[list[Drawing], list[str]]:
    """Purpose: every figure of the machine, and a sentence on those that are not drawn."""
    kinds: list[list[Callable[[int], Drawing]]] = [
        [_later(draw_matrix, case, matrix) for case in gathered for matrix in case.matrices],
        [
            _later(draw_noise, case, name)
            for case in gathered
            for name in dict.fromkeys(h.name for h in case.histograms)
        ],
        [_later(draw_io, case) for case in gathered if len(case.rates) > 1],  # one is a row of a table
        [_later(draw_measured_nodes, case) for case in gathered if has_several(case)],
    ]
    drawings = [paint(number) for kind in kinds for number, paint in enumerate(kind[:EACH_LIMIT], 1)]
    left = sum(max(0, len(kind) - EACH_LIMIT) for kind in kinds)
    return drawings, [f"not drawn: {plural(left, 'figure')} more of the machine"] if left else []


def _later(paint: Callable[..., Drawing], *what: object) -> Callable[[int], Drawing]:
    """A figure that is drawn only if it is wanted; its number becomes part of its file name."""
    return lambda number: paint(number, *what)


FIGURES = (ReportFigure("the machine", "machine", lambda m: draw_machine(m.gathered.cases)),)
