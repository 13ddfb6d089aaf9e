"""A modelled year of production: utilisation per week, waits by size, waiting jobs; a trace's own values beside the model's."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.style import ACCENT, INK, SEQUENCE, Drawing, draw, legend_above, short_number
from shakedown.report.figures.time_axis import time_unit
from shakedown.twin.production.measure import Measures, Timeline
from shakedown.twin.production.year import Year

OTHER = SEQUENCE[1]


def draw_production(year: Year) -> Drawing:
    """Purpose: the figure of a result; bars are the model's values, black marks and lines the trace's own. Never raises."""
    rules = year.rules

    def paint(figure: Any) -> None:
        above, below = figure.subplots(
            2, 2, height_ratios=[1, 1.1], gridspec_kw={"width_ratios": [2.2, 1]}, squeeze=True
        )
        _utilisation(above[0], year)
        _waits(above[1], year)
        _queue(below[0], year)
        _slowest(below[1], year)
        _legend(figure, year)

    ours = f"EASY backfill, order {rules.order}, depth {rules.depth}, on {year.processors} processors"
    caption = f"Model, counts of processors only: {year.source}; {ours if year.ours else 'as recorded'}."
    return draw("production", "A year of production (model)", caption, 4.0, paint)


def _lines(year: Year) -> list[tuple[Timeline, bool]]:
    """The timelines that exist, each with whether it is the trace's own."""
    both = ((year.our_timeline, False), (year.own_timeline, True))
    return [(line, own) for line, own in both if line is not None]


def _utilisation(axes: Any, year: Year) -> None:
    from matplotlib.ticker import MaxNLocator

    for line, own in _lines(year):
        middle = [(a + b - 2 * line.edges_s[0]) / 2 for a, b in zip(line.edges_s, line.edges_s[1:], strict=False)]
        wide = [b - a for a, b in zip(line.edges_s, line.edges_s[1:], strict=False)]
        unit = wide[0] if len(wide) > 1 else max(wide[0], 1.0)
        values = [100 * share for share in line.utilisation]
        if own:
            axes.plot([at / unit + 0.5 for at in middle], values, color=INK, linewidth=0.9, marker="o", markersize=1.8)
        else:
            bars = [0.86 * width / unit for width in wide]
            axes.bar([at / unit + 0.5 for at in middle], values, width=bars, color=ACCENT)
        axes.set_xlabel(line.unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(left=0.4)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("utilisation, %")
    axes.grid(axis="x", visible=False)


def _waits(axes: Any, year: Year) -> None:
    _by_size(axes, year, "mean_s")
    axes.set_ylabel("mean wait, h")


def _slowest(axes: Any, year: Year) -> None:
    _by_size(axes, year, "ninetieth_s")
    axes.set_ylabel("90 % wait at most, h")


def _by_size(axes: Any, year: Year, name: str) -> None:
    def hours(one: Measures) -> list[float]:
        return [(getattr(found.waits, name) or 0.0) / 3600 for found in one.sizes]

    one = year.ours or year.own
    if one is None:
        return
    if year.ours is not None:
        axes.bar(range(len(year.ours.sizes)), hours(year.ours), width=0.7, color=ACCENT)
    if year.own is not None and year.own.waits.jobs:
        axes.plot(range(len(year.own.sizes)), hours(year.own), color=INK, marker="o", markersize=3, linestyle="none")
    names = [_size(found.least, found.most) for found in one.sizes]
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_xlabel("processors of a job")
    axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)


def _size(least: int, most: int) -> str:
    return str(least) if least == most else f"to {short_number(most)}"


def _queue(axes: Any, year: Year) -> None:
    from matplotlib.ticker import FuncFormatter

    for line, own in _lines(year):
        scale, unit = time_unit(line.at_s[-1] - line.at_s[0])
        at = [(moment - line.at_s[0]) / scale for moment in line.at_s]
        if own:
            axes.plot(at, line.queued, color=INK, linewidth=0.7)
        else:
            axes.fill_between(at, line.queued, color=ACCENT, linewidth=0.4, step="post")
        axes.set_xlabel(f"{unit} since the first submission")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("jobs waiting")
    axes.yaxis.set_major_formatter(FuncFormatter(short_number))


def _legend(figure: Any, year: Year) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    names = []
    if year.ours is not None:
        handles.append(Patch(color=ACCENT))
        rules = year.rules
        names.append(f"model: EASY backfill, {rules.order}, depth {rules.depth}, on {year.processors} processors")
    if year.own is not None:
        handles.append(Line2D([], [], color=INK, marker="o", markersize=3, linewidth=0.9))
        names.append("the trace's own schedule")
    legend_above(figure, handles, names)
