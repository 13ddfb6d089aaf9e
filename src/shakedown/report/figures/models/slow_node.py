"""A model of slow nodes: the job's time by the speed of the slowest node, and where slow nodes become visible."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.style import ACCENT, INK, MARKS, Drawing, draw, short_number
from shakedown.twin.models.slow_node import OUTLIER_SCORE, SlowNodeStudy

SHOWN = 4000  # points of healthy nodes: more are one band


def draw_slow_node(study: SlowNodeStudy) -> Drawing:
    """Purpose: time against the slowest node's speed, and the robust score of every node."""
    job = study.job

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        _paint_time(left, study)
        _paint_scores(right, study)

    caption = (
        f"A model, not a measurement: {job.nodes:,} nodes of {job.ranks_per_node} ranks, {job.slow} of them slow;"
        f" {job.compute_share:.0%} of a step goes at the node's own speed. Right: the fastest rank of each node."
    )
    return draw("model-slow-node", "Slow nodes in a job that waits for all (model)", caption, 2.5, paint)


def _paint_time(axes: Any, study: SlowNodeStudy) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.plot(study.speeds, study.slowdowns, color=ACCENT, linewidth=1.3)
    speed = study.job.speed if study.job.slow else 1.0
    axes.plot([speed], [study.slowdown], marker="X", markersize=7, color=MARKS["failed"][1], linestyle="none")
    beside = {"xytext": (10, 0), "ha": "left"} if speed < 0.3 else {"xytext": (-10, 0), "ha": "right"}
    place = (speed, study.slowdown)
    axes.annotate(f"this job: {study.slowdown:.3g} times", place, textcoords="offset points", va="center", **beside)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(short_number))
        axis.set_minor_formatter(NullFormatter())
    axes.set_title("A model: all wait for the slowest")
    axes.set_xlabel("speed of the slowest node, of the others'")
    axes.set_ylabel("time of the job,\nof that without slow nodes")


def _paint_scores(axes: Any, study: SlowNodeStudy) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    planted, scores = set(study.planted), study.scores
    stride = max(1, len(scores) // SHOWN)
    healthy = [node for node in range(0, len(scores), stride) if node not in planted]
    axes.plot(healthy, [scores[node] for node in healthy], ",", color=ACCENT, rasterized=True)
    mark, colour = MARKS["failed"]
    axes.plot(study.planted, [scores[node] for node in study.planted], mark, markersize=6, color=colour)
    axes.axhline(OUTLIER_SCORE, color=INK, linestyle=(0, (4, 2)), linewidth=0.8)
    where = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": 7}
    axes.annotate(f"found above {OUTLIER_SCORE:g}", (0, OUTLIER_SCORE), **where)
    axes.set_yscale("symlog", linthresh=10)
    axes.set_ylim(min(-10.0, *scores), max(100.0, *scores) * 3)
    axes.yaxis.set_major_formatter(FuncFormatter(short_number))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    axes.set_xlabel("node")
    axes.set_ylabel("robust z of its time")
    axes.set_title("A model: every node; crosses are slow")
