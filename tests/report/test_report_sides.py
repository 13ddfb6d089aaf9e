"""The vendor's number against what was measured: the statistic that its row is on."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.metrics import statistics
from shakedown.metrics.cases import FigureSummary
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import FigureSpec
from shakedown.report.sides import Side

RATE = FigureSpec("rate", unit="GB/s", better="higher")


@pytest.mark.parametrize(("statistic", "better"), [("each", 0.2), ("mean", 0.2), ("median", 0.0)])
def test_a_row_on_the_median_is_held_against_the_median(statistic: Any, better: float) -> None:
    row = ContractRow("k:1", "k", "a", "rate", ">= 10 GB/s", "vendor", low=10.0, unit="GB/s", statistic=statistic)
    values = (10.0, 10.0, 16.0)
    measured = FigureSummary(RATE, values, statistics.describe(values), None, (), 0)
    side = Side("main", "a", RATE, (("", measured),), (row,), None)

    assert side.better("") == pytest.approx(better)
    assert side.held_against() == ("median" if statistic == "median" else "mean")
