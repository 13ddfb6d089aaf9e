"""Starts of a job whose node was lost: the processes may live on there, though the scheduler has started the job again elsewhere.

What the job holds stays held until that start is known to be dead as well: by its own end mark, by its nodes, or by its time limit.
"""

from __future__ import annotations

from shakedown.engine.fold.bookkeeping import forget_job
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import JobPhase, Step
from shakedown.engine.state.state import State


def let_go(state: State, job: Job) -> None:
    """Purpose: forget a job that is over, unless a start of it that was lost may live on: then that is all that is left of it."""
    if job.lost_start < 0:
        forget_job(state, job)
        return
    job.restart, job.lost_start, job.lost = job.lost_start, -1, True
    job.phase, job.since, job.started = JobPhase.ORPHANED, state.time, None
    job.report.state, job.report.source, job.report.facts, job.requests.cancel = "", "", {}, Step.NONE
    state.agenda.attention[job.id] = None
