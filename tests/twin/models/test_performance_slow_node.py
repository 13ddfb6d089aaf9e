"""Slow nodes: what they cost against steps simulated rank by rank, and that timers find them and no others."""

from __future__ import annotations

import numpy as np
import pytest

from shakedown.model.errors import UsageError
from shakedown.twin.models.slow_node import (
    SlowJob,
    find_slow_nodes,
    rank_times,
    robust_scores,
    slowdown,
    study_slow_node,
)


def job_time(speeds: list[float], work: list[float], compute_share: float) -> float:
    """A step of one unit of work a node: compute at the node's own speed, all wait, then what is the same for all."""
    return max(compute_share * mine / speed for speed, mine in zip(speeds, work, strict=True)) + 1 - compute_share


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_costs_as_simulated_node_by_node(share: float) -> None:
    nodes, slow, speed = 40, 3, 0.25
    speeds = [speed] * slow + [1.0] * (nodes - slow)
    study = study_slow_node(SlowJob(nodes, 4, slow, speed, share))
    assert study.slowdown == pytest.approx(job_time(speeds, [1.0] * nodes, share))
    for removal in study.removed:
        left = speeds[removal.nodes :]
        assert removal.slowdown == pytest.approx(job_time(left, [nodes / len(left)] * len(left), share))
    assert [removal.nodes for removal in study.removed] == [0, 1, 2, 3]
    balanced = [one * nodes / sum(speeds) for one in speeds]
    assert study.rebalanced == pytest.approx(job_time(speeds, balanced, share))


def test_the_time_that_healthy_nodes_wait() -> None:
    study = study_slow_node(SlowJob(10, 1, 1, 0.5))
    # a step takes 2; nine nodes work 1 and wait 1
    assert study.lost_node_share == pytest.approx(9 * 1 / (10 * 2))


def test_two_slow_nodes_of_nineteen_thousand_cost_twenty_times_and_one_removed_gives_nothing() -> None:
    """Paper 000: 1.2 million ranks ran over 20 times faster once two nodes were removed, one after the other."""
    study = study_slow_node(SlowJob(19_000, 64, 2, 0.05))
    assert study.slowdown == pytest.approx(20.0)
    assert [round(removal.slowdown, 2) for removal in study.removed] == [20.0, 20.0, 1.0]
    assert tuple(sorted(one.node for one in study.found)) == study.planted
    assert all(one.times_usual == pytest.approx(20.0, rel=0.03) for one in study.found)
    assert study.lost_node_share == pytest.approx(0.95, abs=0.001)


def test_nobody_is_found_on_a_healthy_machine() -> None:
    for seed in range(30):
        assert study_slow_node(SlowJob(3000, 16, 0, 1.0), seed).found == ()


@pytest.mark.parametrize("speed", [0.9, 0.5, 0.05])
def test_slow_nodes_are_found_and_no_others(speed: float) -> None:
    for seed in range(10):
        study = study_slow_node(SlowJob(1000, 32, 5, speed), seed)
        assert tuple(sorted(one.node for one in study.found)) == study.planted


def test_uneven_work_is_no_slow_node() -> None:
    """One rank of a node has far more to do: its neighbours on the node show that the node is well."""
    _, times = rank_times(SlowJob(500, 16, 0, 1.0))
    times[77, 3] *= 20
    times[78, :] *= 1.5
    assert [one.node for one in find_slow_nodes(times.min(axis=1))] == [78]


def test_those_hidden_behind_slower_ones_come_in_a_later_round() -> None:
    """A third of the nodes is slow and widens the spread; a node a little slow shows once they are set aside."""
    rng = np.random.default_rng(3)
    times = 1 + 0.01 * rng.standard_normal(300)
    times[:100] = 5 + rng.random(100)
    times[299] = 1.12
    found = {one.node: one.round for one in find_slow_nodes(times)}
    assert set(found) == {*range(100), 299}
    assert found[0] == 1 and found[299] > 1


def test_scores_are_standard_deviations_where_values_are_normal() -> None:
    values = np.random.default_rng(1).normal(7.0, 0.5, 200_000)
    assert robust_scores(values).std() == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 20.0], [3.0] * 50, [1.0, 1.0 + 1e-12, 1.0] * 9])
def test_few_or_equal_times_have_no_outlier(values: list[float]) -> None:
    assert find_slow_nodes(values) == ()


def test_an_outlier_among_equal_times() -> None:
    assert [one.node for one in find_slow_nodes([3.0] * 20 + [3.3])] == [20]


@pytest.mark.parametrize(
    "numbers",
    [(0, 1, 0, 1.0), (10, 0, 0, 1.0), (10, 1, 11, 0.5), (10, 1, -1, 0.5), (10, 1, 1, 0.0), (10, 1, 1, 1.5),
     (10, 1, 1, float("nan")), (10, 1, 1, 0.5, 1.5), (10, 1, 1, 0.5, 1.0, 3.0), (10**8, 64, 1, 0.5)],
)  # fmt: skip
def test_jobs_that_cannot_be(numbers: tuple[float, ...]) -> None:
    with pytest.raises(UsageError):
        SlowJob(*numbers)  # type: ignore[arg-type]


def test_all_nodes_slow_is_the_machine_as_it_is() -> None:
    study = study_slow_node(SlowJob(20, 2, 20, 0.5))
    assert study.found == () and study.rebalanced == study.slowdown == slowdown(0.5)
    assert study.lost_node_share == 0.0
