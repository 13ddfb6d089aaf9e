"""The model of ASCI Q: its cycle before and after the clean-up, and how long single cycles took."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.models.noise import MARKERS, process_axis
from shakedown.report.figures.style import ACCENT, FAINT, INK, SEQUENCE, Drawing, draw, short_number
from shakedown.twin.models.asci_q import PUBLISHED, AsciQ


def draw_asci_q(rehearsal: AsciQ) -> Drawing:
    """Purpose: mean cycle against processes, for 1 to 4 processes per node, and the histogram at full scale."""

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        _paint_sizes(left, rehearsal)
        _paint_histogram(right, rehearsal)

    caption = (
        "A model fitted to paper 003, not a measurement; its sources of noise are assumed."
        " Left: means of 100 cycles, 1,000 at full scale. Right: 1,000 cycles of 8,192 processes."
    )
    return draw("model-asci-q", "ASCI Q before and after its noise was removed (model)", caption, 2.7, paint)


def _paint_sizes(axes: Any, rehearsal: AsciQ) -> None:
    for per_node, marker, colour in zip((4, 3, 2, 1), MARKERS, SEQUENCE, strict=False):
        points = rehearsal.at(per_node)
        x, y = [point.processes for point in points], [point.before_s for point in points]
        axes.plot(x, y, marker=marker, markersize=3.5, color=colour, linewidth=1.0, label=f"{per_node} a node, before")
    points = rehearsal.at(4)
    x, after = [point.processes for point in points], [point.after_s for point in points]
    axes.plot(x, after, marker="x", markersize=4, color=INK, linewidth=0.8, label="4 a node, after")
    axes.plot(x, [point.model_s for point in points], color=FAINT, linestyle=(0, (4, 2)), label="without noise")
    process_axis(axes)
    axes.set_ylim(0.6, 1.3)
    axes.set_ylabel("mean cycle, s")
    axes.set_title("ASCI Q, a model: mean cycle by size")
    axes.legend(loc="upper left")


def _paint_histogram(axes: Any, rehearsal: AsciQ) -> None:
    import numpy as np
    from matplotlib.ticker import FuncFormatter, NullFormatter

    most = max(rehearsal.cycles_s)
    edges = np.arange(0.70, most + 0.05, 0.05)
    axes.hist(
        rehearsal.cycles_s,
        edges,
        color=ACCENT,
        alpha=0.85,
        label=f"before; the shortest {min(rehearsal.cycles_s):.2f} s",
    )
    axes.hist(rehearsal.cycles_after_s, edges, histtype="step", color=INK, hatch="////", label="after")
    model_s = PUBLISHED["model_s"]
    axes.axvline(model_s, color=FAINT, linestyle=(0, (4, 2)), linewidth=1.0, label=f"without noise {model_s:.2f} s")
    axes.set_yscale("log")
    axes.set_ylim(0.7, 4000)
    axes.set_xlim(left=0.6)
    axes.yaxis.set_major_formatter(FuncFormatter(short_number))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("cycle, s")
    axes.set_ylabel("cycles")
    axes.set_title("A model: 1,000 cycles, 8,192 processes")
    axes.legend(loc="upper right")
