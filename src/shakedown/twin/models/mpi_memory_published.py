"""The two memory tables of paper 001, as printed, and the laws beside them."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.twin.models.mpi_memory import connections_bytes, reduce_scatter

CONNECTIVITY_NODES = 8192
# pattern, in one block -> GB on a node, in the order of RANKS_PER_NODE
RANKS_PER_NODE = (64, 48, 32, 16)
CONNECTIVITY: dict[tuple[str, bool], tuple[float, ...]] = {
    ("full", False): (64.4, 36.5, 16.5, 4.3),
    ("full", True): (60.4, 34.3, 15.5, 4.1),
    ("alltoall", False): (6.7, 4.5, 2.3, 0.8),
    ("few", False): (6.2, 3.9, 2.0, 0.7),
}
# nodes -> GB on a node (None: not measured), seconds; 64 ranks per node
REDUCE_SCATTER_ROWS: dict[int, tuple[float | None, float]] = {
    1: (0.01, 0.004),
    2: (0.07, 0.02),
    16: (0.08, 0.02),
    128: (0.15, 0.08),
    256: (0.10, 0.05),
    512: (0.14, 0.07),
    1024: (0.18, 0.15),
    2048: (22.3, 465.0),
    4096: (45.0, 1478.0),
    8192: (None, 5000.0),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed number of paper 001 and what the law makes of it. Bytes on a node, or seconds of a call."""

    table: str
    what: str
    ranks: int
    ranks_per_node: int
    unit: str
    published: float
    model: float
    error: float  # of the model, as a share of what is published


def cells() -> list[Cell]:
    """Purpose: every number of both tables, row by row. The time at 524,288 ranks is printed as "~5000"."""
    return [*_connectivity(), *_reduce_scatter()]


def _connectivity() -> list[Cell]:
    return [
        _cell(
            "connectivity", pattern + (" in blocks" if blocks else ""), CONNECTIVITY_NODES * r, r, "bytes", gigabytes * 1e9,
            connections_bytes(r, CONNECTIVITY_NODES * r, pattern, 1024, blocks),
        )
        for (pattern, blocks), row in CONNECTIVITY.items()
        for r, gigabytes in zip(RANKS_PER_NODE, row, strict=True)
    ]  # fmt: skip


def _reduce_scatter() -> list[Cell]:
    found = []
    for nodes, (gigabytes, seconds) in REDUCE_SCATTER_ROWS.items():
        use, ranks = reduce_scatter(64, nodes * 64), nodes * 64
        if gigabytes is not None:
            found.append(_cell("Reduce_scatter", "memory", ranks, 64, "bytes", gigabytes * 1e9, use.memory_bytes))
        found.append(_cell("Reduce_scatter", "time", ranks, 64, "seconds", seconds, use.seconds))
    return found


def _cell(table: str, what: str, ranks: int, ranks_per_node: int, unit: str, published: float, model: float) -> Cell:
    return Cell(table, what, ranks, ranks_per_node, unit, published, model, model / published - 1)
