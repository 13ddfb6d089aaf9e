"""A number never prints as if it satisfied a bound that it violates, or the other way round; and nothing has a negative sign."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shakedown.metrics.words import show_beside, show_number, show_score, show_share
from shakedown.model.bounds import same
from shakedown.model.contracts import beside
from shakedown.model.judging import ContractRow
from shakedown.model.units import Quantity, show_bytes, show_duration
from shakedown.report.page.filters import percent
from shakedown.report.tables.csv_files import to_csv
from shakedown.report.words import show_change

_NUMBERS = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-9)
_SHARES = st.floats(-2.0, 2.0, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-9)


def near(numbers: Any) -> Any:
    """A bound, and a value that often lies very near to it."""
    return st.tuples(numbers, st.one_of(numbers, st.sampled_from([0.0, 1e-8, -1e-8, 1e-6, -1e-6, 1e-4, -1e-4]))).map(
        lambda pair: (pair[0] * (1 + pair[1]) if abs(pair[1]) <= 1e-4 else pair[1], pair[0])
    )


def order(value: float, bound: float) -> int:
    return 0 if same(value, bound) else (value > bound) - (value < bound)


@given(near(_SHARES))
@example((0.8995, 0.8995))
@example((0.89949, 0.8995))
@example((0.9499999, 0.95))
@example((1.0, 0.99996))
def test_a_share_stands_to_its_bound_as_printed_as_in_truth(pair: tuple[float, float]) -> None:
    value, bound = pair
    shown = float(show_share(value, bound).removesuffix("%")) / 100
    assert order(shown, bound) == order(value, bound), show_share(value, bound)


@given(near(_NUMBERS))
@example((89.953, 89.953))
@example((123456.5, 123456.5))
@example((9.99996, 10.0))
def test_a_number_stands_to_its_bound_as_printed_as_in_truth(pair: tuple[float, float]) -> None:
    value, bound = pair
    shown = float(show_beside(value, bound))
    assert order(shown, bound) == order(value, bound), show_beside(value, bound)


@given(near(_NUMBERS), near(_NUMBERS))
@example((89.953, 89.953), (1.0, 1.0))
def test_a_value_stands_to_both_bounds_of_its_row_as_printed_as_in_truth(
    pair: tuple[float, float], other: tuple[float, float]
) -> None:
    value, low = pair
    row = ContractRow("c:1", "c", "t", "f", "", "contract", low=low, high=other[1], unit="s")
    shown = float(beside(value, row).removesuffix(" s"))
    for bound in (low, other[1]):
        assert order(shown, bound) == order(value, bound), beside(value, row)


_MINUS_NOTHING = re.compile(r"[-+]0(\.0*)?(?![.\d])")


@given(st.one_of(st.floats(-1e-3, 1e-3), st.sampled_from([-0.0, 0.0, -1e-30])))
@example(-0.0004)
@example(-0.0)
def test_nothing_has_no_sign(value: float) -> None:
    for shown in (
        show_share(value), show_number(value), show_change(value), percent(value), show_duration(value), show_bytes(value),
        show_beside(value, 0.0), str(Quantity(value, "%")),
    ):  # fmt: skip
        assert not _MINUS_NOTHING.match(shown), shown
    cell = to_csv(["x"], [[value]]).decode().splitlines()[1]
    assert float(cell) == value and (value or not cell.startswith("-"))


@pytest.mark.parametrize(
    ("share", "bound", "text"),
    [(0.8995, 0.8995, "89.95%"), (0.95, 0.95, "95.0%"), (0.9496, 0.95, "94.96%"), (1.0, 1.0, "100%")],
)
def test_no_more_digits_than_are_needed(share: float, bound: float, text: str) -> None:
    assert show_share(share, bound) == text


@pytest.mark.parametrize(
    ("results", "printed"),
    [((3421.62, 396872.82), "36850.35"), ((174.74, 5045.33), "938.9467"), ((183.36, 4753.79), "933.6246")],
)
def test_a_score_has_all_digits_of_the_lists(results: tuple[float, float], printed: str) -> None:
    """IO500 lists scores to two decimals, also those of five figures before the point."""
    assert show_score((results[0] * results[1]) ** 0.5) == printed
