"""What follows from an observed number: what others take, and one amount of several."""

from __future__ import annotations

import pytest

from shakedown.model.observing import Observe


@pytest.mark.parametrize(
    ("means", "number", "ours", "beside"),
    [
        ("used", 50.0, 1.0, 3.0),  # of eight, half is used, and one of that is ours
        ("used", 10.0, 4.0, 0.0),  # ours load less than they are charged with: others take nothing
        ("used", 150.0, 4.0, 8.0),  # more than all there is
        ("others", 50.0, 4.0, 4.0),
        ("free", 75.0, 1.0, 1.0),
        ("free", 0.0, 8.0, 8.0),  # nothing is free: how much more is wanted nobody knows
    ],
)
def test_what_others_take_of_eight(means: str, number: float, ours: float, beside: float) -> None:
    word = Observe("fs", "command", "load", means=means, full=100.0)
    assert word.beside(number, ours, 8.0) == pytest.approx(beside)


@pytest.mark.parametrize(("by", "over", "amount"), [("mean", 60.0, 5.0), ("median", 60.0, 3.0), ("most", 60.0, 10.0)])
def test_one_amount_of_a_minute(by: str, over: float, amount: float) -> None:
    samples = [(0.0, 99.0), (40.0, 10.0), (70.0, 2.0), (99.0, 3.0)]
    assert Observe("fs", "command", "load", smooth_s=over, smooth_by=by).smoothed(samples) == amount


def test_without_smoothing_the_newest_counts() -> None:
    assert Observe("fs", "command", "load").smoothed([(0.0, 9.0), (1.0, 4.0)]) == 4.0
