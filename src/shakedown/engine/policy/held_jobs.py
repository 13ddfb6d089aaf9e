"""Jobs that wait at the scheduler until Shakedown releases them (held jobs), or until another job is over (followers).

``release_held`` releases held jobs whose budgets have room; the test furthest behind its share comes first. ``top_up`` orders such
jobs in advance: held jobs where budgets limit the mix, so that a budget that becomes free is used at once; followers where the plan
asks that work goes on without a conductor.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterator, Mapping
from itertools import chain
from typing import Final

from shakedown.engine.constraints.blocking import Starting, binding_reason
from shakedown.engine.constraints.budgets import choose_targets, fits_slot, in_store, is_bound, places, shrunk
from shakedown.engine.constraints.queue_guard import is_held, order_release
from shakedown.engine.fold.bookkeeping import resolved
from shakedown.engine.policy.job_recovery import withdrawn
from shakedown.engine.policy.mix import Mix
from shakedown.engine.policy.submissions import Reservations, order_after, order_held, room_for
from shakedown.engine.state.jobs import Job, PendingResult
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import LIVE, Claim, JobPhase, Step
from shakedown.engine.state.plan import QueueKey, jobs_of
from shakedown.engine.state.silent_nodes import stuck_behind
from shakedown.engine.state.state import State

_LONGEST_CHAIN = 64  # jobs that follow each other
_WAITS_FOR_ROOM = ("budget:", "cap:", "stagger:")
_QUEUED: Final = JobPhase.QUEUED


def release_held(
    state: State, decision: Decision, plan: Reservations, rolling: Mapping[int, Mix | None], now: float
) -> set[QueueKey]:
    """Purpose: release held jobs that may start now, and repeat releases that the scheduler did not take.

    Returns the classes whose held jobs are skipped in this round, because a test further behind its share has no held job: a run of
    that test is ordered first, and nothing new of these classes.
    """
    _release_again(state, decision, now)
    waiting, left = _by_class(state), set[QueueKey]()
    ranked = [(_behind(rolling, key), next(jobs).id, number, key) for number, (key, jobs) in enumerate(waiting.items())]
    heapq.heapify(ranked)
    while ranked:
        behind, name, number, key = heapq.heappop(ranked)
        if behind < _behind(rolling, key):  # another class of its test had its turn since
            heapq.heappush(ranked, (_behind(rolling, key), name, number, key))
            continue
        foreign = _is_of_another_plan(rolling, key)
        mix = None if foreign else rolling.get(key.component)
        if key.component in rolling and not foreign and (mix is None or mix.full(state, plan.ahead, key)):
            continue
        reason = mix.reason(state, key, now, plan.ahead) if mix else binding_reason(state, key, now, plan.ahead)
        if reason is not None:
            continue
        if mix is not None and _another_first(state, plan, mix, key, waiting, now):
            left.add(key)
            continue
        targets = choose_targets(state, key, plan.ahead.loads, now)
        case = state.jobs[name].case
        starting = Starting(key, case, state.index.cases[case].shape.time_limit_s)
        plan.ahead.start(starting, resolved(state.index, key, targets))
        if mix is not None:
            mix.released(key)
        _release(state, decision, state.jobs[name], targets, now)
        after = next(waiting[key], None)
        if after is not None:
            heapq.heappush(ranked, (_behind(rolling, key), after.id, number, key))
    return left


def _another_first(
    state: State, plan: Reservations, mix: Mix, key: QueueKey, waiting: Container[QueueKey], now: float
) -> bool:
    """Whether a class of the mix that is further behind its share, and has no held job, may be ordered now."""
    if key.mode:
        return False
    behind = mix.behind(key)
    for other, _ in mix.next():
        if other.pool != key.pool or other in waiting or mix.behind(other) >= behind:
            continue
        if room_for(state, plan, other) > 0 and mix.reason(state, other, now, plan.ahead) is None:
            return True
    return False


def _is_of_another_plan(rolling: Mapping[int, Mix | None], key: QueueKey) -> bool:
    """Whether an amendment took the job's case out of the mix, or made a mix where there was none. Such held jobs count in no
    share.
    """
    mix = rolling.get(key.component)
    return mix is not None and key.case not in mix.tests


def _by_class(state: State) -> dict[QueueKey, Iterator[Job]]:
    """Class -> its held jobs that may be released, first come first served. Classes without any are left out."""
    found: dict[QueueKey, Iterator[Job]] = {}
    gone = {number for number in {key.component for key in state.job_index.held} if withdrawn(state, number)}
    for key, names in state.job_index.held.items():
        if key.component in gone:
            continue
        jobs = (state.jobs[name] for name in names)
        ready = (job for job in jobs if _is_held(job) and _is_wanted(job))
        first = next(ready, None)
        if first is not None:
            found[key] = chain((first,), ready)
    return found


def _release_again(state: State, decision: Decision, now: float) -> None:
    for job in [state.jobs[name] for name in state.agenda.unreleased]:
        if job.phase != _QUEUED or job.report.state == "absent" or not _may_go(state, job):
            continue
        if is_held(state, _class(job).pool) and state.pools.guards[_class(job).pool].probe != job.id:
            continue
        if now >= job.requests.release_after:
            _release(state, decision, job, job.targets)
        else:
            decision.wake(job.requests.release_after)


def _is_held(job: Job) -> bool:
    return not job.after and job.phase == _QUEUED and job.requests.release == Step.NONE


def _may_go(state: State, job: Job) -> bool:
    """Whether a job is still wanted and not about to be taken back. A job that the scheduler started again is never taken back."""
    if job.restart:
        paused = state.index.components[job.component].name in state.overrides.paused
        return not (job.requests.claim or job.requests.cancel or paused)
    return _is_wanted(job) and not withdrawn(state, job.component)


def _is_wanted(job: Job) -> bool:
    return not (job.stale or job.requests.claim or job.requests.cancel)


def _behind(rolling: Mapping[int, Mix | None], key: QueueKey) -> float:
    mix = rolling.get(key.component)
    ranked = mix is not None and key.mode == "" and not _is_of_another_plan(rolling, key)
    return mix.behind(key) if mix is not None and ranked else math.inf


def _release(state: State, decision: Decision, job: Job, targets: Mapping[str, str], now: float | None = None) -> None:
    more = {"now": now, "at": state.seq} if now is not None else {"again": True}
    order_release(state, decision, job, targets, more)


# ---- in store ----------------------------------------------------------------------------------------------------------


def top_up(state: State, decision: Decision, plan: Reservations, mix: Mix, now: float) -> None:
    """Purpose: order held jobs or followers in advance, as many as the plan wants."""
    fill = state.index.components[mix.number].fill
    if fill.survive_s:
        _order_followers(state, decision, plan, mix, fill.survive_s, now)
    elif fill.queue_ahead_s:
        _order_held(state, decision, plan, mix, fill.queue_ahead_s, now)


def _order_held(state: State, decision: Decision, plan: Reservations, mix: Mix, ahead_s: float, now: float) -> None:
    """For each class that waits for a budget: order as many held jobs as live jobs of it will end in the time that the plan wants
    bridged.
    """
    lacking = {
        key: lacks
        for key in mix.queues
        if not key.mode
        and (lacks := _lacks(state, plan, mix, key, ahead_s, now))
        and _room_in_store(state, plan, key, now) > 0
    }
    for key, entry in (
        list(mix.candidates()) if lacking else ()
    ):  # ranking them is most of the work, and mostly for nothing
        waiting: PendingResult | None = entry
        for _ in range(lacking.get(key, 0)):
            if waiting is None or _room_in_store(state, plan, key, now) <= 0:
                break
            order_held(state, decision, plan, key, waiting, now)
            mix.stored(key)
            waiting = next((entry for own, entry in mix.next() if own == key), None)


def _lacks(state: State, plan: Reservations, mix: Mix, key: QueueKey, ahead_s: float, now: float) -> int:
    """How many more held jobs are wanted of a class that waits for room in a budget; 0 where it waits for something else."""
    reason = mix.reason(state, key, now, plan.ahead)
    if reason is None or not reason.key.startswith(_WAITS_FOR_ROOM):
        return 0
    test = mix.tests[key.case]
    if key.pool in state.pools.backoffs or not mix.in_time(test, now, ahead_s):
        return 0
    alive, each_s = state.job_index.charged.get(key, 0), mix.seconds[test]
    wanted = max(1, math.ceil(alive * ahead_s / each_s)) if each_s > 0 else 1
    return max(0, wanted - len(state.job_index.held.get(key, ())))


def _order_followers(
    state: State, decision: Decision, plan: Reservations, mix: Mix, survive_s: float, now: float
) -> None:
    """Let each job of the mix that uses budgets be followed by others on the same targets, for as long as the plan wants to survive
    without a conductor. A follower takes over the loads of the job before it, so the budgets are kept although no driver watches.
    """
    for job in list(state.jobs.values()):
        if (
            _class(job).pool in state.pools.backoffs
            or not _can_be_followed(job, mix, now)
            or not is_bound(state, _class(job), now, plan.ahead.loads)
        ):
            continue
        covered_s = _covered_s(state, job, mix, now)
        if covered_s >= survive_s or any(stuck_behind(state, job)):
            continue
        if shrunk(state, job.loads, job.component, _class(job).pool, plan.ahead.loads, now):
            continue  # its place is to be given up, not handed on
        loads = dict(job.loads)
        for key, entry in list(mix.candidates()):
            test = mix.tests[key.case]
            if key.pool != _class(job).pool or key.units != _class(job).units:
                continue
            if _room_in_store(state, plan, key, now) <= 0:
                continue
            if mix.is_ahead(test) or not mix.in_time(test, now, covered_s):
                continue
            if not fits_slot(state, key, loads, job.targets) or _held_back(state, plan, mix, key, now):
                continue
            order_after(state, decision, plan, key, entry, now, job)
            mix.ordered(key)
            break


def _room_in_store(state: State, plan: Reservations, key: QueueKey, now: float) -> int:
    """How many more jobs may wait for a release or for another job: at most half of those allowed at the scheduler. The other half
    is for jobs that can start; otherwise nodes would be idle beside a full queue.
    """
    places_left, most = places(state, key, plan.ahead.loads, now)
    room = min(room_for(state, plan, key), places_left)
    if room <= 0:
        return 0
    for pool in state.index.pools if not plan.stored else ():
        plan.stored[pool] = in_store(state, pool)
    of_cluster = sum(count for pool, count in plan.stored.items() if jobs_of(pool) == jobs_of(key.pool))
    half = state.index.pools[key.pool].high // 2 - plan.stored[key.pool]
    if most < math.inf:
        half = min(half, int(most) // 2 - of_cluster)
    return int(min(room, max(half, 1 - of_cluster)))


def _class(job: Job) -> QueueKey:
    assert job.key is not None
    return job.key


def _can_be_followed(job: Job, mix: Mix, now: float) -> bool:
    alive = job.phase in LIVE and not job.requests.cancel and not job.stale and job.requests.claim == Claim.NONE
    known = job.component == mix.number and bool(job.scheduler_id) and not job.successor and not job.bundle
    return alive and known and job.mode == "" and job.report.state not in ("absent", "no_answer", "unknown")


def _covered_s(state: State, job: Job, mix: Mix, now: float) -> float:
    """For how many seconds from now this job, and the jobs that it follows, will run."""
    covered, links = 0.0, 0
    at: Job | None = job
    while at is not None and links < _LONGEST_CHAIN:
        each_s = mix.seconds.get(mix.tests.get(at.case, ""), 0.0)
        covered += max(0.0, each_s - (now - at.started)) if at.started is not None else each_s
        at, links = state.jobs.get(at.after), links + 1
    return covered if links < _LONGEST_CHAIN else math.inf


def _held_back(state: State, plan: Reservations, mix: Mix, key: QueueKey, now: float) -> bool:
    """Whether something other than a budget holds the class back. The budget does not count, since a follower takes over a load."""
    reason = mix.reason(state, key, now, plan.ahead)
    return reason is not None and not reason.key.startswith(_WAITS_FOR_ROOM)
