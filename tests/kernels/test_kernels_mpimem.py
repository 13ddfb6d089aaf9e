"""What ``mpimem`` reports: memory of the fullest node that grows from step to step, and less of it where pages are shared."""

from __future__ import annotations

import pytest

from .conftest import RunKernel

pytestmark = pytest.mark.mpi


def test_each_step_is_reported_with_its_peers(run_kernel: RunKernel) -> None:
    outcome = run_kernel("mpimem", "--fake-nodes", "2", ranks=6)
    assert outcome.status == 0, outcome.errors
    steps = [(row["step"], row["peers"]) for row in outcome.kind("memory")]
    assert steps == [
        ("before_init", 0),
        ("init", 0),
        ("all_to_all", 5),
        *(("connected", peers) for peers in (1, 3, 5)),
    ]
    first, *later = outcome.kind("memory")
    assert first["mpi_mb"] == first["mpi_shared_mb"] == 0 < first["resident_mb"]
    for row in later:
        assert 0 < row["mpi_mb"] < row["resident_mb"] and row["mpi_shared_mb"] < row["mpi_mb"]
        assert row["shared_mb"] < row["resident_mb"]
    mpi = outcome.result["mpi"]
    assert mpi["node_mb"] == later[-1]["mpi_mb"] >= mpi["least_node_mb"] > 2 * mpi["rank_mb"]
    assert outcome.result["complete"] is True and outcome.result["steps"] == 6


def test_the_kernels_own_buffers_are_no_memory_of_mpi(run_kernel: RunKernel) -> None:
    small, large = (run_kernel("mpimem", "--all-size", size, ranks=2) for size in ("1", "16MiB"))
    grown = large.result["mpi"]["node_mb"] - small.result["mpi"]["node_mb"]
    assert grown < 0.75 * 4 * 16.8  # two ranks with two buffers of two blocks each are 134 MB


def test_the_all_to_all_may_be_left_out(run_kernel: RunKernel) -> None:
    outcome = run_kernel("mpimem", "--no-all-to-all", ranks=2)
    assert [row["step"] for row in outcome.kind("memory")] == ["before_init", "init", "connected"]


def test_alone_there_is_nothing_to_connect(run_kernel: RunKernel) -> None:
    outcome = run_kernel("mpimem", "--budget", "0.001")
    assert outcome.status == 0
    assert [row["step"] for row in outcome.kind("memory")][:2] == ["before_init", "init"]
    assert outcome.result["complete"] is False
