"""Queues that are held: a fault that keeps every job from starting must not cost each of them an attempt.

The queue of a pool is held after a few jobs in a row that end before they take their claims, or after submissions that are refused
for the same reason. Then nothing new is ordered there, and jobs that wait at the scheduler are kept from starting. After a while
one job probes, on other nodes than those that failed. When it has taken its claim, the rest follows. A job that ends before its
claim while the queue is held spends no attempt.

``keep_queues`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shakedown.engine.constraints.left_out import FEW, barred, points_to_nodes, to_avoid, well_first
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.moments import moment
from shakedown.engine.state.orders import BATCH, Decision, Order
from shakedown.engine.state.phases import CampaignPhase, Claim, JobPhase, Step
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.records import Guard
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.ports import ReleaseOrder

PROVEN_S = 20.0  # that a probe runs: its script takes its claim, or ends, at once
PATIENCE_S = 60.0  # that a probe waits for nodes on which no launch failed, before it may have any


def keep_queues(state: State, decision: Decision, now: float) -> bool:
    """Purpose: hold queues and release them; while one is held, keep its waiting jobs from starting and let one job probe. Returns
    whether anything was ordered.
    """
    before = len(decision.orders)
    for pool, guard in state.pools.guards.items():
        if not guard.since:
            if _is_due(guard) and not points_to_nodes(state, pool, guard, now):
                decision.record(_held(state, pool, guard))
        elif _is_proven(state, decision, guard, now):
            decision.record(_release_queue(state, pool, guard, now))
        elif _is_about_nodes(state, guard):
            decision.record(_release_queue_for_nodes(pool, guard, now))
        elif not state.driver.stopping:
            _keep(state, decision, pool, now)
            _probe(state, decision, pool, guard, now)
    return len(decision.orders) > before


def guard_reason(state: State, pool: str, now: float, promised: Mapping[str, int]) -> Reason | None:
    """Purpose: why nothing new is ordered in a pool whose queue is held; None where a job may be ordered, to probe it.
    ``promised``: pool -> units that this decision has ordered or released.
    """
    guard = state.pools.guards.get(pool)
    if guard is None or not guard.since:
        return None
    if _may_probe(state, pool, guard, now) and not promised.get(pool) and not _to_release(state, pool, guard):
        return None
    return Reason(f"held:{pool}", queue_in_words(state, pool, guard))


def _may_probe(state: State, pool: str, guard: Guard, now: float) -> bool:
    """Whether a job may probe a held queue now. First it must be settled, for each job that ended, that its claim was not taken."""
    if now < guard.until or guard.probe in state.jobs:
        return False
    return next(_not_settled(state, pool), None) is None


def _not_settled(state: State, pool: str) -> Iterator[str]:
    """Jobs of a pool that ended, of which it is not known yet whether they took their claims."""
    ended = (job for job in state.jobs.values() if job.phase in (JobPhase.REFUSED, JobPhase.ENDED) and job.spared)
    return (job.id for job in ended if pool_of(state, job) == pool)


def is_held(state: State, pool: str) -> bool:
    guard = state.pools.guards.get(pool)
    return guard is not None and bool(guard.since)


def held_queues(state: State) -> list[str]:
    """Purpose: the pools whose queues are held; none when the campaign is over, since nothing waits any more."""
    return (
        []
        if state.phase == CampaignPhase.ENDED
        else [pool for pool, guard in state.pools.guards.items() if guard.since]
    )


def was_tried(state: State, pool: str, case: str) -> bool:
    """Purpose: whether a run of this case probed the held queue in vain, so that other cases go first."""
    guard = state.pools.guards.get(pool)
    return guard is not None and bool(guard.since) and case in guard.tried


def queue_in_words(state: State, pool: str, guard: Guard) -> str:
    """Purpose: that a queue is held, since when, why, and what is done about it."""
    said = f"{queue_in_short(pool)} since {moment(guard.since)}: {_what(guard)}"
    if guard.probe in state.jobs:
        return f"{said}; {guard.probe} probes, and the rest follows when it has taken its claim"
    if state.time > guard.until and (left := list(_not_settled(state, pool))):
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        return f"{said}; one job probes once it is known of {left[0]}{more} whether the claim was taken, and the rest follows"
    return f"{said}; one job probes at {moment(guard.until)}, and the rest follows when it has taken its claim"


def queue_in_short(pool: str) -> str:
    """Purpose: that a queue is held, without the reason, for places where ``queue_in_words`` is shown too."""
    return f"the queue of {pool} is held"


def _what(guard: Guard) -> str:
    why = guard.why or "nobody says why"
    return f"submissions are refused: {why}" if guard.what else f"jobs end before they take their claims: {why}"


# ---- held and let go ---------------------------------------------------------------------------------------------------


def _is_due(guard: Guard) -> bool:
    """A submission may be refused for what its case asks for. Only the same refusal of several cases concerns the whole queue."""
    if len(guard.row) < FEW:
        return False
    return not guard.what or len({one.case for one in guard.row.values()}) > 1


def _held(state: State, pool: str, guard: Guard) -> Event:
    jobs = list(guard.row)
    back = [node for node in dict.fromkeys(one.node for one in guard.row.values()) if node in state.pools.left_out]
    value: dict[str, Any] = {"kind": "queue_held", "pool": pool, "jobs": jobs[:20], "count": len(jobs)}
    why = f"the queue of {pool} is held: {len(jobs)} jobs in a row did not come to run ({', '.join(jobs[:5])}): {_what(guard)}"
    then = (
        "one job probes now and then, and the rest follows when it has taken its claim; until then no attempt is spent"
    )
    if back:
        value["nodes"] = back
        then += f"; it is more than {', '.join(back)}, so left out no longer"
    return Event("finding", value=value, reason=f"{why}; {then}")


def _is_proven(state: State, decision: Decision, guard: Guard, now: float) -> bool:
    if guard.proved:
        return True
    job = state.jobs.get(guard.probe)
    if guard.what or job is None or job.phase != JobPhase.RUNNING or job.report.state != "running":
        return False
    due = (job.started if job.started is not None else now) + PROVEN_S
    if now < due:
        decision.wake(due)
    return now >= due


def _release_queue(state: State, pool: str, guard: Guard, now: float) -> Event:
    job = state.jobs.get(guard.probe)
    case = guard.proved or (job.case if job is not None else "")
    value: dict[str, Any] = {"kind": "queue_released", "pool": pool, "held_s": round(now - guard.since, 3)}
    did = "was taken" if guard.what else "has taken its claim"
    why = f"the queue of {pool} goes on after {now - guard.since:.0f} s: {guard.probe} {did}"
    return Event("finding", case=case, value=value, reason=why)


def _is_about_nodes(state: State, guard: Guard) -> bool:
    """Whether all failures were on nodes that are now left out: then there is no reason left to hold the queue."""
    nodes = {one.node for one in guard.row.values()}
    return bool(nodes) and nodes <= state.pools.left_out.keys() and guard.probe not in state.jobs


def _release_queue_for_nodes(pool: str, guard: Guard, now: float) -> Event:
    nodes = list(dict.fromkeys(one.node for one in guard.row.values()))
    value: dict[str, Any] = {"kind": "queue_released", "pool": pool, "held_s": round(now - guard.since, 3)}
    why = f"the queue of {pool} goes on after {now - guard.since:.0f} s: all that failed was on {', '.join(nodes[:5])}"
    return Event("finding", value=value, reason=f"{why}, left out by now")


# ---- what waits at the scheduler ---------------------------------------------------------------------------------------


def _keep(state: State, decision: Decision, pool: str, now: float) -> None:
    """Have the scheduler hold jobs that could start. Shakedown's own scheduler cannot hold: there ``attend`` takes
    the jobs back.
    """
    if state.index.policy.withdraw_on_stop:
        return
    most = len(decision.orders) + BATCH
    for job in _waiting_there(state, pool):
        if job.requests.hold in (Step.NONE, Step.WANTED) and job.charged:
            if now < job.requests.hold_after:
                decision.wake(job.requests.hold_after)
                continue
            event = Event("hold_order", case=job.case, run=job.run, job=job.id, reason=f"the queue of {pool} is held")
            decision.orders.append(Order("hold", event, job))
            if len(decision.orders) >= most:
                return


def _waiting_there(state: State, pool: str) -> Iterator[Job]:
    guard = state.pools.guards[pool]
    for job in state.jobs.values():
        if job.phase != JobPhase.QUEUED or job.id == guard.probe or pool_of(state, job) != pool:
            continue
        if job.report.state not in ("", "queued"):
            continue  # it may be over: nobody could tell
        stale = job.stale and not job.restart  # what the scheduler started again is taken back by nobody
        if not (
            job.requests.claim or job.requests.cancel or stale or job.requests.release in (Step.ORDERED, Step.WANTED)
        ):
            yield job


def _probe(state: State, decision: Decision, pool: str, guard: Guard, now: float) -> None:
    """When it is time, release a waiting job to probe the queue. Where none waits, the next job that is ordered probes."""
    if guard.probe in state.jobs:
        _probe_any_node(state, decision, guard, now)
        return
    if now < guard.until:
        decision.wake(guard.until)
        return
    job = _to_release(state, pool, guard) if _may_probe(state, pool, guard, now) else None
    if job is not None:
        order_release(state, decision, job, job.targets, {"again": True, "probe": True})


def _probe_any_node(state: State, decision: Decision, guard: Guard, now: float) -> None:
    """A probe that has waited in vain for nodes without a failed launch may get any node, for those nodes may be busy for hours. It
    may also find that the other nodes launch jobs again.
    """
    job = state.jobs[guard.probe]
    waits = job.phase == JobPhase.QUEUED and job.report.state in ("", "queued") and not (job.stale and not job.restart)
    if not (guard.avoids and waits) or job.requests.claim or job.requests.cancel:
        return
    if job.requests.release in (Step.ORDERED, Step.WANTED):
        return
    if now < guard.asked + PATIENCE_S:
        decision.wake(guard.asked + PATIENCE_S)
        return
    order_release(state, decision, job, job.targets, {"again": True, "probe": True, "avoids": []})


def order_release(
    state: State, decision: Decision, job: Job, targets: Mapping[str, str], more: Mapping[str, Any]
) -> None:
    """Purpose: order that a job that waits at the scheduler may start. ``more`` goes into the event as well.

    A job that probes a held queue may not get the nodes on which launches failed, unless ``more`` itself says which nodes it
    avoids.
    """
    value: dict[str, Any] = {"targets": dict(targets)} | dict(more)
    guard, exclude = state.pools.guards.get(pool_of(state, job)), None
    if guard is not None and guard.since and not job.node:
        avoids = value.get("avoids")
        if avoids is None:
            units = job.key.units if job.key is not None else 1
            avoids = guard.avoids if guard.probe == job.id else to_avoid(state, pool_of(state, job), units)
            value |= {"avoids": list(avoids)} if avoids else {}
        exclude = (*barred(state), *avoids) if avoids or guard.probe == job.id else None
    event = Event("release_order", case=job.case, run=job.run, job=job.id, value=value)
    case = state.index.cases[job.case]
    order = ReleaseOrder(job.id, job.run, case, job.scheduler_id, job.restart, tuple(targets.items()), exclude)
    decision.orders.append(Order("release", event, order))


def _to_release(state: State, pool: str, guard: Guard) -> Job | None:
    """The kept job that probes next: of a case that has not probed yet, where a kept job or a result that waits to be ordered is of
    one.
    """
    kept = [job for job in _waiting_there(state, pool) if job.requests.hold == Step.TAKEN and job.charged]
    order = {node: place for place, node in enumerate(well_first(state, pool, {job.node for job in kept}))}
    kept.sort(
        key=lambda job: (order[job.node], job.key.units if job.key is not None else 0)
    )  # the narrowest begins soonest
    fresh = next((job for job in kept if job.case not in guard.tried), None)
    if fresh is not None or not kept:
        return fresh
    others = (entry.case for key, queue in state.waiting.queues.items() if key.pool == pool for entry in queue)
    return None if any(case not in guard.tried for case in others) else kept[0]


# ---- what ended before its claim ---------------------------------------------------------------------------------------


def give_back(state: State, decision: Decision, job: Job, now: float) -> bool:
    """Purpose: let the runs of a job that ended before its claim wait again, once it is certain that nothing of them ran or will
    run. Returns whether that is so or is being found out.
    """
    if not job.spared or job.report.facts.get("elapsed_s") is not None:
        return False  # of what ran something was seen: one of its other nodes did not start its part
    where = (
        "while its queue is held"
        if is_held(state, pool_of(state, job))
        else "and so did others there, through no fault of its own"
    )
    why = f"it ended before it took its claim, {where}: {job.report.message}"
    launch = bool(job.report.facts.get("launch_failure"))  # who says so took the claim first
    found = job.requests.claim == Claim.FOUND
    says_no = (
        job.phase == JobPhase.REFUSED or job.report.state == "refused"
    )  # by the job's own word, and it has its claim
    if job.not_taken or launch or (found and says_no):
        decision.record(Event("returned", case=job.case, run=job.run, job=job.id, reason=why))
    elif found:
        return False  # it took its claim after all: its end is judged as any other
    elif job.requests.claim == Claim.NONE:
        if now >= job.requests.claim_after:
            decision.claim(job, why)
        else:
            decision.wake(job.requests.claim_after)
    return True


def probe_first(state: State, key: QueueKey) -> int:
    """Purpose: sort key: 1 for a class whose waiting cases have all probed a held queue in vain, so that it comes after others;
    else 0.
    """
    guard = state.pools.guards.get(key.pool)
    if guard is None or not guard.since:
        return 0
    queue = state.waiting.queues.get(key)
    return int(queue is not None and all(entry.case in guard.tried for entry in queue))
