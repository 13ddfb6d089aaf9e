"""Congestion: measured impact factors as bars, and a shared link's time against its load."""

from __future__ import annotations

from typing import Any

import numpy as np

from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, label
from shakedown.report.words import one_line
from shakedown.twin.models.congestion import Congestion, factor_at

BARS = 12


def draw_congestion(result: Congestion) -> Drawing:
    """Purpose: left, the impact factor of each test; right, the model of a shared link with the loads that were given."""
    shown = result.impacts[:BARS]

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        places = range(len(shown))
        left.barh(places, [one.factor for one in shown], 0.6, color="#9dbfd6", edgecolor=ACCENT, linewidth=0.8)
        for place, one in zip(places, shown, strict=True):
            left.text(one.factor, place, f" {one.factor:.3f}", va="center", fontsize=6.5)
        left.axvline(1, color=INK, linewidth=0.7)
        left.set_yticks(list(places), [label(one.name, 24) for one in shown], color=INK)
        left.set_ylim(len(shown) - 0.4, -0.6)
        left.set_xlim(0, 1.25 * max((one.factor for one in shown), default=1.0))
        left.set_xlabel("congestion impact factor (1: none)")
        left.set_title("measured")
        left.grid(axis="y", visible=False)
        _model(right, result)

    caption = f"Measured: from {one_line(result.source, 120)}. Above 1, congestion made it so many times worse."
    caption += (
        " Right: a model, not measured, of one shared link as a queue; from a load of 100% on waiting has no end."
    )
    return draw("model-congestion", "Congestion: measured impact, and a model of a shared link", caption, 2.3, paint)


def _model(axes: Any, result: Congestion) -> None:
    loads = np.linspace(0, 0.99, 200)
    axes.plot(100 * loads, [factor_at(float(load), result.isolation) for load in loads], color=ACCENT, linewidth=1)
    known = [
        (100 * point.load, point.factor) for point in result.points if point.factor is not None and point.load < 0.99
    ]
    axes.plot([x for x, _ in known], [y for _, y in known], "o", markersize=3.5, color=ACCENT)
    axes.axvspan(100, 110, color=FAINT, alpha=0.25, linewidth=0)
    axes.text(105, 10, "saturated", rotation=90, ha="center", va="center", fontsize=7, color=INK)
    axes.set_yscale("log")
    axes.set_ylim(0.9, 120)
    axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.set_xlim(0, 110)
    axes.set_xlabel("load of a shared link, %")
    axes.set_ylabel("time, times that of an idle link")
    axes.set_title("model: 1/(1-u)")
