"""Jobs that no source knows, for which no source answers, or that a person wants cancelled; with one run or with several.

``look_into`` is the table of contents. Silence never leads to a verdict before its stated deadline.
"""

from __future__ import annotations

from shakedown.engine.state.jobs import Job
from shakedown.engine.state.orders import Decision, Order
from shakedown.engine.state.phases import Claim, JobPhase, Step
from shakedown.engine.state.state import State
from shakedown.model.events import Event


def look_into(state: State, decision: Decision, job: Job, now: float) -> str:
    """Purpose: why a job counts as lost by now, else "". In the second case, order what is to be done meanwhile and ask to be
    woken.
    """
    policy = state.index.policy
    if job.report.state == "absent":
        if job.phase == JobPhase.RUNNING or job.requests.claim == Claim.FOUND:
            return _silent_until(state, decision, job, now, policy.lost_after_s, job.report.absent_s)
        if job.requests.claim == Claim.NONE:
            _claim_after(decision, job, now, policy.grace_s)
    elif job.report.state == "void":
        if job.requests.claim == Claim.NONE:
            decision.claim(job, job.report.message)
    elif job.report.state in ("no_answer", "unknown"):
        return _silent_until(state, decision, job, now, policy.no_answer_s)
    return ""


def cancel_if_wanted(decision: Decision, job: Job, now: float) -> None:
    """Purpose: order the cancellation of a job that is wanted: at once, or when the scheduler may be asked again."""
    if job.requests.cancel != Step.WANTED:
        return
    if now >= job.requests.cancel_after:
        decision.orders.append(
            Order("cancel", Event("cancel_order", job=job.id, run=job.run, reason=job.report.message), job)
        )
    else:
        decision.wake(job.requests.cancel_after)


def _claim_after(decision: Decision, job: Job, now: float, grace_s: float) -> None:
    """No source knows the job. After the grace period its claim is taken: if it never started, it then never will."""
    due = max(job.since + grace_s - job.report.absent_s, job.requests.claim_after)
    if now >= due:
        decision.claim(job, f"no source knows it {grace_s:g} s after it was ordered")
    else:
        decision.wake(due)


def _silent_until(
    state: State, decision: Decision, job: Job, now: float, patience_s: float, before_s: float = 0.0
) -> str:
    """Why a job is lost, if its deadline has passed; else "". ``before_s``: seconds of silence that count already. A time in which
    the conductor stood still does not count, since nobody asked then.
    """
    deadline = max(job.since, state.driver.awake_since) + patience_s - before_s
    if now < deadline:
        decision.wake(deadline)
        return ""
    asked = "no source answered" if job.report.state == "no_answer" else "marks, queue and accounting were asked"
    where = f", on {job.nodes}" if job.nodes else ""
    what = f"none could tell what became of it (scheduler id {job.scheduler_id or '?'}{where})"
    return f"{asked} for {patience_s:g} s and {what}"
