"""Folding what concerns jobs of several runs: each part has a begin, an end and a verdict of its own.

The job has an end too; what it says of parts that have none of their own is decided in ``attend_parts``.
"""

from __future__ import annotations

from bisect import insort

from shakedown.engine.fold.bookkeeping import begins, charge, enqueue, fly, forget_job, overtake
from shakedown.engine.state.state import Job, PendingResult, Run, State
from shakedown.model.events import Event
from shakedown.model.ports import ENDED

OF_A_PART = ("state", "exit", "elapsed_s", "nodes", "output", "halted_s")
_OF_A_LOSS = ("failed_nodes", "launch_failure", "dead")


def part_report(state: State, job: Job, event: Event) -> None:
    """A part began or came to its own end. Once ended it says nothing new."""
    run, said = state.runs.get(event.run), event.value["state"]
    if run is None or run.phase in ("ended", "checking", "judged", "undetermined"):
        return
    run.seen = said
    if job.phase in ("ordered", "ambiguous", "queued"):
        _begin(state, job, event)
    if run.started is None:
        run.started = event.value.get("began", event.time)
        begins(state, run, event.time)
    if said == "running":
        run.phase = "running"
    elif said in ENDED or said == "refused":
        run.phase = "ended"
        run.facts = {k: v for k, v in event.value.items() if k in (*OF_A_PART, "failed_nodes")}
        if event.reason:
            run.facts["words"] = event.reason
        if said in ("completed", "failed"):
            state.to_collect[run.id] = None
        else:
            state.part_ends[run.id] = None


def job_report(state: State, job: Job, event: Event) -> None:
    """The job as a whole: it began, or it is over; then what is left of its parts wants a decision."""
    said = event.value["state"]
    if said == "queued" and job.phase in ("ordered", "ambiguous"):
        job.phase = "queued"
    elif said == "running":
        if job.phase != "ended":
            _begin(state, job, event)
    elif said == "refused":
        job.phase, job.message = "refused", event.reason
        state.attention[job.id] = None
    elif said in ENDED and job.phase != "ended":
        job.phase, job.since = "ended", event.time
        job.message = job.message if job.cancelling else event.reason
        job.facts = {k: v for k, v in event.value.items() if k in (*OF_A_PART, *_OF_A_LOSS)}
        if job.parts:
            state.attention[job.id] = None
        else:
            forget_job(state, job)
    if job.id in state.jobs and job.phase in ("queued", "running") and job.cancelling != "wanted":
        state.attention.pop(job.id, None)


def _begin(state: State, job: Job, event: Event) -> None:
    if job.phase != "running":
        overtake(state, job)
    job.phase = "running"
    if job.started is None:
        job.started = event.value.get("began", event.time)
        limit = job.limit_s + state.index.policy.lost_after_s
        insort(state.deadlines, (event.time + limit, job.id))
    if not job.charged:
        charge(state, job)


def go_back(state: State, job: Job, run: Run) -> None:
    """A run that never began, and never will in this job, waits again, before all others."""
    del state.runs[run.id]
    job.parts.pop(run.id, None)
    fly(state, run, -1)
    entry = PendingResult(run.component, run.case, run.repeat, run.attempt, void_run=run.id, mode=run.mode)
    if job.cancelling or run.cancelled:
        state.to_cancel.append(entry)
        state.tallies[run.component].waiting += 1
    else:
        enqueue(state, entry, first=True)


def leave(state: State, job: Job, run: Run) -> None:
    """A part was judged: the job is done with when it is over and no other part is left."""
    job.parts.pop(run.id, None)
    if job.phase == "ended" and not job.parts:
        forget_job(state, job)
