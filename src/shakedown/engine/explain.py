"""Why something waits, in words, from the very predicates that ``decide`` uses."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.engine.reasons import binding_reason
from shakedown.engine.state import Job, Queue, State

_DOING = {
    "ordered": "it is being submitted",
    "queued": "the scheduler has it in its queue",
    "running": "it is running",
    "ended": "it ended and its output is about to be collected",
    "checking": "its output is being checked",
    "judged": "it is judged; whether it is attempted again is being settled",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """Some wanted results of one case that wait, and the one reason that binds them. ``key`` is stable."""

    component: str
    case: str
    count: int
    key: str
    text: str
    until: float = 0.0


def explain(state: State, case: str = "", now: float = 0.0) -> list[Waiting]:
    """Purpose: each group of waiting results (of ``case``, or of all) with its one binding reason at ``now``."""
    found: list[Waiting] = []
    for key, queue in state.queues.items():
        reason = binding_reason(state, key, now)
        name, text = (reason.key, reason.text) if reason else ("room", _why_not_yet(state, key.pool))
        component = state.index.components[key.component].name
        found += [Waiting(component, c, n, name, text) for c, n in _count(queue, case).items()]
    for entry in state.delayed:
        if case in ("", entry.case):
            component = state.index.components[entry.component].name
            due = f"{max(0.0, entry.not_before - now):.0f} s"
            text = f"attempt {entry.attempt} is due in {due} (back-off after a failure)"
            if entry.deferred:
                text = f"it is tried again in {due}; it was not taken: {entry.deferred}"
            found.append(Waiting(component, entry.case, 1, "backoff", text, entry.not_before))
    return found


def _count(queue: Queue, case: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in queue.entries:
        if case in ("", entry.case):
            counts[entry.case] = counts.get(entry.case, 0) + 1
    return counts


def _why_not_yet(state: State, pool: str) -> str:
    live, limits = state.live.get(pool, 0), state.index.pools[pool]
    if live > limits.low:
        return f"{live} jobs are with the scheduler of {pool}; more are ordered when {limits.low} are left"
    return "it is about to be ordered"


def explain_run(state: State, run_id: str) -> str:
    """Purpose: what a live run is doing and what is in doubt about it; "" for a run that is not live."""
    run = state.runs.get(run_id)
    if run is None:
        return ""
    job = state.jobs.get(run.job)
    note = job.note if job is not None and run.phase == job.seen else ""
    doubt = _doubt(state, job) if job is not None else ""
    return _DOING.get(run.phase, run.phase) + (f": {note}" if note else "") + (f"; {doubt}" if doubt else "")


def _doubt(state: State, job: Job) -> str:
    policy = state.index.policy
    if job.phase == "ambiguous":
        return f"whether the scheduler took it is not known ({job.message or 'the conductor stopped while it was ordered'})"
    if job.seen == "absent":
        return f"no source knows it since {policy.lost_after_s:g} s of patience began; then it is lost"
    if job.seen in ("no_answer", "unknown"):
        return f"no source answers for it; after {policy.no_answer_s:g} s it is lost"
    if job.cancelling:
        return "its cancellation is on the way"
    return ""
