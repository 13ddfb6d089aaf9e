"""Jobs that wait although nodes that fit them are idle: when to look at the nodes, and the finding that says it once. Pure.

``tell_idle_while_pending`` is the table of contents. Such a stretch begins and ends with a look at the nodes, never between two
looks. Nodes are not looked at while our running jobs leave no room in the pool for a waiting one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import JobPhase
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.units import show_duration

WAITED_S = 600.0  # that a job must have been able to start before anybody looks at the nodes for it
EVERY_S = 300.0  # between two looks
STANDS_S = (
    600.0  # that nodes must have been idle beside it, by one look after the other, before that is worth a finding
)
_NAMED = 5  # jobs in a sentence
# Of a job for which the queue says one of these, other things than nodes are awaited: a person, another job, a licence, a time.
_NOT_FOR_NODES = (
    "JobHeld",
    "Dependency",
    "Licenses",
    "Reservation",
    "it is held",
    "it is still held",
    "it was put back",
    "its nodes are",
    "job requeued in held state",
    "launch failed requeued held",
)
_KEPT_NODES = ("Reserved for maintenance", "May be reserved for other job", "reservation was deleted")


def tell_idle_while_pending(state: State, decision: Decision, now: float) -> None:
    """Purpose: record a finding for each stretch that lasts, and ask to be woken for the next look."""
    for pool, stretch in state.pools.unused.items():
        since = max(stretch.since, state.driver.awake_since)
        if stretch.told:
            continue
        if now < since + STANDS_S:
            decision.wake(since + STANDS_S)
        elif jobs := pending_beside(state, pool, stretch.nodes, now):
            decision.record(_finding(state, pool, stretch.nodes, jobs, since, now))
    for pool in state.index.places:
        _wake(state, decision, pool, now)


def pools_watched(state: State, now: float) -> tuple[str, ...]:
    """Purpose: the pools whose idle nodes are to be looked up: a job has waited there for long, and our running jobs leave room for
    it.
    """
    return tuple(
        pool
        for pool in state.index.places
        if pending_beside(state, pool, _room(state, pool, _waiting(state, pool)), now)
    )


def look_number(now: float) -> int:
    """Purpose: the number of the look that is due at ``now``; there is one every ``EVERY_S`` seconds."""
    return int(now // EVERY_S)


def pending_beside(state: State, pool: str, nodes: int, now: float) -> list[Job]:
    """Purpose: the jobs that have waited for long, for nothing but nodes, and would fit on ``nodes`` idle ones.

    Where a wider job waits as well, only jobs for which the scheduler gives a reason count: it may keep the nodes for the wider
    one.
    """
    if nodes <= 0:
        return []
    jobs = [job for job in _waiting(state, pool) if _waits_for_nodes(job)]
    patient = not any(_units(job) > nodes for job in jobs)
    fit = (job for job in jobs if _units(job) <= nodes and (patient or job.report.note))
    return [job for job in fit if (job.bundle is None or job.bundle.kind != "sweep") and now - job.allowed >= WAITED_S]


def _wake(state: State, decision: Decision, pool: str, now: float) -> None:
    waiting = state.job_index.waiting.get(pool)
    if (
        not waiting
        or state.usage.units.get(pool, 0) - state.job_index.waiting_units[pool] >= state.index.pools[pool].capacity
    ):
        return
    due = state.jobs[next(iter(waiting))].allowed + WAITED_S
    decision.wake(due if due > now else (math.floor(now / EVERY_S) + 1) * EVERY_S)


def _waiting(state: State, pool: str) -> list[Job]:
    jobs = (state.jobs[name] for name in state.job_index.waiting.get(pool, ()))
    return [job for job in jobs if job.phase in ("ordered", "ambiguous", "queued")]


def _room(state: State, pool: str, waiting: Iterable[Job]) -> int:
    """Nodes of a pool on which none of our jobs runs."""
    running = state.usage.units.get(pool, 0) - sum(_units(job) for job in waiting)
    return state.index.pools[pool].capacity - running


def _waits_for_nodes(job: Job) -> bool:
    kept = job.requests.hold or job.requests.cancel or job.stale or job.after or not job.charged
    if job.phase != JobPhase.QUEUED or job.report.state != "queued" or kept:
        return False
    said = job.report.note.split("; ")
    return not any(one.startswith(_NOT_FOR_NODES) for one in said) and not any(
        word in job.report.note for word in _KEPT_NODES
    )


def _units(job: Job) -> int:
    return job.key.units if job.key is not None else 0


# ---- in words ------------------------------------------------------------------------------------------------------------


def _finding(state: State, pool: str, nodes: int, jobs: list[Job], since: float, now: float) -> Event:
    notes = list(dict.fromkeys(job.report.note for job in jobs))
    value: dict[str, Any] = {"kind": "idle_while_pending", "pool": pool, "type": state.index.places[pool].type}
    value |= {
        "idle": nodes,
        "since": since,
        "count": len(jobs),
        "jobs": [job.id for job in jobs[:20]],
        "notes": notes[:20],
    }
    return Event("finding", value=value, reason="; ".join(_sentence(state, pool, nodes, jobs, now - since)))


def in_words(state: State, now: float) -> list[str]:
    """Purpose: a sentence for each pool where this was reported and still is so."""
    found = []
    for pool, stretch in state.pools.unused.items():
        if stretch.told and (jobs := pending_beside(state, pool, stretch.nodes, now)):
            found.append("; ".join(list(_sentence(state, pool, stretch.nodes, jobs, now - stretch.since))[:2]))
    return found


def _sentence(state: State, pool: str, nodes: int, jobs: list[Job], lasts_s: float) -> Iterator[str]:
    idle = f"{nodes} nodes of {pool} ({state.index.places[pool].type}) are" if nodes > 1 else f"1 node of {pool} is"
    named = ", ".join(f"{job.id} = {job.scheduler_id}" if job.scheduler_id else job.id for job in jobs[:_NAMED])
    more = f" and {len(jobs) - _NAMED} more" if len(jobs) > _NAMED else ""
    wait = "1 job that fits them waits" if len(jobs) == 1 else f"{len(jobs)} jobs that fit them wait"
    oldest = show_duration(max(lasts_s, *(state.time - job.allowed for job in jobs)))
    yield f"{idle} idle for {show_duration(lasts_s)} although {wait} ({named}{more}; for up to {oldest})"
    notes = list(dict.fromkeys(job.report.note for job in jobs if job.report.note))
    if notes:
        yield f"the scheduler says: {' / '.join(notes[:3])}"
        yield "look at that limit, or ask the site about it: it, and not the machine, keeps the nodes idle"
    else:
        yield "the scheduler asks for nothing but patience (priority, resources, a begin time)"
        yield (
            "look at whether its backfill still looks at these jobs (how many it tries, when it last ran), at the order of "
            "the queue, and at what the idle nodes lack that the jobs ask for (features, memory, cores)"
        )
