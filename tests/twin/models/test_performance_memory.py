"""MPI's memory on a node: against every number that paper 001 printed, and against what the laws must obey."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.model.errors import UsageError
from shakedown.twin.models.mpi_memory import (
    Job,
    connections_bytes,
    most_ranks_per_node,
    node_memory,
    reduce_scatter,
    threshold_ranks,
)
from shakedown.twin.models.mpi_memory_model import memory_model

GB = 1e9
# Paper 001, "MPI Memory measured in GB/node", 8192 KNL nodes: 64, 48, 32, 16 tasks a node
CONNECTIVITY = [
    ("full", False, (64.4, 36.5, 16.5, 4.3)),
    ("full", True, (60.4, 34.3, 15.5, 4.1)),
    ("alltoall", False, (6.7, 4.5, 2.3, 0.8)),
    ("few", False, (6.2, 3.9, 2.0, 0.7)),
]
# Paper 001, MPI_Reduce_scatter: ranks, GB/node, seconds
REDUCE_SCATTER = [
    (64, 0.01, 0.004),
    (128, 0.07, 0.02),
    (1024, 0.08, 0.02),
    (8192, 0.15, 0.08),
    (16384, 0.10, 0.05),
    (32768, 0.14, 0.07),
    (65536, 0.18, 0.15),
    (131072, 22.3, 465.0),
    (262144, 45.0, 1478.0),
    (524288, None, 5000.0),
]


@pytest.mark.parametrize(("pattern", "blocks", "row"), CONNECTIVITY)
def test_the_table_of_connectivity_is_met_within_a_tenth(pattern: str, blocks: bool, row: tuple[float, ...]) -> None:
    for ranks_per_node, published in zip((64, 48, 32, 16), row, strict=True):
        ours = connections_bytes(ranks_per_node, ranks_per_node * 8192, pattern, 1024, blocks) / GB
        assert ours == pytest.approx(published, rel=0.10), (pattern, blocks, ranks_per_node)


@pytest.mark.parametrize(("ranks", "published", "seconds"), REDUCE_SCATTER)
def test_the_table_of_reduce_scatter_is_met(ranks: int, published: float | None, seconds: float) -> None:
    use = reduce_scatter(64, ranks)
    assert published is None or use.memory_bytes / GB == pytest.approx(published, rel=0.10)
    assert use.seconds == pytest.approx(seconds, rel=0.05 if ranks >= 131072 else 0.40)
    assert use.opens_all == (ranks >= 131072)


def test_the_product_shows_the_same_numbers_as_the_paper() -> None:
    shown = {(cell.what, cell.ranks, cell.unit): cell.published for cell in memory_model(Job()).published}
    for pattern, blocks, row in CONNECTIVITY:
        name = pattern + (" in blocks" if blocks else "")
        for ranks_per_node, published in zip((64, 48, 32, 16), row, strict=True):
            assert shown.pop((name, ranks_per_node * 8192, "bytes")) == pytest.approx(published * GB)
    for ranks, memory, seconds in REDUCE_SCATTER:
        assert shown.pop(("time", ranks, "seconds")) == seconds
        assert memory is None or shown.pop(("memory", ranks, "bytes")) == pytest.approx(memory * GB)
    assert shown == {}


def test_full_connectivity_is_quadratic_in_the_ranks_per_node() -> None:
    """Twice the ranks per node on the same nodes: four times the connections, two times what each rank takes alone."""
    nodes, alone = 8192, connections_bytes(1, 1, "few", 0)

    def pairs(each: int) -> float:
        return connections_bytes(each, each * nodes, "full") - each * alone

    assert pairs(64) / pairs(32) == pytest.approx(4, rel=1e-3)
    assert pairs(48) / pairs(16) == pytest.approx(9, rel=1e-3)


def test_a_connection_through_alltoall_costs_less_the_more_there_are() -> None:
    each = [connections_bytes(r, r * 8192, "alltoall") / (r * r * 8192) for r in (16, 32, 48, 64)]
    assert each == sorted(each, reverse=True)
    assert 200 <= each[-1] <= each[0] <= 400  # bytes; the paper's own cells: 200 to 381


def test_reduce_scatter_explodes_at_the_threshold_and_not_one_node_before() -> None:
    before, at = reduce_scatter(64, 131072 - 64), reduce_scatter(64, 131072)
    assert before.memory_bytes < 0.5 * GB < 20 * GB < at.memory_bytes
    assert before.seconds < 1 < 400 < at.seconds


def test_the_threshold_moves_with_what_each_rank_is_left() -> None:
    assert [threshold_ranks(size) for size in (2, 4, 8, 524_288, 1e30)] == [262_144, 131_072, 65_536, 1, 1]


def test_reduce_and_scatter_apart_take_what_the_paper_measured() -> None:
    """Paper 001: 0.3 s and 0.5 GB at 262,144 ranks, 64 a node."""
    apart = node_memory(Job(nodes=4096, collective="reduce+scatter"))
    assert apart.collective_bytes == pytest.approx(0.5e9)
    assert apart.collective_s == pytest.approx(0.3)


def test_nalu_ran_out_of_memory_at_8192_nodes_and_ran_at_4096() -> None:
    """The application's own memory is not published: 20 GB here. High-bandwidth memory in cache mode is no memory."""
    nalu = Job(nodes=8192, application_bytes=20e9)
    assert not node_memory(nalu).fits
    assert node_memory(replace(nalu, nodes=4096)).fits
    assert node_memory(replace(nalu, collective="reduce+scatter")).fits
    just = Job(nodes=8192, application_bytes=15e9)
    assert not node_memory(just).fits
    assert node_memory(replace(just, cache=False)).fits


def test_open_connections_are_not_paid_for_twice() -> None:
    few, full = node_memory(Job(connections=0)), node_memory(Job(pattern="full"))
    assert full.mpi_bytes == pytest.approx(few.mpi_bytes)
    alone = node_memory(Job(pattern="full", collective="none"))
    assert full.mpi_bytes > alone.mpi_bytes


def test_the_most_ranks_per_node_are_the_most() -> None:
    job = Job(application_bytes=60e9)
    most = most_ranks_per_node(job)
    assert 0 < most < 64
    assert node_memory(replace(job, ranks_per_node=most)).fits
    assert not any(node_memory(replace(job, ranks_per_node=more)).fits for more in range(most + 1, 65))
    assert most_ranks_per_node(replace(job, application_bytes=1e12)) == 0


@given(st.integers(1, 20_000), st.integers(1, 128), st.sampled_from(["few", "alltoall", "full"]), st.integers(0, 5000))
def test_more_nodes_never_take_less_for_connections(nodes: int, each: int, pattern: str, connections: int) -> None:
    less = connections_bytes(each, each * nodes, pattern, connections)
    more = connections_bytes(each, each * (nodes + 1), pattern, connections)
    assert 0 < less <= more
    assert connections_bytes(each, each * nodes, "few", connections) <= connections_bytes(each, each * nodes, "full")


@pytest.mark.parametrize(
    "wrong",
    [{"nodes": 0}, {"nodes": 10**12}, {"ranks_per_node": -1}, {"connections": -5}, {"element_bytes": 0.0}],
)
def test_a_job_that_is_none_is_refused_with_a_way_out(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError) as refused:
        memory_model(replace(Job(), **wrong))  # type: ignore[arg-type]
    assert refused.value.hint
