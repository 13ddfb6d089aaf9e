"""Numbers as papers print them, against numbers that were derived."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.model.printed import agreement, in_unit, other_unit, parse_printed


@pytest.mark.parametrize(
    ("printed", "derived", "how"),
    [
        ("20.48 TFLOP/s", 8192 * 1.25e9 * 2, "exact"),
        ("41.5 PFLOP/s", 41.527e15, "rounded"),
        ("1.28 PFLOP/s", 1.287e15, "truncated"),
        ("1.28 PFLOP/s", 1.2750001e15, "rounded"),
        ("1.28 PFLOP/s", 1.2749e15, ""),
        ("1.28 PFLOP/s", 1.29e15, ""),
        ("1.11 PB", 1.118208e15, "truncated"),
        ("3.6e6", 3_677_184, "truncated"),
        ("3.6e6", 3_700_000, ""),
        ("28%", 0.2833, "rounded"),
        ("28 %", 0.2833, "rounded"),
        ("20 PFLOP/s", 20.13e15, "rounded"),
        ("> 217 TB", 216.576e12, "rounded"),
        ("> 217 TB", 217.01e12, "above"),
        ("> 217 TB", 216.4e12, ""),
        (">153000", 153216, "above"),
        ("> 19420", 19420, "exact"),
        ("< 0.8 TB/s", 0.79e12, "below"),
        ("< 0.8 TB/s", 806 * 2**30, ""),
        ("< 0.8 TB/s", 0.8499e12, "rounded"),
        ("-3", -3.4, "rounded"),
        ("-3", -3.9, "truncated"),
        ("-3", -2.4, ""),
    ],
)
def test_how_a_derived_number_is_the_printed_one(printed: str, derived: float, how: str) -> None:
    assert agreement(parse_printed(printed), derived) == how


@pytest.mark.parametrize(
    ("printed", "derived", "unit"),
    [
        ("2.16 PiB", 2.166272e15, "PB"),
        ("0.16 PiB", 0.159744e15, "PB"),
        ("1.2 PB", 1.2 * 2**50, "PiB"),
        ("200 GB/s", 25e9, "Gb/s"),
        ("1700 GB/s", 1.7e9, "MB/s"),
        ("37.5 PB", 35.208e15, ""),
        ("3284", 6384, ""),
        ("5 furlongs", 7, ""),
    ],
)
def test_the_unit_in_which_the_digits_would_be_right(printed: str, derived: float, unit: str) -> None:
    assert other_unit(parse_printed(printed), derived) == unit


@pytest.mark.parametrize(
    "text", ["", "GB", "1,728", "1.2.3 GB", ">= 3", "~ 4", "nan", "inf", "9436 nodes each", "1e999", "0x10"]
)
def test_what_is_no_printed_number(text: str) -> None:
    with pytest.raises(ValueError, match="is no number as it is printed"):
        parse_printed(text)


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_printing_and_reading_again_agree(value: int, decimals: int) -> None:
    """Whatever is printed with so many digits, rounded or cut off, is known again; a step further away is not."""
    number = value / 7
    rounded, step = f"{number:.{decimals}f}", 10.0**-decimals
    cut = str(Decimal(number).quantize(Decimal(10) ** -decimals, ROUND_DOWN))
    assert agreement(parse_printed(rounded), number)
    assert agreement(parse_printed(cut), number)
    assert not agreement(parse_printed(rounded), number + 1.6 * step)
    assert in_unit(number * 1e9, "GB") == pytest.approx(number)
