"""Jobs that wait at the scheduler and cannot start until a person acts. This is recorded once for each pool and reason."""

from __future__ import annotations

from typing import Any

from shakedown.engine.constraints.left_out import barred
from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import JobPhase, Step
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.shared_nodes import names_of
from shakedown.model.units import show_duration

CERTAIN_S = 600.0  # for which a job waits for what never passes by itself, before that is worth a finding
PERHAPS_S = 3600.0  # the same for what may pass


def tell_stuck(state: State, decision: Decision, now: float) -> None:
    """Purpose: record a finding where jobs wait for a person: what the scheduler says, and what to do."""
    told = set(state.agenda.said_stuck)
    for job in map(state.jobs.__getitem__, state.agenda.stuck):
        about = about_of(state, job)
        if about in told or job.phase != JobPhase.QUEUED or we_hold(job):
            continue
        due = job.report.stuck_since + (CERTAIN_S if job.report.for_good else PERHAPS_S)
        if now < due:
            decision.wake(due)
            continue
        if not job.report.for_good and pool_of(state, job) in _busy(state):
            continue  # it may be its turn when those are over, and then somebody decides again
        told.add(about)
        others = sum(about_of(state, state.jobs[other]) == about for other in state.agenda.stuck)
        value: dict[str, Any] = {
            "kind": "cannot_start",
            "about": about,
            "jobs": others,
            "since": job.report.stuck_since,
        }
        more = f"; {others - 1} more wait for the same" if others > 1 else ""
        why = f"it has waited for {show_duration(now - job.report.stuck_since)}: {what_it_needs(state, job)}{more}"
        decision.record(Event("finding", job=job.id, run=job.run, case=job.case, value=value, reason=why))


def _busy(state: State) -> set[str]:
    """The pools in which a job of ours runs."""
    return {pool_of(state, job) for job in state.jobs.values() if job.phase == JobPhase.RUNNING}


def what_it_needs(state: State, job: Job) -> str:
    """Purpose: what the scheduler says of a job that cannot start, and what a person must do.

    Where jobs of ours run in the same pool, the nodes that it may have may just be busy, whatever word the scheduler uses.
    """
    if job.report.for_good:
        return f"{job.report.note}; it cannot start before somebody acts: {job.report.stuck}"
    place = state.index.places.get(pool_of(state, job))
    kept = sorted(set(barred(state)) & names_of(place.nodes)) if place is not None else []
    named = f"{', '.join(kept[:5])}{' and more' if len(kept) > 5 else ''}"
    if pool_of(state, job) not in _busy(state):
        ours = f"; it may not have {named}, which this campaign gives no work (shakedown include NODES)" if kept else ""
        return f"{job.report.note}; perhaps it cannot start before somebody acts: {job.report.stuck}{ours}"
    others = f" other than {named}" if kept else ""
    waits = f"it may only wait for nodes{others} that jobs of ours have now"
    return f"{job.report.note}; {waits}; if it still waits when these are over: {job.report.stuck}"


def about_of(state: State, job: Job) -> str:
    """Purpose: the pool of a job and the scheduler's word for what it waits for, as one text. Jobs with the same text are reported
    once.
    """
    return f"{pool_of(state, job)} {job.report.note.partition(',')[0].partition(' (')[0]}"


def we_hold(job: Job) -> bool:
    """Purpose: whether the job waits because Shakedown holds it, or because it follows another job of ours. A person must not
    release it.
    """
    return not job.charged or bool(
        job.after or job.requests.hold or job.requests.release in (Step.ORDERED, Step.WANTED)
    )
