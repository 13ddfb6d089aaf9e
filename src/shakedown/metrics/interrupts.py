"""Interrupts: runs that the machine or its surroundings ended, and the mean time between them.

A *job interrupt* is one of our runs that did not reach its end because of the system: verdict ``node_fail``, ``interrupted`` or
``lost``, or any other that did not pass and was ruled the vendor's or the site's; without those that were ruled the application's,
the harness's or nobody's. The mean time to interrupt is clock time over their number, as it is written into contracts as JMTTI:
over the machine as a whole, and a restart mends none. Interrupts that come within a minute of each other are one *system
interrupt*: a switch that takes thirty jobs with it is thirty of the first and one of the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from shakedown.metrics.clock import Clock, end_of
from shakedown.metrics.rows.rows import STEPS, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import Interval, count_interval, no_more_than
from shakedown.model.nouns import Component

BY_THE_SYSTEM = frozenset({"node_fail", "interrupted", "lost"})  # verdicts
TOGETHER_S = 60.0  # interrupts no further apart than this are one of the system
_SYSTEM, RULED_OTHERS = frozenset({"vendor", "site"}), frozenset({"application", "harness", "excused"})  # rulings


class Interrupts(Struct, frozen=True):
    """The interrupts of one component's clock. ``seconds`` of clock time; ``jobs``: job interrupts by verdict, ``system``: how many
    of the system. ``runs``: their names.
    """

    component: str
    seconds: float
    jobs: tuple[tuple[str, int], ...]
    system: int
    runs: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.runs)

    @property
    def mean(self) -> float | None:
        """Seconds; None where there was no interrupt or no time."""
        return self.seconds / self.count if self.count and self.seconds else None

    @property
    def system_mean(self) -> float | None:
        return self.seconds / self.system if self.system and self.seconds else None

    @property
    def interval(self) -> tuple[float, float | None] | None:
        """Of the mean in seconds, at 95 %, from the exact interval of the count; open above where nothing was counted."""
        return mean_time_interval(self.seconds, self.count)

    @property
    def system_interval(self) -> tuple[float, float | None] | None:
        return mean_time_interval(self.seconds, self.system)


def interrupts(component: Component, clock: Clock, record: Record) -> Interrupts:
    """Purpose: the interrupts of a component's runs, its fillers' too, while its clock ran."""
    judged = {row.run: row.time for row in record.runs if not row.supersedes}
    mine = [
        row
        for row in record.current()
        if row.component == component.name and row.mode not in STEPS and is_interrupt(row)
    ]
    ends = sorted(((end_of(row, judged), row) for row in mine), key=lambda pair: (pair[0], pair[1].seq))
    inside = [(end, row) for end, row in ends if _while_it_ran(end, clock)]
    jobs = tuple(sorted(Counter(row.verdict for _, row in inside).items()))
    system = _apart([end for end, _ in inside])
    return Interrupts(component.name, clock.ran, jobs, system, tuple(row.run for _, row in inside))


def is_interrupt(row: RunRow) -> bool:
    """Whether the system ended a run, by its verdict and what people said of it."""
    if row.verdict == "passed" or row.ruling in RULED_OTHERS:
        return False
    return row.verdict in BY_THE_SYSTEM or row.ruling in _SYSTEM


def mean_time_interval(seconds: float, count: int) -> tuple[float, float | None] | None:
    """The interval at 95 % of a mean time between events of which so many were counted; open above where there was none.

    Of none the lower end is one-sided: the least mean time under which none would still be seen once in twenty.
    """
    if seconds <= 0:
        return None
    if not count:
        return seconds / no_more_than(), None
    low, high = count_interval(count)
    return seconds / high, seconds / low


def rate_interval(count: int, amount: float) -> Interval | None:
    """The interval at 95 % of events per unit of ``amount``."""
    low, high = count_interval(count)
    return (low / amount, high / amount) if amount > 0 else None


def _while_it_ran(moment: float, clock: Clock) -> bool:
    """A run that was ended at the very moment at which the clock stopped was ended while it ran."""
    return any(begin < moment <= end for begin, end in clock.spans)


def _apart(times: Sequence[float]) -> int:
    """How many groups of times there are, none further from the one before than ``TOGETHER_S``."""
    return sum(at == 0 or time - times[at - 1] > TOGETHER_S for at, time in enumerate(times))
