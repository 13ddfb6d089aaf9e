"""Windows of the week: for engine, twin and report what is open is what the wall clock says, through summer and winter time."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shakedown.model.errors import UsageError
from shakedown.model.filling import Window
from shakedown.model.scenario import Neighbour
from shakedown.model.windows import is_open, next_change, next_time, open_in, show_local, time_of_week
from shakedown.twin.machine.calendar import pending_on

MINUTE, HOUR, DAY = 60, 3600, 86400
# Berlin: clocks are put on 2026-03-29 02:00 and back 2026-10-25 03:00. Lord Howe moves by half an hour, Apia once skipped a day.
MOMENTS = {
    "Europe/Berlin": ["2026-03-28T12:00", "2026-10-24T12:00", "2026-06-10T12:00"],
    "America/New_York": ["2026-03-07T12:00", "2026-10-31T12:00"],
    "Australia/Lord_Howe": ["2026-04-04T06:00", "2026-10-03T06:00"],
    "Pacific/Apia": ["2011-12-29T06:00"],
    "UTC": ["2026-11-22T00:00"],
}
PLACES = [(zone, text) for zone, texts in MOMENTS.items() for text in texts]


def at(text: str, zone: str = "Europe/Berlin") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def on_the_wall(window: Window, second: float) -> bool:
    """By the words of the calendar alone: is the time that the wall clock shows inside?"""
    local = datetime.fromtimestamp(second, ZoneInfo(window.zone)).replace(tzinfo=None)
    monday = datetime.combine(local.date() - timedelta(days=local.weekday()), datetime.min.time())
    for week in (monday - timedelta(days=7), monday):
        begin = week + timedelta(seconds=window.from_s)
        end = week + timedelta(seconds=window.to_s) + timedelta(days=7 * (window.to_s <= window.from_s))
        if begin <= local < end:
            return True
    return False


minutes = st.integers(0, 7 * 24 * 60 - 1).map(lambda minute: float(minute * MINUTE))
bounds = st.one_of(minutes, st.sampled_from([6 * DAY + 2 * HOUR, 6 * DAY + 2.5 * HOUR, 6 * DAY + 3 * HOUR, 0.0]))


@settings(max_examples=60)
@given(st.sampled_from(PLACES), bounds, bounds, st.integers(0, 2 * 24 * 60))
@example(("Europe/Berlin", "2026-10-24T12:00"), 6 * DAY + 2.5 * HOUR, 6 * DAY + 4.0 * HOUR, 0)
@example(("Europe/Berlin", "2026-03-28T12:00"), 6 * DAY + 2.5 * HOUR, 6 * DAY + 2.75 * HOUR, 0)
def test_minute_by_minute_through_a_change_of_the_clocks(
    place: tuple[str, str], begin: float, end: float, later: int
) -> None:
    """The next change is the first minute that differs, and no other lies between."""
    zone, text = place
    window = Window("x", begin, end, zone)
    now = at(text, zone) + later * MINUTE
    assert is_open(window, now) == on_the_wall(window, now)
    change = next_change(window, now)
    last = now + 36 * HOUR if change is None else min(change, now + 36 * HOUR)
    second = now
    while second < last:
        assert is_open(window, second) == on_the_wall(window, second) == on_the_wall(window, now), second
        second += MINUTE
    if change is not None:
        assert change > now
        assert is_open(window, change) != is_open(window, change - 0.001)


@settings(max_examples=40)
@given(st.sampled_from(PLACES), bounds, bounds, st.integers(0, 24 * 60), st.integers(1, 48 * 60))
@example(("Europe/Berlin", "2026-10-24T12:00"), 6 * DAY + 2.5 * HOUR, 6 * DAY + 2.75 * HOUR, 0, 48 * 60)
@example(("Europe/Berlin", "2026-03-28T12:00"), 6 * DAY + 2.25 * HOUR, 6 * DAY + 3.5 * HOUR, 0, 48 * 60)
def test_the_report_and_the_twin_see_the_same_minutes(
    place: tuple[str, str], begin: float, end: float, later: int, minutes_long: int
) -> None:
    """What a figure draws and when others work is what the wall clock says, minute by minute."""
    zone, text = place
    window, other = Window("x", begin, end, zone), Neighbour("c", begin, end, pending=7, zone=zone)
    first = at(text, zone) + later * MINUTE
    last = first + minutes_long * MINUTE
    pieces = open_in(window, first, last)
    assert all(low < high for low, high in pieces)
    assert all(one[1] < two[0] for one, two in pairwise(pieces))
    second = first
    while second < last:
        inside = on_the_wall(window, second)
        assert any(low <= second < high for low, high in pieces) == inside, second
        assert pending_on((other,), "c", second) == 7 * inside
        second += MINUTE


@settings(max_examples=60)
@given(st.sampled_from(PLACES), minutes, st.integers(0, 2 * 24 * 60))
def test_the_next_time_of_the_week_is_the_first_minute_that_shows_it(
    place: tuple[str, str], wanted: float, later: int
) -> None:
    """Looked for minute by minute. A time that the clocks skip comes when they have done so: no minute before it is past it."""
    zone, text = place
    now = at(text, zone) + later * MINUTE
    found = next_time(now, wanted, zone)
    shown = (minute for minute in range(int(now), int(now) + 8 * DAY, MINUTE) if time_of_week(minute, zone) == wanted)
    first = next(shown, None)
    if time_of_week(found, zone) == wanted:
        assert found == first
    else:  # skipped in this week
        assert first is None or found < first
        assert time_of_week(found, zone) - time_of_week(found - DAY, zone) != DAY


@given(st.floats(0, 4e9), minutes, minutes)
@settings(max_examples=40)
def test_every_window_that_is_not_always_open_changes_within_eight_days(now: float, begin: float, end: float) -> None:
    change = next_change(Window("x", begin, end, "Europe/Berlin"), now)
    assert (change is None) if begin == end else (change is not None and now < change <= now + 8 * DAY)


def test_monday_six_is_six_on_the_wall_in_summer_and_in_winter() -> None:
    window = Window("Mon 06:00 to Fri 18:00", 6 * HOUR, 4 * DAY + 18 * HOUR, "Europe/Berlin")
    assert next_change(window, at("2026-03-28T12:00")) == at("2026-03-30T06:00")
    assert next_change(window, at("2026-10-24T12:00")) == at("2026-10-26T06:00")
    assert at("2026-03-30T06:00") - at("2026-03-27T18:00") == 60 * HOUR - HOUR, "that weekend is an hour shorter"
    assert show_local(window, at("2026-10-26T06:00")) == "Mon 2026-10-26 06:00 Europe/Berlin"


def test_a_night_goes_over_the_end_of_the_week() -> None:
    window = Window("Sun 22:00 to Mon 04:00", 6 * DAY + 22 * HOUR, 4 * HOUR)
    assert [
        is_open(window, at(f"2026-11-{day}", "UTC")) for day in ("22T21:59", "22T22:00", "23T03:59", "23T04:00")
    ] == [
        False,
        True,
        True,
        False,
    ]


def test_a_zone_that_this_machine_does_not_know_is_said() -> None:
    with pytest.raises(
        UsageError, match="this machine knows no time zone 'Mars/Olympus', which a window of the plan is in"
    ):
        is_open(Window("x", 0, 60, "Mars/Olympus"), 0)
