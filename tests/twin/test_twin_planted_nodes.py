"""Campaigns on machines with planted nodes: their runs are the ones that fail, or take longer."""

from __future__ import annotations

from collections import Counter

import pytest
from nodes_planted import Machine, campaign_on, node_names, some_nodes
from oracle_nodes import unfolded


def test_runs_on_a_bad_node_fail_and_the_others_do_not() -> None:
    (bad,) = some_nodes(16, 1, seed=3)
    found = campaign_on(Machine(nodes=16, runs=80, bad={bad: 0.7}, failed=0.0))
    assert len(found.rows) == 3 * 80
    failed, all_runs = Counter[str](), Counter[str]()
    for row in found.rows:
        all_runs.update(unfolded(row.nodes))
        if row.verdict == "failed":
            failed.update(unfolded(row.nodes))
            assert bad in unfolded(row.nodes)
    assert set(all_runs) == set(node_names(16)), "every node has had runs"
    assert failed[bad] / all_runs[bad] == pytest.approx(0.7, abs=0.2)


def test_runs_on_a_slow_node_take_as_much_longer() -> None:
    (slow,) = some_nodes(16, 1, seed=4)
    found = campaign_on(Machine(nodes=16, runs=40, slow={slow: 1.3}, failed=0.0))
    there = [row.elapsed_s or 0.0 for row in found.rows if slow in unfolded(row.nodes)]
    rest = [row.elapsed_s or 0.0 for row in found.rows if slow not in unfolded(row.nodes)]
    assert min(there) > max(rest) > 0
    assert sum(there) / len(there) == pytest.approx(1.3 * 600, rel=0.03)


def test_a_clean_machine_fails_as_often_as_it_is_said_to() -> None:
    found = campaign_on(Machine(nodes=32, runs=150, failed=0.1, seed=5))
    share = sum(row.verdict == "failed" for row in found.rows) / len(found.rows)
    assert share == pytest.approx(0.1, abs=0.04)
