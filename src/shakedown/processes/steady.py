"""A time that no setting of the clock changes: seconds since 1970 that pass evenly, whatever is done to the machine's calendar
clock.

Waits, deadlines and the record need a time that neither jumps nor stands still. The calendar clock does both: people set it, and it
is corrected when a paused virtual machine goes on. So the calendar clock is read once; after that, seconds are counted by the clock
that counts since boot (including sleep). A difference between the two is corrected slowly, as NTP does it: one second in twenty.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MADE_UP = 0.05  # seconds in each second by which a difference to the calendar is made up


def since_boot() -> float:
    """Seconds since the machine was booted, including those in which it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(slots=True)
class SteadyTime:
    """Seconds since 1970 that never go backwards and never jump. ``calendar`` and ``steady``: the two clocks."""

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
        """Purpose: from now on, give no time before ``moment``, for instance the last time in a record that goes on."""
        self._offset += max(0.0, moment - self.now())

    def behind_s(self) -> float:
        """Purpose: how many seconds the calendar clock is ahead of this time; negative where it is behind."""
        return self.calendar() - self.steady() - self._offset
