"""Nodes that a test measured as slow: each node's value compared with the median of all nodes, for each quantity."""

from __future__ import annotations

import math
from typing import Any

from shakedown.metrics.statistics import median
from shakedown.metrics.words import plural, show_number
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.pairs import is_time
from shakedown.report.figures.records import NodeValues
from shakedown.report.figures.style import ACCENT, MARKS, Drawing, draw, label
from shakedown.report.words import file_name, one_line

SLOW = 0.1  # worse than the median by more than this share
PANELS_LIMIT = 4
NAMED_LIMIT = 4  # slow nodes of a quantity whose names are shown
LISTED_LIMIT = 12  # that the caption names


def has_several(case: CasePictures) -> bool:
    """Purpose: whether a quantity was measured on several nodes."""
    return any(len(_known(values)) > 1 for values in case.nodes)


def slow_nodes(values: NodeValues) -> list[str]:
    """Purpose: the nodes that are worse than the median by more than ten per cent, the worst first."""
    return [values.labels[place] for place, share in _shares(values) if share < -SLOW]


def draw_measured_nodes(number: int, case: CasePictures) -> Drawing:
    """Purpose: a panel for each quantity: every node's distance from the median, from the worst to the best; slow
    nodes are named.
    """
    shown = [values for values in case.nodes if len(_known(values)) > 1][:PANELS_LIMIT]

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, len(shown), squeeze=False)[0]
        for axes, values in zip(panels, shown, strict=True):
            _panel(axes, values)
        panels[0].set_ylabel("% better than the median")

    title = f"Nodes that a test measured as slow: {one_line(case.case, 60)}"
    found = list(dict.fromkeys(node for values in shown for node in slow_nodes(values)))
    text = f"From run {case.run}, {plural(max(len(values.labels) for values in shown), 'node')}, each from the worst to the best. "
    if found:
        more = f" and {len(found) - LISTED_LIMIT} more" if len(found) > LISTED_LIMIT else ""
        text += f"Worse than the median by more than 10 %: {', '.join(label(node, 24) for node in found[:LISTED_LIMIT])}{more}."
    else:
        text += "None is worse than the median by more than 10 %."
    return draw(f"nodes-{number:02d}-{file_name(case.case)}", title, text, 2.3, paint)


def _known(values: NodeValues) -> list[float]:
    return [value for value in values.values if not math.isnan(value)]


def _shares(values: NodeValues) -> list[tuple[int, float]]:
    """(index of the node, how much better than the median it is, as a share of the median), the worst first."""
    known = _known(values)
    middle = median(known) if known else 0.0
    if middle <= 0:
        return []
    sign = -1.0 if is_time(values.unit) else 1.0
    shares = [
        (place, sign * (value / middle - 1)) for place, value in enumerate(values.values) if not math.isnan(value)
    ]
    return sorted(shares, key=lambda pair: (pair[1], pair[0]))


def _panel(axes: Any, values: NodeValues) -> None:
    ranks = list(enumerate(_shares(values), 1))
    slow = [(rank, place, share) for rank, (place, share) in ranks if share < -SLOW]
    usual = [(rank, share) for rank, (_, share) in ranks if share >= -SLOW]
    many = len(ranks) > 1500
    shape, colour = MARKS["failed"]
    axes.scatter([x for x, _ in usual], [100 * y for _, y in usual], s=8, c=ACCENT, linewidths=0, rasterized=many)
    axes.scatter([x for x, _, _ in slow], [100 * y for _, _, y in slow], s=26, c=colour, marker=shape, linewidths=0)
    for rank, place, share in slow[:NAMED_LIMIT]:
        beside = {"textcoords": "offset points", "xytext": (6, -2), "color": colour, "size": 6.5}
        axes.annotate(label(values.labels[place], 16), (rank, 100 * share), **beside)
    known = _known(values)
    axes.set_title(label(f"{values.name}, median {show_number(median(known))} {values.unit}", 34), fontsize=7)
    axes.set_xlabel("node")
    axes.xaxis.get_major_locator().set_params(integer=True)
