"""The model of the collectives: each operation against the ranks, and the allreduce against the size of its vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shakedown.report.figures.models.axes import bytes_axis, ranks_axis, seconds_axis, short_bytes
from shakedown.report.figures.style import INK, Drawing, draw, legend_above, rounded_colours
from shakedown.twin.models import loggp
from shakedown.twin.models.collectives import OPERATIONS, Collectives
from shakedown.twin.models.loggp import Floats

STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
CURVES = 6  # numbers of ranks with a curve of their own
_SIZES = 2.0 ** np.linspace(3, 24, 211)


def draw_collectives(result: Collectives) -> Drawing:
    """Purpose: left, every operation over the ranks at the largest size; right, the allreduce over its size."""

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        _over_ranks(left, result)
        _over_sizes(right, result)
        legend_above(figure, *left.get_legend_handles_labels())

    network = result.network
    caption = (
        f"A model (LogGP), not measured: an idle network of {network.latency_s * 1e6:.3g} us and "
        f"{network.bandwidth / 1e9:.3g} GB/s a node, from {network.source}; {result.assumed}. One rank a node, no noise. "
        "Crosses: from there on Rabenseifner's allreduce is the faster one."
    )
    return draw("model-collectives", f"Model: collectives on {network.name}", caption, 2.7, paint)


def _over_ranks(axes: Any, result: Collectives) -> None:
    size = max(result.sizes_bytes)
    names = list(dict.fromkeys(timed.operation for timed in result.times))
    for place, (name, colour) in enumerate(zip(names, rounded_colours(len(names)), strict=True)):
        points = [
            (timed.ranks, timed.seconds)
            for timed in result.times
            if timed.operation == name and timed.size_bytes in (size, None)
        ]
        curve = np.unique(np.geomspace(2, max(max(x for x, _ in points), 2), 40).astype(int))
        curve = 1 << np.unique(np.log2(curve).astype(int))
        seconds = OPERATIONS[name][1](result.parameters, [[int(count)] for count in curve], [size])
        axes.plot(curve, np.ravel(seconds), color=colour, linestyle=STYLES[place % 6], linewidth=1)
        shown = [(x, y) for x, y in points if y > 0]
        look = {"color": colour, "marker": MARKERS[place % 6], "markersize": 3.5, "linestyle": STYLES[place % 6]}
        axes.plot([x for x, _ in shown], [y for _, y in shown], label=name, **{**look, "linewidth": 0})
    ranks_axis(axes)
    seconds_axis(axes, "time")
    axes.set_title(f"model: all, with {short_bytes(size)}")


def _over_sizes(axes: Any, result: Collectives) -> None:
    """Draw the allreduce even if it was not asked for, because it is the operation that changes its algorithm."""
    ranks = _thinned([one.ranks for one in result.crossovers if one.ranks > 1] or [2])
    for place, (count, colour) in enumerate(zip(ranks, rounded_colours(len(ranks)), strict=True)):
        seconds = loggp.allreduce(result.parameters, count, _SIZES)
        axes.plot(_SIZES, seconds, color=colour, linestyle=STYLES[place % 6], linewidth=1, label=f"{count:,}")
        _cross(axes, loggp.crossover_bytes(result.parameters, count), result, count)
    bytes_axis(axes, "bytes of the vector")
    seconds_axis(axes, "time")
    axes.set_title("model: allreduce, by ranks")
    axes.legend(loc="upper left", title="ranks", title_fontsize=7)


def _cross(axes: Any, at: Floats, result: Collectives, ranks: int) -> None:
    if at < _SIZES[-1]:
        seconds = loggp.allreduce(result.parameters, ranks, at)
        axes.plot([float(at)], [float(seconds)], marker="x", color=INK, markersize=5, linewidth=0)


def _thinned(ranks: Sequence[int]) -> list[int]:
    """At most CURVES of the ranks, spread from the fewest to the most."""
    ordered = sorted(set(ranks))
    if len(ordered) <= CURVES:
        return ordered
    return [ordered[round(place * (len(ordered) - 1) / (CURVES - 1))] for place in range(CURVES)]
