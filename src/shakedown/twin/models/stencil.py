"""A stencil code on more and more ranks: computing, exchange of halos with the neighbours, one allreduce a step.

step = compute + halo - min(overlap x halo, compute) + allreduces, of an inner rank, which has the most neighbours. No noise, no
imbalance. The slab variant has the shape of SAGE's model (Kerbyson et al., SC'01): no paper of ours prints its coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shakedown.model.errors import UsageError
from shakedown.twin.models import loggp
from shakedown.twin.models.loggp import LogGP
from shakedown.twin.models.topology import Topology

DECOMPOSITIONS = ("blocks", "slabs")
PLACEMENTS = ("near", "scattered")
REDUCED_BYTES = 8.0
_BITS = 2.0**60


@dataclass(frozen=True, slots=True)
class Stencil:
    """A code. ``cells``: of each rank, or with ``strong`` of all together; ``bytes_per_cell``: sent for each cell of a face."""

    cells: float
    bytes_per_cell: float
    time_per_cell_s: float
    strong: bool = False
    decomposition: str = "blocks"
    allreduces: int = 1
    overlap: float = 0.0

    def __post_init__(self) -> None:
        amounts = (self.cells, self.time_per_cell_s)
        if not all(0 < amount < _BITS for amount in amounts) or not 0 <= self.bytes_per_cell < _BITS:
            raise UsageError("cells and the time of a cell are above zero, bytes from zero on", "--cells 100000")
        if not 0 <= self.overlap <= 1 or not 0 <= self.allreduces <= 10**6:
            raise UsageError("an overlap is a share from 0% to 100%, allreduces are counted from 0 on", "--overlap 50%")
        if self.decomposition not in DECOMPOSITIONS:
            raise UsageError(
                f"there is no decomposition '{self.decomposition}'", f"there are: {', '.join(DECOMPOSITIONS)}"
            )


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it runs. ``bandwidth`` of a node is 1 / G of ``network``, shared by its ranks. No ``topology``: all paths are equal.

    ``placement``: 'near', neighbours are one hop apart; 'scattered', at the mean distance, and no faster than all-to-all is.
    """

    network: LogGP
    ranks_per_node: int = 1
    topology: Topology | None = None
    placement: str = "near"
    link_bandwidth: float | None = None
    hop_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One number of ranks. ``grid``: ranks in each dimension; ``halo_bytes``: what a rank sends; ``efficiency``: compute / step."""

    ranks: int
    nodes: int
    grid: tuple[int, int, int]
    neighbours: int
    halo_bytes: float
    compute_s: float
    halo_s: float
    hidden_s: float
    allreduce_s: float
    step_s: float
    efficiency: float
    efficiency_of_first: float
    speedup_of_first: float


@dataclass(frozen=True, slots=True)
class Scaling:
    """``hops`` and ``halo_bandwidth`` (bytes/s of a node): what the topology and placement leave for the halos."""

    strong: bool
    decomposition: str
    overlap: float
    hops: float
    halo_bandwidth: float
    points: tuple[ScalingPoint, ...]


def scaling(code: Stencil, machine: Machine, ranks: Sequence[int]) -> Scaling:
    """Purpose: the code on each number of ranks. Raises UsageError where ranks are none or more than the topology has nodes for."""
    if not ranks or not all(1 <= count <= loggp.RANKS_LIMIT for count in ranks):
        raise UsageError("ranks are given, each from 1 to 1,000,000,000", "--ranks 1,64,4096")
    _check(machine, max(ranks))
    hops, halos = _seen_by_halos(machine)
    found: list[ScalingPoint] = []
    for count in ranks:
        point = _point(code, machine, halos, int(count))
        first = found[0] if found else point
        gain = first.step_s / point.step_s * (1.0 if code.strong else point.ranks / first.ranks)
        share = gain * first.ranks / point.ranks
        found.append(replace(point, efficiency_of_first=share, speedup_of_first=gain))
    return Scaling(code.strong, code.decomposition, code.overlap, hops, 1 / halos.per_byte_s, tuple(found))


def best_grid(ranks: int) -> tuple[int, int, int]:
    """Purpose: three factors, the smallest first, into which a cube is cut with the least surface: with the least sum."""
    return min((grid for grid in _factors(ranks) if grid[0] <= grid[1] <= grid[2]), key=lambda grid: (sum(grid), grid))


def off_node_share(per_node: int, grid: tuple[int, int, int]) -> float:
    """Purpose: of the halo bytes of a node's ranks, the part that leaves it: the ranks are the best block that tiles the grid.

    A rank's face across an axis is as large as the grid has ranks along it. 1 where no block of so many ranks tiles the grid.
    """
    blocks = [
        block for block in _factors(per_node) if all(many % few == 0 for many, few in zip(grid, block, strict=True))
    ]
    cut = [sum(g / b for g, b in zip(grid, block, strict=True) if g > b) for block in blocks]
    whole = sum(count for count in grid if count > 1)
    return min(cut) / whole if cut and whole else 1.0


def halo_time(network: LogGP, sizes: Sequence[float]) -> float:
    """Purpose: all sends started one after the other, then all receives, neighbours in step: LogGP, seconds."""
    start, clock, arrivals = 0.0, 0.0, []
    for size in sizes:
        train = max(size - 1, 0.0) * network.per_byte_s
        start = max(start, clock)
        clock = start + network.overhead_s
        arrivals.append(clock + train + network.latency_s)
        start += network.spacing_s + train
    for arrival in arrivals:
        clock = max(clock, arrival) + network.overhead_s
    return clock


def faces(code: Stencil, ranks: int) -> tuple[tuple[int, int, int], list[float]]:
    """Purpose: the grid of ranks, and the cells of each face that an inner rank sends."""
    cells = code.cells / ranks if code.strong else code.cells
    if cells < 1:
        raise UsageError(f"{code.cells:g} cells are fewer than {ranks:,} ranks", "give more cells or fewer ranks")
    if code.decomposition == "slabs":
        return (1, 1, ranks), _slab_faces(cells, ranks)
    grid = best_grid(ranks)
    side = (cells * ranks) ** (1 / 3)
    lengths = [side / count for count in grid]
    return grid, [cells / lengths[axis] for axis in range(3) for _ in range(min(2, grid[axis] - 1))]


def _slab_faces(cells: float, ranks: int) -> list[float]:
    """A cube cut into slabs: each face is the whole cross-section. One thinner than a cell reaches several neighbours a side."""
    section = (cells * ranks) ** (2 / 3)
    reached = min(math.ceil(section / cells * (1 - 1e-12)), ranks - 1)
    return [section / reached] * (min(2, ranks - 1) * reached) if reached else []


def _point(code: Stencil, machine: Machine, halos: LogGP, ranks: int) -> ScalingPoint:
    grid, cells = faces(code, ranks)
    sizes = [code.bytes_per_cell * face for face in cells]
    sharing = min(machine.ranks_per_node, ranks)
    leaving = off_node_share(sharing, grid) if sharing > 1 else 1.0
    halo = halo_time(replace(halos, per_byte_s=halos.per_byte_s * leaving * sharing), sizes)
    compute = (code.cells / ranks if code.strong else code.cells) * code.time_per_cell_s
    hidden = min(code.overlap * halo, compute)
    reduce = code.allreduces * float(loggp.allreduce(_far(machine), ranks, REDUCED_BYTES))
    step = compute + halo - hidden + reduce
    nodes = -(-ranks // machine.ranks_per_node)
    return ScalingPoint(
        ranks, nodes, grid, len(sizes), sum(sizes), compute, halo, hidden, reduce, step, compute / step, 1.0, 1.0
    )


def _seen_by_halos(machine: Machine) -> tuple[float, LogGP]:
    """Hops to a neighbour, and the network with what the placement leaves of it."""
    if machine.topology is None or machine.placement == "near":
        return 1.0, machine.network
    own = 1 / machine.network.per_byte_s
    left = machine.topology.alltoall_ceiling(own, machine.link_bandwidth or own)
    return machine.topology.mean_hops, replace(_far(machine), per_byte_s=1 / left)


def _far(machine: Machine) -> LogGP:
    """The network between nodes at the mean distance: the published latency is taken to be that of one hop."""
    if machine.topology is None:
        return machine.network
    more = max(machine.topology.mean_hops - 1, 0.0) * machine.hop_s
    return replace(machine.network, latency_s=machine.network.latency_s + more)


def _factors(number: int) -> list[tuple[int, int, int]]:
    """Every way to write a number as a product of three."""
    divisors = _divisors(number)
    pairs = [(first, number // first) for first in divisors]
    return [(first, second, rest // second) for first, rest in pairs for second in divisors if rest % second == 0]


def _divisors(number: int) -> list[int]:
    small = [factor for factor in range(1, math.isqrt(number) + 1) if number % factor == 0]
    return sorted({*small, *(number // factor for factor in small)})


def _check(machine: Machine, ranks: int) -> None:
    if not 1 <= machine.ranks_per_node <= 10**4:
        raise UsageError(f"{machine.ranks_per_node} ranks a node cannot be", "from 1 to 10000")
    if machine.placement not in PLACEMENTS:
        raise UsageError(f"there is no placement '{machine.placement}'", f"there are: {', '.join(PLACEMENTS)}")
    nodes = -(-ranks // machine.ranks_per_node)
    if machine.topology is not None and nodes > machine.topology.nodes:
        raise UsageError(
            f"{ranks:,} ranks need {nodes:,} nodes; the topology has {machine.topology.nodes:,}",
            "give fewer ranks, more ranks a node, or a larger topology",
        )
