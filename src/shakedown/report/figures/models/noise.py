"""A model of noise: how much longer a step takes, by the number of processes and of cores left idle."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.words import plural
from shakedown.report.figures.style import FAINT, SEQUENCE, Drawing, draw, short_number
from shakedown.twin.models.noise_study import NoiseStudy

MARKERS = ("o", "s", "^", "D", "v", "P")
LINES_LIMIT = 6


def draw_model_noise(study: NoiseStudy) -> Drawing:
    """Purpose: slowdown against processes, one line for each number of processes per node."""
    kinds = list(dict.fromkeys(point.per_node for point in study.points))[:LINES_LIMIT]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot(title="Noise and size: a model")
        for per_node, marker, colour in zip(kinds, MARKERS, SEQUENCE, strict=False):
            points = study.at(per_node)
            name = f"{per_node} of {study.cores} cores a node"
            x, y = [point.processes for point in points], [point.slowdown for point in points]
            axes.plot(x, y, marker=marker, markersize=4, color=colour, linewidth=1.1, label=name)
        axes.axhline(1.0, color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
        process_axis(axes)
        axes.set_ylabel("time of a step\nover that without noise")
        axes.set_ylim(bottom=min(0.98, axes.get_ylim()[0]))
        axes.legend(loc="upper left")

    caption = (
        f"A model, not a measurement: {study.granularity_s * 1e3:g} ms of work between waits,"
        f" {plural(len(study.sources), 'source')} of noise, {study.steps:,} steps. Dashed: no noise."
    )
    return draw("model-noise", "Noise and size (model)", caption, 2.4, paint)


def process_axis(axes: Any) -> None:
    """Label the horizontal axis with numbers of processes, at each power of four."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axes.set_xscale("log", base=4)
    axes.xaxis.set_major_locator(LogLocator(base=4, numticks=14))
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("processes")
