"""A weak-scaled hydrodynamics cycle on ASCI Q before and after its noise was removed: the shape of paper 003, section 6.

Published (paper 003): cells per process are constant, so that a cycle would be too; measured at full scale it took about 70 %
longer than the model; the trouble appears with 4 processes on a node's 4 processors and not with 1, 2 or 3; over 1,000 cycles the
shortest took 0.75 s where the model says 0.70 s; after the clean-up the cycle was on the model. 2,048 nodes, 8,192 processors,
about 5 us of latency.

Assumed: everything else. Paper 003 prints neither the sources nor the synchronisations of a cycle. They were chosen so:
- ten synchronisations a cycle, and the cells and time of a cell: their product is the model's 0.70 s at 8,192 processes;
- ``daemons``, 5 ms on every node: at full size one falls into each of the ten parts of a cycle; ten times 5 ms are the 0.05 s
  between the shortest cycle and the model;
- ``first-of-32`` and ``last-of-32``, long and rare on one node in 32: lengths and gaps chosen so that the mean is 1.7 times the
  model while some cycles in a hundred meet none of them, as the shortest cycle asks;
- ``kernel``, on every core: too short to be seen at this granularity;
- after the clean-up: the sources on one node in 32 are gone, and daemons take a fifth of their time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from shakedown.twin.models.noise import NoiseRun, simulate
from shakedown.twin.models.noise_sources import Placement, Source
from shakedown.twin.models.noise_study import Share, shares_of

NODES, CORES, LATENCY_S = 2048, 4, 5e-6  # paper 003, sections 1 to 3
PUBLISHED = {"model_s": 0.70, "shortest_s": 0.75, "longer_than_model": 0.70}  # paper 003, section 6

CELLS_PER_PROCESS, CELL_S, SYNCHRONISATIONS = 10_000, 69.935e-6, 10  # assumed

BEFORE = (  # assumed, all of them
    Source("kernel", 0.1, 50e-6),
    Source("daemons", 10.0, 5e-3, on="node"),
    Source("first-of-32", 20.0, 0.145, on="node", every=32, at=0, pattern="random"),
    Source("last-of-32", 60.0, 0.06, on="node", every=32, at=31, pattern="random"),
)
AFTER = (Source("kernel", 0.1, 50e-6), Source("daemons", 10.0, 1e-3, on="node"))

NODE_COUNTS = (1, 4, 16, 64, 256, 1024, NODES)
CYCLES, SHARE_CYCLES, HISTOGRAM_CYCLES = 100, 400, 1000


@dataclass(frozen=True, slots=True)
class CyclePoint:
    """Mean seconds of a cycle at one size: by the model without noise, before the clean-up and after it."""

    processes: int
    per_node: int
    nodes: int
    model_s: float
    before_s: float
    after_s: float


@dataclass(frozen=True, slots=True)
class AsciQ:
    """``points``: for each number of processes a node, from one node to all. ``cycles_s``: every cycle at full scale before the
    clean-up. ``shares``: what each source takes of one of the ten parts of a cycle there."""

    points: tuple[CyclePoint, ...]
    cycles_s: tuple[float, ...]
    cycles_after_s: tuple[float, ...]
    shares: tuple[Share, ...]
    sources: tuple[Source, ...] = BEFORE
    sources_after: tuple[Source, ...] = AFTER

    @property
    def full(self) -> CyclePoint:
        """The whole machine, all processors."""
        return self.points[-1]

    def at(self, per_node: int) -> list[CyclePoint]:
        return [point for point in self.points if point.per_node == per_node]


def rehearse_asci_q(seed: int = 0) -> AsciQ:
    """Purpose: the cycle at 1 to 4 processes a node on 1 to 2,048 nodes, the histogram at full scale, each source removed."""
    full = Placement(NODES * CORES, CORES, CORES)
    before, after = (cycles(full, sources, HISTOGRAM_CYCLES, seed) for sources in (BEFORE, AFTER))
    points = [_point(nodes, per_node, seed) for per_node in range(1, CORES + 1) for nodes in NODE_COUNTS[:-1]]
    points += [_point(NODES, per_node, seed) for per_node in range(1, CORES)]
    points.append(CyclePoint(full.processes, CORES, NODES, _model(full.processes), _mean(before), _mean(after)))
    points.sort(key=lambda point: (point.per_node, point.nodes))
    shares = shares_of(full, BEFORE, _work(), SHARE_CYCLES * SYNCHRONISATIONS, collective, seed)
    return AsciQ(tuple(points), before, after, shares)


def cycles(placement: Placement, sources: tuple[Source, ...], count: int, seed: int = 0) -> tuple[float, ...]:
    """Purpose: the seconds that each of so many cycles takes."""
    run: NoiseRun = simulate(placement, sources, _work(), count * SYNCHRONISATIONS, collective, seed)
    seconds: list[float] = run.step_s.reshape(count, SYNCHRONISATIONS).sum(axis=1).tolist()
    return tuple(seconds)


def collective(processes: int) -> float:
    """Down and up a binary tree at the published latency; that it is such a tree is assumed."""
    return 2 * math.ceil(math.log2(processes)) * LATENCY_S if processes > 1 else 0.0


def _work() -> float:
    return CELLS_PER_PROCESS * CELL_S / SYNCHRONISATIONS


def _model(processes: int) -> float:
    return SYNCHRONISATIONS * (_work() + collective(processes))


def _point(nodes: int, per_node: int, seed: int) -> CyclePoint:
    placement = Placement(nodes * per_node, per_node, CORES)
    before, after = (_mean(cycles(placement, sources, CYCLES, seed)) for sources in (BEFORE, AFTER))
    return CyclePoint(placement.processes, per_node, nodes, _model(placement.processes), before, after)


def _mean(seconds: tuple[float, ...]) -> float:
    return math.fsum(seconds) / len(seconds)
