"""The stencil code against cells counted one by one, messages played one by one, and sums by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest
from network_messages import Program, Receive, Send, play

from shakedown.model.errors import UsageError
from shakedown.twin.models import loggp
from shakedown.twin.models.loggp import LogGP
from shakedown.twin.models.networks import NETWORKS, parameters
from shakedown.twin.models.stencil import Machine, Stencil, best_grid, faces, halo_time, off_node_share, scaling
from shakedown.twin.models.topology import Torus

GEMINI = parameters(NETWORKS["gemini"])
CODE = Stencil(cells=8000, bytes_per_cell=40, time_per_cell_s=1e-7)


def test_the_best_grid_is_the_one_with_the_least_surface_of_all() -> None:
    for ranks in [*range(1, 150), 997, 1024, 1800]:
        every = [
            (a, b, ranks // a // b)
            for a in range(1, ranks + 1)
            if ranks % a == 0
            for b in range(1, ranks // a + 1)
            if (ranks // a) % b == 0
        ]
        grid = best_grid(ranks)
        assert math.prod(grid) == ranks
        assert sum(grid) == min(sum(other) for other in every)
    assert best_grid(4096) == (16, 16, 16)
    assert best_grid(735_134_400)[0] > 800  # 1,344 divisors


def owners(side: int, grid: tuple[int, int, int]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Each cell of a cube, and the rank that owns it."""
    cells = itertools.product(range(side), repeat=3)
    return {cell: tuple(x * count // side for x, count in zip(cell, grid, strict=True)) for cell in cells}


def sent(side: int, grid: tuple[int, int, int]) -> dict[tuple[int, ...], Counter[tuple[int, ...]]]:
    """Rank -> neighbour -> cells of its face, counted cell by cell."""
    owner = owners(side, grid)
    found: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}
    for cell, rank in owner.items():
        for axis, step in itertools.product(range(3), (-1, 1)):
            other = owner.get(tuple(x + step * (axis == d) for d, x in enumerate(cell)))
            if other is not None and other != rank:
                found.setdefault(rank, Counter())[other] += 1
    return found


@pytest.mark.parametrize(
    ("side", "ranks"), [(12, 27), (12, 8), (12, 36), (12, 12), (12, 2), (10, 5), (12, 1), (12, 64)]
)
def test_the_faces_of_an_inner_rank_are_the_cells_it_shares_with_others(side: int, ranks: int) -> None:
    code = Stencil(cells=side**3 / ranks, bytes_per_cell=8, time_per_cell_s=1e-7)
    grid, cells = faces(code, ranks)
    counted = sent(side, grid)
    most = max((sorted(found.values()) for found in counted.values()), key=len, default=[])
    assert sorted(cells) == pytest.approx(most)


@pytest.mark.parametrize(("side", "ranks"), [(12, 3), (12, 4), (12, 12), (12, 2), (12, 1)])
def test_slabs_send_the_whole_cross_section_to_both_sides(side: int, ranks: int) -> None:
    code = Stencil(side**3, 8, 1e-7, strong=True, decomposition="slabs")
    counted = sent(side, (1, 1, ranks))
    most = max((sorted(found.values()) for found in counted.values()), key=len, default=[])
    assert sorted(faces(code, ranks)[1]) == pytest.approx(most)


def test_slabs_thinner_than_a_cell_reach_over_more_neighbours() -> None:
    """A cube of 12 cells a side on 48 ranks: each owns a quarter of a layer, and its face is spread over four ranks a side."""
    cells = faces(Stencil(12**3, 8, 1e-7, strong=True, decomposition="slabs"), 48)[1]
    assert cells == pytest.approx([36] * 8)


@pytest.mark.parametrize(("ranks", "per_node"), [(64, 8), (64, 4), (216, 24), (96, 12), (128, 2), (512, 64)])
def test_what_leaves_a_node_is_what_crosses_its_best_block(ranks: int, per_node: int) -> None:
    """All blocks tried on a periodic grid, so that every rank is an inner one; faces as large as the grid is long."""
    grid = best_grid(ranks)
    shares = []
    for block in itertools.product(*(range(1, count + 1) for count in grid)):
        if math.prod(block) == per_node and all(count % own == 0 for count, own in zip(grid, block, strict=True)):
            shares.append(crossing_share(grid, block))
    assert off_node_share(per_node, grid) == pytest.approx(min(shares))


def crossing_share(grid: tuple[int, ...], block: tuple[int, ...]) -> float:
    leaves = whole = 0
    for rank in itertools.product(*map(range, grid)):
        for axis, step in itertools.product(range(3), (-1, 1)):
            other = [(x + step * (axis == d)) % grid[d] for d, x in enumerate(rank)]
            home, there = ([x // own for x, own in zip(place, block, strict=True)] for place in (rank, other))
            whole += grid[axis]
            leaves += grid[axis] * (home != there)
    return leaves / whole


@pytest.mark.parametrize("sizes", [(100.0, 5e4, 2e6), (0.0, 8.0, 64.0), (4e5, 4e5, 4e5)])
@pytest.mark.parametrize("network", [GEMINI, LogGP(3e-6, 0.2e-6, 2.9e-6, 1e-9), LogGP(1e-6, 2e-6, 0.0, 4e-9)])
def test_the_exchange_of_six_faces_takes_what_it_takes_message_by_message(
    network: LogGP, sizes: tuple[float, float, float]
) -> None:
    def program(rank: int, _: int) -> Program:
        for axis, step in itertools.product(range(3), (1, -1)):
            yield Send(beside(rank, axis, step), sizes[axis])
        for axis, step in itertools.product(range(3), (1, -1)):
            yield Receive(beside(rank, axis, -step))

    def beside(rank: int, axis: int, step: int) -> int:
        place = [rank // 9, rank // 3 % 3, rank % 3]
        place[axis] = (place[axis] + step) % 3
        return 9 * place[0] + 3 * place[1] + place[2]

    seconds, _ = play(network, 27, program)
    assert halo_time(network, [size for size in sizes for _ in range(2)]) == pytest.approx(seconds, rel=1e-12)


def test_a_step_by_hand() -> None:
    """4,096 ranks, 16 x 16 x 16, 8,000 cells of side 20: six faces of 400 cells x 40 B, 12 rounds of allreduce."""
    point = scaling(CODE, Machine(GEMINI), [4096]).points[0]
    assert point.grid == (16, 16, 16)
    assert point.halo_bytes == pytest.approx(6 * 400 * 40)
    train = (16000 - 1) / 6e9  # a face takes longer to leave than a send keeps its rank busy
    assert point.halo_s == pytest.approx(5 * (0.4e-6 + train) + train + 1.6e-6)
    assert point.allreduce_s == pytest.approx(12 * (1.6e-6 + 7 / 6e9))
    assert point.step_s == pytest.approx(8e-4 + point.halo_s + point.allreduce_s)
    assert point.efficiency == pytest.approx(8e-4 / point.step_s)


def test_alone_nothing_is_sent_and_weak_scaling_only_ever_gets_slower_on_cubes_of_ranks() -> None:
    points = scaling(CODE, Machine(GEMINI), [1, 8, 64, 512, 4096, 32768]).points
    assert points[0].step_s == points[0].compute_s == pytest.approx(8e-4)
    assert [point.step_s for point in points] == sorted(point.step_s for point in points)
    assert [point.neighbours for point in points] == [0, 3, 6, 6, 6, 6]
    assert points[-1].efficiency_of_first == pytest.approx(points[-1].efficiency)  # the first is compute alone
    assert points[-1].speedup_of_first == pytest.approx(32768 * points[-1].efficiency)


def test_strong_scaling_shares_the_work_and_pays_for_it() -> None:
    code = Stencil(8000 * 64, 40, 1e-7, strong=True)
    points = scaling(code, Machine(GEMINI), [1, 64, 4096]).points
    assert points[1].compute_s == pytest.approx(points[0].compute_s / 64)
    assert points[1].step_s == pytest.approx(scaling(CODE, Machine(GEMINI), [64]).points[0].step_s)
    assert points[2].speedup_of_first == pytest.approx(points[0].step_s / points[2].step_s)
    assert points[2].efficiency_of_first == pytest.approx(points[2].speedup_of_first / 4096)


def test_overlap_hides_a_share_of_the_halos_and_never_more_than_there_is_to_compute() -> None:
    whole = scaling(CODE, Machine(GEMINI), [64]).points[0]
    half = scaling(Stencil(8000, 40, 1e-7, overlap=0.5), Machine(GEMINI), [64]).points[0]
    assert half.step_s == pytest.approx(whole.step_s - whole.halo_s / 2)
    short = scaling(Stencil(8000, 40, 1e-12, overlap=1.0), Machine(GEMINI), [64]).points[0]
    assert short.hidden_s == pytest.approx(8000e-12)


def test_ranks_of_a_node_share_what_it_can_send() -> None:
    """Eight a node in 4 x 4 x 4: half of each rank's faces leave the node, over an eighth of its bandwidth: four times as long."""
    point = scaling(CODE, Machine(GEMINI, ranks_per_node=8), [64]).points[0]
    slower = LogGP(GEMINI.latency_s, GEMINI.overhead_s, GEMINI.gap_s, 4 * GEMINI.per_byte_s)
    assert point.halo_s == pytest.approx(halo_time(slower, [16000.0] * 6))
    assert point.nodes == 8
    assert scaling(CODE, Machine(GEMINI, ranks_per_node=64), [64]).points[0].halo_s < point.halo_s


def test_a_scattered_job_pays_for_the_way_and_for_the_thin_middle() -> None:
    """Placed near, neighbours are one hop apart; scattered over a torus of 18x12x24 with two nodes a router, 13.5 on average."""
    torus = Torus((18, 12, 24), 2)
    near = scaling(CODE, Machine(GEMINI, topology=torus, hop_s=1e-7), [4096])
    far = scaling(CODE, Machine(GEMINI, topology=torus, hop_s=1e-7, placement="scattered", link_bandwidth=6e9), [4096])
    assert near.hops == 1.0
    assert near.halo_bandwidth == pytest.approx(6e9)
    assert far.hops == pytest.approx(13.5, rel=1e-3)
    assert far.halo_bandwidth == pytest.approx(
        6e9 * 2 / (24 / 4 * 2), rel=1e-3
    )  # two links a router and dimension, two nodes
    longer = replace(GEMINI, latency_s=GEMINI.latency_s + (torus.mean_hops - 1) * 1e-7)
    thinner = replace(longer, per_byte_s=1 / far.halo_bandwidth)
    assert far.points[0].halo_s == pytest.approx(halo_time(thinner, [16000.0] * 6))
    assert far.points[0].allreduce_s == pytest.approx(float(loggp.allreduce(longer, 4096, 8)))
    assert near.points[0].allreduce_s == far.points[0].allreduce_s  # partners of an allreduce are far anyway


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cells": 0}, "above zero"),
        ({"cells": float("nan")}, "above zero"),
        ({"bytes_per_cell": -1}, "above zero"),
        ({"time_per_cell_s": float("inf")}, "above zero"),
        ({"overlap": 1.1}, "overlap"),
        ({"allreduces": -1}, "allreduces"),
        ({"decomposition": "pencils"}, "pencils"),
    ],
)
def test_a_code_that_cannot_be_is_refused(wrong: dict[str, float | str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Stencil(**({"cells": 1000, "bytes_per_cell": 8, "time_per_cell_s": 1e-7} | wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("machine", "ranks", "said"),
    [
        (Machine(GEMINI), [], "ranks are given"),
        (Machine(GEMINI, topology=Torus((4, 4))), [17], "17 nodes; the topology has 16"),
        (Machine(GEMINI, ranks_per_node=0), [4], "ranks a node"),
        (Machine(GEMINI, placement="best"), [4], "best"),
        (Machine(GEMINI), [0], "ranks"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(machine: Machine, ranks: list[int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        scaling(CODE, machine, ranks)


def test_fewer_cells_than_ranks_are_refused() -> None:
    with pytest.raises(UsageError, match="fewer than"):
        scaling(Stencil(100, 8, 1e-7, strong=True), Machine(GEMINI), [101])
