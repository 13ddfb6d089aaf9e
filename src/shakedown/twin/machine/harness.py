"""A harness in front of the scheduler, as paper 004 had it: a build before each job, and submissions that are forgotten.

To the conductor the job appears to wait in the queue; the queue's reason says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shakedown.model.scenario import Harness
from shakedown.twin.machine.builds import BuildTimes, LoginSlots

if TYPE_CHECKING:
    from shakedown.twin.machine.jobs import SimulatedJob
    from shakedown.twin.machine.laws import SimulatedMachine

BUILDS = "HarnessBuild"  # it waits for its own build
FORGOTTEN = "JobHeldAdmin"  # it goes nowhere until a person notices


class HarnessInFront:
    """Receives each submitted job and passes it to the queue after its build, or after its forgotten time."""

    def __init__(self, world: SimulatedMachine, terms: Harness, slots: LoginSlots, times: BuildTimes) -> None:
        self.world, self.terms, self.slots, self.times = world, terms, slots, times

    def take(self, job: SimulatedJob) -> None:
        """Receive a submitted job. ``job.delayed`` says why it does not yet wait for nodes."""
        if self.terms.build_first:
            self._build(job)
        else:
            self._submit(job)

    def in_job_s(self, job: SimulatedJob, test: str) -> float:
        """Seconds for which a job of the test builds the next job before it ends."""
        until = dict(self.terms.in_job).get(test, 0.0)
        if self.world.clock.now() >= self.world.began + until:
            return 0.0
        return self._build_s(job, test)

    def _build(self, job: SimulatedJob) -> None:
        job.delayed = BUILDS
        self.world.noticed(job)

        def begin() -> bool:
            return job.state == "queued"

        self.slots.ask(self._build_s(job, job.case.test), begin, lambda: self._submit(job))

    def _build_s(self, job: SimulatedJob, test: str) -> float:
        return self.times.of_case(test, job.case.build, self.world.draw("harness build", job.name))

    def _submit(self, job: SimulatedJob) -> None:
        """Pass the job to the scheduler, unless the submission is forgotten."""
        if job.state != "queued":
            return
        wait = self._forgotten_s(job)
        if not wait:
            self._let_in(job)
            return
        job.delayed = FORGOTTEN
        self.world.noticed(job)

        def noticed() -> bool:
            self._let_in(job)
            return self.world.local

        self.world.clock.at(self.world.clock.now() + wait, noticed)

    def _forgotten_s(self, job: SimulatedJob) -> float:
        """Seconds for which a submission is forgotten."""
        after = self.world.clock.now() - self.world.began
        for hole in self.terms.holes:
            if job.case.test in hole.tests and hole.after_s <= after < hole.after_s + hole.lasts_s:
                return hole.after_s + hole.lasts_s - after
        return self.terms.notice_s if self.world.chance(self.terms.forgets, "forgotten", job.name) else 0.0

    def _let_in(self, job: SimulatedJob) -> None:
        was, job.delayed = job.delayed, ""
        if job.state != "queued":
            return
        if was:
            self.world.noticed(job)
            self.world.enter(job)
