"""Run times of a past campaign: mean and spread of what ended by itself, and the tail apart from both."""

from __future__ import annotations

import random
from statistics import fmean, stdev
from typing import Any

import pytest

from shakedown.metrics.judging.populations import measured_value
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.run_times import run_times
from shakedown.model.scenario import RunTime


def times_of(story: Any) -> dict[str, RunTime]:
    return dict(run_times(fold_runs(story.events).current(), "past-1"))


def test_mean_and_spread_are_those_of_the_runs_that_came_to_their_end(story: Any) -> None:
    draw = random.Random(4)
    usual = [draw.gauss(4148.1, 11.3) for _ in range(50)]
    story.values("cm4/x", usual, "elapsed")
    story.run("cm4/x", "timeout", elapsed_s=14_500.0)
    story.run("cm4/x", "failed", elapsed_s=12.0)
    story.run("cm4/x", "node_fail")
    (found,) = times_of(story).values()
    assert (found.mean_s, found.spread_s) == pytest.approx((fmean(usual), stdev(usual)))
    assert (found.tail_share, found.tail_factor, found.source) == (0.0, 1.0, "campaign past-1, 50 runs")


def test_a_run_that_stood_still_tells_no_run_time(story: Any) -> None:
    story.values("cm4/x", [100.0, 102.0], "elapsed")
    story.run("cm4/x", "passed", elapsed_s=3700.0, halted_s=3600.0)
    (found,) = times_of(story).values()
    assert (found.mean_s, found.source) == (101.0, "campaign past-1, 2 runs")
    rows = fold_runs(story.events).current()
    assert [measured_value(row, "elapsed") for row in rows] == [100.0, 102.0, None]


def test_runs_far_beyond_the_others_are_the_tail(story: Any) -> None:
    """Paper 004, IV.E: some CM4 runs took nearly double the time; they cannot be in a standard deviation of 11 s."""
    story.values("cm4/x", [4000.0, 4010.0, 3990.0] * 6 + [7600.0, 8400.0], "elapsed")
    (found,) = times_of(story).values()
    assert (found.mean_s, found.tail_share, found.tail_factor) == pytest.approx((4000.0, 0.1, 2.0))
    assert found.spread_s < 10


def test_wrong_and_slow_runs_took_their_time_too_and_cases_stand_alone(story: Any) -> None:
    story.run("a/1", "performance", elapsed_s=120.0)
    story.run("a/1", "incorrect", repeat=2, elapsed_s=100.0)
    story.run("b/1", elapsed_s=5.0)
    story.run("w/1", mode="warm-up", elapsed_s=50.0)
    found = times_of(story)
    assert {case: (time.mean_s, time.source) for case, time in found.items()} == {
        "a/1": (110.0, "campaign past-1, 2 runs"),
        "b/1": (5.0, "campaign past-1, 1 run"),
    }
    assert found["b/1"].spread_s == 0.0
