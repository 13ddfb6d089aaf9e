"""What ``collectives`` reports: a curve over size for each operation, groups of ranks, memory; and what it leaves out it says."""

from __future__ import annotations

import pytest

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

OPERATIONS = ["barrier", "bcast", "allreduce", "allgather", "alltoall", "reduce_scatter", "reduce+scatter"]


def test_every_operation_has_its_curve_and_every_group_its_largest_size(run_kernel: RunKernel) -> None:
    options = ["--largest", "24", "--iterations", "2", "--groups", "--fake-nodes", "3"]
    outcome = run_kernel("collectives", *options, ranks=3)
    assert outcome.status == 0, outcome.errors
    points = {(p["operation"], p["ranks"], p["size"]): p for p in outcome.kind("collective")}
    small = [(name, 2, 24 if name != "barrier" else 0) for name in OPERATIONS]
    curves = [(name, 3, size) for name in OPERATIONS for size in ((4, 8, 16, 24) if name != "barrier" else (0,))]
    assert list(points) == small + curves
    assert outcome.result["points"] == len(points) and outcome.result["complete"] is True
    for (_, ranks, _), point in points.items():
        assert 0 < point["fastest_us"] <= point["us"] <= point["slowest_us"]
        assert point["nodes"] == ranks and point["repeats"] == 2 and point["memory_mb"] >= 0


def test_sizes_above_8192_bytes_are_repeated_less(run_kernel: RunKernel) -> None:
    options = ["--operations", "bcast", "--smallest", "8192", "--largest", "16384"]
    outcome = run_kernel("collectives", *options, "--iterations", "5", "--large-iterations", "3", ranks=2)
    assert [(p["size"], p["repeats"]) for p in outcome.kind("collective")] == [(8192, 5), (16384, 3)]


def test_sizes_whose_buffers_are_too_large_are_left_out_and_named(run_kernel: RunKernel) -> None:
    options = ["--operations", "alltoall,bcast", "--largest", "8", "--iterations", "1", "--most-buffers", "16"]
    outcome = run_kernel("collectives", *options, ranks=2)
    assert [(p["operation"], p["size"]) for p in outcome.kind("collective")] == [
        ("bcast", 4),
        ("bcast", 8),
        ("alltoall", 4),
    ]
    assert outcome.sentences == [
        "note: collectives: alltoall of 8 bytes among 2 ranks is left out: its buffers take more than --most-buffers 16, or "
        "more than MPI can count"
    ]


def test_memory_that_an_operation_takes_is_seen(run_kernel: RunKernel) -> None:
    """The whole vector is summed in memory of the library, which no rank had before."""
    options = ["--operations", "reduce_scatter", "--smallest", "8MiB", "--largest", "8MiB", "--large-iterations", "1"]
    (point,) = run_kernel("collectives", *options, ranks=2).kind("collective")
    assert point["memory_mb"] > 8
