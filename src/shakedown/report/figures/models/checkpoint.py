"""Waste against the interval between two checkpoints, one line per storage, with the best interval marked."""

from __future__ import annotations

from typing import Any

from shakedown.model.units import show_duration
from shakedown.report.figures.style import FAINT, INK, SEQUENCE, Drawing, draw, label, legend_above, short_number
from shakedown.twin.models.checkpoint import Advice, CheckpointModel

_STYLES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
_SECONDS = {"min": 60.0, "h": 3600.0, "s": 1.0}


def draw_checkpoint(model: CheckpointModel) -> Drawing:
    """Purpose: the waste of each interval; Young's and Daly's intervals are ticks on the line, the recommended one is a point."""

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        unit = _unit(model)
        for advice, colour, style in zip(model.advice, SEQUENCE, _STYLES, strict=False):
            _line(axes, advice, unit, colour, style)
        _scales(axes, unit)
        size = f"{model.size_bytes / 1e12:,.4g} TB"
        axes.set_title(f"Model: {size} a checkpoint, a failure every {show_duration(model.mtbf_s)} in the mean")
        legend_above(figure, *axes.get_legend_handles_labels())

    caption = (
        f"Model, not measured: checkpoints of {model.size_bytes / 1e12:,.4g} TB, failures at random every "
        f"{show_duration(model.mtbf_s)} in the mean, after Daly (2006). Point: the interval to take; bars: Young's and Daly's."
    )
    if any(advice.drain_fits is False for advice in model.advice):
        caption += " Where a burst buffer drains too slowly, the interval to take is its drain."
    return draw("model-checkpoint", "Model: waste of checkpoints and failures", caption, 2.9, paint)


def _line(axes: Any, advice: Advice, unit: str, colour: str, style: Any) -> None:
    scale = _SECONDS[unit]
    times = [time / scale for time, _ in advice.curve]
    shares = [100 * share for _, share in advice.curve]
    best = f"{short_number(advice.take.interval_s / scale)} {unit}, waste {advice.take.waste:.1%}"
    name = f"{advice.storage.name}, {show_duration(advice.checkpoint_s)} a checkpoint: {best}"
    axes.plot(times, shares, color=colour, linestyle=style, linewidth=1.2, label=label(name, 80))
    rules = [(interval.interval_s / scale, 100 * interval.waste) for interval in advice.intervals[:2]]
    axes.plot(*zip(*rules, strict=True), linestyle="", marker="|", markersize=9, color=INK, markeredgewidth=0.9)
    take = advice.take.interval_s / scale, 100 * advice.take.waste
    axes.plot(*take, marker="o", markersize=5, color=colour, markeredgecolor=INK, markeredgewidth=0.7)
    if advice.drain_s is not None:
        axes.axvline(advice.drain_s / scale, color=FAINT, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.annotate(
            "drained after", (advice.drain_s / scale, 0.82), xycoords=("data", "axes fraction"), xytext=(-2, 0),
            textcoords="offset points", rotation=90, ha="right", va="top", fontsize=6.5, color=FAINT,
        )  # fmt: skip


def _unit(model: CheckpointModel) -> str:
    middle = max(advice.take.interval_s for advice in model.advice)
    return "h" if middle > 10 * 3600 else "min" if middle > 300 else "s"


def _scales(axes: Any, unit: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_ylim(0, 105)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=30))
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(f"work between two checkpoints, {unit}")
    axes.set_ylabel("waste, % of the time")
