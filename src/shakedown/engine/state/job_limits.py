"""How long a job may take at most, as far as is known: its case's time limit, or a longer one that somebody gave it."""

from __future__ import annotations

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.state import State


def own_limit_s(state: State, job: Job) -> float:
    """Purpose: the time limit that a job was ordered with, in seconds."""
    return (job.bundle.limit_s if job.bundle is not None else 0.0) or state.index.cases[job.case].shape.time_limit_s


def limit_s(state: State, job: Job) -> float:
    """Purpose: until so many seconds after its start a job may live, and what it takes is taken."""
    return max(own_limit_s(state, job), lengthened_s(job))


def lengthened_s(job: Job) -> float:
    """Purpose: the longer time limit that somebody gave a job at the scheduler, 0 = nobody did."""
    was, now = _limits(job)
    return now if now > was > 0 else 0.0


def lowered_s(job: Job) -> float:
    """Purpose: the shorter time limit that somebody gave a job at the scheduler, 0 = nobody did."""
    was, now = _limits(job)
    return now if 0 < now < was else 0.0


def _limits(job: Job) -> tuple[float, float]:
    """The limit that the scheduler first had, and the one that it has; 0 = not known."""
    if job.terms is None or job.terms_now is None:
        return 0.0, 0.0
    return job.terms.time_limit_s or 0.0, job.terms_now.time_limit_s or 0.0
