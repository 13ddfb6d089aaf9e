"""How long a job may take at most, as far as is known: the time limit of its case, or a longer one that it was given at the
scheduler.
"""

from __future__ import annotations

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.state import State


def own_limit_s(state: State, job: Job) -> float:
    """Purpose: the time limit that a job was ordered with, in seconds."""
    return (job.bundle.limit_s if job.bundle is not None else 0.0) or state.index.cases[job.case].shape.time_limit_s


def limit_s(state: State, job: Job) -> float:
    """Purpose: how many seconds after its start a job may still be alive, so that what it takes stays reserved."""
    return max(own_limit_s(state, job), lengthened_s(job))


def lengthened_s(job: Job) -> float:
    """Purpose: the longer time limit, in seconds, that a job was given at the scheduler; 0 = none."""
    was, now = _limits(job)
    return now if now > was > 0 else 0.0


def lowered_s(job: Job) -> float:
    """Purpose: the shorter time limit, in seconds, that a job was given at the scheduler; 0 = none."""
    was, now = _limits(job)
    return now if 0 < now < was else 0.0


def _limits(job: Job) -> tuple[float, float]:
    """The time limit that the scheduler first had for the job, and the one that it has now, in seconds; 0 = not known."""
    if job.terms is None or job.terms_now is None:
        return 0.0, 0.0
    return job.terms.time_limit_s or 0.0, job.terms_now.time_limit_s or 0.0
