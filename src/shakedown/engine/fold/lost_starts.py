"""Jobs that the scheduler started again elsewhere after a node was lost: processes of the lost start may still run on that node.

What the job holds stays reserved until the lost start is known to be dead too: by its own end mark, its nodes or its time limit.
"""

from __future__ import annotations

from shakedown.engine.fold.bookkeeping import forget_job
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import JobPhase, Step
from shakedown.engine.state.state import State


def let_go(state: State, job: Job) -> None:
    """Purpose: forget a job that is over. If a lost start of it may still run, the job is kept as that start alone."""
    if job.lost_start < 0:
        forget_job(state, job)
        return
    job.restart, job.lost_start, job.lost = job.lost_start, -1, True
    job.phase, job.since, job.started = JobPhase.ORPHANED, state.time, None
    state.job_index.begin(job)
    job.report.state, job.report.source, job.report.facts, job.requests.cancel = "", "", {}, Step.NONE
    state.agenda.attention[job.id] = None
