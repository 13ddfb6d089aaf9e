"""The model of a stencil code on more and more ranks: the parts of a step, and the efficiency that is left."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.models.axes import ranks_axis, short_count, short_seconds
from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, label, legend_above
from shakedown.twin.models.stencil import Scaling

_PARTS = (("compute", "#9dbfd6", ""), ("exchange", ACCENT, "///"), ("allreduce", "#c8641e", "..."))


def draw_scaling(result: Scaling, network: str) -> Drawing:
    """Purpose: left, the shares of a step at each number of ranks; right, the efficiency relative to the first of them."""
    kind = "strong" if result.strong else "weak"

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        _parts(left, result)
        _efficiency(right, result)
        legend_above(figure, *left.get_legend_handles_labels())

    caption = (
        f"A model, not measured: {kind} scaling in {result.decomposition} on {network}, without noise and imbalance. A step is "
        "computing, the exchange of faces as far as it is not hidden behind it, and an allreduce. Right: efficiency against the "
        "first number of ranks."
    )
    return draw(
        f"model-scaling-{kind}", f"Model: {kind} scaling of a stencil code on {label(network)}", caption, 2.5, paint
    )


def _parts(axes: Any, result: Scaling) -> None:
    places = range(len(result.points))
    below = [0.0] * len(result.points)
    heights = {
        "compute": [point.compute_s for point in result.points],
        "exchange": [point.halo_s - point.hidden_s for point in result.points],
        "allreduce": [point.allreduce_s for point in result.points],
    }
    for name, colour, hatch in _PARTS:
        shares = [height / point.step_s for height, point in zip(heights[name], result.points, strict=True)]
        axes.bar(places, [100 * share for share in shares], 0.7, [100 * b for b in below], color=colour, hatch=hatch, label=name,
                 edgecolor="white", linewidth=0)  # fmt: skip
        below = [b + share for b, share in zip(below, shares, strict=True)]
    for place, point in zip(places, result.points, strict=True):
        axes.text(place, 101, short_seconds(point.step_s), ha="center", va="bottom", fontsize=6, color=INK)
    names = [short_count(point.ranks) for point in result.points]
    axes.set_xticks(list(places), names, rotation=45 if len(names) > 7 else 0)
    axes.set_ylim(0, 109)
    axes.set_xlabel("ranks")
    axes.set_ylabel("share of a step, %")
    axes.set_title("model: what a step is made of")
    axes.grid(axis="x", visible=False)


def _efficiency(axes: Any, result: Scaling) -> None:
    ranks = [point.ranks for point in result.points]
    shares = [100 * point.efficiency_of_first for point in result.points]
    axes.plot(ranks, shares, marker="o", markersize=3.5, color=ACCENT, linewidth=1)
    axes.axhline(100, color=FAINT, linewidth=0.6, linestyle="--")
    ranks_axis(axes)
    axes.set_ylim(0, max(105.0, 1.05 * max(shares)))
    axes.set_title(f"model: {'strong' if result.strong else 'weak'} scaling")
    axes.set_ylabel("efficiency, %")
