"""Utilisation, waits and curves against counting second by second and one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from shakedown.twin.production.columns import Flags, Floats
from shakedown.twin.production.compare import furthest_apart, standstills
from shakedown.twin.production.measure import Played, held_until, measure, most_at_once, timeline


def all_of(count: int) -> Flags:
    return np.ones(count, dtype=bool)


@some.composite
def played(draw: some.DrawFn) -> Played:
    count = draw(some.integers(1, 20))
    whole = some.lists(some.integers(0, 50), min_size=count, max_size=count)
    submit = np.sort(np.array(draw(whole), dtype=np.float64))
    wait, held = (np.array(draw(whole), dtype=np.float64) for _ in range(2))
    sizes = np.array(draw(some.lists(some.integers(1, 9), min_size=count, max_size=count)), dtype=np.int64)
    return Played(submit, submit + wait, held, sizes, all_of(count))


def by_seconds(jobs: Played) -> Floats:
    """Processors held in each whole second."""
    seconds = np.zeros(200)
    for start, end, size in zip(jobs.start_s, jobs.end_s, jobs.processors, strict=True):
        seconds[int(start) : int(end)] += size
    return seconds


@given(played(), some.integers(0, 30))
def test_utilisation_is_what_is_counted_second_by_second(jobs: Played, since: int) -> None:
    first, last, seconds = int(jobs.submit_s[0]) + since, int(jobs.end_s.max()), by_seconds(jobs)
    if first > jobs.submit_s[-1]:
        return
    found = measure(jobs, 100, float(since))

    assert found.most_busy == seconds.max()
    if last > first:
        assert found.utilisation == pytest.approx(seconds[first:last].sum() / (100 * (last - first)))
    until = int(jobs.submit_s[-1])
    if until > first:
        assert found.utilisation_of_submissions == pytest.approx(seconds[first:until].sum() / (100 * (until - first)))


@given(played())
def test_what_is_held_until_a_moment(jobs: Played) -> None:
    moments = np.arange(200, dtype=np.float64)
    expected = np.concatenate(([0.0], np.cumsum(by_seconds(jobs))))[:200]
    assert held_until(jobs, moments).tolist() == pytest.approx(expected.tolist())


def test_ends_come_before_starts_of_the_same_instant() -> None:
    times = np.array([0.0, 10.0])
    assert most_at_once(times, times + 10, np.array([4, 5])) == 5


def test_waits_and_slowdown_by_hand() -> None:
    submit = np.zeros(4)
    jobs = Played(
        submit,
        np.array([0.0, 10.0, 90.0, 300.0]),
        np.array([100.0, 1.0, 10.0, 100.0]),
        np.array([1, 2, 8, 9]),
        all_of(4),
    )
    found = measure(jobs, 9)
    assert (found.waits.mean_s, found.waits.median_s, found.waits.longest_s) == (100, 50, 300)
    assert found.waits.ninetieth_s == pytest.approx(237)  # of 90 and 300, seven tenths of the way
    assert found.waits.bounded_slowdown == pytest.approx((1 + 1.1 + 10 + 4) / 4)
    assert [(one.least, one.most, one.jobs) for one in found.sizes] == [(1, 1, 1), (2, 8, 2), (9, 9, 1)]
    assert sum(one.share for one in found.sizes) == pytest.approx(1)


def test_the_warm_up_is_not_measured() -> None:
    submit = np.array([0.0, 50.0, 60.0])
    jobs = Played(submit, submit + np.array([500.0, 10.0, 20.0]), np.full(3, 5.0), np.array([1, 1, 1]), all_of(3))
    assert measure(jobs, 4, 50.0).waits.mean_s == 15


def test_jobs_that_found_room_when_they_came_are_counted() -> None:
    """Of two that waited over a minute one had room at once; the third waited less."""
    submit = np.array([0.0, 10.0, 20.0, 30.0])
    jobs = Played(
        submit, np.array([0.0, 110.0, 100.0, 60.0]), np.array([100.0, 5, 5, 5]), np.array([6, 8, 4, 4]), all_of(4)
    )
    assert measure(jobs, 10).fitted == 0.5


@given(*[some.lists(some.integers(0, 20), min_size=1, max_size=30)] * 2)
def test_curves_are_as_far_apart_as_counting_says(first: list[int], second: list[int]) -> None:
    one, other = (np.array(waits, dtype=np.float64) for waits in (first, second))
    counted = max(abs((one <= wait).mean() - (other <= wait).mean()) for wait in range(21))
    assert furthest_apart(one, other) == pytest.approx(counted)


def test_the_line_over_time() -> None:
    """Three days: full, half, empty until the last job that waits a day."""
    day = 86400.0
    submit = np.array([0.0, day, day])
    jobs = Played(submit, np.array([0.0, day, 2 * day]), np.array([day, day, day]), np.array([4, 2, 4]), all_of(3))
    line = timeline(jobs, 4)
    assert (line.unit, line.utilisation) == ("day", (1.0, 0.5, 1.0))
    at = np.array(line.at_s)
    assert set(np.array(line.queued)[(at > day) & (at < 2 * day)]) == {1} and set(np.array(line.queued)[at < day]) == {
        0
    }


def test_a_standstill_begins_when_somebody_waits() -> None:
    submit, start = np.array([0.0, 5000.0, 5001.0]), np.array([0.0, 9000.0, 9000.0])
    jobs = Played(submit, start, np.array([100.0, 10.0, 10.0]), np.array([1, 1, 1]), all_of(3))
    assert standstills(jobs) == [(5000.0, 9000.0)]
    assert standstills(jobs, least_s=4001.0) == []
