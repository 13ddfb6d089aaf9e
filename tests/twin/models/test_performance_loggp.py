"""The formulas of the collectives against the algorithms themselves, played message by message, and against what papers print."""

from __future__ import annotations

import network_collectives as played
import numpy as np
import pytest
from network_messages import Program, play

from shakedown.model.errors import UsageError
from shakedown.twin.models import loggp
from shakedown.twin.models.loggp import LogGP
from shakedown.twin.models.networks import NETWORKS, network_named, parameters

RANKS = [*range(1, 20), 24, 31, 32, 33, 40, 47, 48, 63, 64]
SIZES = (0.0, 8.0, 1000.0, 65536.0, 3e6)
GEMINI = parameters(NETWORKS["gemini"])
NETS = {
    "gemini": GEMINI,
    "qsnet": parameters(NETWORKS["qsnet"]),
    "wide gap": LogGP(3e-6, 0.2e-6, 2.9e-6, 1e-9, combine_per_byte_s=3e-10),
    "busy ranks": LogGP(1e-6, 2e-6, 0.0, 4e-9, combine_per_byte_s=1e-9),
}
net = pytest.mark.parametrize("network", NETS.values(), ids=NETS)


@net
def test_a_barrier_takes_what_its_rounds_take_and_everyone_hears_of_everyone(network: LogGP) -> None:
    for ranks in RANKS:
        seconds, heard = play(network, ranks, played.barrier)
        assert all(found == set(range(ranks)) for found in heard)
        assert loggp.barrier(network, ranks) == pytest.approx(seconds, rel=1e-12)


@net
@pytest.mark.parametrize("size", SIZES)
def test_a_broadcast_reaches_all_when_the_formula_says(network: LogGP, size: float) -> None:
    for ranks in RANKS:
        seconds, news = play(network, ranks, lambda rank, ranks: played.broadcast(rank, ranks, size))
        assert set(news) == {"news"}
        assert loggp.broadcast(network, ranks, size) == pytest.approx(seconds, rel=1e-12), ranks


@net
@pytest.mark.parametrize("size", SIZES)
def test_recursive_doubling_adds_up_all_ranks_in_the_time_the_formula_says(network: LogGP, size: float) -> None:
    combine = network.combine_per_byte_s
    for ranks in RANKS:
        seconds, sums = play(network, ranks, lambda rank, ranks: played.doubling(rank, ranks, size, combine))
        assert all(found == {0: frozenset(range(ranks))} for found in sums)
        assert loggp.doubling(network, ranks, size) == pytest.approx(seconds, rel=1e-12), ranks


@net
@pytest.mark.parametrize("size", [1000.0, 65536.0, 3e6])
def test_rabenseifner_adds_up_all_pieces_in_the_time_the_formula_says(network: LogGP, size: float) -> None:
    combine = network.combine_per_byte_s
    for ranks in RANKS:
        seconds, sums = play(network, ranks, lambda rank, ranks: played.rabenseifner(rank, ranks, size, combine))
        power = 1 << (ranks.bit_length() - 1)
        assert all(found == {block: frozenset(range(ranks)) for block in range(power)} for found in sums)
        assert loggp.rabenseifner(network, ranks, size) == pytest.approx(seconds, rel=1e-12), ranks


@pytest.mark.parametrize("elements", [1, 5, 17, 40])
def test_of_a_short_vector_some_ranks_hold_nothing_and_the_time_is_that_of_the_longest_pieces(elements: int) -> None:
    """Halves in whole doubles, the larger one kept by the upper ranks: the formula is within a double a round."""
    for ranks in (2, 8, 64):

        def program(rank: int, ranks: int) -> Program:
            return played.rabenseifner_in_elements(rank, ranks, elements)

        seconds, sums = play(GEMINI, ranks, program)
        assert all(found == dict.fromkeys(range(elements), frozenset(range(ranks))) for found in sums)
        rounding = 2 * (ranks.bit_length() - 1) * 8 * GEMINI.per_byte_s
        assert loggp.rabenseifner(GEMINI, ranks, 8 * elements) == pytest.approx(seconds, rel=1e-12, abs=rounding)


@net
@pytest.mark.parametrize("size", [1000.0, 65536.0, 3e6])
def test_a_reduce_scatter_takes_the_faster_of_two_algorithms(network: LogGP, size: float) -> None:
    combine = network.combine_per_byte_s
    for ranks in RANKS:
        halved, parts = play(network, ranks, lambda rank, ranks: played.halving(rank, ranks, size, combine))
        assert all(found == frozenset(range(ranks)) for found in parts)
        paired, parts = play(
            network, ranks, lambda rank, ranks: played.pairwise_reduce_scatter(rank, ranks, size, combine)
        )
        assert all(found == frozenset(range(ranks)) for found in parts)
        found, least = float(loggp.reduce_scatter(network, ranks, size)), min(halved, paired)
        whole = float(loggp.point_to_point(network, size)) + size * combine
        if ranks & (ranks - 1) == 0 or paired <= halved:  # else it is an upper bound, by less than the vector
            assert found == pytest.approx(least, rel=1e-9), ranks
        assert least * (1 - 1e-12) <= found <= least + whole, ranks


@net
@pytest.mark.parametrize("size", SIZES)
def test_an_alltoall_is_pairwise_exchanges_one_after_the_other(network: LogGP, size: float) -> None:
    for ranks in (1, 2, 3, 7, 16, 33, 64):
        seconds, got = play(network, ranks, lambda rank, ranks: played.alltoall(rank, ranks, size))
        assert all(got[rank] == {source: (source, rank) for source in range(ranks)} for rank in range(ranks))
        assert loggp.alltoall(network, ranks, size) == pytest.approx(seconds, rel=1e-12)


@net
@pytest.mark.parametrize("ranks", [3, 4, 5, 8, 33, 64, 1800, 18000])
def test_just_below_the_crossover_doubling_is_faster_and_above_it_is_not(network: LogGP, ranks: int) -> None:
    at = float(loggp.crossover_bytes(network, ranks))
    if at == np.inf:
        assert ranks < 4
        return
    below, above = 0.99 * at, 1.01 * at
    assert loggp.doubling(network, ranks, below) < loggp.rabenseifner(network, ranks, below)
    assert loggp.rabenseifner(network, ranks, above) < loggp.doubling(network, ranks, above)
    for size in (below, above):
        both = loggp.doubling(network, ranks, size), loggp.rabenseifner(network, ranks, size)
        assert loggp.allreduce(network, ranks, size) == min(both)


@net
def test_the_two_algorithms_of_the_allreduce_change_places_only_once(network: LogGP) -> None:
    sizes = np.geomspace(8, 2.0**40, 400)
    for ranks in (2, 3, 5, 6, 7, 9, 33, 64, 100, 4097, 1_200_000):
        large = loggp.rabenseifner(network, ranks, sizes) < loggp.doubling(network, ranks, sizes)
        assert (large == (sizes > loggp.crossover_bytes(network, ranks))).all(), ranks


def test_the_crossover_moves_with_the_network_and_the_ranks() -> None:
    """Of Gemini at 64 ranks by hand: 6 x (1.6 us - 1/6 ns) / ((6 - 2 x 63/64) / 6 GB/s)."""
    assert loggp.crossover_bytes(GEMINI, 64) == pytest.approx(6 * (1.6e-6 * 6e9 - 1) / (6 - 2 * 63 / 64))
    slow = parameters(NETWORKS["gemini-4k"])
    assert loggp.crossover_bytes(slow, 64) < loggp.crossover_bytes(GEMINI, 64)
    assert loggp.crossover_bytes(GEMINI, 2) == np.inf  # two ranks: one exchange is the least there is
    assert loggp.crossover_bytes(GEMINI, 2**20) == pytest.approx(20 * 1.6e-6 * 6e9 / (20 - 2), rel=0.01)


def test_arrays_give_what_numbers_give_one_by_one() -> None:
    ranks, sizes = np.array([[1], [5], [64], [1000]]), np.array([8.0, 1e4, 1e7])
    for operation in (loggp.broadcast, loggp.allreduce, loggp.alltoall, loggp.reduce_scatter):
        table = operation(GEMINI, ranks, sizes)
        assert table.shape == (4, 3)
        single = [[float(operation(GEMINI, int(p), float(m))) for m in sizes] for p in ranks[:, 0]]
        assert table == pytest.approx(np.array(single), rel=1e-14)


@pytest.mark.parametrize(
    ("name", "us", "gigabytes"),
    [
        ("gemini", 1.6, 6.0),
        ("gemini-4k", 1.6, 3.5),
        ("seastar2", 6.5, 1.6),
        ("qsnet", 5, 0.25),
        ("slingshot", 2.6, 8.6),
    ],
)
def test_a_named_network_gives_back_the_latency_and_bandwidth_its_paper_prints(
    name: str, us: float, gigabytes: float
) -> None:
    network = parameters(network_named(name))
    assert loggp.point_to_point(network, 0) == pytest.approx(us * 1e-6)
    assert 1e9 / loggp.point_to_point(network, 1e9) == pytest.approx(gigabytes * 1e9, rel=0.01)


def test_gpcnet_on_c5_latency_reproduces_and_the_allreduce_only_if_all_ranks_took_part() -> None:
    """Paper 004, table II: 2.6 us, allreduce 42.3 us, 1,800 nodes, 10 ranks each, 80 % of the nodes congestors.

    How many ranks are in the allreduce is not printed. With all 18,000 the model is 8 % below; with the 3,600 of the other 20 % of
    the nodes, 20 % below: rounds of 2.6 us alone, without noise and waiting, are a lower bound.
    """
    network = parameters(NETWORKS["slingshot"])
    assert float(loggp.allreduce(network, 18_000, 8)) == pytest.approx(15 * 2.6e-6, rel=1e-3)
    assert float(loggp.allreduce(network, 18_000, 8)) / 42.3e-6 == pytest.approx(0.922, abs=0.001)
    assert float(loggp.allreduce(network, 3_600, 8)) / 42.3e-6 == pytest.approx(0.799, abs=0.001)


@pytest.mark.parametrize("ranks", [0, -1, 10**9 + 1, 2.5, True])
def test_ranks_are_whole_numbers_from_one_on(ranks: object) -> None:
    with pytest.raises(UsageError):
        loggp.barrier(GEMINI, ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values", [(-1e-6, 0, 0, 0), (float("nan"), 0, 0, 0), (1e-6, 0, 0, float("inf")), (1e-6, 0, 2e-6, 0)]
)
def test_a_network_that_cannot_be_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(UsageError):
        LogGP(*values)
