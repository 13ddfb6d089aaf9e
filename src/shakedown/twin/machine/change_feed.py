"""Tells for which jobs a poll will find news, and when, so that the conductor need not poll a quiet machine."""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from shakedown.twin.machine.jobs import IN_QUEUE, SimulatedJob

if TYPE_CHECKING:
    from shakedown.twin.machine.world import World


_A_MOMENT_S = 0.001  # what is remembered for so long is still there at the very end of it


class News:
    """The news that the polls of one driver, every ``poll_s``, will find. It wakes the clock only at polls with news."""

    def __init__(self, world: World, poll_s: float) -> None:
        self.world, self.poll_s = world, poll_s
        self._due: list[tuple[float, str]] = []  # (time of the poll that finds it, job)
        self._wakes: set[float] = set()
        world.noticed = self._changed
        for job in (job for jobs in world.jobs.values() for job in jobs):
            for when in _times(job):  # what a driver before this one has not heard of yet
                self._shows(job, when)

    def due(self) -> set[str]:
        """The jobs that may have news by now."""
        found = set()
        while self._due and self._due[0][0] <= self.world.clock.now():
            found.add(heappop(self._due)[1])
        return found

    def asked(self, name: str) -> None:
        """A submission has an unknown result: make sure that the next poll reports on this job, even if only "absent"."""
        self._at(self.world.clock.now() + _A_MOMENT_S, name)

    def _changed(self, job: SimulatedJob | None) -> None:
        """Note a change of a job, or (None) of nodes and other users' jobs, and when each source will show it."""
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
    """The times of the last change of state of a job and of the marks of the job and its parts."""
    times = {job.history[-1][0]}
    times |= {job.end_mark[0]} if job.end_mark is not None else set()
    for marks in job.marks.values():
        times |= {marks.began} | ({marks.ended} if marks.ended is not None else set())
    return times
