"""Folding events of jobs with several runs: each part has its own start, end and verdict.

The job has an end as well. What that means for parts without an end of their own is decided in ``attend_parts``.
"""

from __future__ import annotations

from bisect import insort

from shakedown.engine.fold.bookkeeping import begins, charge, enqueue, fly, forget_job, overtake
from shakedown.engine.state.jobs import Job, PendingResult, Run
from shakedown.engine.state.keys import Deadline
from shakedown.engine.state.phases import LIVE, NOT_BEGUN, UNANSWERED, JobPhase, RunPhase, Step
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.ports import ENDED

OF_A_PART = ("state", "exit", "elapsed_s", "nodes", "output", "halted_s")
_OF_THE_JOB = ("failed_nodes", "launch_failure", "dead", "cause")


def part_report(state: State, job: Job, event: Event) -> None:
    """A part began or ended. Once it has ended, later reports change nothing."""
    run, said = state.runs.get(event.run), event.value["state"]
    if run is None or run.phase in (RunPhase.ENDED, RunPhase.CHECKING, RunPhase.JUDGED, RunPhase.UNDETERMINED):
        return
    run.seen = said
    if job.phase in NOT_BEGUN:
        _begin(state, job, event)
    if run.started is None:
        run.started = event.value.get("began", event.time)
        begins(state, run, event.time)
    if said == "running":
        run.phase = RunPhase.RUNNING
        if event.value.get("output"):  # its job is over: whatever is said of that, this is what the part left
            run.facts = {"output": event.value["output"]}
    elif said in ENDED or said == "refused":
        run.phase = RunPhase.ENDED
        run.facts = {k: v for k, v in event.value.items() if k in (*OF_A_PART, "failed_nodes")}
        if event.reason:
            run.facts["words"] = event.reason
        if said in ("completed", "failed"):
            state.agenda.to_collect[run.id] = None
        else:
            state.agenda.part_ends[run.id] = None


def job_report(state: State, job: Job, event: Event) -> None:
    """The job as a whole began or is over. When it is over, what to do about its open parts is to be decided."""
    said = event.value["state"]
    if said == "queued" and job.phase in UNANSWERED:
        job.phase = JobPhase.QUEUED
    elif said == "running":
        if job.phase != JobPhase.ENDED:
            _begin(state, job, event)
    elif said == "refused":
        job.phase, job.report.message = JobPhase.REFUSED, event.reason
        state.job_index.begin(job)
        state.agenda.attention[job.id] = None
    elif said in ENDED and job.phase != JobPhase.ENDED:
        job.phase, job.since = JobPhase.ENDED, event.time
        state.job_index.begin(job)
        job.report.message = job.report.message if job.requests.cancel else event.reason
        job.report.facts = {k: v for k, v in event.value.items() if k in (*OF_A_PART, *_OF_THE_JOB)}
        if job.parts:
            state.agenda.attention[job.id] = None
        else:
            forget_job(state, job)
    if job.id in state.jobs and job.phase in LIVE and job.requests.cancel != Step.WANTED:
        state.agenda.attention.pop(job.id, None)


def _begin(state: State, job: Job, event: Event) -> None:
    if job.phase != JobPhase.RUNNING:
        overtake(state, job)
    job.phase = JobPhase.RUNNING
    if job.started is None:
        job.started = event.value.get("began", event.time)
        limit = (job.bundle.limit_s if job.bundle is not None else 0.0) + state.index.policy.lost_after_s
        insort(state.agenda.deadlines, Deadline(event.time + limit, job.id))
    if not job.charged:
        charge(state, job)


def is_known_again(job: Job) -> None:
    """It can be seen again whether the claims of a job's parts are taken."""
    if job.bundle is not None:
        job.bundle.unknown = False


def go_back(state: State, job: Job, run: Run) -> None:
    """A run that never began, and never will in this job, waits again, before all others."""
    del state.runs[run.id]
    remove_part(job, run)
    fly(state, run, -1)
    entry = PendingResult(run.component, run.case, run.repeat, run.attempt, void_run=run.id, mode=run.mode)
    entry.spent = run.spent
    if job.requests.cancel or run.cancelled:
        state.waiting.to_cancel.append(entry)
        state.tallies[run.component].waiting += 1
    else:
        enqueue(state, entry, first=True)


def leave(state: State, job: Job, run: Run) -> None:
    """A part has its verdict. The job is forgotten once it is over and no other part is left."""
    remove_part(job, run)
    if job.phase == JobPhase.ENDED and not job.parts:
        forget_job(state, job)


def remove_part(job: Job, run: Run) -> None:
    """A run is no longer a part of its job: it has its verdict, or it waits again."""
    if job.bundle is not None:
        job.bundle.parts.pop(run.id, None)
