"""Interrupts: runs that the machine or its surroundings ended, and the mean time between them.

A *job interrupt* is a run of the campaign that did not reach its end because of the system: its verdict is ``node_fail``,
``interrupted`` or ``lost``, or it is another verdict than passed and the run was ruled the vendor's or the site's. Runs that were
ruled the application's, the harness's or nobody's do not count. The mean time to interrupt is clock time over the number of job
interrupts, as contracts define it under the name JMTTI: for the machine as a whole, and a restart removes none. Interrupts within a
minute of each other are one *system interrupt*: a switch failure that ends thirty jobs is thirty job interrupts and one system
interrupt.
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
TOGETHER_S = 60.0  # interrupts no further apart than this are one system interrupt
_SYSTEM, RULED_OTHERS = frozenset({"vendor", "site"}), frozenset({"application", "harness", "excused"})  # rulings


class Interrupts(Struct, frozen=True):
    """The interrupts during one component's clock. ``seconds``: clock time; ``jobs``: the number of job interrupts by verdict;
    ``system``: the number of system interrupts; ``runs``: the names of the interrupted runs.
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
        """The mean time to interrupt in seconds; None without interrupts or without clock time."""
        return self.seconds / self.count if self.count and self.seconds else None

    @property
    def system_mean(self) -> float | None:
        return self.seconds / self.system if self.system and self.seconds else None

    @property
    def interval(self) -> tuple[float, float | None] | None:
        """The 95 % interval of the mean in seconds, from the exact interval of the count; no upper end without interrupts."""
        return mean_time_interval(self.seconds, self.count)

    @property
    def system_interval(self) -> tuple[float, float | None] | None:
        return mean_time_interval(self.seconds, self.system)


def interrupts(component: Component, clock: Clock, record: Record) -> Interrupts:
    """Purpose: the interrupts of a component's runs, including those of its fillers, while its clock ran."""
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
    """Whether the system ended a run, judged by its verdict and its ruling."""
    if row.verdict == "passed" or row.ruling in RULED_OTHERS:
        return False
    return row.verdict in BY_THE_SYSTEM or row.ruling in _SYSTEM


def mean_time_interval(seconds: float, count: int) -> tuple[float, float | None] | None:
    """The 95 % interval of the mean time between ``count`` events in ``seconds``; no upper end if ``count`` is 0.

    Without events the lower end is one-sided: at this mean time, seeing no event has a chance of one in twenty.
    """
    if seconds <= 0:
        return None
    if not count:
        return seconds / no_more_than(), None
    low, high = count_interval(count)
    return seconds / high, seconds / low


def rate_interval(count: int, amount: float) -> Interval | None:
    """The 95 % interval of the rate of events per unit of ``amount``."""
    low, high = count_interval(count)
    return (low / amount, high / amount) if amount > 0 else None


def _while_it_ran(moment: float, clock: Clock) -> bool:
    """Whether a moment lies in the clock's spans; the moment at which the clock stopped is included."""
    return any(begin < moment <= end for begin, end in clock.spans)


def _apart(times: Sequence[float]) -> int:
    """The number of groups of times in which each time is at most ``TOGETHER_S`` after the one before it."""
    return sum(at == 0 or time - times[at - 1] > TOGETHER_S for at, time in enumerate(times))
