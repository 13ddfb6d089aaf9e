"""Placing runs on targets, and input files that take long into the campaign: each target has a few threads of its own, so that one
that hangs does not delay the others.

A thread that hangs in a file system cannot be ended. While a target gives no answer, further orders for it are refused for now.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster.targets import Placing
from shakedown.schedulers.copied_inputs import Progress

AT_ONCE = 2  # threads of a target
PATIENCE_S = 3.0  # less than the conductor's with a batch of submissions
_PACE_S = 0.1

Then = Callable[[CannotStart | None], None]


@dataclass(slots=True)
class _Ticket:
    """What is to be placed for one job. ``over``: whoever waited for it has been answered."""

    job: str
    works: tuple[str, ...]
    then: Then
    since: float = field(default_factory=time.monotonic)
    progress: Progress = field(default_factory=Progress)
    over: bool = False


@dataclass(slots=True)
class Targets:
    """All placings of one process. ``patience_s``: how long one is waited for. What takes longer goes on, and is there at the next
    attempt.
    """

    patience_s: float = PATIENCE_S
    _pools: dict[str, ThreadPoolExecutor] = field(default_factory=dict)
    _busy: dict[tuple[str, str], Progress] = field(
        default_factory=dict
    )  # by (work, run): being placed, or waiting for it
    _running: dict[tuple[str, str], Progress] = field(default_factory=dict)  # those of them that have a thread
    _open: list[_Ticket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _watcher: threading.Thread | None = None

    def place(self, job: str, placings: Sequence[Placing], then: Then) -> None:
        """Purpose: carry out placings in the threads of their targets. ``then`` is called once: with None, or with why it did not
        work (yet).
        """
        works = tuple(dict.fromkeys(placing.work for placing in placings))
        ticket = _Ticket(job, works, then)
        with self._lock:
            trouble = next((why for placing in placings if (why := self._in_the_way(placing))), None)
            if trouble is None:
                self._busy |= {(placing.work, placing.run): ticket.progress for placing in placings}
                self._open.append(ticket)
                self._watch()
        if trouble is not None:
            then(trouble)
            return
        left = [len(placings)]
        for placing in placings:
            future = self._pool(placing.work).submit(self._carry_out, placing, ticket)
            future.add_done_callback(lambda done: self._done(ticket, done, left))

    def _in_the_way(self, placing: Placing) -> CannotStart | None:
        """Why a placing cannot begin: an earlier order of the same run is still at it, or the target gives no answer. None where it
        can.
        """
        if (same := self._busy.get((placing.work, placing.run))) is not None:
            return self._not_yet(placing.work, same)
        now = time.monotonic()
        for (work, _), progress in self._running.items():
            if work == placing.work and now - progress.moved > self.patience_s:
                return self._not_yet(work, progress)
        return None

    def _pool(self, work: str) -> ThreadPoolExecutor:
        with self._lock:
            if work not in self._pools:
                self._pools[work] = ThreadPoolExecutor(AT_ONCE)
            return self._pools[work]

    def _carry_out(self, placing: Placing, ticket: _Ticket) -> None:
        """Carry out one placing. If nobody waits for it any more the place is not made, but gathered files are kept for the run's
        next order.
        """
        try:
            if ticket.over:
                return
            with self._lock:
                ticket.progress.add()
                self._running[placing.work, placing.run] = ticket.progress
            placing.carry_out(ticket.progress, lambda: not ticket.over)
        finally:
            with self._lock:
                self._busy.pop((placing.work, placing.run), None)
                self._running.pop((placing.work, placing.run), None)

    def _done(self, ticket: _Ticket, future: Future[None], left: list[int]) -> None:
        with self._lock:
            left[0] -= 1
            error = future.exception()
            if ticket.over or (left[0] and error is None):
                return
            ticket.over = True
            self._open.remove(ticket)
        if error is None or isinstance(error, CannotStart):
            ticket.then(error)
        else:
            ticket.then(CannotStart(f"job {ticket.job} cannot be placed: {error}", transient=True))

    # ---- those that take too long ----

    def _watch(self) -> None:
        if self._watcher is None or not self._watcher.is_alive():
            self._watcher = threading.Thread(target=self._look, daemon=True)
            self._watcher.start()

    def _look(self) -> None:
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(_PACE_S)
            with self._lock:
                late = [t for t in self._open if time.monotonic() - t.since > self.patience_s]
                self._open = [t for t in self._open if t not in late]
                for ticket in late:
                    ticket.over = True
                if not self._open and not late:
                    self._watcher = None
                    return
            for ticket in late:
                ticket.then(self._not_yet(", ".join(ticket.works), ticket.progress))

    def _not_yet(self, work: str, progress: Progress) -> CannotStart:
        silent_s = time.monotonic() - progress.moved
        if silent_s < self.patience_s / 2:
            copied = f" ({progress.bytes} bytes copied up to now)" if progress.bytes else ""
            return CannotStart(f"its input files are still being put into {work}{copied}", True)
        return CannotStart(f"{work} gives no answer: its file system hangs, or is very slow", transient=True)
