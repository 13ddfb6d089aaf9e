"""Lanes: groups of runs that slow down alike, so that a change of pace costs one step for the lane and not one for each run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from shakedown.twin.machine.clock import VirtualClock


class Lane:
    """``done``: seconds of work done by a run that was in the lane from the start; grows by ``pace`` a second,
    0 = no run advances.

    As in processor sharing by virtual time: a run ends when ``done`` has grown by the work of the run.
    """

    def __init__(self, clock: VirtualClock, notices: bool) -> None:
        self.clock, self.notices = clock, notices
        self.pace, self.done, self._at = 1.0, 0.0, clock.now()
        self._ends: list[tuple[float, int, Callable[[], object]]] = []  # (done at its end, number, what happens)
        self._gone: set[int] = set()
        self._count = self._appointment = 0

    def join(self, work_s: float, finish: Callable[[], object]) -> int:
        """Add a run with its seconds of work; returns its number in the lane. ``finish`` is called when the work is done."""
        self._advance()
        self._count += 1
        heappush(self._ends, (self.done + work_s, self._count, finish))
        if self._ends[0][1] == self._count:
            self._appoint()
        return self._count

    def leave(self, number: int) -> None:
        """Remove a run before its work is done."""
        self._gone.add(number)

    def set_pace(self, pace: float) -> None:
        if pace != self.pace:
            self._advance()
            self.pace = pace
            self._appoint()

    def _advance(self) -> None:
        now = self.clock.now()
        self.done += (now - self._at) * self.pace
        self._at = now

    def _appoint(self) -> None:
        """Schedule the next end of a run at the present pace; earlier schedules become void."""
        while self._ends and self._ends[0][1] in self._gone:
            self._gone.discard(heappop(self._ends)[1])
        self._appointment += 1
        if not self._ends or self.pace <= 0:
            return
        appointment = self._appointment
        when = self._at + max(0.0, self._ends[0][0] - self.done) / self.pace

        def ring() -> bool:
            if self._appointment == appointment:
                self._over()
            return self.notices

        self.clock.at(when, ring)

    def _over(self) -> None:
        self._advance()
        due, number, finish = heappop(self._ends)
        self.done = max(self.done, due)
        self._appoint()
        if number in self._gone:
            self._gone.discard(number)
        else:
            finish()
