"""Values beside bounds: in the unit that the bound is written in, with digits enough."""

from __future__ import annotations

import pytest

from shakedown.metrics.judging.at_bound import at_bound, duration_at, in_parts
from shakedown.model.bounds import written_unit
from shakedown.model.contracts import beside
from shakedown.model.judging import ContractRow, Criterion


@pytest.mark.parametrize(
    ("must", "unit", "wanted"),
    [
        ("<= 30 s", "h", "s"),
        ("<=30s", "h", "s"),
        (">= 2m", "s", "m"),
        ("≤ 1e3 ms", "s", "ms"),
        ("10..20 GB/s", "MB/s", "GB/s"),
        ("10 MB/s..20 GB/s", "MB/s", "MB/s"),
        ("<= 1h30m", "h", "h"),
        ("100 s +- 5%", "s", "s"),
        (">= 5", "", ""),
        (">= 3 years/day", "years/day", "years/day"),
        (">= 3 GB/s", "s", "s"),
    ],
)
def test_the_unit_that_a_bound_is_written_in(must: str, unit: str, wanted: str) -> None:
    assert written_unit(must, unit) == wanted


def test_a_value_stands_to_its_bound_as_it_does_in_truth() -> None:
    hole = Criterion("k", "longest hole", "<=", 30 / 3600, "h", must="<= 30 s")
    assert at_bound(0.0, hole, "h") == "0 s"
    assert at_bound(30.0001 / 3600, hole, "h") == "30.0001 s"
    assert at_bound(30 / 3600, hole, "h") == "30 s"
    assert in_parts(Criterion("k", "longest hole", "<=", 1.5, "h", must="<= 1h30m"), "h") == " (1.5 h)"


def test_a_contract_row_prints_its_values_in_the_unit_of_its_bound() -> None:
    row = ContractRow("c:1", "c", "t", "rate", ">= 4000 MB/s", "contract", low=4.0, unit="GB/s")
    assert beside(3.99999, row) == "3999.99 MB/s"
    assert beside(0.3, row) == "300 MB/s"


def test_durations_that_look_alike_are_said_to_the_last_digit() -> None:
    assert duration_at(14400.0, 36000.0) == ("4 h 00 min", "10 h 00 min")
    assert duration_at(36000.0, 36000.0) == ("10 h 00 min", "10 h 00 min")
    assert duration_at(35999.7, 36000.0) == ("35999.7 s", "36000 s (10 h 00 min)")
