"""Virtual time: it advances only while the conductor waits."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

START = 1_600_000_000.0  # an arbitrary instant; twin logs must not depend on the day they are made


class NothingWillHappen(RuntimeError):
    """The conductor waits without end although no event is scheduled: a wake-up was lost."""


class VirtualClock:
    """The Clock port of the twin. Calls scheduled with ``at`` are made in order of time, then of scheduling.

    ``start``: seconds since 1970.
    """

    def __init__(self, start: float = START) -> None:
        self._now = start
        self._agenda: list[tuple[float, int, Callable[[], bool], bool]] = []
        self._count = self._recurring = 0

    def now(self) -> float:
        return self._now

    def at(self, when: float, happen: Callable[[], bool], recurring: bool = False) -> None:
        """Let ``happen`` be called at ``when``; it says whether the conductor would notice. ``recurring``: it comes again for
        ever."""
        self._count += 1
        self._recurring += recurring
        heappush(self._agenda, (max(when, self._now), self._count, happen, recurring))

    def wait(self, until: float | None) -> None:
        """Advance to ``until``, or to the first event that the conductor would notice."""
        while self._agenda and (self._something_ends() if until is None else self._agenda[0][0] <= until):
            self._now, _, happen, recurring = heappop(self._agenda)
            self._recurring -= recurring
            if happen():
                return
        if until is None:
            raise NothingWillHappen("nothing is in flight, nobody set a time, and work is left")
        self._now = max(self._now, until)

    def _something_ends(self) -> bool:
        """Whether any event is scheduled that is not recurring."""
        return len(self._agenda) > self._recurring
