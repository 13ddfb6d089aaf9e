"""The Scheduler port of the simulated machine: it answers like Slurm, and each kind of misleading answer can be switched on.

Sources are asked in the order marks, queue, accounting. "absent": no source knows the job; "no_answer": no source answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shakedown.model.ports import (
    ENDED,
    SEEN_HERE,
    JobOrder,
    JobReport,
    JobView,
    ReleaseOrder,
    SubmitAnswer,
    Survey,
    Wanted,
)
from shakedown.model.void_starts import VOID
from shakedown.twin.machine.change_feed import News
from shakedown.twin.machine.jobs import IN_QUEUE, SimulatedJob
from shakedown.twin.machine.surveys import look_around
from shakedown.twin.machine.world import World

_AWAY = "the directory of the campaign's jobs is away"
_ENDED_BY_OTHERS = ("node_fail", "timeout", "cancelled", "interrupted")  # which no payload writes a mark of


class SimulatedScheduler:
    """The view of one driver. A new driver gets a new object, which reports every job again; the world stays.

    It is asked every ``poll_s``. ``quiet``: it says only what changed, and wakes the clock at the polls that find something:
    long campaigns then cost what happens in them, not how often somebody asks.
    """

    def __init__(self, world: World, poll_s: float = 5.0, quiet: bool = False) -> None:
        self.world = world
        self.quiet = quiet and not world.local and not (world.lies.outage or world.lies.away)
        self.poll_s = 0.0 if world.local or self.quiet else poll_s
        self.news = News(world, poll_s) if self.quiet else None
        self._told: set[tuple[str, str, str]] = set()  # (job, part, state)
        self._runs: dict[str, str] = {}  # job -> the run that it was last told of as

    # ---- submit, release, cancel, claim ----------------------------------------------------------------------------------

    def submit(self, orders: Sequence[JobOrder]) -> list[SubmitAnswer]:
        answers = [self._submit(order) for order in orders]
        for answer in answers:
            if answer.outcome == "unknown" and self.news is not None:
                self.news.asked(answer.job)
        return answers

    def _submit(self, order: JobOrder) -> SubmitAnswer:
        lies = self.world.lies
        lot = self.world.draw("submit", order.job).random()
        if self._outage():
            return SubmitAnswer(order.job, "refused", transient=True, message="unable to contact the controller")
        if self.world.is_away():
            return SubmitAnswer(order.job, "refused", transient=True, message=_AWAY)
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

    def release(self, orders: Sequence[ReleaseOrder]) -> list[str]:
        """Release held jobs; the answer or the request may be lost."""
        if self._outage():
            return []
        return [order.id for order in orders if self._release(order)]

    def _release(self, order: ReleaseOrder) -> bool:
        world, lies = self.world, self.world.lies
        key = ("release", order.id, int(world.clock.now()))
        lot = world.draw(*key).random() if lies.release_lost or lies.release_unheard else 1.0
        if lot < lies.release_lost:
            return False

        def let_go() -> bool:
            world.release(order.id, dict(order.targets), order.exclude)
            return world.local

        if lies.release_s:
            world.clock.at(world.clock.now() + lies.release_s, let_go)
        else:
            let_go()
        return lot >= lies.release_lost + lies.release_unheard

    def cancel(self, jobs: Sequence[JobView]) -> list[str]:
        if self._outage():
            return []
        for job in jobs:
            self.world.cancel(job.id)
        return [job.id for job in jobs]

    def hold(self, jobs: Sequence[JobView]) -> list[str]:
        """Keep waiting jobs from starting."""
        return [] if self._outage() else [job.id for job in jobs if self.world.hold(job.id)]

    def take_claim(self, job: JobView) -> bool | None:
        return None if self.world.is_away() else self._claim(job.id, job.restart)

    def take_parts(self, job: JobView, runs: Sequence[str]) -> list[str]:
        """Claim the parts of a job that have not begun, so that they never run; returns them."""
        return [run for run in runs if self._claim(job.id, run)]

    def _claim(self, job: str, what: int | str) -> bool:
        """A claim names its holder: one that a conductor took before is still a conductor's."""
        if (job, what) in self.world.claims:
            return (job, what) in self.world.conductors
        self.world.claims.add((job, what))
        self.world.conductors.add((job, what))
        return True

    def survey(self, wanted: Wanted) -> Survey | None:
        return look_around(self.world, wanted, self._outage()) if wanted.something else None

    def calls(self) -> dict[str, int]:
        return {}

    # ---- poll ------------------------------------------------------------------------------------------------------------

    def poll(self, jobs: Mapping[str, JobView]) -> list[JobReport]:
        changed = self.news.due() if self.news is not None else None
        told = self._runs.get
        asked = [view for name, view in jobs.items() if changed is None or name in changed or told(name) != view.run]
        reports: list[JobReport] = []
        for view in asked:
            self._runs[view.id] = view.run
            self.world.called[view.run] = (view.id, view.restart)
            self._report(view, reports)
            self._ask_again(view, reports[-1])
        return reports

    def _ask_again(self, view: JobView, last: JobReport) -> None:
        """Of a start that is over, and was not known, the next poll tells how: nothing else of it will be news."""
        if self.news is not None and last.restart > view.restart and last.state not in IN_QUEUE:
            self.news.asked(view.id)

    def _report(self, view: JobView, reports: list[JobReport]) -> None:
        known = self.world.jobs.get(view.id, [])
        job = next((job for job in known if not job.void), known[-1] if known else None)
        if job is not None and job.order.parts and not self.world.is_away():
            self._report_parts(job, reports)
        reports.append(self._about(view, job))

    def _about(self, view: JobView, job: SimulatedJob | None) -> JobReport:
        if self.world.is_away() and (job is None or job.state not in IN_QUEUE):
            return JobReport(view.id, "no_answer", "marks", message=f"its files cannot be read: {_AWAY}")
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

    def _report_parts(self, job: SimulatedJob, reports: list[JobReport]) -> None:
        """Reports from the marks of a job's parts, each once."""
        seen = self.world.clock.now() - self.world.lies.marks_late_s
        for run, marks in job.marks.items():
            if marks.ended is not None and marks.ended <= seen:
                state = "completed" if marks.status == 0 else "failed"
                more = {"exit_status": marks.status, "elapsed_s": marks.elapsed}
                if marks.timed_out:
                    state, more = "timeout", {"elapsed_s": marks.elapsed}
            elif marks.began <= seen:
                state, more = "running", {}
            else:
                continue
            if (job.name, run, state) not in self._told:
                self._told.add((job.name, run, state))
                nodes = self._nodes(job)
                fields = {"run": run, "began": marks.began, "nodes": nodes, **more}
                reports.append(JobReport(job.name, state, "marks", job.id, job.restart, **fields))  # type: ignore[arg-type]

    def _from_marks(self, view: JobView, job: SimulatedJob | None) -> JobReport | None:
        if job is not None and job.void_at is not None:
            late = self.world.clock.now() < job.void_at + self.world.lies.marks_late_s
            return None if late else JobReport(view.id, "void", "marks", job.id, job.restart, message=VOID["before"])
        if job is None or job.end_mark is None or job.void:
            return None
        written, status, elapsed = job.end_mark
        if self.world.clock.now() < written + self.world.lies.marks_late_s:
            return None
        state, began = "completed" if status == 0 else "failed", written - elapsed
        return JobReport(
            view.id,
            state,
            "marks",
            job.id,
            job.restart,
            status,
            elapsed,
            self._nodes(job),
            began=began,
        )

    def _from_queue(self, job: SimulatedJob) -> JobReport | None:
        """The report of the queue as of ``stale_s`` ago; an ended job stays in the queue for ``purge_s``."""
        lies, now = self.world.lies, self.world.clock.now()
        shown = None
        for when, state, restart in job.history:
            if when <= now - lies.stale_s:
                shown = (when, state, restart)
        if shown is None or shown[1] == "gone":
            return None
        when, state, restart = shown
        if state not in IN_QUEUE and now - lies.stale_s > when + lies.purge_s:
            return None
        return self._said(job, state, restart, SEEN_HERE if self.world.local else "queue")

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
        began, over = self._span(job, state, restart)
        told = state in _ENDED_BY_OTHERS and not (state == "interrupted" and self.world.lies.signalled)
        return JobReport(
            job.name,
            state,
            source,  # type: ignore[arg-type]
            job.id,
            restart,
            exit_status=status,
            nodes=self._nodes(job) if state in ENDED or state == "running" else "",
            message=self._waits_for(job) if state == "queued" else self._of_a_launch(job, state),
            failed_nodes=job.failed_nodes if state == "node_fail" else (),
            launch_failure=job.launch_failure and state == "node_fail",
            elapsed_s=over - began if told and began is not None and over is not None else None,
            began=began,
            over=over,
        )

    def _of_a_launch(self, job: SimulatedJob, state: str) -> str:
        if state != "node_fail" or not job.launch_failure:
            return ""
        return f"launch failure on {self._nodes(job)}: Slurm cancelled it before it took its claim"

    def _span(self, job: SimulatedJob, state: str, restart: int) -> tuple[float | None, float | None]:
        """The begin and end of an ended job, as the scheduler knows them for this start."""
        if state not in ENDED:
            return None, None
        began = next((when for when, was, of in job.history if was == "running" and of == restart), None)
        over = next((when for when, was, of in job.history if was == state and of == restart), None)
        return began, over if began is not None else None

    def _nodes(self, job: SimulatedJob) -> str:
        return self.world.rooms[job.pool].folded(job.nodes)

    def _waits_for(self, job: SimulatedJob) -> str:
        """Slurm's words where somebody else must act first; that it waits for its turn is no news."""
        if job.state != "queued":
            return ""
        if job.delayed:
            return job.delayed
        return "JobHeldUser" if job.held else "Dependency" if job.after and not job.ticket else ""

    def _outage(self) -> bool:
        """Whether the controller does not answer; drawn for each minute."""
        return self.world.chance(self.world.lies.outage, "outage", int(self.world.clock.now() // 60))
