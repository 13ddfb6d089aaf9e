"""The model of MPI's memory as one result: the job asked for, curves to draw, and the paper's numbers beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shakedown.twin.models.mpi_memory import (
    PATTERNS,
    REDUCE_SCATTER,
    Job,
    NodeMemory,
    collective_use,
    connections_bytes,
    most_ranks_per_node,
    node_memory,
    threshold_ranks,
)
from shakedown.twin.models.mpi_memory_published import Cell, cells

Point = tuple[int, float]  # ranks, bytes on a node
FITTED = (
    "5 constants to the 16 cells of connectivity; of Reduce_scatter past its threshold 1 to 2 cells of memory and 2 to 3 of time; "
    "before it 4 to 7 cells of memory and 4 to 7 of time, with a change at 16,384 ranks that is read off the cells; of "
    "Reduce + Scatter 2 to its one row: 18 constants and the place of the change, to 37 numbers"
)
SAYS_NOT = (
    "the row of Reduce + Scatter at 262,144 ranks is set against 465 s and 22 GB, which are of 131,072 ranks; its own row "
    "has 1,478 s and 45.0 GB",
    '"half the node memory!" fits 45.0 of 96 GB (47 %), not 22.3 (23 %)',
    "memory and time of Reduce_scatter fall between 8,192 and 16,384 ranks (0.15 to 0.10 GB, 0.08 to 0.05 s)",
    "a pair of ranks takes 2.67 kB after Reduce_scatter, 1.9 kB after full point-to-point connectivity; nothing says why",
)


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """Purpose: the job asked for, its ``alternatives``, and lines to draw.

    ``lines_of_patterns``: pattern -> (ranks, bytes on a node) on the job's nodes, by ranks per node up to the job's.
    ``lines_of_collectives``: collective -> the same with the job's ranks per node, by nodes up to the job's.
    """

    model_of: str
    job: Job
    asked: NodeMemory
    threshold_ranks: int
    most_ranks_per_node: int
    lines_of_patterns: dict[str, tuple[Point, ...]]
    lines_of_collectives: dict[str, tuple[Point, ...]]
    alternatives: dict[str, NodeMemory]
    published: tuple[Cell, ...]
    worst_memory_error: float
    fitted: str
    does_not_add_up: tuple[str, ...]


def memory_model(job: Job) -> MemoryModel:
    """Purpose: all that ``shakedown twin memory`` says of a job. Raises UsageError where the job is none."""
    asked, found = node_memory(job), tuple(cells())
    return MemoryModel(
        "MPI memory on a node, from paper 001's Cray MPI on Trinity's KNL nodes",
        job,
        asked,
        threshold_ranks(job.element_bytes),
        most_ranks_per_node(job),
        _lines_of_patterns(job),
        _lines_of_collectives(job),
        _alternatives(job),
        found,
        max(abs(cell.error) for cell in found if cell.unit == "bytes"),
        FITTED,
        SAYS_NOT,
    )


def _lines_of_patterns(job: Job) -> dict[str, tuple[Point, ...]]:
    def line(pattern: str, mailboxes: bool = False) -> tuple[Point, ...]:
        return tuple(
            (each * job.nodes, connections_bytes(each, each * job.nodes, pattern, job.connections, mailboxes))
            for each in _steps(job.ranks_per_node)
        )

    return {
        "full": line("full"),
        "full in blocks": line("full", True),
        **{name: line(name) for name in ("alltoall", "few")},
    }


def _lines_of_collectives(job: Job) -> dict[str, tuple[Point, ...]]:
    jumps = threshold_ranks(job.element_bytes), REDUCE_SCATTER.change_ranks
    before = [(jump - 1) // job.ranks_per_node for jump in jumps]
    edges = {nodes + more for nodes in before for more in (0, 1) if 1 <= nodes + more <= job.nodes}
    nodes = sorted({*_steps(job.nodes), *edges})
    return {
        name: tuple(
            (count * job.ranks_per_node, collective_use(replace(job, nodes=count, collective=name)).memory_bytes)
            for count in nodes
        )
        for name in ("reduce-scatter", "reduce+scatter")
    }


def _steps(last: int) -> list[int]:
    """Whole numbers from 1 to the last, four for each doubling."""
    return sorted(
        {1, last, *(round(2 ** (step / 4)) for step in range(4 * last.bit_length()) if 2 ** (step / 4) < last)}
    )


def _alternatives(job: Job) -> dict[str, NodeMemory]:
    """The job with each other pattern, and with the two ways to reduce and scatter."""
    ways = {
        f"{pattern}, {collective}": replace(job, pattern=pattern, collective=collective)
        for pattern in PATTERNS
        for collective in ("none", "reduce-scatter", "reduce+scatter")
    }
    return {name: node_memory(way) for name, way in ways.items()}
