"""All-pairs matrices as bitmaps, and the median of each node: a slow node is a dark cross and an outlier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from shakedown.metrics.statistics import OUTLIER_LEAST, median, outlier_scores, outliers
from shakedown.metrics.words import show_number
from shakedown.model.units import UNITS
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.records import Matrix
from shakedown.report.figures.style import ACCENT, MARKS, Drawing, capital, draw, label
from shakedown.report.words import file_name, one_line

PIXELS = 512  # along one side of a bitmap
FEW = 8  # nodes whose numbers are written into the bitmap


@dataclass(frozen=True, slots=True)
class NodeMedian:
    """One node of a matrix: the median of what it sent and received. ``score`` is in robust standard deviations.

    ``many``: there were enough nodes to call one slow.
    """

    case: str
    run: str
    matrix: str
    node: str
    value: float
    unit: str
    score: float
    outlier: bool
    many: bool


def node_medians(gathered: list[CasePictures]) -> list[NodeMedian]:
    """Purpose: for each node of each matrix the median over its partners, in both directions; slow and fast nodes are flagged."""
    found = []
    for case in gathered:
        for matrix in case.matrices:
            values = [_node_values(matrix, place) for place in range(len(matrix.labels))]
            middles = [median(mine) if mine else math.nan for mine in values]
            found += _flagged(case, matrix, middles)
    return found


def is_time(unit: str) -> bool:
    """Whether a greater value is worse, as in a matrix of latencies. All other pair measurements are rates."""
    return unit in UNITS and UNITS[unit][0] == "seconds"


def _node_values(matrix: Matrix, place: int) -> list[float]:
    """The values between one node and the others, in both directions, without the node's value with itself."""
    others = [other for other in range(len(matrix.rows)) if other != place]
    both = [matrix.rows[place][other] for other in others] + [matrix.rows[other][place] for other in others]
    return [value for value in both if not math.isnan(value)]


def _flagged(case: CasePictures, matrix: Matrix, middles: list[float]) -> list[NodeMedian]:
    known = [place for place, value in enumerate(middles) if not math.isnan(value)]
    values = [middles[place] for place in known]
    scores = outlier_scores(values) if values else []
    flagged, many = set(outliers(values)), len(values) >= OUTLIER_LEAST
    return [
        NodeMedian(
            case.case, case.run, matrix.name, matrix.labels[place], value, matrix.unit, score, i in flagged, many
        )
        for i, (place, value, score) in enumerate(zip(known, values, scores, strict=True))
    ]


def draw_matrix(number: int, case: CasePictures, matrix: Matrix) -> Drawing:
    """Purpose: the bitmap of a matrix and beside it each node's median; for few nodes the numbers are written in the fields."""
    nodes = node_medians([CasePictures(case.case, case.run, (matrix,))])
    few = len(matrix.labels) <= FEW
    block = -(-len(matrix.labels) // PIXELS)

    def paint(figure: Any) -> None:
        if few:
            _numbers(_paint_bitmap(figure, figure.add_subplot(), matrix, block), matrix)
        else:
            axes, strip = figure.subplots(1, 2, width_ratios=[1.35, 1])
            _paint_bitmap(figure, axes, matrix, block)
            _median_strip(strip, nodes, matrix.unit)

    title = f"{capital(matrix.name)} between all pairs: {one_line(case.case, 60)}"
    name = f"matrix-{number:02d}-{file_name(case.case)}"
    return draw(name, title, _caption(case, matrix, nodes, block), 2.4 if few else 2.9, paint, wide=not few)


def _caption(case: CasePictures, matrix: Matrix, nodes: list[NodeMedian], block: int) -> str:
    few = len(matrix.labels) <= FEW
    fast = "dark" if is_time(matrix.unit) else "light"
    text = f"From run {case.run}. {'' if few else 'Left: '}From each to each other, {fast} is fast."
    if block > 1:
        text += f" Each point is the slowest of {block} x {block} pairs."
    if nodes and not few:
        middle = show_number(median([node.value for node in nodes]))
        text += f" Right: each node's median, both ways, sorted; over all nodes {middle} {matrix.unit}."
    return text


def _paint_bitmap(figure: Any, axes: Any, matrix: Matrix, block: int) -> Any:
    bitmap = _bitmap(matrix, block)
    end = len(bitmap) * block - 0.5  # the axes count nodes, however many are in one point
    image = axes.imshow(bitmap, cmap="viridis", interpolation="none", extent=(-0.5, end, end, -0.5))
    axes.grid(visible=False)
    axes.set_xlabel("to")
    axes.set_ylabel("from")
    _ticks(axes, matrix, block)
    figure.colorbar(image, ax=axes, shrink=0.85, label=label(matrix.unit, 20))
    return image


def _numbers(image: Any, matrix: Matrix) -> None:
    """Write each pair's number in its field, dark on light and light on dark."""
    middle = sum(image.get_clim()) / 2
    for row, values in enumerate(matrix.rows):
        for column, value in enumerate(values):
            if row != column and not math.isnan(value):
                colour = "black" if value > middle else "white"
                beside = {"ha": "center", "va": "center", "color": colour, "size": 6.5}
                image.axes.text(column, row, show_number(value), **beside)


def _bitmap(matrix: Matrix, block: int) -> Any:
    """The matrix without its diagonal, thinned so that the slowest pair of each block shows."""
    import numpy

    values = numpy.array(matrix.rows, dtype=float)
    numpy.fill_diagonal(values, numpy.nan)
    if block > 1:
        sign = -1.0 if is_time(matrix.unit) else 1.0
        values = sign * _lowest_of_blocks(sign * values, block)
    return numpy.ma.masked_invalid(values)


def _lowest_of_blocks(values: Any, block: int) -> Any:
    """The lowest value of each block x block square; infinite where a square has no values."""
    import numpy

    padding = -len(values) % block
    padded = numpy.pad(values, ((0, padding), (0, padding)), constant_values=numpy.nan)
    side = len(padded) // block
    known = numpy.where(numpy.isnan(padded), numpy.inf, padded)
    return known.reshape(side, block, side, block).min(axis=(1, 3))


def _ticks(axes: Any, matrix: Matrix, block: int) -> None:
    if block == 1 and len(matrix.labels) <= 16:
        names = [label(name, 10) for name in matrix.labels]
        turn = 0 if max(map(len, names)) * len(names) < 40 else 90
        axes.set_xticks(range(len(names)), names, rotation=turn)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)


def _median_strip(axes: Any, nodes: list[NodeMedian], unit: str) -> None:
    """Draw each node's median from the slowest to the fastest, with the names of outliers where there is room."""
    order = sorted(nodes, key=lambda node: node.value)
    ranks = list(enumerate(order, 1))
    plain = [(rank, node.value) for rank, node in ranks if not node.outlier]
    strange = [(rank, node) for rank, node in ranks if node.outlier]
    many = len(nodes) > 1500
    axes.scatter([x for x, _ in plain], [y for _, y in plain], s=8, c=ACCENT, linewidths=0, rasterized=many)
    shape, colour = MARKS["failed"]
    axes.scatter([x for x, _ in strange], [n.value for _, n in strange], s=26, c=colour, marker=shape, linewidths=0)
    for rank, node in strange[:4]:
        beside = {"textcoords": "offset points", "xytext": (6, -2), "color": colour, "size": 6.5}
        axes.annotate(label(node.node, 24), (rank, node.value), **beside)
    axes.set_xlabel("node, from low to high")
    axes.set_ylabel(label(f"median, {unit}", 28))
    axes.set_ylim(0, 1.08 * max((node.value for node in nodes), default=1.0) or 1.0)
    axes.xaxis.get_major_locator().set_params(integer=True)
