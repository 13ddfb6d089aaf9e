"""Noticing that the loop stood still, or that the machine's clock was set. Neither is caused by jobs, and both are recorded.

A conductor may be stopped by Ctrl-Z, swapped out, paused with its virtual machine, or held by a disk that does not answer. It must
not count that time as silence of anybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shakedown.model.events import Event
from shakedown.model.units import show_duration
from shakedown.processes.steady import MADE_UP, since_boot

STOOD_STILL_S = 5.0  # longer than the loop ever takes for a turn
CLOCK_SET_S = 5.0  # a smaller difference is made up before anybody notices


@dataclass(slots=True)
class Awake:
    """``behind_s``: gives by how many seconds the machine's calendar clock is ahead of the loop's own time. ``waited_s``: gives for
    how many seconds, in all, the loop waited for an answer on purpose, such as for that of sbatch.
    """

    behind_s: Callable[[], float] = lambda: 0.0
    steady: Callable[[], float] = since_boot
    waited_s: Callable[[], float] = lambda: 0.0
    _seen: float = 0.0  # when the loop was last seen to be awake
    _still: float = 0.0  # for how long it stood still, and nobody was told yet
    _behind: float = 0.0
    _compared: float = 0.0
    _waited: float = 0.0

    def __post_init__(self) -> None:
        self._seen = self._compared = self.steady()
        self._waited = self.waited_s()

    def sleep(self, planned_s: float, wait: Callable[[], None]) -> None:
        """Purpose: call ``wait``, which should take at most ``planned_s`` seconds, and notice if it takes longer."""
        self._look(0.0)
        wait()
        self._look(max(0.0, planned_s))

    def events(self) -> list[Event]:
        """Purpose: what happened since the last call, as events for the record."""
        self._look(0.0)
        found = []
        if self._still:
            found.append(_stood_still(self._still))
            self._still = 0.0
        step = self._step()
        if abs(step) > CLOCK_SET_S:
            found.append(_clock_set(step))
        return found

    def _step(self) -> float:
        """By how much the lead of the calendar clock changed since the last look, beyond what was corrected meanwhile."""
        made_up = MADE_UP * (self._seen - self._compared)
        expected = max(0.0, abs(self._behind) - made_up)
        before = expected if self._behind > 0 else -expected
        self._behind, self._compared = self.behind_s(), self._seen
        return self._behind - before

    def _look(self, planned_s: float) -> None:
        now, waited = self.steady(), self.waited_s()
        beyond = now - self._seen - planned_s - (waited - self._waited)
        self._seen, self._waited = now, waited
        if beyond > STOOD_STILL_S:
            self._still += beyond


def _stood_still(seconds: float) -> Event:
    why = (
        f"the conductor stood still for {show_duration(seconds)} at least: it was stopped or swapped out, its machine was "
        "paused, or a disk did not answer; what ended meanwhile is judged by its own end"
    )
    return Event("finding", value={"kind": "stood_still", "seconds": round(seconds, 3)}, reason=why)


def _clock_set(seconds: float) -> Event:
    way = "forward" if seconds > 0 else "back"
    why = (
        f"the clock of this machine was set {way} by {show_duration(abs(seconds))}; the times of this record go on evenly, and "
        "come nearer to it by three seconds a minute"
    )
    return Event("finding", value={"kind": "clock_set", "seconds": round(seconds, 3)}, reason=why)
