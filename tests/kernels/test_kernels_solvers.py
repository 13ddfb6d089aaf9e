"""``cg`` and ``sweep`` beside a second program: residuals, operations, stages and messages from the definition, with full matrices
and by walking every block. No number here is a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import pytest
import scipy

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

Vector = npt.NDArray[np.float64]


# ---- cg


@dataclass
class Grid:
    """Points with the rank that has each, in the order (rank, z, y, x), and the matrix of the stencil in full."""

    points: list[tuple[int, int, int]]
    owners: list[int]
    matrix: Vector = field(init=False)
    stored: int = field(init=False)

    def __post_init__(self) -> None:
        places = np.array(self.points)
        apart = np.abs(places[:, None, :] - places[None, :, :]).max(axis=2)
        self.matrix = np.where(apart == 0, 26.0, np.where(apart == 1, -1.0, 0.0))
        self.stored = int(np.count_nonzero(self.matrix))

    def coarse(self) -> tuple[Grid, list[int]]:
        """Every second point along each axis, and where these stand in this grid."""
        kept = [i for i, point in enumerate(self.points) if all(c % 2 == 0 for c in point)]
        halves = [(x // 2, y // 2, z // 2) for x, y, z in (self.points[i] for i in kept)]
        return Grid(halves, [self.owners[i] for i in kept]), kept


@dataclass
class Solver:
    """Conjugate gradients with a V-cycle; ``operations`` are counted where they are made."""

    grids: list[Grid]
    kept: list[list[int]]
    operations: int = 0

    def multiply(self, level: int, x: Vector) -> Vector:
        self.operations += 2 * self.grids[level].stored
        return self.grids[level].matrix @ x

    def dot(self, a: Vector, b: Vector) -> float:
        self.operations += 2 * len(a)
        return float(a @ b)

    def add(self, a: Vector, factor: float, b: Vector) -> Vector:
        self.operations += 2 * len(a)
        return a + factor * b

    def smooth(self, level: int, b: Vector, x: Vector) -> Vector:
        """There and back over each rank's own points; those of others stay as they were."""
        grid = self.grids[level]
        owners, out = np.array(grid.owners), x.copy()
        for rank in sorted(set(grid.owners)):
            own = np.flatnonzero(owners == rank)
            block = grid.matrix[np.ix_(own, own)]
            others = b[own] - grid.matrix[own] @ x + block @ x[own]
            mine = x[own]
            for lower in (True, False):
                mine = mine + scipy.linalg.solve_triangular(block, others - block @ mine, lower=lower)
            out[own] = mine
        self.operations += 4 * grid.stored
        return out

    def precondition(self, level: int, b: Vector) -> Vector:
        x = self.smooth(level, b, np.zeros_like(b))
        if level + 1 == len(self.grids):
            return x
        kept = self.kept[level]
        left = b - self.multiply(level, x)
        x[kept] += self.precondition(level + 1, left[kept])
        return self.smooth(level, b, x)

    def residuals(self, b: Vector, iterations: int) -> Iterator[float]:
        x, r, p, before = np.zeros_like(b), b.copy(), np.zeros_like(b), math.inf
        whole = float(b @ b)
        for _ in range(iterations):
            z = self.precondition(0, r)
            rz = self.dot(r, z)
            p = self.add(z, rz / before, p)
            before = rz
            image = self.multiply(0, p)
            alpha = rz / self.dot(p, image)
            x = self.add(x, alpha, p)
            r = self.add(r, -alpha, image)
            yield math.sqrt(self.dot(r, r) / whole)


def solver(side: int, heights: list[int], dims: tuple[int, int, int], levels: int) -> Solver:
    """``heights``: of the boxes of each layer of ranks along z."""
    points, owners = [], []
    for rank, (k, j, i) in enumerate(product(*(range(d) for d in reversed(dims)))):
        bottom = sum(heights[:k])
        box = product(
            range(bottom, bottom + heights[k]), range(j * side, (j + 1) * side), range(i * side, (i + 1) * side)
        )
        for z, y, x in box:
            points.append((x, y, z))
            owners.append(rank)
    grids, kept = [Grid(points, owners)], []
    for _ in range(levels - 1):
        grid, places = grids[-1].coarse()
        grids.append(grid)
        kept.append(places)
    return Solver(grids, kept)


BOXES = {
    "one rank": (["--n", "8", "--levels", "3"], 8, [8], (1, 1, 1), 3),
    "four ranks": (["--n", "4", "--nz", "8", "--levels", "2", "--px", "2", "--py", "2"], 4, [8], (2, 2, 1), 2),
    "eight ranks": (["--n", "4", "--levels", "3", "--px", "2", "--py", "2"], 4, [4, 4], (2, 2, 2), 3),
    "two regions": (
        ["--n", "4", "--nz", "8", "--levels", "2", "--pz", "3", "--lower-layers", "2", "--lower-nz", "4"],
        *(4, [4, 4, 8], (1, 1, 3), 2),
    ),
}


@pytest.mark.parametrize("name", BOXES)
def test_cg_has_the_residuals_and_operations_of_a_second_program(run_kernel: RunKernel, name: str) -> None:
    options, side, heights, dims, levels = BOXES[name]
    second = solver(side, heights, dims, levels)
    known = np.array([1.0 + (x + 2 * y + 3 * z) % 7 for x, y, z in second.grids[0].points])
    expected = list(second.residuals(second.grids[0].matrix @ known, 10))
    outcome = run_kernel("cg", *options, "--iterations", "10", "--solves", "1", ranks=math.prod(dims))
    assert outcome.status == 0, outcome.errors
    told = {r["iteration"]: r["residual"] for r in outcome.kind("iteration")}
    assert list(told) == [1, 2, 4, 8, 10]
    for iteration, residual in told.items():
        assert residual == pytest.approx(expected[iteration - 1], rel=1e-6), iteration
    assert outcome.result["cg"]["residual"] == told[10]
    assert outcome.result["flops"] == second.operations
    assert outcome.result["ranks_along"] == list(dims)
    assert outcome.result["points_along"] == [side * dims[0], side * dims[1], sum(heights)]
    assert outcome.result["counted"] == 10


def test_cg_says_how_the_ranks_of_each_region_and_the_nodes_compute(run_kernel: RunKernel) -> None:
    options = ["--n", "8", "--nz", "8", "--levels", "2", "--iterations", "2", "--solves", "3"]
    regions = ["--pz", "3", "--lower-layers", "1", "--lower-nz", "4", "--fake-nodes", "3"]
    outcome = run_kernel("cg", *options, *regions, ranks=3)
    lower, upper = outcome.kind("region")
    assert (lower["region"], lower["ranks"], lower["points"]) == ("lower", 1, 256)
    assert (upper["region"], upper["ranks"], upper["points"]) == ("upper", 2, 512)
    (nodes,) = outcome.kind("nodes")
    assert nodes["labels"] == outcome.records[0]["hosts"]
    assert nodes["values"][0] == pytest.approx(lower["computing_gflop_s"])
    assert sum(nodes["values"][1:]) == pytest.approx(2 * upper["computing_gflop_s"])
    result = outcome.result
    assert result["counted"] == 6  # iterations of three solves
    assert result["cg"]["gflop_s"] == pytest.approx(result["flops"] / result["seconds"] / 1e9)
    assert result["cg"]["rank_gflop_s"] == pytest.approx(result["cg"]["gflop_s"] / 3)
    assert result["cg"]["iteration_ms"] == pytest.approx(1000 * result["seconds"] / 6)
    waits = result["cg"]["halo_share"] + result["cg"]["allreduce_share"]
    busy = (lower["computing_share"] + 2 * upper["computing_share"]) / 3
    assert 0 < waits < 1 and busy == pytest.approx(1 - waits)
    assert 0 < result["cg"]["smoother_share"] < busy


# ---- sweep


def stages(columns: int, rows: int, blocks: int) -> int:
    """The longest chain of blocks where each waits for the one before on its rank and for those of its two neighbours upstream."""
    corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    octants = [corner for corner in corners for _ in range(2)]

    @cache
    def end(x: int, y: int, step: int) -> int:
        if step < 0 or not (0 <= x < columns and 0 <= y < rows):
            return 0
        along_x, along_y = octants[step // blocks]
        return 1 + max(end(x, y, step - 1), end(x - along_x, y, step), end(x, y - along_y, step))

    for step in range(8 * blocks):  # in order, so that no chain is deeper than the ranks
        for x, y in product(range(columns), range(rows)):
            end(x, y, step)
    return max(end(x, y, 8 * blocks - 1) for x, y in product(range(columns), range(rows)))


@pytest.mark.parametrize(("ranks", "columns", "rows"), [(1, 1, 1), (3, 1, 3), (4, 2, 2), (6, 2, 3)])
def test_sweep_counts_stages_messages_and_operations_as_a_second_program(
    run_kernel: RunKernel, ranks: int, columns: int, rows: int
) -> None:
    options = ["--n", "3", "--nz", "5", "--angles", "2", "--groups", "3", "--repeats", "2"]
    outcome = run_kernel("sweep", *options, ranks=ranks)
    assert outcome.status == 0, outcome.errors
    points = outcome.kind("blocks")
    assert [(p["planes"], p["blocks"]) for p in points] == [(1, 5), (2, 3), (4, 2), (5, 1)]
    borders = sum(1 for _ in pairwise(range(columns))) * rows + sum(1 for _ in pairwise(range(rows))) * columns
    for point in points:
        blocks = point["blocks"]
        assert point["modelled_efficiency"] == pytest.approx(8 * blocks / stages(columns, rows, blocks))
        assert point["messages"] == 8 * borders * blocks
        assert point["bytes"] == 8 * borders * (3 * 5) * (2 * 3) * 8
        assert 0 < point["efficiency"] <= 1
        assert point["counted"] == 2
    result, best = outcome.result, min(points, key=lambda point: float(point["ms"]))
    assert result["ranks_along"] == [columns, rows]
    assert result["flops"] == 2 * sum(14 for _ in product(range(ranks), range(8), range(3 * 3 * 5), range(2), range(3)))
    ours = ("ms", "gflop_s", "efficiency", "modelled_efficiency", "planes")
    assert {key: result["sweep"][key] for key in ours} == {key: best[key] for key in ours}
    assert result["sweep"]["rank_gflop_s"] == pytest.approx(result["sweep"]["gflop_s"] / ranks)
    assert result["sweep"]["ms"] == pytest.approx(1000 * result["seconds"] / 2)


def test_sweep_takes_the_planes_and_the_ranks_along_x_that_it_is_given(run_kernel: RunKernel) -> None:
    outcome = run_kernel("sweep", *("--n", "2", "--nz", "7", "--planes", "3", "--px", "3", "--repeats", "1"), ranks=3)
    assert [(p["planes"], p["blocks"]) for p in outcome.kind("blocks")] == [(3, 3)]
    assert outcome.result["ranks_along"] == [3, 1]
    assert outcome.result["sweep"]["modelled_efficiency"] == pytest.approx(24 / stages(3, 1, 3))
