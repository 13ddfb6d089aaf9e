"""Nodes planted in the simulated machine are found from the record of a whole campaign, and a clean machine gives no finding."""

from __future__ import annotations

import pytest
from nodes_planted import Machine, campaign_on, some_nodes

from shakedown.diagnosis.node_report import examine_nodes


def blamed(planted: Machine) -> tuple[set[str], set[str]]:
    """The nodes found among failed runs, and those among slow ones."""
    found = campaign_on(planted)
    examined = examine_nodes(found.document, found.record)
    kinds: dict[str, set[str]] = {"node-failures": set(), "node-slow": set()}
    for finding in examined.findings:
        kinds[finding.kind].update(finding.names)
    return kinds["node-failures"], kinds["node-slow"]


@pytest.mark.parametrize("seed", range(3))
def test_bad_nodes_are_found_and_their_companions_are_not(seed: int) -> None:
    bad = set(some_nodes(32, 2, seed))
    assert blamed(Machine(bad=dict.fromkeys(bad, 0.6), seed=seed)) == (bad, set())


@pytest.mark.parametrize("seed", range(3))
def test_slow_nodes_are_found(seed: int) -> None:
    slow = set(some_nodes(32, 2, seed + 10))
    assert blamed(Machine(slow=dict.fromkeys(slow, 1.3), seed=seed)) == (set(), slow)


def test_nodes_that_die_are_found() -> None:
    (bad,) = some_nodes(32, 1, 20)
    failing, _ = blamed(Machine(bad={bad: 0.5}, bad_as="node_fail", seed=20))
    assert failing == {bad}


def test_clean_machines_give_no_finding() -> None:
    """Of so few campaigns one finding is already too many for one in a hundred; benchmarks/nodes.py plays thousands."""
    for seed in range(20):
        assert blamed(Machine(nodes=16 + seed, runs=60, failed=0.05, seed=100 + seed)) == (set(), set()), seed
