"""What ``pt2pt`` reports: a curve over size for each pattern, and one row for each distance of cores and of nodes."""

from __future__ import annotations

import pytest

from .conftest import RunKernel

pytestmark = pytest.mark.mpi

FEW = ["--windows", "2", "--round-trips", "3", "--window", "4"]


def test_each_pattern_has_its_curve_in_units_that_agree(run_kernel: RunKernel) -> None:
    patterns = ["latency", "bandwidth", "bidirectional", "message-rate"]
    outcome = run_kernel("pt2pt", *FEW, "--patterns", ",".join(patterns), "--largest", "6", ranks=2)
    assert outcome.status == 0, outcome.errors
    points = outcome.kind("pt2pt")
    assert [(p["pattern"], p["size"]) for p in points] == [(name, size) for name in patterns for size in (1, 2, 4, 6)]
    for p in points:
        assert p["repeats"] == (3 if p["pattern"] == "latency" else 2) and p["pairs"] == 1
        if p["pattern"] == "latency":
            assert p["us"] > 0
        else:
            assert p["mb_s"] == pytest.approx(p["messages_s"] * p["size"] / 1e6)
    assert outcome.result["points"] == len(points) and outcome.result["complete"] is True


def test_all_ranks_but_an_odd_one_make_pairs(run_kernel: RunKernel) -> None:
    outcome = run_kernel("pt2pt", *FEW, "--patterns", "message-rate", "--largest", "1", ranks=5)
    (point,) = outcome.kind("pt2pt")
    assert point["pairs"] == 2 and point["messages_s"] > 0


def test_distance_is_measured_to_each_rank_of_the_node_and_to_one_of_each_other(run_kernel: RunKernel) -> None:
    options = ["--patterns", "cores,nodes", "--distance-size", "1KiB", "--fake-nodes", "3"]
    outcome = run_kernel("pt2pt", *FEW, *options, ranks=6)
    rows = [(r["of"], r["rank"], r["host"].rpartition("#")[2]) for r in outcome.kind("distance")]
    assert rows == [("cores", 1, "0"), ("nodes", 2, "1"), ("nodes", 4, "2")]
    assert [r["distance"] for r in outcome.kind("distance") if r["of"] == "nodes"] == [1, 2]
    assert all(r["us"] > 0 and r["mb_s"] > 0 for r in outcome.kind("distance"))


def test_large_messages_are_repeated_a_tenth_as_often(run_kernel: RunKernel) -> None:
    options = ["--patterns", "latency", "--smallest", "8192", "--largest", "8193", "--round-trips", "20"]
    outcome = run_kernel("pt2pt", *options, ranks=2)
    assert [(p["size"], p["repeats"]) for p in outcome.kind("pt2pt")] == [(8192, 20), (8193, 2)]


def test_no_distance_and_no_partner_are_said(run_kernel: RunKernel) -> None:
    alone = run_kernel("pt2pt")
    assert alone.status == 2
    assert alone.errors == "error: pt2pt: needs at least 2 ranks, this job has 1; start it with mpiexec -n 2\n"
    near = run_kernel("pt2pt", "--patterns", "nodes", ranks=2)
    assert near.status == 1
    assert near.sentences == [
        "error: pt2pt: the budget of 60 s ended before anything was timed, or there is no such distance; give more --budget, "
        "or other --patterns"
    ]
