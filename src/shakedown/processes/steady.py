"""Time that no setting of the clock moves: seconds since 1970 that go on evenly, whatever is done to the machine's calendar.

Waits, deadlines and the record need a time that neither jumps nor stands still. The calendar clock does both: people set it,
and a virtual machine that was paused is set right when it goes on. So the calendar is read once, and from then on seconds are
counted by the clock that counts since the machine was booted (sleep included). Where the two differ, the difference is made up
slowly, as NTP does it: one second in twenty.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MADE_UP = 0.05  # seconds in each second by which a difference to the calendar is made up


def since_boot() -> float:
    """Seconds since the machine was booted, those included in which it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(slots=True)
class SteadyTime:
    """Seconds since 1970, never backwards and never in leaps. ``calendar`` and ``steady``: the two clocks."""

    calendar: Callable[[], float] = field(default=lambda: time.time())
    steady: Callable[[], float] = since_boot
    _offset: float = 0.0  # between the time that is told and the steady clock
    _last: float = 0.0  # the steady clock when it was last read

    def __post_init__(self) -> None:
        self._last = self.steady()
        self._offset = self.calendar() - self._last

    def now(self) -> float:
        steady = self.steady()
        most = MADE_UP * max(0.0, steady - self._last)
        self._last = max(self._last, steady)
        self._offset += min(max(self.calendar() - steady - self._offset, -most), most)
        return self._last + self._offset

    def not_before(self, moment: float) -> None:
        """Purpose: tell no time before ``moment`` from now on, such as the last one of a record that goes on."""
        self._offset += max(0.0, moment - self.now())

    def behind_s(self) -> float:
        """Purpose: by how many seconds the calendar is ahead of the time that is told; negative where it is behind."""
        return self.calendar() - self.steady() - self._offset
