"""MPI memory on a node against ranks: the laws as lines, paper 001's numbers as points, the node's memory as a bar above."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.words import so_many
from shakedown.report.figures.style import FAINT, INK, SEQUENCE, Drawing, draw, short_number
from shakedown.twin.models.mpi_memory_model import MemoryModel

GB = 1e9
_LINES = {
    "full": ("all to all, point to point", "-", "o"),
    "full in blocks": ("the same, in one block", (0, (4, 1.5)), "s"),
    "alltoall": ("all to all, MPI_Alltoall", (0, (1, 1.2)), "^"),
    "few": ("connections to a few", (0, (5, 1.5, 1, 1.5)), "D"),
    "reduce-scatter": ("Reduce_scatter", "-", "o"),
    "reduce+scatter": ("Reduce + Scatter (assumed)", (0, (1, 1.2)), "^"),
}
_PUBLISHED: dict[str, Any] = {
    "marker": "o",
    "markersize": 5.5,
    "markerfacecolor": "none",
    "markeredgecolor": INK,
    "markeredgewidth": 0.8,
}
PAPER_NODES, PAPER_RANKS_PER_NODE = 8192, 64


def draw_memory(model: MemoryModel) -> Drawing:
    """Purpose: connections by ranks per node, and collectives by nodes. Paper 001's points are drawn where they belong."""
    job = model.job

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        _lines(left, model.lines_of_patterns)
        _lines(right, model.lines_of_collectives)
        if job.nodes == PAPER_NODES and job.connections == 1024:
            for name in model.lines_of_patterns:
                _points(left, model, name, name)
        if job.ranks_per_node == PAPER_RANKS_PER_NODE and job.element_bytes == 4:
            _points(right, model, "memory", "reduce-scatter")
        right.plot([], [], label="hollow: published, paper 001", linestyle="", **_PUBLISHED)
        right.plot(
            [model.asked.ranks], [model.asked.mpi_bytes / GB], linestyle="", marker="*", markersize=7, color=SEQUENCE[3],
            markeredgecolor=INK, markeredgewidth=0.5, label="all of MPI in this job",
        )  # fmt: skip
        _threshold(right, model)
        left.set_title(f"Model: connections, {so_many(job.nodes, 'node')}")
        right.set_title(f"Model: one collective, {job.ranks_per_node} ranks a node")
        left.legend(loc="lower right")
        right.legend(loc="upper left", bbox_to_anchor=(0.0, 0.84))
        left.set_ylabel("MPI memory on a node, GB")
        for axes in (left, right):
            _scales(axes, model)

    caption = (
        "Lines: the model; hollow marks: published, paper 001 (Cray MPI on Trinity's KNL nodes), to which its constants are "
        "fitted. The thick line is the node's memory."
    )
    return draw("model-memory", "Model: MPI memory on a node", caption, 3.2, paint)


def _lines(axes: Any, lines: dict[str, tuple[tuple[int, float], ...]]) -> None:
    for (name, points), colour in zip(lines.items(), SEQUENCE, strict=False):
        words, style, mark = _LINES[name]
        one = {"marker": mark, "markersize": 3} if len(points) == 1 else {}
        ranks, amounts = [rank for rank, _ in points], [amount / GB for _, amount in points]
        axes.plot(ranks, amounts, color=colour, linestyle=style, linewidth=1.1, label=words, **one)


def _points(axes: Any, model: MemoryModel, what: str, line: str) -> None:
    cells = [cell for cell in model.published if cell.what == what and cell.unit == "bytes"]
    ranks, amounts = [cell.ranks for cell in cells], [cell.published / GB for cell in cells]
    size = 3 if line == "full in blocks" else 5.5
    axes.plot(ranks, amounts, linestyle="", **_PUBLISHED | {"marker": _LINES[line][2], "markersize": size})


def _threshold(axes: Any, model: MemoryModel) -> None:
    if model.threshold_ranks > model.job.ranks:
        return
    axes.axvline(model.threshold_ranks, color=FAINT, linewidth=0.8, linestyle=(0, (2, 2)))
    text = f"opens all connections\nfrom {model.threshold_ranks:,} ranks"
    axes.annotate(
        text, (model.threshold_ranks, 0.03), xytext=(-4, 0), textcoords="offset points", ha="right", va="bottom",
        xycoords=("data", "axes fraction"), fontsize=6.5, color=FAINT,
    )  # fmt: skip


def _scales(axes: Any, model: MemoryModel) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    usable = model.asked.usable_bytes / GB
    axes.axhline(usable, color=INK, linewidth=1.6)
    axes.annotate(
        f"memory of the node, {usable:,.4g} GB", (0.02, usable), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", fontsize=6.5, va="bottom",
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(max(low, 1e-3), usable / 2), max(high, usable) * 1.8)
    axes.set_xlabel("ranks")
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    axes.yaxis.set_major_formatter(FuncFormatter(short_number))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
