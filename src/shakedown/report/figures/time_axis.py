"""Common parts of figures over time: where a run is on the time axis, the marks of verdicts, the legend."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.rows.rows import RunRow
from shakedown.model.units import show_duration
from shakedown.report.case_names import folded
from shakedown.report.figures.style import FAINT, LEGEND_LETTERS, MARKS, legend_above, look_of
from shakedown.report.words import show_time

MANY = 1500  # points beyond which a figure holds a picture of them instead of each
_UNITS = (
    (2 * 86400.0, 86400.0, "days"),
    (2 * 3600.0, 3600.0, "hours"),
    (180.0, 60.0, "minutes"),
    (0.0, 1.0, "seconds"),
)


def start_of(row: RunRow) -> float:
    """When a run started; where that is not known, when it was judged."""
    return row.time if row.started is None else row.started


def time_unit(span: float) -> tuple[float, str]:
    """The unit of an axis that spans so many seconds: its length in seconds, and its name."""
    return next((scale, name) for least, scale, name in _UNITS if span >= least)


def scatter(
    axes: Any,
    points: list[tuple[float, float]],
    verdict: str,
    many: bool,
    look: tuple[str, str] | None = None,
    **more: Any,
) -> None:
    """Draw points with the mark of their verdict. ``look``: colour and shape to use instead; ``many``: draw as a bitmap."""
    shape, own = MARKS.get(verdict, ("1", FAINT))
    colour, shape = look or (own, shape)
    plain = verdict == "passed"
    axes.scatter(
        [x for x, _ in points],
        [y for _, y in points],
        marker=shape,
        s=9 if plain else 26,
        c=colour,
        alpha=0.75 if plain else 1.0,
        linewidths=0 if plain else 0.5,
        edgecolors="none" if plain or shape in "_1" else "white",
        zorder=2 if plain else 3,
        clip_on=False,
        rasterized=many,
        **more,
    )


def verdict_legend(figure: Any, rows: list[RunRow], cases: list[str], lines: bool = False) -> None:
    """Add a legend above the axes: a colour and shape per case, a mark per verdict. Does nothing for one kind of run. ``lines``:
    runs are drawn as lines.
    """
    from matplotlib.lines import Line2D

    verdicts = [name for name in MARKS if any(row.verdict == name for row in rows)]
    looks = [look_of(place) for place in range(len(cases))]
    handles = [Line2D([], [], color=own, marker=shape, markersize=3, linewidth=0.7) for own, shape in looks]
    names = [folded(case, LEGEND_LETTERS) for case in cases]
    for verdict in verdicts if verdicts != ["passed"] else []:
        shape, colour = MARKS[verdict]
        if verdict == "passed" and lines:
            handles.append(Line2D([], [], color=colour, linewidth=2))
        elif verdict != "passed" or not cases:
            handles.append(Line2D([], [], color=colour, marker=shape, markersize=4.5, linewidth=0))
        else:
            continue
        names.append(verdict)
    legend_above(figure, handles, names)


def span_text(begin: float | None, end: float | None) -> str:
    """The begin, the end and the length of a span, in words."""
    if begin is None or end is None:
        return "not begun"
    return f"{show_time(begin)} to {show_time(end)} UTC, {show_duration(max(0.0, end - begin))}"
