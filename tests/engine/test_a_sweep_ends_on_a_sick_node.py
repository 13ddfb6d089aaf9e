"""A sweep comes to its end on a node where nothing does, and what it found there is told."""

from __future__ import annotations

from collections import Counter

import pytest
from stability_plan import play, sweep_of_five

from shakedown.diagnosis.node_report import examine_rows, setting_of
from shakedown.metrics.rows.table import fold_runs
from shakedown.twin import Fates


@pytest.mark.parametrize("factor", [30.0, 10_000.0])
def test_a_very_slow_node_costs_a_sweep_a_few_runs_and_is_found(factor: float) -> None:
    plan = sweep_of_five(nodes=16, rounds=1)
    fates = Fates(mean_s=20.0, spread_s=5.0, slow_nodes={"n07": factor})
    campaign = play(plan, fates=fates, seed=3)

    assert campaign.state.phase == "ended"
    by_node: dict[str, Counter[str]] = {}
    rows = list(fold_runs(campaign.events()).current())
    for row in rows:
        by_node.setdefault(row.nodes, Counter())[row.verdict] += 1
    assert set(by_node.pop("n07")) == {"timeout"}
    assert all(found == {"passed": 5} for found in by_node.values())
    assert len(rows) == 80

    examined = examine_rows(rows, setting_of(plan))
    (worst,) = [node for node in examined.nodes if node.failed]
    assert (worst.node, worst.failed, worst.runs) == ("n07", 5, 5)
    assert examined.worst(20)[0].node == "n07"
    said = "nothing passed on n07: 5 runs (5 timeout), while of the same tests 75 of 75 passed on other nodes"
    assert examined.barren == (said,)


def test_what_is_interrupted_on_one_node_again_and_again_is_given_up_there() -> None:
    """The plan says nothing of retries. On a node that ends everything, few are enough to know it."""
    plan = sweep_of_five(nodes=8)
    fates = Fates(mean_s=20.0, spread_s=5.0, bad_nodes={"n03": 1.0}, bad_as="requeued")
    campaign = play(plan, fates=fates, seed=4)
    assert campaign.state.phase == "ended"
    counts = Counter(event.value["verdict"] for event in campaign.events("verdict"))
    assert counts["passed"] >= 35
    assert sum(counts.values()) < 70
