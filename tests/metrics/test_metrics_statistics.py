"""The numbers, against independent formulas and against what they promise."""

from __future__ import annotations

import random
import statistics as standard

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.metrics import statistics

SAMPLE = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


def test_a_textbook_sample() -> None:
    summary = statistics.describe(SAMPLE)
    assert summary is not None and summary.sd is not None
    assert (summary.count, summary.mean, summary.median, summary.lowest, summary.highest) == (8, 5.0, 4.5, 2.0, 9.0)
    assert summary.sd == pytest.approx((32 / 7) ** 0.5)  # divisor n - 1, not n
    assert summary.deviation == 0.5  # |x - 4.5| = 2.5 .5 .5 .5 .5 .5 2.5 4.5
    assert (summary.lower_quartile, summary.upper_quartile) == (4.0, 5.5)
    assert summary.spread == pytest.approx((32 / 7) ** 0.5 / 5)


def test_missing_is_not_zero_and_one_value_has_no_spread() -> None:
    assert statistics.describe([]) is None
    one = statistics.describe([3.0])
    assert one is not None and (one.sd, one.interval, one.spread) == (None, None, None)
    assert one.mean == one.median == one.lowest == 3.0


@given(numbers)
def test_agrees_with_numpy(values: list[float]) -> None:
    summary = statistics.describe(values)
    assert summary is not None and summary.sd is not None
    assert summary.mean == pytest.approx(float(numpy.mean(values)), rel=1e-9, abs=1e-6)
    assert summary.sd == pytest.approx(float(numpy.std(values, ddof=1)), rel=1e-9, abs=1e-6)
    assert summary.median == pytest.approx(float(numpy.median(values)), rel=1e-9, abs=1e-6)
    for share in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        assert statistics.quantile(sorted(values), share) == pytest.approx(
            float(numpy.quantile(values, share)), rel=1e-9, abs=1e-6
        )


def test_outliers_need_five_values_and_a_real_distance() -> None:
    assert statistics.outliers([10.0, 10.1, 9.9, 50.0]) == ()
    assert statistics.outliers([10.0, 10.1, 50.0, 9.9, 10.05, 9.95]) == (2,)
    assert statistics.outliers([10.0, 10.1, 9.9, 10.05, 9.95]) == ()


def test_an_outlier_shows_where_most_values_are_equal() -> None:
    """The MAD is 0 there, which would divide by zero; equal values alone have no outliers."""
    assert statistics.outliers([5.0] * 19 + [9.0]) == (19,)
    assert statistics.outliers([5.0] * 20) == ()


def test_modified_z_score_by_hand() -> None:
    """Median 3, MAD 1: the value 100 scores 0.6745 * 97 / 1."""
    assert statistics.outlier_scores([1.0, 2.0, 3.0, 4.0, 100.0])[4] == pytest.approx(0.6745 * 97, rel=1e-4)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        (1, 12.7062),
        (2, 4.30265),
        (3, 3.18245),
        (4, 2.77645),
        (9, 2.26216),
        (29, 2.04523),
        (120, 1.97993),
        (1000, 1.96234),
    ],
)
def test_student_quantiles_as_printed_in_tables(freedom: int, quantile: float) -> None:
    assert statistics.t_quantile(0.975, freedom) == pytest.approx(quantile, rel=3e-6)


def test_the_expansion_joins_the_exact_sum() -> None:
    for share in (0.9, 0.975, 0.995):
        exact = statistics.t_quantile(share, 200)
        assert statistics._expanded_t(statistics.normal_quantile(share), 200) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 5, 8])
def test_student_shares_agree_with_integrating_the_density(freedom: int) -> None:
    steps = numpy.linspace(0, 1.7, 20001)
    density = (1 + steps**2 / freedom) ** (-(freedom + 1) / 2)
    whole = numpy.linspace(0, numpy.pi / 2, 20001)  # t = sqrt(f) tan(angle) makes the tail finite
    mass = numpy.sqrt(freedom) * numpy.trapezoid(numpy.cos(whole) ** (freedom - 1), whole)
    expected = 0.5 + 0.5 * float(numpy.trapezoid(density, steps) / mass)
    assert statistics.t_share(1.7, freedom) == pytest.approx(expected, abs=1e-6)


def test_wilson_interval_by_hand() -> None:
    """57 of 60 at z = 1.95996: centre (0.95 + z2/120) / (1 + z2/60), half width z sqrt(.95*.05/60 + z2/14400) / (...)."""
    low, high = statistics.share_interval(57, 60) or (0, 0)
    assert (round(low, 4), round(high, 4)) == (0.8630, 0.9829)
    assert statistics.share_interval(0, 0) is None


def test_wilson_stays_inside_zero_and_one() -> None:
    assert statistics.share_interval(20, 20) == pytest.approx((0.8389, 1.0), abs=1e-4)
    assert statistics.share_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert max(statistics.share_interval(20, 20) or ()) == 1.0


def test_mean_interval_by_hand() -> None:
    """Mean 5, sd 2.1381, n 8: t(7) = 2.36462, half width 2.36462 * 2.1381 / sqrt(8) = 1.7875."""
    assert statistics.mean_interval(SAMPLE) == pytest.approx((5 - 1.78747, 5 + 1.78747), abs=1e-4)


def test_intervals_cover_what_they_promise() -> None:
    """Of many small samples about 95 % of the intervals hold the truth."""
    chance = random.Random(3)
    means = shares = 0
    for _ in range(1500):
        low, high = statistics.mean_interval([chance.gauss(10, 3) for _ in range(5)])
        means += low <= 10 <= high
        hits = sum(chance.random() < 0.9 for _ in range(40))
        around = statistics.share_interval(hits, 40)
        shares += around is not None and around[0] <= 0.9 <= around[1]
    assert 0.93 < means / 1500 < 0.97
    assert 0.92 < shares / 1500 < 0.98


def test_sums_lose_nothing() -> None:
    assert statistics.mean([1e16, 1.0, -1e16]) == pytest.approx(1 / 3)
    assert {statistics.sample_sd([value / 100] * n) for value in range(1, 1000) for n in (3, 5)} == {0.0}, "not 1.4e-16"
    assert statistics.sample_sd([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]) == pytest.approx(standard.stdev([4, 7, 13, 16]))
