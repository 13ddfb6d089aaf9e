"""Our numbers against scipy's, and intervals against what they promise: exactly where one can count, else by simulation."""

from __future__ import annotations

import math
import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from shakedown.metrics import statistics

samples = st.lists(st.floats(0.1, 1e5), min_size=3, max_size=60)


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 30, 199, 200, 201, 1000, 100_000])
@pytest.mark.parametrize("share", [0.55, 0.9, 0.975, 0.995])
def test_student_quantiles(freedom: int, share: float) -> None:
    assert statistics.t_quantile(share, freedom) == pytest.approx(float(scipy.stats.t.ppf(share, freedom)), rel=1e-8)


@given(samples)
def test_mean_sd_and_interval(values: list[float]) -> None:
    if max(values) - min(values) < 1e-6:
        return  # scipy's own sums lose their digits there
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1) * scipy.stats.sem(values))
    middle = float(scipy.stats.tmean(values))
    assert statistics.mean(values) == pytest.approx(middle, rel=1e-9)
    assert statistics.sample_sd(values) == pytest.approx(float(scipy.stats.tstd(values)), rel=1e-6, abs=1e-9)
    assert statistics.mean_interval(values) == pytest.approx((middle - half, middle + half), rel=1e-6, abs=1e-6)


@given(samples, st.sampled_from(statistics.QUANTILES))
def test_quantiles_are_type_seven(values: list[float], word: str) -> None:
    expected = float(scipy.stats.mstats.mquantiles(values, int(word[1:]) / 100, alphap=1, betap=1)[0])
    assert statistics.take(word, values) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 400), st.integers(1, 400))
def test_shares_by_wilson(hits: int, count: int) -> None:
    hits = min(hits, count)
    expected = scipy.stats.binomtest(hits, count).proportion_ci(method="wilson")
    assert statistics.share_interval(hits, count) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(samples)
def test_modified_z_scores(values: list[float]) -> None:
    deviation = float(scipy.stats.median_abs_deviation(values))
    if deviation > 1e-6 * max(values):
        middle = statistics.median(values)
        expected = [0.6744897501960817 * (value - middle) / deviation for value in values]
        assert statistics.outlier_scores(values) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("count", [6, 7, 20, 101, 1000, 1001, 5000])
def test_median_interval_lies_between_the_pairs_that_cover_more_and_less_than_it_says(count: int) -> None:
    """Counted exactly: the median is missed below with the chance that fewer than k of the values lie below it."""
    low, high = statistics.median_interval([float(n) for n in range(1, count + 1)]) or (0.0, 0.0)
    rank = int(low)
    assert high == pytest.approx(count + 1 - low)  # as far from above as from below
    missed = 2 * float(scipy.stats.binom.cdf(rank - 1, count, 0.5))
    narrower = 2 * float(scipy.stats.binom.cdf(rank, count, 0.5))
    assert missed <= 0.0501 < narrower + 0.001


@pytest.mark.parametrize("count", [6, 30, 1000, 1001, 1200, 5000, 100_000])
def test_median_interval_is_interpolated_as_documented_whatever_the_number_of_values(count: int) -> None:
    """docs/concepts/judging.md: the end lies (n - k) I / (k + (n - 2k) I) of the way from the k-th value to the next."""
    k = int(scipy.stats.binom.ppf(0.025, count, 0.5))
    wide, narrow = (1 - 2 * float(scipy.stats.binom.cdf(rank - 1, count, 0.5)) for rank in (k, k + 1))
    share = (wide - 0.95) / (wide - narrow)
    place = k + (count - k) * share / (k + (count - 2 * k) * share)
    low, high = statistics.median_interval([float(n) for n in range(1, count + 1)]) or (0.0, 0.0)
    assert low == pytest.approx(place, rel=1e-9)
    assert high == pytest.approx(count + 1 - place, rel=1e-9)


@pytest.mark.parametrize("count", [6, 8, 10, 11, 15, 30])
@pytest.mark.parametrize("shape", ["norm", "laplace", "expon", "uniform"])
def test_median_interval_covers_what_it_says(count: int, shape: str) -> None:
    """Between two ranks alone 8 values cover 99.2 %, and 11 cover 98.8 %."""
    law = getattr(scipy.stats, shape)
    samples = law.rvs(size=(4000, count), random_state=count)
    samples.sort(axis=1)
    middle = float(law.median())
    ends = [statistics.median_interval(row) or (0.0, 0.0) for row in samples.tolist()]
    assert 0.93 <= sum(low <= middle <= high for low, high in ends) / len(ends) <= 0.97


def test_five_values_are_too_few_for_a_median_interval() -> None:
    """Even the extremes miss the median with a chance of 2 / 32."""
    assert statistics.median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    low, high = statistics.median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) or (0.0, 0.0)
    assert 1.0 < low < 1.4 and 5.6 < high < 6.0


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("count", [40, 100, 400])
def test_wilson_covers_about_what_it_promises(share: float, count: int) -> None:
    """Summed over every outcome there is; near 1 a single share may be covered less, on average it is not."""
    inside = [
        scipy.stats.binom.pmf(hits, count, share)
        for hits in range(count + 1)
        if (around := statistics.share_interval(hits, count)) and around[0] <= share <= around[1]
    ]
    assert 0.91 < math.fsum(map(float, inside)) < 1


def test_wilson_covers_what_it_promises_on_average() -> None:
    chance, count, found = random.Random(4), 100, 0.0
    for _ in range(400):
        share = chance.uniform(0.8, 1.0)
        found += math.fsum(
            float(scipy.stats.binom.pmf(hits, count, share))
            for hits in range(60, count + 1)
            if (around := statistics.share_interval(hits, count)) and around[0] <= share <= around[1]
        )
    assert 0.945 < found / 400 < 0.965


def test_intervals_of_mean_and_median_by_simulation() -> None:
    """Run times have a tail to the right: the median's interval holds all the same, the mean's nearly."""
    chance, means, medians, rounds = random.Random(5), 0, 0, 1500
    for _ in range(rounds):
        values = sorted(100 + chance.lognormvariate(0, 0.5) for _ in range(30))
        low, high = statistics.mean_interval(values)
        means += low <= 100 + math.exp(0.125) <= high
        low, high = statistics.median_interval(values) or (0.0, 0.0)
        medians += low <= 101 <= high
    assert 0.91 < means / rounds < 0.97
    assert 0.945 < medians / rounds < 0.98  # exactly 0.957 for thirty values


@given(samples)
def test_outliers_do_not_depend_on_order_and_are_never_most_of_a_sample(values: list[float]) -> None:
    flagged = sorted(values[place] for place in statistics.outliers(values))
    turned = list(reversed(values))
    assert sorted(turned[place] for place in statistics.outliers(turned)) == flagged
    summary = statistics.describe(values)
    assert summary is not None and len(summary.outliers) <= len(values) // 2


def test_rounding_makes_no_outliers() -> None:
    """Nineteen times 0.3 and once 0.1 + 0.2, which differs in the last bit."""
    assert statistics.outliers([0.3] * 19 + [0.1 + 0.2]) == ()
    assert statistics.outliers([0.3] * 19 + [0.31]) == (19,)


def test_a_doubled_run_time_is_told_apart() -> None:
    """As in the stability test of paper 004: about 4148 s, standard deviation 11 s, and one run of nearly double."""
    chance = random.Random(6)
    values = [chance.gauss(4148.1, 11.3) for _ in range(200)]
    values[77] *= 1.97
    assert statistics.outliers(values) == (77,)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30, 999, 1000, 1001, 20_000])
def test_the_interval_of_a_count_is_garwoods(count: int) -> None:
    """From chi-square: half its 2.5 % quantile with 2n, and half its 97.5 % quantile with 2n + 2 degrees of freedom."""
    low, high = statistics.count_interval(count)
    assert low == pytest.approx(scipy.stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0, rel=1e-5)
    assert high == pytest.approx(scipy.stats.chi2.ppf(0.975, 2 * count + 2) / 2, rel=1e-5)
    assert statistics.no_more_than() == pytest.approx(-math.log(0.05))
