"""The clock of a component: acts in any order, said late or early."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shakedown.model import clocks

ACTS = st.lists(
    st.tuples(st.integers(0, 40).map(float), st.sampled_from(["start", "stop", "go on", "restart"])), max_size=12
)


def test_a_clock_that_was_never_started_does_not_run() -> None:
    said = [(5.0, "go on"), (6.0, "stop"), (7.0, "go on")]
    assert clocks.running(said, 100) == () and clocks.since(said) is None
    assert not clocks.is_running(said, 100) and clocks.when(said, 10, 100) is None


def test_it_stops_goes_on_and_starts_anew() -> None:
    said = [(10.0, "start"), (20.0, "stop"), (30.0, "go on")]
    assert clocks.running(said, 50) == ((10, 20), (30, 50)) and clocks.ran(said, 50) == 30
    again = [*said, (60.0, "restart")]
    assert clocks.running(again, 100) == ((60, 100),) and clocks.since(again) == 60
    assert clocks.ran(again, 59) == 39, "before that moment nothing was started anew"


def test_what_is_said_late_counts_from_when_it_was() -> None:
    """At 9 it is said that it stood still from 6 to 8."""
    said = [(1.0, "start"), (6.0, "stop"), (8.0, "go on")]
    assert clocks.running([said[0], said[2], said[1]], 9) == clocks.running(said, 9) == ((1, 6), (8, 9))


def test_of_the_same_moment_the_last_word_counts() -> None:
    assert clocks.running([(1.0, "start"), (5.0, "stop"), (5.0, "go on")], 9) == ((1, 9),)
    assert clocks.running([(1.0, "start"), (5.0, "go on"), (5.0, "stop")], 9) == ((1, 5),)


def test_when_it_will_have_run_so_long() -> None:
    said = [(10.0, "start"), (20.0, "stop"), (30.0, "go on")]
    assert clocks.when(said, 60, 50) == 80
    assert clocks.when(said, 10, 50) == 20, "it has: at this moment"
    assert clocks.when(said, 15, 50) == 35
    assert clocks.when(said[:2], 60, 50) is None, "it stands still"
    assert clocks.when(said[:2], 5, 50) == 15


@given(ACTS, st.integers(0, 50))
def test_second_by_second(said: list[tuple[float, str]], until: int) -> None:
    """Spans against asking at each second what the last word was."""
    seconds = 0
    begun = max((at for at, act in said if act in ("start", "restart") and at <= until), default=None)
    for second in range(until):
        words = [act for _, act in sorted((one for one in said if one[0] <= second), key=lambda one: one[0])]
        first = next((n for n, word in enumerate(words) if word in ("start", "restart")), None)
        runs = first is not None and words[-1] != "stop"
        assert clocks.is_running(said, second) == runs
        seconds += runs and begun is not None and second >= begun
    spans = clocks.running(said, until)
    assert clocks.ran(said, until) == seconds == sum(end - begin for begin, end in spans)
    assert all(begin < end for begin, end in spans) and all(a[1] < b[0] for a, b in pairwise(spans))


@given(ACTS, st.integers(1, 50), st.integers(0, 50))
def test_at_that_moment_it_has_run_so_long(said: list[tuple[float, str]], amount: int, now: int) -> None:
    moment = clocks.when(said, amount, now)
    if moment is None:
        assert not clocks.is_running(said, now)
    elif moment <= now:
        assert sum(max(0.0, min(end, moment) - begin) for begin, end in clocks.running(said, now)) == amount
    else:
        assert clocks.ran(said, now) + (moment - now) == amount


def test_spans_that_touch_are_one() -> None:
    assert clocks.merged([(3.0, 4.0), (0.0, 1.0), (1.0, 2.0), (3.5, 3.6)]) == ((0.0, 2.0), (3.0, 4.0))
