"""A traced run's use of MPI: how much each rank sent to each other rank, and when the ranks were in MPI."""

from __future__ import annotations

from typing import Any

from shakedown.kernels.traces import Line, Matrix, Trace
from shakedown.metrics.words import plural
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import ACCENT, Drawing, draw, label
from shakedown.report.words import file_name, one_line

EACH_LIMIT = 8  # figures of one report


def draw_trace(trace: Trace, number: int, case: str, run: str) -> Drawing:
    """Purpose: the heat map of bytes between ranks, or blocks of ranks, and beside it the share of time in MPI along the run."""

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.2])
        _heat_map(figure, left, trace.matrix)
        _share(right, trace.line)

    title = f"Messages and time in MPI: {one_line(case, 60)}"
    text = f"From run {run}, {plural(len(trace.ranks), 'rank')} of {label(trace.program.rpartition('/')[2], 40)}. Left: data from "
    text += "each rank to each other, by messages and one-sided operations; collectives are not in it. "
    text += "Right: the share of all ranks' time that was in MPI, along the run."
    return draw(f"trace-{number:02d}-{file_name(case)}", title, text, 2.7, paint)


def _heat_map(figure: Any, axes: Any, matrix: Matrix | None) -> None:
    import numpy

    axes.grid(visible=False)
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    if matrix is None or not matrix.rows:
        return
    values = numpy.array(matrix.rows, dtype=float)
    image = axes.imshow(numpy.ma.masked_equal(values, 0.0), cmap="viridis_r", vmin=0.0, interpolation="none")
    step = -(-len(values) // 8)
    places = range(0, len(values), step)
    names = [label(matrix.labels[place].partition("-")[0], 8) for place in places]
    axes.set_xticks(places, names)
    axes.set_yticks(places, names)
    figure.colorbar(image, ax=axes, shrink=0.85, label="MB")


def _share(axes: Any, line: Line | None) -> None:
    shares = [min(1.0, max(0.0, share)) for share in line.mpi_share] if line else []
    edges = [place * line.step_s for place in range(len(shares) + 1)] if line else [0.0]
    if shares:
        axes.stairs([100 * share for share in shares], edges, fill=True, color=ACCENT, alpha=0.8)
    axes.set_ylim(0, 100)
    axes.set_xlim(0, edges[-1] or 1.0)
    axes.set_xlabel("seconds since MPI_Init")
    axes.set_ylabel("% of the time in MPI")


def draw_traces(material: Material) -> Drawn:
    """Purpose: a figure for each traced case, at most eight, and a sentence on those that are not drawn."""
    traces = material.gathered.traces
    drawings = [draw_trace(one.trace, number, one.case, one.run) for number, one in enumerate(traces[:EACH_LIMIT], 1)]
    left = len(traces) - EACH_LIMIT
    return drawings, [f"{left} more traces are not drawn"] if left > 0 else []


FIGURES = (ReportFigure("what runs did in MPI", "machine", draw_traces, order=60),)
