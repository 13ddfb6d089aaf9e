"""A map of the nodes, one field per node in order: the share of its runs that failed, and how slow its runs were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from shakedown.diagnosis.node_report import NodeRow, NodesExamined
from shakedown.metrics.words import plural
from shakedown.report.figures.declaration import ReportFigure
from shakedown.report.figures.style import MARKS, RULE, Drawing, draw, label

COLUMNS_LEAST, COLUMNS_MOST = 16, 200
RINGS_LIMIT = 60  # found nodes that get a ring
SCALE_LEAST = 1.05  # of slowness: a machine that is even to 5 % shows one colour


def draw_nodes(nodes: NodesExamined) -> list[Drawing]:
    """Purpose: the two maps side by side; [] where runs were on one node only."""
    return [_map(nodes)] if nodes.several else []


def _map(nodes: NodesExamined) -> Drawing:
    rows, columns = nodes.nodes, columns_of(len(nodes.nodes))
    lines = -(-len(rows) // columns)
    slowness = [None if row.slowness is None else max(1.0, row.slowness) for row in rows]
    top = max((value for value in slowness if value is not None), default=1.0)

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        rates = [row.failure_rate for row in rows]
        most = max((rate for rate in rates if rate is not None), default=0.0)
        _panel(figure, left, rates, columns, (0.0, max(most, 0.01)), "share of runs that failed")
        _panel(figure, right, slowness, columns, (1.0, max(top, SCALE_LEAST)), "time over the usual")
        _rings(left, [place for place, row in enumerate(rows) if "node-failures" in row.findings], columns)
        _rings(right, [place for place, row in enumerate(rows) if "node-slow" in row.findings], columns)
        left.set_ylabel(f"{columns} a line" if lines > 1 else "")

    title = f"The runs of {plural(len(rows), 'node')}"
    return draw("nodes", title, _caption(rows, columns), min(4.5, max(1.3, 0.9 + 3.0 * lines / columns)), paint)


def _caption(rows: Sequence[NodeRow], columns: int) -> str:
    text = "A field is a node, in the order of their names from the upper left"
    text += f", {columns} a line, from {label(rows[0].node, 24)} to {label(rows[-1].node, 24)}. Left: the share of its runs that "
    return (
        text
        + "failed; right: the median time of its runs over the usual time of their cases. Grey: no such run. Rings: found."
    )


def columns_of(nodes: int) -> int:
    """The number of columns for so many nodes: somewhat more columns than lines."""
    return max(min(COLUMNS_LEAST, nodes), min(COLUMNS_MOST, math.ceil(math.sqrt(1.6 * nodes))))


def _panel(
    figure: Any, axes: Any, values: Sequence[float | None], columns: int, limits: tuple[float, float], name: str
) -> None:
    import matplotlib
    import numpy

    cells = numpy.full(-(-len(values) // columns) * columns, numpy.nan)
    cells[: len(values)] = [math.nan if value is None else value for value in values]
    colours = matplotlib.colormaps["viridis_r"].copy()
    colours.set_bad(RULE)
    grid = numpy.ma.masked_invalid(cells.reshape(-1, columns))
    image = axes.imshow(grid, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="none", aspect="equal")
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.8, aspect=30, label=name)


def _rings(axes: Any, places: Sequence[int], columns: int) -> None:
    shown = places[:RINGS_LIMIT]
    if shown:
        x, y = [place % columns for place in shown], [place // columns for place in shown]
        size = max(24.0, 5000.0 / columns)
        for colour, width in (("white", 2.0), (MARKS["failed"][1], 1.0)):
            axes.scatter(x, y, s=size, facecolors="none", edgecolors=colour, linewidths=width, clip_on=False)


FIGURES = (ReportFigure("node map", "node_map", lambda m: (draw_nodes(m.evidence.nodes), [])),)
