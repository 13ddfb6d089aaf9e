"""Measurements beside a model: how far each measured number is from the model's number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.metrics.comparing.beside_model import Beside
from shakedown.report.figures.style import ACCENT, FAINT, Drawing, draw, label

ROWS_LIMIT = 40


def draw_beside(rows: Sequence[Beside], head: str) -> Drawing:
    """Purpose: a point for each row at its deviation; where there are several values, a bar from the lowest to the highest."""
    known = [row for row in rows if row.deviation is not None and row.model]
    shown = known[:ROWS_LIMIT]

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, row in enumerate(shown):
            ends = [100 * (value / row.model - 1) for value in (row.low, row.measured, row.high)]
            axes.plot([ends[0], ends[2]], [place, place], color=ACCENT, linewidth=1.2, alpha=0.5)
            axes.plot(ends[1], place, marker="o", markersize=4.5, color=ACCENT, linestyle="")
        axes.axvline(0.0, color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.set_yticks(range(len(shown)), [label(f"{row.about}: {row.figure} (n = {row.count})", 60) for row in shown])
        axes.invert_yaxis()
        axes.set_xlabel("measured over the model, deviation in %")
        axes.grid(axis="y", visible=False)

    caption = f"{head} Points: the medians; bars: from the least value to the greatest. Dashed: as the model says."
    left = len(rows) - len(shown)
    caption += f" {left} of {len(rows)} rows are not drawn." if left else ""
    return draw("measured-beside-model", "Measured beside the model", caption, 1.1 + 0.24 * max(2, len(shown)), paint)
