"""The tests behind comparisons against scipy on random data, and change points against what they promise."""

from __future__ import annotations

import math
import random

import numpy
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.metrics.comparing.chances import fisher, holm, least_fisher
from shakedown.metrics.comparing.change_points import change_points
from shakedown.metrics.comparing.student import both_tails, two_sided_quantile
from shakedown.metrics.comparing.two_samples import effect_of, rounding, trimmed_mean


@pytest.mark.parametrize("freedom", [1.0, 1.3, 2.0, 4.7, 30.0, 300.5, 1e5])
def test_students_tails_and_quantiles(freedom: float) -> None:
    for t in (0.001, 0.1, 1.0, 3.0, 12.0, 80.0):
        assert both_tails(t, freedom) == pytest.approx(2 * float(scipy.stats.t.sf(t, freedom)), rel=1e-9)
    for tails in (0.5, 0.05, 0.001, 1e-6):
        assert two_sided_quantile(tails, freedom) == pytest.approx(
            float(scipy.stats.t.isf(tails / 2, freedom)), rel=1e-8
        )


@pytest.mark.parametrize("seed", range(12))
def test_effects_of_positive_values_are_welchs_on_logarithms(seed: int) -> None:
    noise = random.Random(seed)
    count = noise.randint(3, 9) if seed % 2 else noise.randint(10, 60)
    trim = 0.0 if seed % 2 else 0.2
    before = [math.exp(noise.gauss(2, 0.05)) for _ in range(count)]
    after = [math.exp(noise.gauss(2.02, 0.1)) for _ in range(count)]
    found = effect_of(before, after, least=1e-9)
    expected = scipy.stats.ttest_ind(numpy.log(after), numpy.log(before), equal_var=False, trim=trim)
    interval = expected.confidence_interval(0.95)
    assert found is not None and found.scale == "ratio"
    assert found.chance == pytest.approx(float(expected.pvalue), rel=1e-8)
    assert (found.low, found.high) == pytest.approx((math.expm1(interval.low), math.expm1(interval.high)), rel=1e-8)
    trimmed = [math.exp(float(scipy.stats.trim_mean(numpy.log(side), trim))) for side in (before, after)]
    assert [trimmed_mean(before), trimmed_mean(after)] == pytest.approx(trimmed)
    assert found.change == pytest.approx(trimmed[1] / trimmed[0] - 1)


@pytest.mark.parametrize("seed", range(6))
def test_effects_of_other_values_are_welchs_on_the_values(seed: int) -> None:
    noise = random.Random(seed)
    before = [noise.gauss(0.5, 1) for _ in range(20)]
    after = [noise.gauss(1.5, 2) for _ in range(20)]
    found = effect_of(before, after, least=1e-9)
    expected = scipy.stats.ttest_ind(after, before, equal_var=False, trim=0.2)
    interval = expected.confidence_interval(0.95)
    assert found is not None and found.scale == "difference"
    assert found.chance == pytest.approx(float(expected.pvalue), rel=1e-8)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-8)
    middle = float(numpy.median(before))
    assert found.interval == pytest.approx((interval.low / abs(middle), interval.high / abs(middle)))


def test_sides_of_unequal_size_are_held_to_the_freedom_of_the_smaller() -> None:
    """SciPy's chance for the same statistic with that freedom; Welch's own lets three runs against forty see too much."""
    noise = random.Random(5)
    before, after = ([math.exp(noise.gauss(0, 0.05)) for _ in range(count)] for count in (3, 9))
    found = effect_of(before, after, least=1e-9)
    own = scipy.stats.ttest_ind(numpy.log(after), numpy.log(before), equal_var=False)
    assert found is not None
    assert found.freedom == pytest.approx(min(float(own.df), 2 * (1 + 3 / 9)))
    assert found.chance == pytest.approx(
        2 * float(scipy.stats.t.sf(abs(float(own.statistic)), found.freedom)), rel=1e-8
    )


def test_small_sides_are_called_changed_no_more_often_than_promised() -> None:
    noise = random.Random(6)
    wrong = 0
    for _ in range(1500):
        before, after = ([math.exp(noise.gauss(0, 0.05)) for _ in range(count)] for count in (3, 30))
        found = effect_of(before, after)
        wrong += found is not None and found.chance <= 0.001
    assert wrong <= 5  # Welch's own freedom gives about 20


def test_a_few_slow_runs_hide_no_change() -> None:
    noise = random.Random(3)
    before = [10 * math.exp(noise.gauss(0, 0.02)) for _ in range(30)]
    after = [10.5 * math.exp(noise.gauss(0, 0.02)) for _ in range(27)] + [40.0, 21.0, 19.0]
    found = effect_of(before, after)
    assert found is not None and found.chance < 1e-6
    assert float(scipy.stats.ttest_ind(numpy.log(after), numpy.log(before), equal_var=False).pvalue) > 0.01


def test_three_values_are_the_fewest() -> None:
    assert effect_of([1.0, 1.1], [1.0, 1.1, 1.2]) is None
    assert effect_of([1.0, 1.1, 1.2], [1.0, 1.1]) is None
    assert effect_of([1.0, 1.1, 1.2], [1.0, 1.1, 1.2]) is not None


def test_equal_values_prove_little() -> None:
    """Three runs of 10 s against three of 11 s, timed in whole seconds, may differ by next to nothing."""
    assert rounding(10.0, 11.0) == pytest.approx(1 / math.sqrt(12))
    assert rounding(2.5, 10.0) == pytest.approx(0.1 / math.sqrt(12))
    assert rounding(3000.0, 120000.0) == pytest.approx(1 / math.sqrt(12))  # whole numbers
    assert rounding(math.pi, 1.0) == 0 and rounding(0.0) == 0
    whole = effect_of([10.0] * 3, [11.0] * 3)
    exact = effect_of([10.001] * 3, [11.001] * 3)
    assert whole is not None and whole.chance > 0.005
    assert exact is not None and exact.chance < 1e-4
    for constant in (10.001, 100.0):
        still = effect_of([constant] * 3, [constant] * 3)
        assert still is not None and (still.chance, still.change) == (1.0, 0.0) and 0 < still.reach < 0.02


def test_zeros_and_enormous_numbers_give_an_effect() -> None:
    nothing = effect_of([0.0] * 5, [0.0] * 5)
    assert nothing is not None and nothing.chance == 1.0
    errors = effect_of([0.0] * 5, [3.0, 4.0, 5.0, 4.0, 3.0])
    assert errors is not None and errors.chance < 0.005 and errors.share > 0
    huge = effect_of([1e-300] * 4, [1e300] * 4)
    assert huge is not None and math.isfinite(huge.share)


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_fishers_test(count: int, other: int, data: st.DataObject) -> None:
    hits, other_hits = data.draw(st.integers(0, count)), data.draw(st.integers(0, other))
    table = [[hits, count - hits], [other_hits, other - other_hits]]
    expected = float(scipy.stats.fisher_exact(table).pvalue)
    assert fisher(hits, count, other_hits, other) == pytest.approx(expected, rel=1e-6)


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_the_least_chance_that_shares_can_have(count: int, other: int, data: st.DataObject) -> None:
    """Of every way in which as many hits could have fallen, by SciPy."""
    hits, other_hits = data.draw(st.integers(0, count)), data.draw(st.integers(0, other))
    every = hits + other_hits
    expected = min(
        float(scipy.stats.fisher_exact([[k, count - k], [every - k, other - every + k]]).pvalue)
        for k in range(max(0, every - other), min(every, count) + 1)
    )
    assert least_fisher(hits, count, other_hits, other) == pytest.approx(expected, rel=1e-6)


def test_holm_corrects_in_steps() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []


# ---- change points -------------------------------------------------------------------------------------------------------


def noisy(noise: random.Random, level: float, count: int) -> list[float]:
    return [level * math.exp(noise.gauss(0, 0.02)) for _ in range(count)]


def test_levels_are_found_where_they_begin() -> None:
    noise = random.Random(1)
    values = noisy(noise, 100, 30) + noisy(noise, 95, 20) + noisy(noise, 103, 25)
    found = change_points(values, 0.005, 0.02)
    assert len(found) == 2
    assert abs(found[0] - 30) <= 1 and abs(found[1] - 50) <= 1


def test_a_level_of_few_runs_and_one_slow_run() -> None:
    noise = random.Random(2)
    values = noisy(noise, 100, 12)
    values[5] = 300.0
    assert change_points(values, 0.005, 0.02) == []
    assert change_points(values + noisy(noise, 120, 5), 0.005, 0.02) == [12]
    assert change_points([1.0, 1.0, 2.0, 2.0, 2.0], 0.005, 0.02) == []
    assert change_points([], 0.005, 0.02) == []


def test_one_bad_run_hides_no_step() -> None:
    """12 runs about 100, one of them at 50, then 12 about 94: the step is seen, wherever the bad run is, and so without it."""
    noise = random.Random(3)
    plain = noisy(noise, 100, 12) + noisy(noise, 93, 12)
    for bad in (None, 3, 11, 12, 20):
        values = [value / 2 if place == bad else value for place, value in enumerate(plain)]
        (place,) = change_points(values, 0.005, 0.02)
        assert abs(place - 12) <= 1, bad


@pytest.mark.parametrize(
    ("before", "during", "after"), [(8, 8, 8), (20, 10, 20), (30, 6, 30), (10, 5, 3), (400, 40, 900)]
)
def test_a_level_that_comes_back_is_found(before: int, during: int, after: int) -> None:
    """Each is found where it begins and ends; the last is longer than what is looked at place by place."""
    noise = random.Random(5)
    values = noisy(noise, 100, before) + noisy(noise, 92, during) + noisy(noise, 100, after)
    there, back = change_points(values, 0.005, 0.02)
    assert abs(there - before) <= 1 and abs(back - before - during) <= 1


def test_two_slow_runs_of_three_are_no_level() -> None:
    """Half as fast or a tenth slower, two runs and one beside them tell of no level."""
    noise = random.Random(6)
    values = noisy(noise, 100, 24)
    for place in range(3, 19):
        slow = [value / 1.5 if one in (place, place + 2) else value for one, value in enumerate(values)]
        assert change_points(slow, 0.005, 0.02) == []


@pytest.mark.parametrize("count", [20, 40])
def test_a_series_without_a_change_is_given_none(count: int) -> None:
    noise = random.Random(7)
    wrong = sum(bool(change_points(noisy(noise, 50, count), 0.005, 0.001)) for _ in range(300))
    assert wrong <= 3


def test_a_change_below_what_matters_is_none() -> None:
    noise = random.Random(4)
    values = noisy(noise, 100, 400) + noisy(noise, 101, 400)
    assert change_points(values, 0.005, 0.02) == []
    assert len(change_points(values, 0.005, 0.005)) == 1


# ---- whatever was measured ------------------------------------------------------------------------------------------------

measured = st.lists(
    st.one_of(st.floats(-1e30, 1e30), st.floats(1e-30, 1e3), st.sampled_from([0.0, 1.0, -1.0, 1e30, 5e-324])),
    min_size=1,
    max_size=14,
)


@settings(max_examples=200, deadline=None)
@given(measured, measured)
def test_any_two_samples_have_an_effect_in_numbers(before: list[float], after: list[float]) -> None:
    found = effect_of(before, after)
    assert (found is None) == (min(len(before), len(after)) < 3)
    if found is not None:
        assert 0 <= found.chance <= 1 and found.low <= found.change <= found.high
        assert all(math.isfinite(number) for number in (found.share, found.reach, *found.interval))
    assert all(math.isfinite(trimmed_mean(side)) for side in (before, after))
    assert all(0 < place < len(before + after) for place in change_points(before + after, 0.005, 0.02))
