"""Ladders: every size of every ladder, and whether it holds, fails, was spared, or is still to come."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.ladders import LadderRow
from shakedown.metrics.words import plural
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import FAINT, INK, MARKS, Drawing, capital, draw, label
from shakedown.report.words import file_name

MOST = 24  # ladders in one figure
LEAST = 2  # sizes: one is a row of a table
LOOKS: dict[str, tuple[str, str, str, float]] = {  # state -> marker, face, edge, size: shapes tell them apart in grey
    "holds": ("o", MARKS["passed"][1], MARKS["passed"][1], 30.0),
    "fails": ("X", MARKS["failed"][1], MARKS["failed"][1], 36.0),
    "to come": ("o", "white", FAINT, 22.0),
    "spared": ("|", FAINT, FAINT, 16.0),
}


def draw_ladders(material: Material) -> Drawn:
    """Purpose: one figure for each component that has ladders, and a sentence on ladders that are not drawn."""
    drawings, left_out = [], []
    for number, component in enumerate(material.evidence.scorecard.components):
        rows = list(component.ladders)
        if sum(len(row.rungs) for row in rows) >= LEAST:
            drawings.append(_ladder_figure(number, component.name, rows[:MOST]))
        if len(rows) > MOST:
            more = plural(len(rows) - MOST, "further ladder")
            left_out.append(f"{more} of {component.name} are not drawn; tables/ladders.csv has all")
    return drawings, left_out


def _ladder_figure(number: int, component: str, rows: list[LadderRow]) -> Drawing:
    along = rows[0].along

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        every = [float(rung.size) for row in rows for rung in row.rungs]
        for state, (marker, face, edge, size) in LOOKS.items():
            at = [
                (float(rung.size), place) for place, row in enumerate(rows) for rung in row.rungs if rung.state == state
            ]
            if at:
                line = {"linewidths": 0.8, "zorder": 3, "label": state}
                axes.scatter(
                    [x for x, _ in at], [y for _, y in at], s=size, marker=marker, c=face, edgecolors=edge, **line
                )
        if min(every) > 0 and max(every) >= 16 * min(every):
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_locator(_no_ticks())
        axes.set_yticks(range(len(rows)), [label(row.label, 28) for row in rows], color=INK)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(along)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False)

    title = f"{capital(component)}: up to which size it holds"
    caption = "; ".join(row.in_words() for row in rows[:6])
    caption += f"; and {len(rows) - 6} more." if len(rows) > 6 else "."
    return draw(f"ladders-{number + 1:02d}-{file_name(component, 40)}", title, caption, 0.9 + 0.24 * len(rows), paint)


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


FIGURES = (ReportFigure("ladders", "counts", draw_ladders, order=20),)
