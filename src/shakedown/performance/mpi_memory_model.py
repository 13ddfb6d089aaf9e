"""The model of MPI's memory as one result: the job asked for, curves to draw, and the paper's numbers beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shakedown.performance.mpi_memory import (
    PATTERNS,
    Job,
    NodeMemory,
    most_ranks_per_node,
    node_memory,
    threshold_ranks,
)
from shakedown.performance.mpi_memory_published import Cell, cells

SAYS_NOT = (
    "the row of Reduce + Scatter at 262,144 ranks is set against 465 s and 22 GB, which are of 131,072 ranks; its own row "
    "has 1,478 s and 45.0 GB",
    '"half the node memory!" fits 45.0 of 96 GB (47 %), not 22.3 (23 %)',
    "memory and time of Reduce_scatter fall between 8,192 and 16,384 ranks (0.15 to 0.10 GB, 0.08 to 0.05 s)",
    "a pair of ranks takes 2.67 kB after Reduce_scatter, 1.9 kB after full point-to-point connectivity; nothing says why",
)


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """``curve``: the same job on 1, 2, 4 ... nodes up to those asked for. ``alternatives``: the same nodes, other ways."""

    model_of: str
    job: Job
    asked: NodeMemory
    threshold_ranks: int
    most_ranks_per_node: int
    curve: tuple[NodeMemory, ...]
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
        tuple(node_memory(replace(job, nodes=nodes)) for nodes in _doubling(job.nodes)),
        _alternatives(job),
        found,
        max(abs(cell.error) for cell in found if cell.unit == "bytes"),
        "5 constants to 16 cells of connectivity, 1 to Reduce_scatter past its threshold; below it 5 to its 7 cells, which scatter",
        SAYS_NOT,
    )


def _doubling(last: int) -> list[int]:
    return [*(2**power for power in range(last.bit_length()) if 2**power < last), last]


def _alternatives(job: Job) -> dict[str, NodeMemory]:
    """The job with each other pattern, and with the two ways to reduce and scatter."""
    ways = {
        f"{pattern}, {collective}": replace(job, pattern=pattern, collective=collective)
        for pattern in PATTERNS
        for collective in ("none", "reduce-scatter", "reduce+scatter")
    }
    return {name: node_memory(way) for name, way in ways.items()}
