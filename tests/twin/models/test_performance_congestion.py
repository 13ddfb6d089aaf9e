"""Impact factors against paper 004's table II by hand; the shared link against a queue played customer by customer."""

from __future__ import annotations

import math
import random

import pytest

from shakedown.model.errors import UsageError
from shakedown.twin.models.congestion import (
    C5_GPCNET,
    Measured,
    at_load,
    busy_share,
    congestion,
    factor_at,
    impact,
    shared_load,
)


def test_table_two_of_paper_004_gives_these_three_factors() -> None:
    factors = [impact(one).factor for one in C5_GPCNET]
    assert [f"{factor:.2f}" if factor > 1.05 else f"{factor:.3f}" for factor in factors] == ["1.08", "0.997", "1.017"]
    assert factors == pytest.approx([2.8 / 2.6, 1688 / 1693, 43 / 42.3])


def test_bandwidth_that_falls_and_latency_that_rises_both_count_as_more_than_one() -> None:
    assert impact(Measured("latency", 2.0, 3.0, "lower")).factor == 1.5
    assert impact(Measured("bandwidth", 3.0, 2.0, "higher")).factor == 1.5
    assert impact(Measured("bandwidth", 2.0, 3.0, "higher")).factor == pytest.approx(2 / 3)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_the_factor_is_that_of_a_queue_with_random_arrivals_and_services(load: float) -> None:
    """Time in the system over time alone, Lindley's recursion over 400,000 messages of mean length one."""
    draw, waited, total = random.Random(7), 0.0, 0.0
    count = 400_000
    for _ in range(count):
        service = draw.expovariate(1.0)
        total += waited + service
        waited = max(0.0, waited + service - draw.expovariate(load))
    assert total / count == pytest.approx(factor_at(load), rel=0.05)


def test_a_saturated_link_waits_without_end_and_delivers_its_capacity() -> None:
    assert factor_at(1.0) == math.inf
    point = at_load(1.25)
    assert point.factor is None
    assert point.delivered_share == pytest.approx(0.8)
    assert at_load(0.0).factor == 1.0
    assert (at_load(0.99).delivered_share, at_load(0.0).delivered_share) == (1.0, 1.0)


def test_what_is_isolated_feels_nothing() -> None:
    assert factor_at(5.0, isolation=1.0) == 1.0
    assert factor_at(0.5, isolation=0.5) == pytest.approx(1.5)


@pytest.mark.parametrize("isolation", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("load", [0.1, 0.5, 0.97])
def test_the_busy_share_is_the_load_that_makes_the_factor(load: float, isolation: float) -> None:
    assert busy_share(factor_at(load, isolation), isolation) == pytest.approx(load)


def test_a_factor_of_c5_would_need_a_link_that_is_seven_per_cent_busy() -> None:
    assert impact(C5_GPCNET[0]).busy_share == pytest.approx(1 - 2.6 / 2.8)
    assert impact(C5_GPCNET[1]).busy_share == 0.0


def test_two_nics_of_100_gigabits_fill_a_link_of_200() -> None:
    """Paper 004, IV.B: injection at 100 Gb/s, links between switches at 200 Gb/s."""
    assert shared_load(1, 12.5e9, 25e9) == 0.5
    assert at_load(shared_load(2, 12.5e9, 25e9)).factor is None


@pytest.mark.parametrize(
    "wrong",
    [
        Measured("x", 0, 1, "lower"),
        Measured("x", 1, -1, "lower"),
        Measured("x", float("nan"), 1, "lower"),
        Measured("x", 1, float("inf"), "lower"),
        Measured("x", 1, 1, "faster"),
    ],
)
def test_what_cannot_have_been_measured_is_refused(wrong: Measured) -> None:
    with pytest.raises(UsageError):
        congestion([wrong], [])


@pytest.mark.parametrize(
    ("load", "isolation"), [(-0.1, 0), (math.nan, 0), (math.inf, 0), (0.5, -0.1), (0.5, 1.1), (0.5, math.nan)]
)
def test_loads_and_isolations_that_cannot_be_are_refused(load: float, isolation: float) -> None:
    with pytest.raises(UsageError):
        congestion([], [load], isolation)
