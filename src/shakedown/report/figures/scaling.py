"""Scaling: measured values, speed-up and efficiency against the size, with the ideal line, all series of a test in one figure
(paper 004, figures 12 to 21).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.metrics.scaling import Series
from shakedown.metrics.words import plural
from shakedown.report.case_names import folded
from shakedown.report.figures.declaration import Drawn, Material, ReportFigure
from shakedown.report.figures.style import FAINT, SEQUENCE, Drawing, draw, label, legend_above, short_number
from shakedown.report.words import file_name

SERIES_LIMIT = 6  # in one figure
_MARKERS = ("o", "s", "^", "D", "v", "P")
_POWERS = 4.0  # the largest value over the smallest, from which on a logarithmic axis has numbers enough: powers of two
_WIDE_RANGE = 8.0  # the largest size over the smallest, from which on the axes are logarithmic


def draw_scaling(material: Material) -> Drawn:
    """Purpose: one figure for each test that says how it scales, and a sentence on series that are not drawn."""
    drawings, left_out = [], []
    every = [one for one in material.evidence.scaling if len(one.points) > 1]
    for number, (test, along) in enumerate(dict.fromkeys((one.test, one.along) for one in every), 1):
        mine = [one for one in every if (one.test, one.along) == (test, along)]
        drawings.append(figure_of(f"scaling-{number:02d}-{file_name(test, 40)}", mine))
        if len(mine) > SERIES_LIMIT:
            more = f"{len(mine) - SERIES_LIMIT} more series of {test}"
            left_out.append(f"{more} are not drawn; tables/scaling.csv has all")
    return drawings, left_out


def figure_of(name: str, series: Sequence[Series]) -> Drawing:
    """Purpose: measured values, speed-up with its ideal, efficiency with its interval; at most six series.

    A fast series and a slow one may have the same speed-up and efficiency: the measured values show the difference.
    """
    shown = list(series[:SERIES_LIMIT])
    along, low = shown[0].along, shown[0].low
    several = len({one.component for one in shown}) > 1
    names = [", ".join(filter(None, (one.source, one.name, one.component if several else ""))) for one in shown]

    def paint(figure: Any) -> None:
        first, left, right = figure.subplots(1, 3)
        for one, marker, colour, words in zip(shown, _MARKERS, SEQUENCE, names, strict=False):
            sizes = [point.size for point in one.points]
            look = {"marker": marker, "markersize": 4, "linewidth": 1.0, "color": colour}
            first.plot(sizes, [point.value for point in one.points], **look)
            left.plot(sizes, [point.speedup for point in one.points], label=folded(words, 44, 2), **look)
            right.errorbar(sizes, [100 * p.efficiency for p in one.points], yerr=_errors(one), elinewidth=0.8, **look)
        longest = max(shown, key=lambda one: one.points[-1].ideal).points
        left.plot(
            [p.size for p in longest], [p.ideal for p in longest], color=FAINT, linestyle=(0, (4, 2)), label="ideal"
        )
        right.axhline(100, color=FAINT, linestyle=(0, (4, 2)), linewidth=0.9)
        right.axhline(100 * low, color=FAINT, linestyle=(0, (1, 2)), linewidth=0.9)
        right.set_ylim(bottom=0)
        measured = label(f"{shown[0].figure}, {shown[0].unit}" if shown[0].unit else shown[0].figure, 30)
        for axes, says in ((first, measured), (left, "speed-up over the smallest"), (right, "efficiency, %")):
            axes.set_xlabel(label(along))
            axes.set_ylabel(says)
            _scaled(axes, longest[0].size, longest[-1].size, both=axes is not right)
        legend_above(figure, *left.get_legend_handles_labels())

    caption = f"Dashed: ideal. Dotted: an efficiency of {100 * low:g} %. Bars: interval at 95 %, from three values on."
    if len(series) > len(shown):
        caption += f" {len(shown)} of {plural(len(series), 'series', 'series')}."
    return draw(name, f"How {shown[0].test} scales ({shown[0].kind})", caption, 2.7, paint)


def _errors(one: Series) -> list[list[float]]:
    """The distances from each efficiency to the lower and upper end of its interval, in per cent."""
    down, up = [], []
    for step in one.steps:
        if step.point is not None:
            low, high = step.interval or (step.point.efficiency,) * 2
            down.append(100 * max(0.0, step.point.efficiency - low))
            up.append(100 * max(0.0, high - step.point.efficiency))
    return [down, up]


def _scaled(axes: Any, smallest: float, largest: float, both: bool) -> None:
    from matplotlib.ticker import NullLocator

    if largest < _WIDE_RANGE * smallest:
        return
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(short_number)
    axes.xaxis.set_minor_locator(NullLocator())
    if both and axes.dataLim.ymax >= _POWERS * axes.dataLim.ymin:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(short_number)
        axes.yaxis.set_minor_locator(NullLocator())


FIGURES = (ReportFigure("scaling", "scaling", draw_scaling),)
