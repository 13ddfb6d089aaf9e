"""Waiting: until a time, or until something happens, whichever is first."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from shakedown.processes.reactor import Reactor

LONG = 30.0


def pipe_with_news() -> int:
    reading, writing = os.pipe()
    os.write(writing, b"x")
    os.close(writing)
    return reading


def hear(reactor: Reactor, descriptor: int, heard: list[str], word: str) -> None:
    """Note the word when there is news of the descriptor, once."""

    def note() -> None:
        heard.append(word)
        reactor.close_watched(descriptor)

    reactor.watch(descriptor, note)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_wait_ends_at_its_time_although_the_clock_is_set_meanwhile(
    reactor: Reactor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, until = time.monotonic(), reactor.now() + 0.05
    monkeypatch.setattr(time, "time", lambda: 1000.0)

    reactor.wait(until)

    assert 0.04 <= time.monotonic() - before < LONG
    assert reactor.now() >= until - 0.01


def test_what_is_ready_is_attended_to_before_what_is_due(reactor: Reactor) -> None:
    """This process stood still past both: the end of a job came before its time limit, and counts."""
    heard: list[str] = []
    hear(reactor, pipe_with_news(), heard, "ended")

    def late() -> None:
        heard.append("time is up")

    def busy() -> bool:  # the first look finds nothing; while it is attended to, the rest comes
        hear(reactor, pipe_with_news(), heard, "ended too")
        time.sleep(0.03)
        return False

    reactor.unwatch(reactor._wake_read)
    reactor.call_later(0.0, busy)
    reactor.call_later(0.02, late)
    while "time is up" not in heard:
        reactor.wait(reactor.now() + 0.01)

    assert heard == ["ended", "ended too", "time is up"]


def test_news_ends_a_wait_and_everything_that_is_ready_is_attended_to_first(reactor: Reactor) -> None:
    heard: list[str] = []
    for word in "abc":
        hear(reactor, pipe_with_news(), heard, word)

    reactor.wait(reactor.now() + LONG)

    assert sorted(heard) == ["a", "b", "c"]


def test_what_is_no_news_does_not_end_a_wait(reactor: Reactor) -> None:
    descriptor = pipe_with_news()

    def look() -> bool:
        reactor.unwatch(descriptor)
        return False

    reactor.watch(descriptor, look)
    before = time.monotonic()

    reactor.wait(reactor.now() + 0.05)

    assert time.monotonic() - before >= 0.05
    os.close(descriptor)


def test_a_wait_for_a_time_that_is_past_attends_to_what_is_ready(reactor: Reactor) -> None:
    heard: list[str] = []
    hear(reactor, pipe_with_news(), heard, "data")
    reactor.call_later(0.0, lambda: heard.append("timer"))

    reactor.wait(reactor.now() - 1.0)

    assert sorted(heard) == ["data", "timer"]


def test_neither_a_closed_descriptor_nor_the_one_that_took_its_number_hears_of_old_news(reactor: Reactor) -> None:
    """Both are ready at once; the first closes the second and opens another, which gets the second's number."""
    heard: list[str] = []
    first, second = pipe_with_news(), pipe_with_news()
    quiet: list[int] = []

    def closer(other: int) -> Callable[[], object]:
        def close() -> None:
            if quiet:
                heard.append("the closed one")
                return
            reactor.close_watched(other)
            quiet.extend(os.pipe())
            reactor.watch(quiet[0], lambda: heard.append("the newcomer"))
            reactor.unwatch(first + second - other)

        return close

    reactor.watch(first, closer(second))
    reactor.watch(second, closer(first))

    reactor.wait(reactor.now() + LONG)

    assert quiet[0] in (first, second)
    assert heard == []


def test_timers_ring_in_order_and_not_when_cancelled(reactor: Reactor) -> None:
    rung: list[str] = []
    reactor.call_later(0.02, lambda: rung.append("second"))
    reactor.call_at(reactor.now() + 0.01, lambda: rung.append("first"))
    reactor.call_later(0.005, lambda: rung.append("never")).cancel()

    while len(rung) < 2:
        reactor.wait(reactor.now() + LONG)

    assert rung == ["first", "second"]


def test_thousands_of_cancelled_timers_do_not_pile_up_and_the_living_ones_ring(reactor: Reactor) -> None:
    rung: list[int] = []
    for number in range(5000):
        timer = reactor.call_later(3600.0, lambda: rung.append(-1))
        if number % 1000 == 0:
            reactor.call_later(0.0, partial(rung.append, number))
        timer.cancel()
        timer.cancel()

    reactor.wait(reactor.now() + LONG)

    assert rung == [0, 1000, 2000, 3000, 4000]
    assert len(reactor._timers) < 200


def test_a_callback_may_cancel_a_timer_that_is_due_at_the_same_moment(reactor: Reactor) -> None:
    rung: list[str] = []

    def first() -> None:
        rung.append("first")
        second.cancel()

    reactor.call_later(0.0, first)
    second = reactor.call_later(0.0, lambda: rung.append("second"))

    reactor.wait(reactor.now() + 0.02)

    assert rung == ["first"]


def test_a_signal_ends_a_wait(reactor: Reactor) -> None:
    caught: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: caught.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        reactor.wait(reactor.now() + LONG)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert caught == [signal.SIGALRM]


def test_another_thread_ends_a_wait_that_has_no_end(reactor: Reactor) -> None:
    thread = threading.Timer(0.03, reactor.poke)
    thread.start()

    reactor.wait(None)

    thread.join()


def test_a_closed_reactor_gives_back_its_descriptors() -> None:
    before = open_descriptors()
    reactor = Reactor()
    reactor.close()
    reactor.close()

    assert open_descriptors() == before


class LooksTooEarly:
    """An epoll whose first look is over before this process stood still: what happened meanwhile is seen by the next one."""

    def __init__(self, real: select.epoll) -> None:
        self.real, self.stood = real, False

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        if self.stood:
            return self.real.poll(timeout)
        self.stood = True
        time.sleep(0.3)
        return []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def test_what_happened_while_we_stood_still_is_as_old_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shakedown.processes.reactor._UNSEEN_S", 0.1)
    looks = LooksTooEarly(select.epoll())
    reactor = Reactor(_epoll=cast("select.epoll", looks))
    reading, writing = os.pipe()
    seen: list[float] = []

    def heard() -> bytes:
        seen.append(reactor.seen_until)
        return os.read(reading, 1)

    reactor.watch(reading, heard)
    reactor.call_later(0.01, lambda: None)
    os.write(writing, b"x")
    begun = time.monotonic()
    reactor.wait(reactor.now() + 0.01)
    assert len(seen) == 1 and seen[0] <= begun, "it may have happened at any time since the last look"
    os.write(writing, b"x")
    reactor.wait(reactor.now() + 5)
    assert len(seen) == 2 and seen[1] >= begun + 0.3, "and this was seen at once"
    for descriptor in (reading, writing):
        reactor.unwatch(descriptor)
        os.close(descriptor)
    reactor.close()
