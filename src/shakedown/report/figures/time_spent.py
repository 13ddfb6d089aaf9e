"""Where the node-hours went over the time of the campaign: one bar per stretch of time, divided by cause."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.time_spent import GROUPS, TimeSpent
from shakedown.model.units import show_duration
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import Drawing, draw, legend_above
from shakedown.report.figures.time_axis import time_unit
from shakedown.report.words import show_time

LEAST = 3  # stretches of time below which the table says it all
# group -> (colour, hatch): work is dark, what the machine is to blame for is red, what the plan is to blame for yellow and brown
_LOOKS = {
    "worked": ("#1f5f8b", ""),
    "came to nothing": ("#b3261e", ""),
    "live": ("#8fb6d1", ""),
    "down": ("#5b1a16", ""),
    "left out": ("#9a5b57", "////"),
    "nobody drove": ("#1d2733", "xxxx"),
    "held queue": ("#8e1b5b", ""),
    "build": ("#8a4a9e", ""),
    "budgets": ("#e0b341", ""),
    "scheduler": ("#c8641e", ""),
    "between jobs": ("#f0d9a8", ""),
    "order of the plan": ("#a38a1b", "////"),
    "drained": ("#9fc7ae", ""),
    "windows": ("#3c8b5a", "...."),
    "over": ("#eef0f3", ""),
    "not known": ("#d5dae0", "////"),
}


def draw_time_spent(spent: TimeSpent | None) -> list[Drawing]:
    """Purpose: one figure, or [] where the campaign is too short for one or all of its time had one cause."""
    if spent is None or len(spent.slices) < LEAST or len(spent.groups()) < 2:
        return []
    slices = spent.slices
    scale, unit = time_unit(spent.end - spent.begin)
    names = [name for name in GROUPS if any(one.groups.get(name) for one in slices)]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        lefts = [(one.begin - spent.begin) / scale for one in slices]
        widths = [(one.end - one.begin) / scale for one in slices]
        bottoms, bars = [0.0] * len(slices), []
        for name in names:
            heights = [one.groups.get(name, 0) / 1e6 / max(one.end - one.begin, 1e-6) for one in slices]
            colour, hatch = _LOOKS[name]
            look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.2}
            bars.append(axes.bar(lefts, heights, widths, bottom=bottoms, align="edge", **look))
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
        axes.set_xlim(0, (spent.end - spent.begin) / scale)
        axes.set_ylim(0, spent.nodes)
        axes.grid(axis="x", visible=False)
        axes.set_xlabel(f"{unit} since {show_time(spent.begin)} UTC")
        axes.set_ylabel("nodes")
        legend_above(figure, bars, names)

    each = show_duration(slices[0].end - slices[0].begin)
    caption = f"All nodes that the plan can use, {each} a bar, by what their time went to."
    return [draw("time-spent", "Where the time went", caption, 2.0, paint)]


def _time_spent(material: Material) -> Drawn:
    return draw_time_spent(material.evidence.spent), []


FIGURES = (ReportFigure("time spent", "time_spent", _time_spent),)
