"""Planned dates against actual ones, and issues opened and closed by month (paper 003, the plan of its commissioning; paper 002,
figure 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from shakedown.metrics.deadlines import Deadline
from shakedown.metrics.issues import Month, by_month
from shakedown.report.case_names import folded
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import ACCENT, FAINT, INK, Drawing, draw, legend_above

ROWS_LIMIT, MONTHS_LIMIT = 30, 36  # in one figure
LEAST = 2  # dates or months: one is a row of a table
_BAD = "#b3261e"


def draw_dates(material: Material) -> Drawn:
    """Purpose: a line for each component with a date: planned, moved, kept."""
    found = material.evidence.deadlines
    if len(found) < LEAST:
        return [], []
    left = len(found) - ROWS_LIMIT
    said = [f"{left} planned dates more are not drawn; they are in tables/deadlines.csv"] if left > 0 else []
    return [_dates(found[:ROWS_LIMIT], material.evidence.record.last)], said


def _dates(rows: Sequence[Deadline], last: float) -> Drawing:
    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, one in enumerate(rows):
            over = last if one.kept is None else one.kept
            if one.planned is not None:
                colour = _BAD if one.state == "missed" else FAINT
                axes.hlines(place, _day(one.planned), _day(over), color=colour, linewidth=1.2)
            if one.moved and one.planned is not None:
                axes.hlines(
                    place, _day(one.first), _day(one.planned), color=FAINT, linewidth=0.8, linestyle=(0, (1, 2))
                )
        _marks(
            axes, [(_day(one.first), row) for row, one in enumerate(rows) if one.moved], "D", "white", "first planned"
        )
        _marks(axes, [(_day(one.planned), row) for row, one in enumerate(rows) if one.planned], "D", INK, "planned")
        _marks(axes, [(_day(one.kept), row) for row, one in enumerate(rows) if one.kept], "o", ACCENT, "over")
        open_ = [(_day(last), row) for row, one in enumerate(rows) if one.kept is None]
        _marks(axes, open_, ">", _BAD, "not over yet")
        _calendar(axes)
        axes.set_yticks(range(len(rows)), [folded(one.component, 30, 1) for one in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        legend_above(figure, *axes.get_legend_handles_labels())

    caption = "When each component was to be over, and when it was, in UTC. Red: later than planned."
    return draw("planned-dates", "Planned dates and kept ones", caption, 0.8 + 0.2 * max(3, len(rows)), paint)


def _marks(axes: Any, points: list[tuple[float, int]], marker: str, colour: str, name: str) -> None:
    if points:
        look = {"marker": marker, "markersize": 5, "linestyle": "", "color": colour, "markeredgecolor": INK}
        axes.plot(*zip(*points, strict=True), markeredgewidth=0.5, label=name, zorder=3, **look)


def _day(seconds: float | None) -> float:
    from matplotlib.dates import date2num

    return float(date2num(datetime.fromtimestamp(seconds or 0.0, UTC)))  # type: ignore[no-untyped-call]


def _calendar(axes: Any) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def draw_issues(material: Material) -> Drawn:
    """Purpose: bars of the issues opened and closed each month, and a line of those open at its end."""
    months = by_month(material.evidence.issues)
    return ([_issues(months[-MONTHS_LIMIT:])], []) if len(months) >= LEAST else ([], [])


def _issues(months: Sequence[Month]) -> Drawing:
    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        places = range(len(months))
        axes.bar([at - 0.2 for at in places], [one.opened for one in months], width=0.38, color=_BAD, label="opened")
        axes.bar([at + 0.2 for at in places], [one.closed for one in months], width=0.38, color=ACCENT, label="closed")
        axes.plot(places, [one.open for one in months], color=INK, marker="o", markersize=3.5, label="open at its end")
        axes.set_xticks(places, [one.month for one in months], rotation=0 if len(months) <= 9 else 90)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_ylabel("issues")
        axes.set_ylim(bottom=0)
        axes.grid(visible=False, axis="x")
        legend_above(figure, *axes.get_legend_handles_labels())

    return draw("issues-by-month", "Issues by month", "Months in UTC.", 1.8, paint)


FIGURES = (
    ReportFigure("planned dates", "line", draw_dates, order=70),
    ReportFigure("issues by month", "issues", draw_issues),
)
