"""Jobs that need a decision of their own: refused, in doubt, ended badly, started again, to be cancelled, or perhaps still alive.

``attend`` is the table of contents. Silence never leads to a verdict, except ``lost`` after its stated deadline.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, assert_never

from shakedown.engine.constraints.budgets import ReservedLoads, shrunk
from shakedown.engine.constraints.overrides import closed_now, narrowed, standing_reason
from shakedown.engine.constraints.overrides import withdrawn as standing_withdrawal
from shakedown.engine.constraints.queue_guard import give_back
from shakedown.engine.fold.first_looks import limit_by_rule
from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.policy import part_recovery as attend_parts
from shakedown.engine.policy.overlooked_jobs import cancel_if_wanted, look_into
from shakedown.engine.policy.verdict_facts import verdict_value
from shakedown.engine.state.job_limits import lengthened_s, limit_s, lowered_s
from shakedown.engine.state.jobs import Job, PendingResult, Run
from shakedown.engine.state.modes import CLEAN_UP, mode_facts
from shakedown.engine.state.orders import BATCH, Decision
from shakedown.engine.state.phases import LIVE, JobPhase, RunPhase
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.silent_nodes import stuck_behind
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.job_terms import limit_in_words
from shakedown.model.ports import (
    AT_LIMIT,
    KILLED_FROM_OUTSIDE,
    NO_RESULT,
    NOT_BEGUN,
    OVERRAN,
    OWN_DOING,
    SEEN_HERE,
    UNHEARD,
)
from shakedown.model.units import show_duration

_PROVES_DEATH = frozenset({"completed", "failed", "timeout", "cancelled", "interrupted", "void"})
_ONLY_OF_THE_JOB = (
    "restart",
    "state",
    "cause",
    "again",
    "dead",
    "over",
    "never",
)  # facts that no verdict on its run repeats
_LIMIT_SAID = re.compile(rf"{AT_LIMIT} of [^,;]*")
_LATE_S = 120.0  # Slurm counts in minutes, and ends a job up to two of them later
_ROUNDING = 1 + 1e-9
HANDED_OVER_S = 120.0  # after its follower began, within which the end of a job is told
_VERDICT_OF = {"timeout": "timeout", "node_fail": "node_fail", "cancelled": "cancelled", "interrupted": "interrupted"}


def attend(state: State, decision: Decision, now: float) -> None:
    """Purpose: the orders for every job that needs one; ask to be woken for those that need one later."""
    attend_parts.judge_ends(state, decision)
    most = len(decision.orders) + BATCH
    for name in state.agenda.attention:  # all of them: hundreds in doubt must not hide one of which something is known
        if len(decision.orders) >= most:
            break
        job = state.jobs[name]
        if job.bundle and (job.parts or "restart" in job.report.facts or job.phase != JobPhase.ORPHANED):
            attend_parts.attend(state, decision, job, now)
        elif "restart" in job.report.facts:
            _restarted(state, decision, job)
        else:
            _attend_phase(state, decision, job, now)
    _overdue(state, decision, now)
    _withdraw(state, decision, now)


def _attend_phase(state: State, decision: Decision, job: Job, now: float) -> None:
    """Handle a job of one run that the scheduler did not start again, by its phase."""
    match job.phase:
        case JobPhase.ORPHANED:
            _orphaned(state, decision, job, now)
        case JobPhase.REFUSED:
            if job.report.facts.get("never") or not give_back(state, decision, job, now):
                _judge(state, decision, job, "submit_failed", refusal(job))
        case JobPhase.ENDED:
            if not give_back(state, decision, job, now):
                _ended(state, decision, job)
        case JobPhase.ORDERED | JobPhase.AMBIGUOUS | JobPhase.QUEUED | JobPhase.RUNNING:
            _in_doubt(state, decision, job, now)
        case _:
            assert_never(job.phase)


def refusal(job: Job) -> str:
    """Purpose: why a job never began: the scheduler refused it, or took it and nothing shows that it ran."""
    return f"{NOT_BEGUN if job.scheduler_id else 'the scheduler refused it'}: {job.report.message}"


def _withdraw(state: State, decision: Decision, now: float) -> None:
    """Take back jobs that have not started. Once the driver has its claim, such a job can never start, and its run waits again."""
    stopping = state.driver.stopping if state.index.policy.withdraw_on_stop else ""
    whole = {number: why for number in range(len(state.index.components)) if (why := withdrawn(state, number))}
    late = _may_not_follow(state, decision, now) | _in_held_queues(state) | _may_not_begin(state, now)
    if not (stopping or whole or late or state.agenda.stale):
        return
    most = len(decision.orders) + BATCH
    names = dict.fromkeys([*state.agenda.stale, *late])
    jobs = state.jobs.values() if stopping or whole else sorted(map(state.jobs.__getitem__, names), key=_age)
    staying = dict(state.job_index.followers)
    for job in reversed(list(jobs)):  # who follows another one first: it could start once that is gone
        why = (
            stopping
            or whole.get(job.component)
            or (whole.get(_held_for(job)) if whole else "")
            or late.get(job.id)
            or job.stale
        )
        here = job.phase == JobPhase.QUEUED and job.successor not in staying
        if why and here and now < job.requests.claim_after:
            decision.wake(job.requests.claim_after)
        elif why and here and not (job.requests.claim or job.restart or job.id in state.agenda.attention):
            staying.pop(job.id, None)
            decision.claim(job, f"withdrawn before it started: {why}")
            if len(decision.orders) >= most:
                return


def _may_not_begin(state: State, now: float) -> dict[str, str]:
    """Jobs that may start at any moment, although a window, a yield or a person lets less run by now than what runs and what waits
    make together: those that came last. A clean-up is owed in a closed window, too; and what is held is not released in it.
    """
    closed, narrow = dict[int, str](), dict[int, dict[str, float]]()
    for number in range(len(state.index.components)):
        if why := closed_now(state, number, now):
            closed[number] = why
        over = {name: most * _ROUNDING for name, most in narrowed(state, number, now).items()}
        if over:
            narrow[number] = over
    if not (closed or narrow):
        return {}
    found, left = dict[str, str](), dict(state.usage.loads)
    for job in reversed(state.jobs.values()):
        if not job.charged or job.after or job.restart or job.phase != JobPhase.QUEUED:
            continue
        why = closed.get(job.component, "") if job.mode != CLEAN_UP else ""
        why = why or _above(job, narrow.get(job.component, {}), left)
        if why or job.requests.claim:
            for name, load in job.loads:
                left[name] = left.get(name, 0.0) - load
        if why:
            found[job.id] = why
    return found


def _above(job: Job, most: Mapping[str, float], left: Mapping[str, float]) -> str:
    """The first of a job's loads of which more is taken than holds now, as a reason; ""."""
    for own, _ in job.loads:
        limit = min(most.get(own, math.inf), most.get(own.partition("@")[0], math.inf))
        if left.get(own, 0.0) > limit:
            return f"what runs and what waits load {own} with more than it holds now"
    return ""


def _held_for(job: Job) -> int:
    """The number of the component whose turn a held job waits for; -1 where the job may start. After an amendment this need not be
    the component that the job was ordered for.
    """
    return job.key.component if job.key is not None and not job.charged and not job.after else -1


def _in_held_queues(state: State) -> dict[str, str]:
    """Job -> why it is taken back. Shakedown's own scheduler cannot hold jobs, so jobs in a held queue are taken back, except the
    probe.
    """
    if not state.index.policy.withdraw_on_stop:
        return {}
    held = {pool: guard.probe for pool, guard in state.pools.guards.items() if guard.since}
    jobs = (job for job in state.jobs.values() if held and job.phase == JobPhase.QUEUED and pool_of(state, job) in held)
    return {job.id: "its queue is held" for job in jobs if job.id != held[pool_of(state, job)]}


def _age(job: Job) -> int:
    return int(job.id[1:])


def _may_not_follow(state: State, decision: Decision, now: float) -> dict[str, str]:
    """Job -> why it is taken back. These are followers that must not take over from the job before them: the budget now has a lower
    limit than is taken of it, or nothing of their component may begin. The scheduler does not know this and would start them.
    """
    if not state.job_index.followers:
        return {}
    found, promised = {}, ReservedLoads()
    known: dict[QueueKey, str] = {}
    over: dict[tuple[int, str, tuple[tuple[str, float], ...]], str] = {}
    for job in map(state.jobs.__getitem__, state.job_index.followers):
        key = job.key
        assert key is not None
        if key not in known:
            reason = standing_reason(state, key, now)
            known[key] = reason.text if reason is not None and not reason.key.startswith("cap:") else ""
        at = (job.component, key.pool, job.loads)
        if at not in over:
            over[at] = shrunk(state, job.loads, job.component, key.pool, promised, now)
            if over[at] and (until := _handed_over_by(state, now)):
                over[at] = ""
                decision.wake(until)
        if known[key] or over[at]:
            found[job.id] = known[key] or f"jobs that run load {over[at]} with more than it holds now"
            continue
        stuck, node = stuck_behind(state, job)
        if stuck:
            found[job.id] = f"{node} does not answer, on which {stuck} runs that it is to follow"
    return found


def _handed_over_by(state: State, now: float) -> float:
    """By when the end of each job whose follower already runs must be known; 0 where there is no such job.

    A scheduler starts a follower once the job before it is over, but may report that end some looks later: for a job on several
    nodes, the boots of its nodes are checked first. Until then the loads of both are counted.
    """
    began = [
        job.started if job.started is not None else now
        for job in state.jobs.values()
        if job.after and job.phase == JobPhase.RUNNING and job.after in state.jobs
    ]
    until = max(began, default=0.0) + HANDED_OVER_S
    return until if began and now < until else 0.0


def withdrawn(state: State, number: int) -> str:
    """Purpose: why the queued jobs of a component are taken back before they start; "" where they stay."""
    roll = state.clocks.mixes.get(state.index.components[number].name)
    if roll is not None and roll.up:
        return f"the time of component {state.index.components[number].name} is over"
    return standing_withdrawal(state, state.index.components[number].name)


def _ended(state: State, decision: Decision, job: Job) -> None:
    """Judge a job that did not run to its own end. Runs that did are collected and checked instead."""
    verdict = _VERDICT_OF.get(job.report.facts.get("state", ""))
    run = state.runs.get(job.run)
    if run is None or verdict is None or run.phase != RunPhase.ENDED:
        return
    launch = bool(job.report.facts.get("launch_failure"))  # its claim is taken: nothing of it lives
    alive = verdict == "node_fail" and not (launch or job.report.facts.get("dead"))
    if launch and (run.cancelled or job.requests.cancel):
        verdict = "cancelled"  # it was ended while it was being launched
    if run.cancelled and verdict in ("interrupted", "node_fail"):
        verdict = "cancelled"  # a person's word before the accident's: it must not be attempted again
    cause = job.report.facts.get("cause")
    reasons = {
        "timeout": _at_limit(state, job),
        "node_fail": "a node it ran on failed",
        "cancelled": "it was cancelled" if job.requests.cancel else "someone else cancelled it at the scheduler",
        "interrupted": "it is no result of its case" if cause == NO_RESULT else "it was ended from outside",
    }
    said = job.report.message
    if verdict == "timeout" and (known := _LIMIT_SAID.match(said)):
        why = reasons[verdict] + said[known.end() :]  # whoever ended it says first what stands there already
    else:
        why = reasons[verdict] + (f": {said}" if said else "")
    if verdict == "interrupted" and cause == KILLED_FROM_OUTSIDE and run.attempt >= attend_parts.MOST_KILLED:
        verdict, why = "failed", f"{said}; it is attempt {run.attempt}, {OWN_DOING}"
    if verdict == "timeout" and _is_cut_short(state, job, run):
        verdict = "interrupted"
    if (launch and verdict == "node_fail") or job.report.message.startswith((OVERRAN, UNHEARD)):
        why = job.report.message
    _judge(state, decision, job, verdict, why, alive=alive)


def _is_cut_short(state: State, job: Job, run: Run) -> bool:
    """Whether somebody lowered the time limit that ended the job: it is neither the test's nor the partition's."""
    if run.cancelled or run.attempt >= attend_parts.MOST_CUT_SHORT:
        return False
    limit, elapsed = state.index.cases[job.case].shape.time_limit_s, job.report.facts.get("elapsed_s")
    place = state.index.places.get(pool_of(state, job))
    most = place.time_limit_s if place is not None and place.time_limit_s else limit
    lowered = lowered_s(job)
    if 0 < lowered < min(limit, most):  # that was seen, whatever the run's own clock says
        return True
    if limit_by_rule(state, job):
        return False
    return job.report.source != SEEN_HERE and elapsed is not None and elapsed < 0.9 * min(limit, most)


def _at_limit(state: State, job: Job) -> str:
    """At which time limit the scheduler ended the job, in words. It may differ from the test's, since an administrator may change
    it.
    """
    limit, elapsed = state.index.cases[job.case].shape.time_limit_s, job.report.facts.get("elapsed_s")
    lowered, lengthened = lowered_s(job), lengthened_s(job)
    if 0 < lowered < limit:
        said = f"the scheduler ended it at a time limit of {limit_in_words(lowered)}, to which somebody lowered it"
        return f"{said}, although it asks for {limit:g} s"
    if elapsed is not None and elapsed < 0.9 * limit:
        return f"the scheduler ended it at a time limit after {elapsed:g} s, although it asks for {limit:g} s"
    if lengthened:
        return f"{AT_LIMIT} of {limit_in_words(lengthened)}, which somebody gave it at the scheduler; it asks for {limit:g} s"
    said, began, over = f"{AT_LIMIT} of {limit:g} s", job.started, job.report.facts.get("over")
    if began is None or over is None or over - began <= limit + _LATE_S:
        return said
    return f"{said}, {show_duration(over - began)} after it began: the scheduler was late"


def _judge(state: State, decision: Decision, job: Job, verdict: str, why: str, alive: bool = False) -> None:
    run = state.runs[job.run]
    value = verdict_value(state, run, verdict) | {
        k: v for k, v in job.report.facts.items() if k not in _ONLY_OF_THE_JOB
    }
    if alive:
        value["alive"] = True
    if job.report.facts.get("never") and not state.index.components[run.component].duration_s:
        value["final"] = (
            True  # another attempt would be refused as well; with a mix the next one comes later, not at once
        )
    over = job.report.facts.get("over") if "restart" in job.report.facts and "elapsed_s" not in value else None
    if over is not None and run.started is not None and over >= run.started:
        value["ended"] = over  # of that start, by the scheduler's clock
    decision.record(Event("verdict", case=run.case, run=run.id, job=job.id, value=value, reason=why))


def _restarted(state: State, decision: Decision, job: Job) -> None:
    """The scheduler started the job again under the same id. The old run is judged first; in the next decision a new run takes over
    the job.
    """
    run = state.runs.get(job.run)
    if run is not None and run.phase != RunPhase.JUDGED:
        _judge(state, decision, job, *_put_back(job, run))
    if run is not None:
        return
    if any(order.event.event == "requeued" for order in decision.orders):
        return  # another restarted job takes a waiting result in this decision; this one finds its own in the next
    restart = job.report.facts["restart"]
    waiting = _waiting_entry(state, job)
    if waiting is None:
        why = "the scheduler started it again, but its result is no longer wanted; it is ended"
        value: dict[str, Any] = {"kind": "unwanted_restart", "restart": restart}
        decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))
        return
    value = {
        "component": state.index.components[waiting.component].name,
        "repeat": waiting.repeat,
        "attempt": waiting.attempt,
        "restart": restart,
        "previous": job.run,
    } | mode_facts(waiting.mode)
    if job.report.facts.get("cause") == "node_fail" and not job.report.facts.get("launch_failure"):
        value["lost_start"] = True  # it may live on where its node was lost
    why = "the scheduler started the same job again"
    decision.record(Event("requeued", case=job.case, run=decision.new_run(state), job=job.id, value=value, reason=why))


def _put_back(job: Job, run: Run) -> tuple[str, str]:
    """The verdict, and its reason, on the run of a job that the scheduler put back into its queue."""
    back = f"the scheduler put it back into the queue (restart {job.report.facts['restart']})"
    lost = job.report.facts.get("cause") == "node_fail"
    launch = bool(job.report.facts.get("launch_failure"))
    words = (
        ["" if launch else "a node it ran on failed", job.report.message, back] if lost else [back, job.report.message]
    )
    first, *more = (word for word in words if word)
    verdict = "cancelled" if run.cancelled else "node_fail" if lost else "interrupted"
    return verdict, ("; " if launch else ": ").join(word for word in (first, "; ".join(more)) if word)


def _waiting_entry(state: State, job: Job) -> PendingResult | None:
    queue = state.waiting.queues.get(state.index.class_of(job.component, job.case, job.mode))
    entries: list[PendingResult] = [*(queue or ()), *state.waiting.delayed]
    for entry in entries:
        if entry.same(job.component, job.case, entry.repeat, job.mode) and not entry.void_run:
            return entry
    return None


def _orphaned(state: State, decision: Decision, job: Job, now: float) -> None:
    """The run is judged but the job may still be alive: what it takes stays reserved until a mark or its time limit shows that it
    is dead.
    """
    patience_s = state.index.policy.dead_after_s
    limit = limit_s(state, job) + patience_s
    deadline = max(
        (job.started if job.started is not None else job.since) + limit, state.driver.awake_since + patience_s
    )
    if job.report.state in _PROVES_DEATH:
        why = f"it is over: {job.report.source} says '{job.report.state}'"
        why += "; its verdict was given before that and stands, and what it held is free"
        value = {"kind": "late_mark", "seen": job.report.state, "dead": True}
        decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))
    elif now >= deadline and not _is_in_the_queue(job):
        why = f"no sign of life by {limit:g} s after its start; it is believed dead and what it held is free"
        value = {"kind": "believed_dead", "seen": job.report.state, "dead": True}
        decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))
    else:
        cancel_if_wanted(decision, job, now)
        if job.report.state == "running" and job.report.facts.get("noted") != "running":
            why = "it still runs after its verdict; the verdict stands and what it holds stays held"
            value = {"kind": "late_mark", "seen": job.report.state}
            decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))
        if now < deadline:
            decision.wake(deadline)


def _in_doubt(state: State, decision: Decision, job: Job, now: float) -> None:
    """A job that may be alive, but for which a source gives no answer or which a person wants cancelled."""
    if job.phase in LIVE:
        cancel_if_wanted(decision, job, now)
    why = look_into(state, decision, job, now)
    if why:
        _judge(state, decision, job, "lost", why, alive=True)


def _is_in_the_queue(job: Job) -> bool:
    """Whether the scheduler itself, rather than a record, says that the job runs: then it does, however late it is. It may be
    suspended, or somebody gave it more time. Shakedown's own scheduler has the process itself, which no clock can contradict.
    """
    return job.report.state == "running" and job.report.source in ("queue", SEEN_HERE)


def _overdue(state: State, decision: Decision, now: float) -> None:
    """Judge jobs ``lost`` that are said to run long past their time limit, unless the scheduler's queue says so itself."""
    asked = set[str]()
    for when, name in state.agenda.deadlines:
        if when > now:
            decision.wake(when)
            return
        if name in asked:
            continue
        asked.add(name)
        job = state.jobs.get(name)
        if job is None or job.phase != JobPhase.RUNNING or job.report.state != "running" or _is_in_the_queue(job):
            continue
        patience_s = state.index.policy.lost_after_s
        deadline = max((job.started or 0.0) + limit_s(state, job) + patience_s, state.driver.awake_since + patience_s)
        if now < deadline:  # the one in the list was of an earlier start of the job
            decision.wake(deadline)
            continue
        past = show_duration(now - (job.started or 0.0) - limit_s(state, job))
        why = f"{_said_to_run(job)}, {past} past its time limit; nothing else that was asked knows of it"
        if job.bundle:
            attend_parts.lose(state, decision, job, why)
            continue
        _judge(state, decision, job, "lost", why, alive=True)


def _said_to_run(job: Job) -> str:
    """Which source says that the job runs, which job it is, and where."""
    which = f"job {job.scheduler_id or job.id}" + (f" on {job.nodes}" if job.nodes else "")
    if job.report.source == "marks":
        return f"{which} wrote a mark when it began and none of an end"
    return f"{job.report.source} still says that {which} runs"
