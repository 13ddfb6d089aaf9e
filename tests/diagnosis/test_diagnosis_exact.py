"""The exact test against scipy, against counting every possibility, and in tails where sloppy sums give nothing or nonsense."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.diagnosis.exact import Margins, upper_tail


@st.composite
def strata(draw: st.DrawFn) -> Margins:
    n = draw(st.integers(1, 80))
    return n, draw(st.integers(0, n)), draw(st.integers(0, n))


@given(strata(), st.integers(0, 80))
def test_one_stratum_is_fisher_s_exact_test(margins: Margins, marked: int) -> None:
    n, f, m = margins
    assert upper_tail([margins], marked) == pytest.approx(
        scipy.stats.hypergeom.sf(marked - 1, n, f, m), rel=1e-9, abs=1e-290
    )


def test_several_strata_are_every_way_to_give_out_the_marks_counted() -> None:
    margins = [(5, 2, 2), (4, 1, 3), (3, 2, 1)]
    for marked in range(7):
        assert upper_tail(margins, marked) == pytest.approx(float(_counted(margins, marked)), rel=1e-12)


def _counted(margins: list[Margins], marked: int) -> Fraction:
    """The node took part in the first m runs of each stratum; every choice of the f marked ones is as likely as any other."""
    ways = [
        [sum(place < m for place in chosen) for chosen in itertools.combinations(range(n), f)] for n, f, m in margins
    ]
    every = [sum(parts) for parts in itertools.product(*ways)]
    return Fraction(sum(total >= marked for total in every), len(every))


def test_tails_that_no_rounding_error_may_swallow() -> None:
    """Ten of ten marked runs, each the only marked one of 64: 64 to the power of -10, to the last digits; and far beyond."""
    assert upper_tail([(64, 1, 1)] * 10, 10) == pytest.approx(64.0**-10, rel=1e-11)
    assert upper_tail([(64, 1, 1)] * 150, 150) == pytest.approx(64.0**-150, rel=1e-10)
    exact = Fraction(1, math.comb(100, 30))
    assert upper_tail([(100, 30, 30)], 30) == pytest.approx(float(exact), rel=1e-11)


def test_what_must_be_and_what_cannot_be() -> None:
    assert upper_tail([], 0) == 1.0
    assert upper_tail([(10, 10, 4)], 4) == 1.0, "where everything is marked, nothing is said"
    assert upper_tail([(10, 3, 10)], 3) == 1.0, "nor where the node took part in everything"
    assert upper_tail([(10, 3, 4)], 4) == 0.0


@settings(max_examples=300)
@given(st.lists(strata(), min_size=1, max_size=12), st.data())
def test_only_nodes_two_deviations_off_can_have_a_p_value_that_matters(
    margins: list[Margins], data: st.DataObject
) -> None:
    """The attribution computes the exact p-value of such nodes only, where there are more than 16."""
    low = sum(max(0, m + f - n) for n, f, m in margins)
    high = sum(min(m, f) for n, f, m in margins)
    marked = data.draw(st.integers(low, high))
    expected = sum(m * f / n for n, f, m in margins)
    spread = math.sqrt(sum(m * f * (n - f) * (n - m) / (n * n * max(n - 1, 1)) for n, f, m in margins))
    if marked - expected < 2.0 * spread:
        assert upper_tail(margins, marked) > 0.005 / 16


def test_the_sum_of_strata_against_a_million_draws() -> None:
    random = np.random.default_rng(5)
    margins = [(64, 3, 5), (30, 10, 2), (12, 1, 6)]
    total = sum(random.hypergeometric(f, n - f, m, size=1_000_000) for n, f, m in margins)
    for marked in range(1, 6):
        share = float(np.mean(total >= marked))
        assert upper_tail(margins, marked) == pytest.approx(share, abs=4 * math.sqrt(share / 1e6))
