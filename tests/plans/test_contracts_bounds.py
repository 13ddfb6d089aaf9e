"""What a figure must be, as people write it, in the figure's own unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.plans.contracts.contract_bounds import Bounds, parse_must
from shakedown.plans.schema.scalars import InvalidValue


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("<= 4355 s", "s", None, 4355),
        (">= 12", "", 12, None),
        ("≥ 12", "", 12, None),
        ("= 4", "", 4, 4),
        ("== 4", "", 4, 4),
        ("4148 s +-2%", "s", 4065.04, 4230.96),
        ("4148 s ± 2 %", "s", 4065.04, 4230.96),
        ("4148 s +/-10 s", "s", 4138, 4158),
        ("4148 s +2%", "s", None, 4230.96),
        ("12 GB/s -5%", "GB/s", 11.4, None),
        ("12 GB/s +1 GB/s -5%", "GB/s", 11.4, 13),
        ("12 GB/s -5% +1 GB/s", "GB/s", 11.4, 13),
        ("10..20 GB/s", "GB/s", 10, 20),
        ("10 GB/s..20 GB/s", "MB/s", 10000, 20000),
        ("-5..-3", "", -5, -3),
        ("-5 +-10%", "", -5.5, -4.5),
        ("1e+5 +2%", "", None, 102000),
        ("1h30m +-5m", "s", 5100, 5700),
        ("1h..2h", "min", 60, 120),
        ("<= 1.5e3 s", "s", None, 1500),
        ("<= 900 ms", "s", None, 0.9),
        ("9 years/day +-10%", "years/day", 8.1, 9.9),
        ("9..10 years/day", "years/day", 9, 10),
        ("95% +-2%", "%", 93.1, 96.9),
        ("0 +-5%", "", 0, 0),
    ],
)
def test_a_bound_is_read(text: str, unit: str, low: float | None, high: float | None) -> None:
    bounds = parse_must(text, unit)
    assert [bounds.low, bounds.high] == pytest.approx([low, high])
    assert not bounds.strict


def test_less_and_more_leave_the_bound_itself_out() -> None:
    assert parse_must("< 4 s", "s") == Bounds(None, 4.0, strict=True)
    assert parse_must("> 4", "") == Bounds(4.0, None, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        "4148",
        "4148 s",
        "s",
        "<=",
        "<= ",
        "<= <= 4 s",
        "4 s ..",
        ".. 4 s",
        "+-2%",
        "4 +2% +3%",
        "4 s to 5 s",
        "4 s +-2% -3%",
        "4 s +-1 s +3%",
    ],
)
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_must(text, "s")


@given(st.text("0123456789.+-±%<>=≤≥eE sGB/hm", max_size=20), st.sampled_from(["", "s", "GB/s", "%", "years/day"]))
def test_whatever_is_written_is_a_bound_or_wrong(text: str, unit: str) -> None:
    try:
        bounds = parse_must(text, unit, never_negative=True)
    except InvalidValue:
        return
    assert bounds.low is not None or bounds.high is not None
    assert bounds.low is None or bounds.high is None or bounds.low <= bounds.high


@given(
    st.floats(0.001, 1e6).map(lambda value: float(f"{value:.6g}")),
    st.floats(0.001, 500).map(lambda value: float(f"{value:.4g}")),
)
def test_a_percentage_is_one_of_the_value_written(value: float, percent: float) -> None:
    width = value * percent / 100
    both = parse_must(f"{value!r} GB/s +-{percent!r}%", "MB/s")
    assert [both.low, both.high] == pytest.approx([(value - width) * 1000, (value + width) * 1000])
    upper, lower = parse_must(f"{value!r} +{percent!r}%", ""), parse_must(f"{value!r} -{percent!r}%", "")
    assert [upper.low, upper.high] == pytest.approx([None, value + width])
    assert [lower.low, lower.high] == pytest.approx([value - width, None])


@pytest.mark.parametrize(
    ("text", "value"),
    [("4148 s +-2%", 4148), ("4148 s +2%", 4148), ("1h -5%", 3600), ("4148 s +1% -2%", 4148)]
    + [(text, None) for text in ("<= 4355 s", "= 4 s", "10..20 s")],
)
def test_a_bound_around_a_value_keeps_the_value(text: str, value: float | None) -> None:
    assert parse_must(text, "s").value == value
