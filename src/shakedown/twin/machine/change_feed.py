"""Which jobs there is something new to say about, and when: so that a quiet machine need not be asked."""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from shakedown.twin.machine.jobs import IN_QUEUE, SimulatedJob

if TYPE_CHECKING:
    from shakedown.twin.machine.world import World


_A_MOMENT_S = 0.001  # what is remembered for so long is still there at the very end of it


class News:
    """What the polls of one driver, every ``poll_s``, will find. It wakes the clock at those that find something."""

    def __init__(self, world: World, poll_s: float) -> None:
        self.world, self.poll_s = world, poll_s
        self._due: list[tuple[float, str]] = []  # (time of the poll that finds it, job)
        self._wakes: set[float] = set()
        world.noticed = self._changed
        for job in (job for jobs in world.jobs.values() for job in jobs):
            for when in _times(job):  # what a driver before this one has not heard of yet
                self._shows(job, when)

    def due(self) -> set[str]:
        """The jobs of which something may be new by now."""
        found = set()
        while self._due and self._due[0][0] <= self.world.clock.now():
            found.add(heappop(self._due)[1])
        return found

    def asked(self, name: str) -> None:
        """A driver does not know what became of a submission: the next poll says something, if only that nobody knows of it."""
        self._at(self.world.clock.now() + _A_MOMENT_S, name)

    def _changed(self, job: SimulatedJob | None) -> None:
        """Something changed: of a job, or (None) of nodes and other people. It shows when each source gets to know of it."""
        self._shows(job, self.world.clock.now())

    def _shows(self, job: SimulatedJob | None, when: float) -> None:
        lies = self.world.lies
        name = job.name if job is not None else ""
        late = {lies.stale_s, lies.marks_late_s} if job is not None else {lies.stale_s}
        if job is not None and job.state not in IN_QUEUE:
            late |= {lies.accounting_late_s}
            if job.end_mark is None:  # then the queue's memory of it matters, and that it forgets it
                late |= {lies.stale_s + lies.purge_s + _A_MOMENT_S}
        for wait in late:
            if when + wait >= self.world.clock.now():
                self._at(when + wait, name)

    def _at(self, when: float, name: str) -> None:
        began = self.world.began
        poll = began + self.poll_s * math.ceil((when - began) / self.poll_s) if self.poll_s else when
        heappush(self._due, (poll, name))
        if poll in self._wakes or self.world.noticed != self._changed:
            return
        self._wakes.add(poll)

        def wake() -> bool:
            self._wakes.discard(poll)
            return self.world.noticed == self._changed

        self.world.clock.at(poll, wake)


def _times(job: SimulatedJob) -> set[float]:
    """When something about a job changed last."""
    times = {job.history[-1][0]}
    times |= {job.end_mark[0]} if job.end_mark is not None else set()
    for marks in job.marks.values():
        times |= {marks.began} | ({marks.ended} if marks.ended is not None else set())
    return times
