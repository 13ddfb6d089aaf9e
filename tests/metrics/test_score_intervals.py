"""Intervals of scores: they hold the truth as often as they say, whatever the kind; of one part alone they are those of SciPy."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
import scipy

from shakedown.metrics.scores.formulas import capability_improvement, geometric_score, sustained_system_performance
from shakedown.metrics.scores.intervals import interval
from shakedown.model.scores import Load, Score, ScorePart

TRIALS = 1500
NOISE = (0.01, 0.03, 0.05)  # of the parts, as shares of their times
TIMES = (40.0, 300.0, 7.0)


def parts(kind: str) -> tuple[ScorePart, ...]:
    """Three applications whose noise differs by five."""
    more: dict[str, dict[str, Any]] = {
        "ci": {"baseline": Load(), "baseline_value": 1000.0},
        "ssp": {"tflop": 12.0, "load": Load(nodes=2)},
    }
    return tuple(ScorePart(f"p{n}", better="lower", **more.get(kind, {})) for n in range(3))


KINDS = {
    "ssp": (sustained_system_performance, Score("s", "ssp", parts("ssp"), nodes=(("", 10.0),))),
    "ci": (capability_improvement, Score("s", "ci", parts("ci"))),
    "geometric": (geometric_score, Score("s", "geometric", parts("geometric"))),
}


def covered(kind: str, rule: str, counts: Sequence[int]) -> float:
    """How often the interval holds the score of the times without noise."""
    function, score = KINDS[kind]

    def at(values: Sequence[float]) -> float:
        return function(score, values).value

    chance, truth, hits = random.Random(f"{kind} {rule}"), at(TIMES), 0
    for _ in range(TRIALS):
        samples = [
            tuple(time * math.exp(chance.gauss(0, noise)) for _ in range(count))
            for time, noise, count in zip(TIMES, NOISE, counts, strict=True)
        ]
        low, high = interval(rule, samples, [False] * 3, at) or (0.0, 0.0)
        hits += low <= truth <= high
    return hits / TRIALS


@pytest.mark.parametrize(
    ("kind", "rule", "counts"),
    [
        ("ssp", "record", (3, 3, 3)),
        ("ssp", "median", (5, 5, 5)),
        ("ci", "mean", (4, 4, 4)),
        ("ci", "record", (3, 4, 5)),
        ("geometric", "median", (10, 10, 10)),
    ],
)
def test_it_covers_what_it_says(kind: str, rule: str, counts: tuple[int, ...]) -> None:
    assert 0.93 <= covered(kind, rule, counts) <= 0.97


def test_of_one_part_it_is_students_interval_of_the_logarithms() -> None:
    values = (3.1, 2.9, 3.3, 3.0)
    logs = [math.log(value) for value in values]
    low, high = scipy.stats.t.interval(0.95, 3, scipy.stats.tmean(logs), scipy.stats.sem(logs))
    found = interval("record", [values], [False], lambda given: given[0])
    assert found == pytest.approx((math.exp(low), math.exp(high)), rel=1e-7)


@pytest.mark.parametrize(("rule", "middle"), [("median", 2.0), ("mean", 4.0), ("record", 18 ** (1 / 3))])
def test_it_lies_around_what_the_rule_takes(rule: str, middle: float) -> None:
    """Rule S4 of judging: of 1, 2 and 9 s the median, the mean, or of the run of record the mean of the logarithms."""
    low, high = interval(rule, [(1.0, 2.0, 9.0)], [False], lambda values: values[0]) or (0.0, 0.0)
    assert low < middle < high and math.sqrt(low * high) == pytest.approx(middle)


def test_a_score_that_may_be_below_zero_has_one_too() -> None:
    """The kind of another package: a difference. sd of the logarithms 0.0707, of which the difference moves 10 times that."""
    found = interval("mean", [(10.0, 10.0), (10.0, 11.05170918)], [False, True], lambda given: given[0] - given[1])
    assert found == pytest.approx((-0.525854, -0.525854), abs=1e-5)
    low, high = interval("mean", [(10.0, 11.0)], [False], lambda given: given[0] - 11.0) or (0.0, 0.0)
    assert low < -0.5 < high and low + high == pytest.approx(-1.0)


def test_values_that_are_all_equal_leave_no_width() -> None:
    assert interval("median", [(2.0, 2.0, 2.0)], [False], lambda given: given[0]) == pytest.approx((2.0, 2.0))


@pytest.mark.parametrize("samples", [[(3.0,)], []])
def test_one_value_has_none(samples: list[tuple[float, ...]]) -> None:
    assert interval("record", samples, [False] * len(samples), lambda given: 1.0) is None
