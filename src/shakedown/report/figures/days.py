"""Utilisation day by day, as paper 002 draws Hopper's."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.stability import Stability
from shakedown.report.figures.style import ACCENT, INK, RULE, Drawing, capital, draw, legend_above
from shakedown.report.words import file_name

LEAST = 2  # days below which there is nothing to compare


def draw_days(number: int, one: Stability) -> list[Drawing]:
    """Purpose: one figure for a component that lasted two days or more, else []."""
    days = one.days
    if len(days) < LEAST:
        return []

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        places = [day.number for day in days]
        bars = axes.bar(places, [100 * day.share for day in days], width=0.75, color=ACCENT)
        still = [100 * (1 - day.clock_s / (day.end - day.begin)) for day in days]
        look = {"width": 0.95, "color": RULE, "hatch": "////", "edgecolor": "white"}
        stood = axes.bar(places, still, bottom=[100 - part for part in still], **look)
        marks = axes.scatter(
            places, [100 * (day.ours_of_clock or 0.0) for day in days], marker="_", s=60, color=INK, zorder=3
        )
        axes.set_xlim(0.4, len(days) + 0.6)
        axes.set_ylim(0, 105)
        axes.set_xticks(places if len(days) <= 31 else places[:: len(days) // 20])
        axes.grid(axis="x", visible=False)
        axes.set_xlabel("day of the clock")
        axes.set_ylabel("%")
        names = ["delivered, of 24 hours of all nodes", "ours, of the clock's time", "the clock stood still"]
        legend_above(figure, [bars, marks, stood], names)

    caption = "24-hour days from the beginning of the clock; the last one is as long as it was."
    name = f"days-{number:02d}-{file_name(one.component.name, 40)}"
    return [draw(name, f"{capital(one.component.name)}: utilisation by day", caption, 1.7, paint)]
