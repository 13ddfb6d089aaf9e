"""Jobs that run on nodes which, by the last look, do not answer. Only the scheduler can find out when they end.

What they take stays reserved, since they may be alive. But nothing is to wait behind them that can run elsewhere.
"""

from __future__ import annotations

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import JobPhase
from shakedown.engine.state.state import State
from shakedown.model.shared_nodes import names_in

EVERY_S = 15.0  # between two looks for such nodes
_LONGEST_CHAIN = 64  # jobs that follow each other


def pools_followed(state: State) -> tuple[str, ...]:
    """Purpose: the pools in which silent nodes are to be looked up: jobs follow others there, or a node was silent at the last
    look.
    """
    jobs = (state.jobs[name] for name in state.job_index.followers)
    followed = {job.key.pool for job in jobs if job.key is not None}
    return tuple(pool for pool in state.index.places if pool in followed or state.pools.silent.get(pool))


def silent_node(state: State, job: Job) -> str:
    """Purpose: of the nodes that a job runs on, the first that does not answer; "" where all do."""
    if not state.pools.silent or job.key is None or job.phase != JobPhase.RUNNING or not job.nodes:
        return ""
    silent = state.pools.silent.get(job.key.pool, ())
    return next((name for name in names_in(job.nodes) if name in silent), "") if silent else ""


def stuck_behind(state: State, job: Job) -> tuple[str, str]:
    """Purpose: of a job and those that it follows, one after the other, the one that runs on a silent node, and that node; ("", "")
    where none does.
    """
    at, links = state.jobs.get(job.id), 0
    while at is not None and links < _LONGEST_CHAIN and state.pools.silent:
        if node := silent_node(state, at):
            return at.id, node
        at, links = state.jobs.get(at.after), links + 1
    return "", ""
