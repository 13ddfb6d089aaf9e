"""Waiting until a time, or until something happens, without ever using the processor meanwhile.

Everything on this machine that can have news (a process that ended, a pipe with output, a timer, a signal, another thread) wakes
the one ``wait``. Callbacks run only inside ``wait``, in the thread that waits.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count

from shakedown.processes.steady import SteadyTime

# What a callback gives back: False says "nothing that the one who waits should know of"; anything else is news.
Callback = Callable[[], object]
STOOD_STILL_S = 5.0  # longer than anything that is done between two waits takes
_UNSEEN_S = 1.0  # what happened in a longer time in which nobody waited may be that old
_COMPACT_FROM = 64  # cancelled timers are swept out when they are this many and the majority


@dataclass(slots=True, eq=False)
class Timer:
    """A callback to call later. ``cancel`` may be called at any time, also after it was called."""

    callback: Callback | None
    _cancelled: Callable[[], None]

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None
            self._cancelled()


@dataclass(slots=True, eq=False)
class Reactor:
    """The Clock port for real time, and the place where code registers what it waits for."""

    _epoll: select.epoll = field(default_factory=select.epoll)
    _callbacks: dict[int, Callback] = field(default_factory=dict)
    _timers: list[tuple[float, int, Timer]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _dead_timers: int = 0
    calendar: SteadyTime = field(default_factory=SteadyTime)
    woke: Callable[[], object] = lambda: None  # called first of all after this process stood still; may raise
    _awake: float = field(default_factory=time.monotonic)
    seen_until: float = field(default_factory=time.monotonic)  # monotonic: what is ready now was not, then
    waited_s: float = 0.0  # for which a port waited on purpose, beside the waits of this clock
    _wake_read: int = -1
    _wake_write: int = -1
    _old_wakeup: int | None = None

    def __post_init__(self) -> None:
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.watch(self._wake_read, self._drain_wake)
        try:
            self._old_wakeup = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        except ValueError:  # not the main thread: signals arrive elsewhere
            self._old_wakeup = None

    def now(self) -> float:
        """Seconds since 1970. They never go backwards and never jump, whatever is done to the machine's clock."""
        return self.calendar.now()

    def wait(self, until: float | None) -> None:
        """Purpose: sleep until ``until`` (in the time of ``now``), or until a callback has news; with None only until there is
        news.

        The wait is measured by the monotonic clock, so setting the machine's clock does not change it. Everything that is ready is
        handled before it returns, even if ``until`` is in the past.
        """
        end = None if until is None else time.monotonic() + (until - self.now())
        while not self._attend(self._pause(end)):
            if end is not None and time.monotonic() >= end:
                return

    def watch(self, descriptor: int, callback: Callback, writable: bool = False) -> None:
        """Call ``callback`` whenever ``descriptor`` can be read (or written), until it is unwatched."""
        self._callbacks[descriptor] = callback
        self._epoll.register(descriptor, select.EPOLLOUT if writable else select.EPOLLIN)

    def watch_end(self, descriptor: int, callback: Callback) -> None:
        """Call ``callback`` once the other end of ``descriptor`` is closed, whatever else there is to read from it."""
        self._callbacks[descriptor] = callback
        self._epoll.register(descriptor, 0)  # a hang-up is reported always

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor. Nothing happens if it is not watched."""
        if self._callbacks.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def close_watched(self, descriptor: int) -> None:
        """Stop watching a descriptor, and close it.

        Closing alone is not enough: a process that is just being started has a copy until the kernel closes that. Until then epoll
        reports events of the old descriptor under its number, which may already belong to another one.
        """
        self.unwatch(descriptor)
        os.close(descriptor)

    def call_later(self, delay_s: float, callback: Callback) -> Timer:
        """Call ``callback`` once, ``delay_s`` seconds from now by the monotonic clock."""
        timer = Timer(callback, self._count_dead)
        heappush(self._timers, (time.monotonic() + delay_s, next(self._order), timer))
        return timer

    def call_at(self, when: float, callback: Callback) -> Timer:
        """Call ``callback`` once, at ``when`` in the time of ``now``."""
        return self.call_later(when - self.now(), callback)

    def poke(self) -> None:
        """Wake the waiting thread; may be called from any thread. Several pokes may cause only one wake-up."""
        with contextlib.suppress(BlockingIOError):  # it is full of pokes already
            os.write(self._wake_write, b"\0")

    def close(self) -> None:
        """Release everything. No callback is called after this."""
        if self._wake_read < 0:
            return
        self._restore_wakeup()
        self._callbacks.clear()
        self._timers.clear()
        self._epoll.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._wake_read = self._wake_write = -1

    def _restore_wakeup(self) -> None:
        """Let signals wake whoever they woke before this reactor, if that still exists. Others that came later are
        not disturbed.
        """
        if self._old_wakeup is None:
            return
        with contextlib.suppress(ValueError, OSError):
            present = signal.set_wakeup_fd(-1)
            signal.set_wakeup_fd(self._old_wakeup if present == self._wake_write else present)

    # ---- inside a wait ----

    def _pause(self, end: float | None) -> float | None:
        """How long epoll may sleep, in seconds: until the next timer or ``end``, whichever comes first; None without limit."""
        while self._timers and self._timers[0][2].callback is None:
            heappop(self._timers)
            self._dead_timers -= 1
        if self._timers:
            first = self._timers[0][0]
            end = first if end is None else min(end, first)
        return None if end is None else max(0.0, end - time.monotonic())

    def _attend(self, pause: float | None) -> bool:
        """Sleep once, then call everything that is ready or due. Returns True where there was news.

        Descriptors that are ready come before timers that are due: if this process stood still (stopped, swapped out), a job may
        have ended long before its time limit is seen to have passed.
        """
        news = self._attend_ready(pause)
        now = time.monotonic()
        if self._timers and self._timers[0][0] <= now:
            news = self._attend_ready(0.0) or news
        return self._ring_timers(now) or news

    def _attend_ready(self, pause: float | None) -> bool:
        news = False
        events = self._epoll.poll(pause)
        now = time.monotonic()
        late = now - self._awake > (pause or 0.0) + _UNSEEN_S and pause is not None
        self.seen_until = self._awake if late else now
        if late:  # the look may have been before we stood still: what happened meanwhile belongs to this one
            events = list(dict([*events, *self._epoll.poll(0.0)]).items())
        if now - self._awake > (pause or 0.0) + STOOD_STILL_S:
            self.woke()
        self._awake = now
        ready = [(descriptor, self._callbacks.get(descriptor)) for descriptor, _ in events]
        for descriptor, callback in ready:
            # An earlier callback may have closed this descriptor and opened another under the same number.
            if callback is not None and self._callbacks.get(descriptor) is callback and callback() is not False:
                news = True
        return news

    def _ring_timers(self, now: float) -> bool:
        news = False
        while self._timers and self._timers[0][0] <= now:
            timer = heappop(self._timers)[2]
            callback, timer.callback = timer.callback, None
            if callback is None:
                self._dead_timers -= 1
            elif callback() is not False:
                news = True
        return news

    def _count_dead(self) -> None:
        """Count a cancelled timer. Such timers stay in the heap until they are the majority, so that cancelling costs nothing."""
        self._dead_timers += 1
        if self._dead_timers > _COMPACT_FROM and self._dead_timers * 2 > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].callback is not None]
            heapify(self._timers)
            self._dead_timers = 0

    def _drain_wake(self) -> bool:
        try:
            os.read(self._wake_read, 4096)
        except BlockingIOError:
            return False
        return True
