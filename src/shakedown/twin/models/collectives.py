"""The collectives of a network in a table: operations, ranks and sizes, and where the allreduce changes its algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.twin.models import loggp
from shakedown.twin.models.loggp import Floats, LogGP
from shakedown.twin.models.networks import SPLIT, Network, parameters

# name -> (algorithms, time of ranks and bytes)
OPERATIONS: dict[str, tuple[str, Callable[[LogGP, Sequence[Sequence[int]], Sequence[float]], Floats]]] = {
    "barrier": ("dissemination", lambda network, ranks, _: loggp.barrier(network, ranks)),
    "broadcast": ("binomial tree", loggp.broadcast),
    "allreduce": ("recursive doubling, or Rabenseifner's", loggp.allreduce),
    "reduce-scatter": ("recursive halving, or pairwise exchange", loggp.reduce_scatter),
    "alltoall": ("pairwise exchange", loggp.alltoall),
}
SIZES_MEAN = {
    "broadcast": "bytes of the message",
    "allreduce": "bytes of the vector",
    "reduce-scatter": "bytes of the whole vector",
    "alltoall": "bytes to each other rank",
}


@dataclass(frozen=True, slots=True)
class Timed:
    """One operation. ``size_bytes`` None where it carries none; ``algorithm``: of the allreduce, which one was taken."""

    operation: str
    ranks: int
    size_bytes: float | None
    seconds: float
    algorithm: str


@dataclass(frozen=True, slots=True)
class Crossover:
    """The vector from which on Rabenseifner's allreduce is the faster; None: never."""

    ranks: int
    size_bytes: float | None


@dataclass(frozen=True, slots=True)
class Collectives:
    """``messages``: one message of each size, in the order of ``sizes_bytes``. ``assumed``: what no paper prints."""

    network: Network
    parameters: LogGP
    assumed: str
    sizes_bytes: tuple[float, ...]
    messages_s: tuple[float, ...]
    times: tuple[Timed, ...]
    crossovers: tuple[Crossover, ...]


def collectives(
    network: Network,
    ranks: Sequence[int],
    sizes: Sequence[float],
    operations: Sequence[str] = tuple(OPERATIONS),
    combine_rate: float | None = None,
) -> Collectives:
    """Purpose: every operation at all ranks and sizes (bytes). Raises UsageError for an operation that there is not."""
    if not ranks or not sizes:
        raise UsageError("ranks and sizes are given", "--ranks 64,4096 --size 8B,1MiB")
    for name in operations:
        if name not in OPERATIONS:
            raise UsageError(
                f"there is no '{name}'", did_you_mean(name, OPERATIONS) or f"there are: {', '.join(OPERATIONS)}"
            )
    found = parameters(network, combine_rate)
    at = loggp.crossover_bytes(found, list(ranks)).tolist()
    crossovers = tuple(
        Crossover(count, value if math.isfinite(value) else None) for count, value in zip(ranks, at, strict=True)
    )
    times = tuple(
        timed for name in dict.fromkeys(operations) for timed in _timed(found, name, ranks, sizes, crossovers)
    )
    messages = tuple(loggp.point_to_point(found, list(sizes)).tolist())
    return Collectives(network, found, SPLIT, tuple(sizes), messages, times, crossovers)


def _timed(
    network: LogGP, name: str, ranks: Sequence[int], sizes: Sequence[float], crossovers: Sequence[Crossover]
) -> list[Timed]:
    """One operation's times, rank by rank."""
    carried: Sequence[float | None] = list(sizes) if name in SIZES_MEAN else [None]
    table = OPERATIONS[name][1](network, [[count] for count in ranks], [size or 0.0 for size in carried])
    rows = np.broadcast_to(table, (len(ranks), len(carried))).tolist()
    return [
        Timed(name, count, size, seconds, _algorithm(name, size, crossover))
        for count, row, crossover in zip(ranks, rows, crossovers, strict=True)
        for size, seconds in zip(carried, row, strict=True)
    ]


def _algorithm(name: str, size: float | None, crossover: Crossover) -> str:
    if name != "allreduce":
        return OPERATIONS[name][0]
    large = size is not None and crossover.size_bytes is not None and size >= crossover.size_bytes
    return "Rabenseifner" if large else "recursive doubling"
