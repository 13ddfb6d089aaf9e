"""Histograms: for example how long the same piece of work took on each core; noise of the machine shows on the right."""

from __future__ import annotations

import math
import re
from typing import Any

from shakedown.metrics.words import plural
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.records import Histogram
from shakedown.report.figures.style import Drawing, capital, draw, label, rounded_colours, short_number
from shakedown.report.words import file_name, one_line

_OF_A_CORE = re.compile(r"\bcore \S+$")
CORES_LIMIT = 8  # cores drawn one by one; beyond, the quietest, the middle one and the noisiest


def draw_noise(number: int, case: CasePictures, name: str) -> Drawing:
    """Purpose: the histograms of one name in one case, one line per core."""
    cores = [histogram for histogram in case.histograms if histogram.name == name]
    shown = cores if len(cores) <= CORES_LIMIT else _extremes(cores)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for histogram, colour in zip(shown, rounded_colours(len(shown)), strict=True):
            axes.stairs(histogram.counts, histogram.edges, color=colour, linewidth=0.9, label=label(histogram.who))
        _scales(axes, cores[0])
        axes.set_xlabel(label(f"{one_line(name)}, {cores[0].unit}"))
        axes.set_ylabel("how often")
        axes.legend(loc="upper right", ncols=2)

    caption = f"From run {case.run}. How often each value was measured."
    if all(_OF_A_CORE.search(one.who) for one in cores):
        caption = f"From run {case.run}, {plural(len(cores), 'core')}. How long the same piece of work took, counted."
    if len(shown) < len(cores):
        caption += " Shown are the quietest core, the middle one and the noisiest."
    title = f"{capital(name)}, counted: {one_line(case.case, 60)}"
    return draw(f"histogram-{number:02d}-{file_name(case.case)}", title, caption, 2.3, paint)


def _extremes(cores: list[Histogram]) -> list[Histogram]:
    ordered = sorted(cores, key=lambda core: (_weight(core), core.who))
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]


def _weight(core: Histogram) -> float:
    """The mean of a histogram, with each bin at its middle: noise makes it larger."""
    total = math.fsum(core.counts) or 1.0
    bins = zip(core.counts, core.edges, core.edges[1:], strict=False)
    return math.fsum(count * (low + high) / 2 for count, low, high in bins) / total


def _scales(axes: Any, histogram: Histogram) -> None:
    """Use a logarithmic scale for the counts, and for the values where they span more than a factor of twenty."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    axes.yaxis.set_major_formatter(FuncFormatter(short_number))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if histogram.edges[0] > 0 and histogram.edges[-1] > 10 * histogram.edges[0]:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(short_number))
        axes.xaxis.set_minor_formatter(NullFormatter())
