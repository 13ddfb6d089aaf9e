"""The Scheduler port onto the simulated machine: it answers as real Slurm does, with each of its lies on a switch.

Evidence comes in the order marks, queue, accounting; what none of them knows is "absent", what none answers "no_answer".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shakedown.model.ports import JobOrder, JobReport, JobView, ReleaseOrder, SubmitAnswer, Survey, Wanted
from shakedown.twin.world import SimulatedJob, World

_IN_QUEUE = ("queued", "running")


class SimulatedScheduler:
    """One driver's view. A new driver gets a new one; the world stays."""

    def __init__(self, world: World, poll_s: float = 5.0) -> None:
        self.world = world
        self.poll_s = 0.0 if world.local else poll_s

    # ---- submit, cancel, claim -----------------------------------------------------------------------------------------

    def submit(self, orders: Sequence[JobOrder]) -> list[SubmitAnswer]:
        return [self._submit(order) for order in orders]

    def _submit(self, order: JobOrder) -> SubmitAnswer:
        lies = self.world.lies
        lot = self.world.draw("submit", order.job).random()
        if self._outage():
            return SubmitAnswer(order.job, "refused", transient=True, message="unable to contact the controller")
        if lot < lies.refused:
            return SubmitAnswer(order.job, "refused", transient=True, message="job submit limit reached")
        lot -= lies.refused
        if lot < lies.timed_out:
            self.world.accept(order)
            return SubmitAnswer(order.job, "unknown", message="socket timed out on send or receive")
        lot -= lies.timed_out
        if lot < lies.lost_submit:
            return SubmitAnswer(order.job, "unknown", message="socket timed out on send or receive")
        lot -= lies.lost_submit
        if lot < lies.late_submit:
            self._accept_later(order)
            return SubmitAnswer(order.job, "unknown", message="socket timed out on send or receive")
        return SubmitAnswer(order.job, "accepted", scheduler_id=self.world.accept(order).id)

    def _accept_later(self, order: JobOrder) -> None:
        def arrive() -> bool:
            self.world.accept(order)
            return False

        self.world.clock.at(self.world.clock.now() + self.world.lies.late_s, arrive)

    def cancel(self, jobs: Sequence[JobView]) -> list[str]:
        if self._outage():
            return []
        for job in jobs:
            self.world.cancel(job.id)
        return [job.id for job in jobs]

    def release(self, orders: Sequence[ReleaseOrder]) -> list[str]:
        """Nothing is submitted held here: every job may start already."""
        return [order.id for order in orders]

    def take_parts(self, job: JobView, runs: Sequence[str]) -> list[str]:
        """No job has parts here."""
        return []

    def survey(self, wanted: Wanted) -> Survey | None:
        return None

    def calls(self) -> dict[str, int]:
        return {}

    def take_claim(self, job: JobView) -> bool:
        claim = (job.id, job.restart)
        if claim in self.world.claims:
            return False
        self.world.claims.add(claim)
        return True

    # ---- poll ------------------------------------------------------------------------------------------------------------

    def poll(self, jobs: Mapping[str, JobView]) -> list[JobReport]:
        return [self._report(job) for job in jobs.values()]

    def _report(self, view: JobView) -> JobReport:
        known = self.world.jobs.get(view.id, [])
        job = next((job for job in known if not job.void), known[-1] if known else None)
        marked = self._from_marks(view, job)
        if marked is not None:
            return marked
        if self._outage():
            return JobReport(view.id, "no_answer", "queue", message="no source answers")
        if job is not None:
            seen = self._from_queue(job) or self._from_accounting(job)
            if seen is not None:
                return seen
        return JobReport(view.id, "absent", "accounting", restart=view.restart)

    def _from_marks(self, view: JobView, job: SimulatedJob | None) -> JobReport | None:
        if job is None or job.end_mark is None or job.void:
            return None
        written, status, elapsed = job.end_mark
        if self.world.clock.now() < written + self.world.lies.marks_late_s:
            return None
        state = "completed" if status == 0 else "failed"
        return JobReport(view.id, state, "marks", job.id, job.restart, exit_status=status, elapsed_s=elapsed)

    def _from_queue(self, job: SimulatedJob) -> JobReport | None:
        """What the queue showed ``stale_s`` ago; an ended job is remembered for ``purge_s``."""
        lies, now = self.world.lies, self.world.clock.now()
        shown = None
        for when, state, restart in job.history:
            if when <= now - lies.stale_s:
                shown = (when, state, restart)
        if shown is None or shown[1] == "gone":
            return None
        when, state, restart = shown
        if state not in _IN_QUEUE and now - lies.stale_s > when + lies.purge_s:
            return None
        return self._said(job, state, restart, "local" if self.world.local else "queue")

    def _from_accounting(self, job: SimulatedJob) -> JobReport | None:
        lies, now = self.world.lies, self.world.clock.now()
        draw = self.world.draw("accounting", job.order.job)
        if job.state == "gone" or draw.random() < lies.accounting_missing:
            return None
        if draw.random() < lies.runaway:
            return self._said(job, "running", job.restart, "accounting")
        when, state, restart = job.history[-1]
        if now < when + lies.accounting_late_s:
            return None
        return self._said(job, state, restart, "accounting")

    def _said(self, job: SimulatedJob, state: str, restart: int, source: str) -> JobReport:
        status = job.exit_status if state in ("completed", "failed") else None
        return JobReport(job.order.job, state, source, job.id, restart, exit_status=status)  # type: ignore[arg-type]

    def _outage(self) -> bool:
        """Whether the controller is away: decided minute by minute."""
        share = self.world.lies.outage
        minute = int(self.world.clock.now() // 60)
        return share > 0 and self.world.draw("outage", minute).random() < share
