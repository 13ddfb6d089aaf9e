"""What ``congestion`` reports: who loads and who measures, both phases of each test, and the impact of one on the other."""

from __future__ import annotations

import pytest

from .conftest import Outcome, RunKernel

pytestmark = pytest.mark.mpi

FEW = [
    "--rings",
    "2",
    "--latency-repeats",
    "3",
    "--bandwidth-repeats",
    "2",
    "--allreduce-repeats",
    "4",
    "--size",
    "1KiB",
]


@pytest.fixture(scope="module")
def outcome(run_kernel: RunKernel) -> Outcome:
    """Four nodes, of which two load the network with the only kind that has enough of them."""
    return run_kernel("congestion", *FEW, "--fake-nodes", "4", ranks=4)


def roles(outcome: Outcome) -> dict[str, str]:
    return {role["host"].rpartition("#")[2]: role["role"] for role in outcome.kind("role")}


def test_each_test_has_both_phases_and_an_impact(outcome: Outcome) -> None:
    assert outcome.status == 0, outcome.errors
    rows = {row["test"]: row for row in outcome.kind("congestion")}
    assert list(rows) == ["latency", "bandwidth", "allreduce"]
    assert [row["samples"] for row in rows.values()] == [2 * 2 * 3, 2 * 2 * 2, 2 * 2 * 4]  # ranks, rings, repeats
    for name, row in rows.items():
        for suffix in ("", "_p99"):
            isolated, congested = row[f"isolated{suffix}"], row[f"congested{suffix}"]
            wanted = isolated / congested if name == "bandwidth" else congested / isolated
            assert row[f"impact{suffix}"] == pytest.approx(wanted)
        assert outcome.result["impact"][name] == row["impact"]
    (load,) = outcome.kind("congestor")
    assert load["kind"] == "all-to-all" and load["ranks"] == 2 and load["messages"] > 0 and load["mb_s"] > 0


def test_histograms_hold_every_sample_of_both_phases(outcome: Outcome) -> None:
    rows = {row["test"]: row for row in outcome.kind("congestion")}
    histograms = outcome.kind("histogram")
    assert [(h["name"], h["host"]) for h in histograms] == [
        (name, phase) for name in rows for phase in ("isolated", "congested")
    ]
    for h in histograms:
        assert sum(h["counts"]) == rows[h["name"]]["samples"]
        assert h["edges"] == sorted(h["edges"]) and len(h["edges"]) == len(h["counts"]) + 1
        assert h["edges"][0] <= rows[h["name"]][f"{h['host']}_p99"] <= h["edges"][-1]


def test_the_split_is_drawn_by_lot_and_the_same_for_the_same_seed(run_kernel: RunKernel, outcome: Outcome) -> None:
    """Where loading nodes are few, the kinds that get none are named."""
    other = run_kernel("congestion", *FEW, "--fake-nodes", "4", "--seed", "3", "--congestors", "incast", ranks=4)
    assert roles(outcome) == {"3": "measures", "0": "measures", "1": "all-to-all", "2": "all-to-all"}
    assert sorted(roles(other).values()) == ["incast", "incast", "measures", "measures"]
    assert {node for node, role in roles(other).items() if role == "measures"} != {"0", "3"}
    assert [s for s in outcome.sentences if "left out" in s] == [
        f"note: congestion: {kind} is left out: of 4 nodes 2 load the network, and each kind needs 2"
        for kind in ("incast", "put-incast", "get")
    ]


def test_no_message_stays_inside_a_node(run_kernel: RunKernel) -> None:
    """Two ranks on each of four nodes: the ranks with one number are among themselves, so each has its own two samples."""
    outcome = run_kernel("congestion", *FEW, "--fake-nodes", "4", "--congestors", "get", ranks=8)
    assert [row["samples"] for row in outcome.kind("congestion")] == [4 * 2 * 3, 4 * 2 * 2, 4 * 2 * 4]
    (load,) = outcome.kind("congestor")
    assert load["ranks"] == 4 and load["messages"] % 2 == 0  # in each slice one of two ranks gets


def test_more_than_all_nodes_cannot_load(run_kernel: RunKernel) -> None:
    outcome = run_kernel("congestion", "--fake-nodes", "4", "--share", "1.5", ranks=4)
    assert outcome.status == 2
    assert outcome.sentences == ["error: congestion: option '--share': 1.5 is more than all nodes; the most is 1"]
