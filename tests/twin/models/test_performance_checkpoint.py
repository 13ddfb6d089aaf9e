"""Checkpoints: against failures played out one by one, the closed optimum, and the numbers of paper 000."""

from __future__ import annotations

import math
import random

import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from shakedown.model.errors import UsageError
from shakedown.twin.models.checkpoint import (
    BURST_BUFFER,
    LUSTRE,
    XRAGE_BYTES,
    Storage,
    best_s,
    checkpoint_model,
    daly_s,
    waste,
    young_s,
)
from shakedown.twin.models.write_streams import HASWELL, HASWELL_BEFORE, KNL, best_streams

HOUR = 3600.0


def played(tau: float, delta: float, mtbf: float, restart: float, segments: int, seed: int) -> float:
    """The share of waste when a program is run failure by failure; nothing here knows the formula."""
    chance = random.Random(seed)
    now, fails = 0.0, chance.expovariate(1 / mtbf)
    for _ in range(segments):
        done = False
        while not done:
            if now + tau + delta <= fails:
                now, done = now + tau + delta, True
                continue
            now = fails
            fails = now + chance.expovariate(1 / mtbf)
            while now + restart > fails:  # the restart was hit too
                now = fails
                fails = now + chance.expovariate(1 / mtbf)
            now += restart
    return 1 - segments * tau / now


@pytest.mark.parametrize(
    ("tau", "delta", "mtbf", "restart"),
    [
        (222 * 60, 1143, 24 * HOUR, 1500),
        (57 * 60, 68.6, 24 * HOUR, 348),
        (1800, 1143, 2 * HOUR, 1500),
        (60, 5, 100, 40),
    ],
)
def test_the_expected_waste_is_what_played_failures_waste(
    tau: float, delta: float, mtbf: float, restart: float
) -> None:
    means = [played(tau, delta, mtbf, restart, 8000, seed) for seed in range(8)]
    mean = sum(means) / len(means)
    spread = math.sqrt(sum((one - mean) ** 2 for one in means) / (len(means) - 1) / len(means))
    assert waste(tau, delta, mtbf, restart) == pytest.approx(mean, abs=4 * spread + 1e-4)
    assert spread < 0.005


def test_the_optimum_is_where_played_failures_waste_least() -> None:
    """With the same failures for each interval; a third more or less of it wastes more."""
    delta, mtbf, restart = 300.0, 2 * HOUR, 600.0
    best = best_s(delta, mtbf)
    shares = {
        factor: sum(played(factor * best, delta, mtbf, restart, int(60_000 / factor), seed) for seed in range(3)) / 3
        for factor in (0.5, 1.0, 2.0)
    }
    assert shares[1.0] < shares[0.5] and shares[1.0] < shares[2.0]


@given(st.floats(0.001, 1e6), st.floats(1.0, 1e8))
def test_the_optimum_is_the_closed_one(delta: float, mtbf: float) -> None:
    """The root of (1 - x) exp(x + d) = 1 by Lambert's W, where that keeps its digits."""
    assume(1e-6 < delta / mtbf < 500)
    closed = mtbf * (1 + float(scipy.special.lambertw(-math.exp(-1 - delta / mtbf)).real))
    assert best_s(delta, mtbf) == pytest.approx(closed, rel=1e-4)


@given(st.floats(0.01, 1e5), st.floats(1.0, 1e8), st.floats(0, 1e5), st.floats(0.02, 50))
def test_nothing_wastes_less_than_the_optimum(delta: float, mtbf: float, restart: float, factor: float) -> None:
    best = best_s(delta, mtbf)
    least = waste(best, delta, mtbf, restart)
    for other in (factor * best, young_s(delta, mtbf), daly_s(delta, mtbf)):
        assert least <= waste(other, delta, mtbf, restart) + 1e-12
    assert 0 <= least <= 1


@given(st.floats(0.01, 1e5), st.floats(10.0, 1e8), st.floats(0, 1e5), st.floats(1.01, 10))
def test_waste_grows_with_the_checkpoint_and_falls_with_time_between_failures(
    delta: float, mtbf: float, restart: float, factor: float
) -> None:
    def least(a_delta: float, an_mtbf: float) -> float:
        return waste(best_s(a_delta, an_mtbf), a_delta, an_mtbf, restart)

    assert least(factor * delta, mtbf) >= least(delta, mtbf) - 1e-12
    assert least(delta, factor * mtbf) <= least(delta, mtbf) + 1e-12
    assert best_s(factor * delta, mtbf) >= best_s(delta, mtbf) * (1 - 1e-9)
    assert best_s(delta, factor * mtbf) >= best_s(delta, mtbf) * (1 - 1e-9)


@pytest.mark.parametrize("ratio", [1e-6, 1e-4, 1e-2])
def test_young_and_daly_are_near_where_checkpoints_are_short(ratio: float) -> None:
    mtbf = 1e6
    best = best_s(ratio * mtbf, mtbf)
    assert daly_s(ratio * mtbf, mtbf) == pytest.approx(best, rel=1e-3)
    assert abs(daly_s(ratio * mtbf, mtbf) / best - 1) < abs(young_s(ratio * mtbf, mtbf) / best - 1)


def test_xrage_on_trinity() -> None:
    """Paper 000, table 2: 24 TB at 21 and 350 GB/s, read at 16 and 69 GB/s; mean times between failures are assumed."""
    lustre, burst = checkpoint_model(XRAGE_BYTES, 24 * HOUR, (LUSTRE, BURST_BUFFER)).advice
    assert (round(lustre.checkpoint_s), round(burst.checkpoint_s, 1)) == (1143, 68.6)
    assert (round(lustre.restart_s), round(burst.restart_s)) == (1500, 348)
    assert (round(lustre.take.waste, 3), round(lustre.take.interval_s / 60)) == (0.169, 222)
    assert (round(burst.take.waste, 3), round(burst.take.interval_s / 60)) == (0.043, 57)
    assert burst.drain_fits is True
    lustre, burst = checkpoint_model(XRAGE_BYTES, 6 * HOUR, (LUSTRE, BURST_BUFFER)).advice
    assert (round(lustre.take.waste, 3), round(burst.take.waste, 3)) == (0.339, 0.092)


def test_a_burst_buffer_that_drains_too_slowly_sets_the_interval() -> None:
    slow = Storage("burst buffer", 350e9, 69e9, drain_bytes_per_s=1e9)
    (advice,) = checkpoint_model(XRAGE_BYTES, 24 * HOUR, (slow,)).advice
    assert advice.drain_fits is False
    assert (advice.take.rule, advice.take.interval_s) == ("drain", 24000.0)
    assert advice.take.waste > advice.intervals[-1].waste


def test_a_job_that_fails_faster_than_it_checkpoints_never_ends() -> None:
    (advice,) = checkpoint_model(XRAGE_BYTES, 120.0, (LUSTRE,)).advice
    assert advice.never_ends and advice.take.waste <= 1.0


@pytest.mark.parametrize(("size", "mtbf"), [(0.0, HOUR), (math.nan, HOUR), (1e12, 0.0), (1e12, math.inf), (-1.0, HOUR)])
def test_amounts_that_are_none_are_refused(size: float, mtbf: float) -> None:
    with pytest.raises(UsageError, match="is not a usable amount\nhint: give a finite number above zero"):
        checkpoint_model(size, mtbf, (LUSTRE,))


@pytest.mark.parametrize(("size", "mtbf"), [(1e-300, 1e300), (1e300, 1e-300), (1e300, 1e300), (1.0, 1e15)])
def test_amounts_beyond_all_machines_still_give_numbers(size: float, mtbf: float) -> None:
    for advice in checkpoint_model(size, mtbf, (LUSTRE, BURST_BUFFER)).advice:
        assert all(0 <= interval.waste <= 1 and interval.interval_s >= 0 for interval in advice.intervals)


def test_the_peaks_of_writing_are_the_published_ones() -> None:
    """Paper 000, figures 2 and 3: Haswell 772 GiB/s at 1,944 streams, KNL 738 at 3,456, Haswell before 806; by trying all."""
    for law, streams, peak in ((HASWELL, 1944, 772), (KNL, 3456, 738), (HASWELL_BEFORE, 1944, 806)):
        tried = max(range(1, 20_000), key=law.bytes_per_s)
        assert abs(tried - streams) <= 2 and abs(best_streams(law) - streams) <= 2
        assert law.bytes_per_s(tried) / 2**30 == pytest.approx(peak, rel=1e-6)
    assert HASWELL.bytes_per_s(1) == pytest.approx(HASWELL.stream_bytes_per_s, rel=1e-3)
