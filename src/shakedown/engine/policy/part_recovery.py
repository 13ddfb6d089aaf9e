"""Jobs of several runs that need a decision: parts without an end of their own, where their job has ended or is not known any more.

``attend`` is the table of contents. A part that never began is kept from beginning, and waits again. A part that began and has no
end is judged by how its job ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from shakedown.engine.constraints.queue_guard import give_back
from shakedown.engine.policy.overlooked_jobs import cancel_if_wanted, look_into
from shakedown.engine.policy.verdict_facts import verdict_value
from shakedown.engine.state.full_disk import full_since
from shakedown.engine.state.jobs import Job, Run
from shakedown.engine.state.orders import BATCH, Decision, Order
from shakedown.engine.state.phases import OVER, RUN_OVER, Claim, JobPhase, RunPhase
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.ports import AT_LIMIT, KILLED_FROM_OUTSIDE, NOT_BEGUN

_BEGUN = frozenset({"running", "ended", "checking"})
MOST_KILLED = 3  # attempts that somebody ended, nobody says who: after that it is taken for the payload's own doing
MOST_CUT_SHORT = 3  # attempts that came to a limit that was lowered: after that it is the site's rule, and no accident
_OWN_END = frozenset({"completed", "failed"})


def attend(state: State, decision: Decision, job: Job, now: float) -> None:
    """Purpose: the orders for one job of several runs that needs attention."""
    runs = [state.runs[name] for name in islice(job.parts, BATCH)]
    if _is_unknown(state, job):
        decision.parts_again.append(job)
    if "restart" in job.report.facts:
        _restarted(state, decision, job, runs)
    elif job.phase in (JobPhase.REFUSED, JobPhase.ENDED) and runs and give_back(state, decision, job, now):
        return
    elif job.phase == JobPhase.REFUSED:
        refused = f"{NOT_BEGUN} in" if job.scheduler_id else "the scheduler refused"
        for run in runs:
            _judge(state, decision, job, run, "submit_failed", f"{refused} its job: {job.report.message}")
        if not runs:
            _release_claims(decision, job, f"{refused} it: {job.report.message}")
    elif job.phase in OVER:
        _judge_open_parts(state, decision, job, runs, now)
    else:
        _cancel(state, decision, job, runs, now)
        why = look_into(state, decision, job, now)
        if why:
            lose(state, decision, job, why)


def judge_ends(state: State, decision: Decision) -> None:
    """Purpose: verdicts on parts that ended by themselves without running to their end: a time limit, a node failure, a kill."""
    for name in islice(state.agenda.part_ends, BATCH):
        run = state.runs[name]
        job, words = state.jobs[run.job], run.facts.get("words", "")
        if run.facts.get("state") == "timeout":
            limit = state.index.cases[run.case].shape.time_limit_s
            _judge(state, decision, job, run, "timeout", f"{AT_LIMIT} of {limit:g} s")
        elif run.facts.get("state") == "node_fail":
            unwanted = job.requests.cancel or run.cancelled  # a person's word before the accident's
            verdict = "cancelled" if unwanted else "node_fail"
            _judge(state, decision, job, run, verdict, f"a node it ran on failed: {words}")
        elif run.facts.get("state") == "interrupted":
            _judge(state, decision, job, run, "interrupted", words)
        else:
            why = words or "its directory, its output or its payload could not be opened on the node"
            _judge(state, decision, job, run, "submit_failed", why)


def _judge_open_parts(state: State, decision: Decision, job: Job, runs: list[Run], now: float) -> None:
    """Judge the open parts of a job that is over. If its script ran to its end, so did all parts that began, so their marks get
    time to be seen.
    """
    said, seen_by = (
        job.report.facts.get("state", ""),
        max(job.since, state.driver.awake_since) + state.index.policy.grace_s,
    )
    for run in runs:
        if run.phase in RUN_OVER:
            continue
        if job.report.facts.get("launch_failure"):  # none of them has begun, or will
            gone = job.requests.cancel or run.cancelled
            _judge(state, decision, job, run, "cancelled" if gone else "node_fail", job.report.message)
            continue
        if run.phase == RunPhase.RUNNING or run.claim == Claim.FOUND:
            if said in _OWN_END and now < seen_by:
                decision.wake(seen_by)
                continue
            _judge(state, decision, job, run, *_by_the_job(state, job, run, said), alive=_may_still_run(job))
        elif run.claim == Claim.NONE:
            why = job.report.message or full_since(state, job.ordered)
            words = f": {why}" if why else ""
            _claim(
                state, decision, job, run, f"its job is over ({said or 'nobody knows how'}) and it had not begun{words}"
            )


def _may_still_run(job: Job) -> bool:
    """Whether something of a job that lost a node may still run there."""
    return job.report.facts.get("state") == "node_fail" and not job.report.facts.get("dead")


def _by_the_job(state: State, job: Job, run: Run, said: str) -> tuple[str, str]:
    """The verdict, and its reason, on a part that was running when its job ended: as for a job of one run that ended so.

    The exception is a job that somebody else cancelled: nothing was said about the run itself, so it is attempted again.
    """
    words = f": {job.report.message}" if job.report.message else ""
    if not said:
        return "lost", f"nobody knows what became of its job{words}"
    if job.requests.cancel or run.cancelled:
        return "cancelled", f"its job was cancelled{words}"
    if said == "node_fail":
        return "node_fail", f"a node it ran on failed{words}"
    if said == "cancelled":
        return "interrupted", f"someone else cancelled its job at the scheduler while it ran{words}"
    if said == "timeout":
        lowered = _at_a_lowered_limit(state, job, run)
        verdict = "interrupted" if lowered and run.attempt < MOST_CUT_SHORT else "timeout"
        return verdict, lowered or f"its job came to its time limit while it ran{words}"
    ran = "while it ran" if run.phase == RunPhase.RUNNING else "and it had begun, as far as anybody can tell"
    why = f"its job ended ({said}) {ran}{words}"
    if said in _OWN_END and (full := full_since(state, job.ordered if run.started is None else run.started)):
        return "interrupted", f"{why}; {full}, so its end may not have been written"
    nobody_says_who = said != "interrupted" or job.report.facts.get("cause") == KILLED_FROM_OUTSIDE
    if nobody_says_who and ended_before(run.spent) >= MOST_KILLED - 1 and job.at_once == 1:
        return (
            "failed",
            f"{why}; so ended {MOST_KILLED} attempts at it, this one with no run beside it: that is its own doing",
        )
    return "interrupted", why + (_no_end_written(job) if said == "completed" else "")


def _no_end_written(job: Job) -> str:
    """Why the end of a run may be missing although its script ran to its end: the node may not have been able to write it."""
    nodes = job.report.facts.get("nodes") or "its node"
    return f"; it told no end of this run: {nodes} may have been unable to write to the campaign's file system then"


def ended_before(spent: Iterable[tuple[str, int]]) -> int:
    """Purpose: how many attempts at a result were ended from outside. ``spent``: (verdict, how many attempts ended so)."""
    return dict(spent).get("interrupted", 0)


def _at_a_lowered_limit(state: State, job: Job, run: Run) -> str:
    """Why the time limit that ended a part's job was lower than the one it asked for; "" where it was not.

    A job asks for all the time that its runs may take, within the limit of its partition. If it was ended before that time, and its
    run was well within its own limit, somebody lowered the limit of the job.
    """
    bundle, limit = job.bundle, state.index.cases[run.case].shape.time_limit_s
    if bundle is None or job.started is None or run.started is None:
        return ""
    known = job.report.facts.get("elapsed_s")
    took = known if known is not None else job.since - job.started
    mine = job.started + took - run.started
    if mine >= 0.9 * limit or (bundle.limit_s and took >= 0.9 * bundle.limit_s):
        return ""
    return f"the scheduler ended its job at a time limit after {took:g} s, which is less than its runs may take"


def _restarted(state: State, decision: Decision, job: Job, runs: list[Run]) -> None:
    """The scheduler started the job again unasked: parts that had begun are judged, the others are kept from beginning, the job is
    ended.
    """
    for run in runs:
        if run.phase in RUN_OVER:
            continue
        if run.phase == RunPhase.RUNNING or run.claim == Claim.FOUND:
            _judge(
                state, decision, job, run, "interrupted", "the scheduler put its job back into the queue while it ran"
            )
        elif run.claim == Claim.NONE:
            _claim(state, decision, job, run, "the scheduler put its job back into the queue")
    if not job.parts:
        why = "the scheduler started it again, but its runs go on in other jobs; it is ended"
        value: dict[str, Any] = {"kind": "unwanted_restart", "restart": job.report.facts["restart"]}
        value |= {
            k: job.report.facts[k]
            for k in ("cause", "nodes", "failed_nodes", "launch_failure")
            if k in job.report.facts
        }
        if job.report.message:
            why = f"{job.report.message}; {why}"
        decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))


def _cancel(state: State, decision: Decision, job: Job, runs: list[Run], now: float) -> None:
    """Cancel the whole job if all of it is to be cancelled. Otherwise keep those cancelled parts from beginning that have not
    begun.
    """
    cancel_if_wanted(decision, job, now)
    for run in runs:
        if run.cancelled and not job.requests.cancel and run.phase not in _BEGUN and run.claim == Claim.NONE:
            _claim(state, decision, job, run, run.cancelled)


def lose(state: State, decision: Decision, job: Job, why: str) -> None:
    """Purpose: judge parts that had begun ``lost``, keep the others from beginning, and let go of a job without open parts."""
    for run in [state.runs[name] for name in islice(job.parts, BATCH)]:
        if run.phase in _BEGUN or run.claim == Claim.FOUND:
            if run.phase not in (RunPhase.ENDED, RunPhase.CHECKING):
                _judge(state, decision, job, run, "lost", why, alive=True)
        elif run.claim == Claim.NONE:
            _claim(state, decision, job, run, why)
    if not job.parts:
        _release_claims(decision, job, why)


def _release_claims(decision: Decision, job: Job, why: str) -> None:
    """All runs of the job are judged or wait again: what the job takes is given back."""
    value = {"kind": "believed_dead", "seen": job.report.state, "dead": True}
    why = f"{why}; none of its runs is open, it is believed dead and what it held is free"
    decision.record(Event("finding", job=job.id, case=job.case, value=value, reason=why))


def _is_unknown(state: State, job: Job) -> bool:
    """Whether claims of the job's parts were ordered and the file system did not show whether they are taken."""
    unknown = job.bundle is not None and job.bundle.unknown
    return unknown and any(state.runs[name].claim == Claim.ORDERED for name in job.parts)


def _claim(state: State, decision: Decision, job: Job, run: Run, why: str) -> None:
    """Order that the claim of a part is taken. This waits while it is not known whether other claims of the job are taken."""
    if _is_unknown(state, job):
        return
    event = Event("claim_order", job=job.id, run=run.id, value={"part": True}, reason=why)
    decision.orders.append(Order("claim_part", event, job))


def _judge(state: State, decision: Decision, job: Job, run: Run, verdict: str, why: str, alive: bool = False) -> None:
    value = verdict_value(state, run, verdict)
    if alive:
        value["alive"] = True
    value |= {k: v for k, v in job.report.facts.items() if k in ("nodes", "failed_nodes", "launch_failure")}
    value |= {k: v for k, v in run.facts.items() if k != "state"}
    decision.record(Event("verdict", case=run.case, run=run.id, job=job.id, value=value, reason=why))
