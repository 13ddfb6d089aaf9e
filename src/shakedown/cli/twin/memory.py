"""``shakedown twin memory``: what MPI takes on a node, and whether a job runs out of memory."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import Amount, figure_option, json_option, show_model
from shakedown.metrics.words import show_number, so_many
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.twin.models.mpi_memory_model import MemoryModel

GB = 1e9


@click.command("memory")
@click.option("--nodes", type=int, default=8192, show_default=True, help="Nodes of the job.")
@click.option("--ranks-per-node", type=int, default=64, show_default=True, help="MPI ranks on each node.")
@click.option(
    "--pattern",
    type=click.Choice(["few", "alltoall", "full"]),
    default="few",
    show_default=True,
    help="Whom each rank talks to point to point: a few, all through MPI_Alltoall, or all.",
)
@click.option("--connections", type=int, default=1024, show_default=True, help="With few: how many each rank opens.")
@click.option("--mailboxes", is_flag=True, help="Connections are allotted in one block (MPICH_GNI_MBOXES_PER_BLOCK).")
@click.option(
    "--collective",
    type=click.Choice(["reduce-scatter", "reduce+scatter", "none"]),
    default="reduce-scatter",
    show_default=True,
    help="What the program calls besides.",
)
@click.option(
    "--element", type=Amount("bytes"), default="4 B", show_default=True, help="What Reduce_scatter leaves each rank."
)
@click.option(
    "--application",
    type=Amount("bytes", zero=True),
    default="0 B",
    show_default=True,
    help="The program's own, a node.",
)
@click.option("--node-memory", type=Amount("bytes"), default="96 GiB", show_default=True, help="Memory of a node.")
@click.option(
    "--system-share",
    type=click.FloatRange(0, 99.9),
    default=None,
    metavar="PERCENT",
    help="Of it for the operating system.  [default: 3.1, 1 of 32 GB as on Hopper]",
)
@click.option(
    "--high-bandwidth",
    type=Amount("bytes", zero=True),
    default="16 GiB",
    show_default=True,
    help="High-bandwidth memory of a node; it counts only with --flat.",
)
@click.option("--flat", is_flag=True, help="High-bandwidth memory is memory; without it, it is cache.")
@click.option("--example", is_flag=True, help="Every number of paper 001's two tables beside the model.")
@figure_option
@json_option
def command(
    nodes: int, ranks_per_node: int, pattern: str, connections: int, mailboxes: bool, collective: str, element: float,
    application: float, node_memory: float, system_share: float | None, high_bandwidth: float, flat: bool, example: bool,
    figure: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Memory that MPI takes on a node, and whether application and MPI fit.

    The laws are fitted to Cray MPI on Trinity's KNL nodes (paper 001): full connectivity grows with the square of the ranks
    per node, and Reduce_scatter opens all connections past 131,072 ranks. Another MPI has other constants.
    """
    from shakedown.report.figures.models.memory import draw_memory
    from shakedown.twin.models.mpi_memory import SYSTEM_SHARE, Job
    from shakedown.twin.models.mpi_memory_model import memory_model

    job = Job(
        nodes, ranks_per_node, pattern, connections, mailboxes, collective, element, application, node_memory,
        high_bandwidth, not flat, SYSTEM_SHARE if system_share is None else system_share / 100,
    )  # fmt: skip
    model = memory_model(job)
    show_model(model, as_json, lambda: _example(model) if example else _text(model), figure, lambda: draw_memory(model))


def _text(model: MemoryModel) -> str:
    asked, job = model.asked, model.job
    memory = "with the fast memory" if not job.cache else "fast memory is cache"
    rows = [
        ["ranks and connections", _gb(asked.connections_bytes), f"pattern {job.pattern}"],
        [job.collective, _gb(asked.collective_bytes), _collective(model)],
        ["application", _gb(asked.application_bytes), ""],
        [
            "memory for programs",
            _gb(asked.usable_bytes),
            f"{_gb(job.node_memory_bytes)} less {job.system_share:.1%}; {memory}",
        ],
        ["left" if asked.fits else "missing", _gb(abs(asked.left_bytes)), ""],
    ]
    size = f"{so_many(asked.ranks, 'rank')} on {so_many(asked.nodes, 'node')}, {asked.ranks_per_node} a node"
    head = f"model: {model.model_of}\n{size}\n"
    return "\n".join([head, table(["on each node", "GB", ""], rows, right=[1]), "", _verdict(model), "", _ways(model)])


def _collective(model: MemoryModel) -> str:
    if model.job.collective == "none":
        return ""
    time = f"{show_duration(model.asked.collective_s)} a call"
    return f"{time}; opens all connections" if model.asked.opens_all else time


def _verdict(model: MemoryModel) -> str:
    if model.asked.fits:
        return "It fits."
    most, lines = model.most_ranks_per_node, ["OUT OF MEMORY."]
    job, instead = model.job, model.alternatives.get(f"{model.job.pattern}, reduce+scatter")
    if job.collective == "reduce-scatter" and instead and instead.fits:
        lines.append("With Reduce + Scatter instead it fits.")
    fewer = f"with at most {most} ranks a node" if most else "with no number of ranks a node"
    lines.append(f"It fits {fewer}.\nThat the application takes as much with fewer ranks is assumed.")
    return "\n".join(lines)


def _ways(model: MemoryModel) -> str:
    rows = [
        [
            name,
            _gb(way.mpi_bytes),
            show_duration(way.collective_s) if way.collective_s else "",
            "yes" if way.fits else "NO",
        ]
        for name, way in model.alternatives.items()
    ]
    heads = ["the same ranks, pattern and collective", "MPI, GB", "a call", "fits"]
    note = f"Reduce_scatter opens all connections from {model.threshold_ranks:,} ranks on."
    assumed = "Reduce + Scatter: one published point; that it grows with the ranks is assumed."
    return f"{table(heads, rows, right=[1, 2])}\n\n{note}\n{assumed}"


def _example(model: MemoryModel) -> str:
    rows = [
        [
            cell.what, f"{cell.ranks:,}", str(cell.ranks_per_node),
            show_number(cell.published / (GB if cell.unit == "bytes" else 1)),
            show_number(cell.model / (GB if cell.unit == "bytes" else 1), 3),
            "GB" if cell.unit == "bytes" else "s", f"{cell.error:+z.1%}",
        ]
        for cell in model.published
    ]  # fmt: skip
    heads = ["what", "ranks", "a node", "paper 001", "model", "", "model is off"]
    worst = "\n" + _folded(
        f"The worst cell of memory is {model.worst_memory_error:z.1%} off. Fitted: {model.fitted}.", ""
    )
    wrong = "\n".join(f"- {_folded(text, '  ')}" for text in model.does_not_add_up)
    return f"{table(heads, rows, right=[1, 2, 3, 4, 6])}\n{worst}\n\nWhat in paper 001 does not add up:\n{wrong}"


def _folded(text: str, indent: str) -> str:
    return f"\n{indent}".join(textwrap.wrap(text, 76))


def _gb(count: float) -> str:
    return f"{count / GB:,.2f}"
