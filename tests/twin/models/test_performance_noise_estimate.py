"""How well a model of noise knows its numbers: the standard error is what other seeds show, and what was not seen is not known."""

from __future__ import annotations

import statistics

import pytest

from shakedown.twin.models.noise_estimate import PRECISION, estimate, known_decimals
from shakedown.twin.models.noise_sources import Placement, Source

MS, US = 1e-3, 1e-6
TICK = Source("tick", 10 * MS, 10 * US)
DAEMON = Source("daemon", 10.0, 5 * MS, on="node")
RARE = Source("rare", 20.0, 145 * MS, on="node", every=32, pattern="random")


@pytest.mark.parametrize("source", [DAEMON, Source("often", 0.5, 2 * MS, on="node", pattern="random")])
def test_the_standard_error_is_what_other_seeds_show(source: Source) -> None:
    found = [estimate(Placement(1024, 4, 4), [source], 1 * MS, 2000, seed=seed) for seed in range(30)]
    errors = [one.standard_error for one in found if one.standard_error is not None]
    assert len(errors) == 30
    spread = statistics.stdev(one.slowdown for one in found)
    assert 0.6 < statistics.fmean(errors) / spread < 1.6


def test_without_a_number_of_steps_there_are_as_many_as_the_precision_needs() -> None:
    easy = estimate(Placement(8192, 3, 4), [TICK, DAEMON], 1 * MS)
    hard = estimate(Placement(8192, 4, 4), [TICK, DAEMON], 1 * MS)
    for one in (easy, hard):
        assert one.standard_error is not None and one.standard_error <= PRECISION * one.slowdown
    assert easy.steps < hard.steps


def test_two_seeds_agree_within_their_errors() -> None:
    one, other = (estimate(Placement(8192, 4, 4), [TICK, DAEMON], 1 * MS, seed=seed) for seed in (1, 2))
    assert one.standard_error and other.standard_error
    assert abs(one.slowdown - other.slowdown) < 5 * (one.standard_error**2 + other.standard_error**2) ** 0.5


def test_the_start_of_a_short_replica_does_not_count() -> None:
    """What is under way when a job starts is paid for once, in its first step: many short replicas would pay it often."""
    short = estimate(Placement(8192, 4, 4), [RARE], 1 * MS, 32 * 40)
    long = estimate(Placement(8192, 4, 4), [RARE], 1 * MS, 60_000)
    assert long.standard_error is not None
    assert short.slowdown < 2 * long.slowdown


def test_what_came_too_rarely_is_not_known_however_alike_the_replicas_are() -> None:
    unseen = estimate(Placement(256, 4, 4), [RARE], 1 * MS, 100)
    assert unseen.standard_error is None
    harmless = estimate(Placement(4, 4, 4), [Source("harmless", 1000.0, 1 * US)], 1 * MS, 100)
    assert harmless.standard_error == 0.0


def test_a_given_number_of_steps_is_kept_and_the_same_seed_gives_the_same() -> None:
    for steps in (1, 7, 50, 1001):
        one, same = (estimate(Placement(64, 4, 4), [TICK], 1 * MS, steps, seed=5) for _ in range(2))
        assert one.steps == steps and one == same
    assert estimate(Placement(64, 4, 4), [TICK], 1 * MS, 1).standard_error is None


@pytest.mark.parametrize(
    ("error", "decimals"), [(0.2, 1), (0.04, 2), (0.05, 2), (0.0004, 3), (0.0, 3), (2.0, 0), (None, 2)]
)
def test_as_many_decimals_as_are_known(error: float | None, decimals: int) -> None:
    assert known_decimals(error) == decimals
