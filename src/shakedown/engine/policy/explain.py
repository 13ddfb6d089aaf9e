"""Why something waits, in words. It calls the same functions as ``decide``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import assert_never

from shakedown.engine.constraints.blocking import Outlook, binding_reason, outlook
from shakedown.engine.constraints.budgets import in_store
from shakedown.engine.constraints.overrides import FOR_PEOPLE
from shakedown.engine.constraints.queue_guard import held_queues, queue_in_short
from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.policy.mix import Mix, mixes
from shakedown.engine.policy.packs import pack_reason
from shakedown.engine.policy.stuck_jobs import we_hold, what_it_needs
from shakedown.engine.policy.sweeps import sweep_reason
from shakedown.engine.state.jobs import Job, PendingResult, Queue, Run
from shakedown.engine.state.modes import FILLER
from shakedown.engine.state.moments import moment
from shakedown.engine.state.needs import in_words, standing_of
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import RUN_NOT_BEGUN, CampaignPhase, Claim, JobPhase, RunPhase, Step
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.state import State
from shakedown.model.units import show_duration


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting results of one case, and the one reason that holds them back.

    ``key``: the name of the reason, which changes only when the reason does. ``until``: when a back-off ends, in seconds since
    1970; 0 where there is none.
    """

    component: str
    case: str
    count: int
    key: str
    text: str
    until: float = 0.0


def explain(state: State, case: str = "", now: float = 0.0) -> list[Waiting]:
    """Purpose: the waiting results of ``case``, or of all cases, in groups, each with the one reason that holds it
    back at ``now``.
    """
    found: list[Waiting] = []
    ahead = outlook(state, now)
    rolling = mixes(state, Decision(), now)
    for key, queue in state.waiting.queues.items():
        name, text = _why(state, key, now, ahead, rolling.get(key.component))
        component = state.index.components[key.component].name
        found += [Waiting(component, c, n, name, text) for c, n in _count(queue, case).items()]
    found += [_why_delayed(state, entry, now, ahead) for entry in state.waiting.delayed if case in ("", entry.case)]
    return found + _wait_for_others(state, case)


def _wait_for_others(state: State, case: str) -> list[Waiting]:
    """Results that wait for other results to pass, grouped by what they wait for."""
    live = {(run.component, run.mode, run.case, run.repeat): run.id for run in state.runs.values()}
    found: dict[tuple[str, str, str, str], int] = {}
    for entry in chain(chain.from_iterable(state.waiting.needing.values()), state.waiting.unmet):
        if case not in ("", entry.case):
            continue
        component = state.index.components[entry.component].name
        if entry.spared:
            at = (component, entry.case, "spared", entry.unmet)
            found[at] = found.get(at, 0) + 1
            continue
        of = standing_of(state, entry).of
        assert of is not None, "it is let go as soon as everything that it needs has passed"
        number = state.index.component_number[of.key.component]
        run = live.get((number, of.key.mode, of.key.case, of.repeat), "")
        text = entry.unmet or f"{in_words(of)} comes first{f', as {run}' if run else ', and waits itself'}"
        at = (component, entry.case, f"need:{of.key.case}", text)
        found[at] = found.get(at, 0) + 1
    return [Waiting(component, name, count, key, text) for (component, name, key, text), count in found.items()]


def _why(state: State, key: QueueKey, now: float, ahead: Outlook, mix: Mix | None = None) -> tuple[str, str]:
    reason = mix.reason(state, key, now, ahead) if mix else binding_reason(state, key, now, ahead)
    if reason is None:
        reason = sweep_reason(state, key, now) or pack_reason(state, key)
    return (reason.key, reason.text) if reason else ("room", _why_not_yet(state, key, ahead, mix))


def _why_delayed(state: State, entry: PendingResult, now: float, ahead: Outlook) -> Waiting:
    """The back-off until its time has come; after that, whatever else holds the result back."""
    component = state.index.components[entry.component].name
    if entry.not_before <= now:
        key = state.index.class_of(entry.component, entry.case, entry.mode)
        return Waiting(component, entry.case, 1, *_why(state, key, now, ahead))
    due = f"{entry.not_before - now:.0f} s"
    text = f"attempt {entry.attempt} is due in {due} (back-off after a failure)"
    if entry.deferred:
        text = f"it is tried again in {due}; it was not taken: {entry.deferred}"
    return Waiting(component, entry.case, 1, "backoff", text, entry.not_before)


def waits_for_people(state: State, now: float = 0.0) -> str:
    """Purpose: what a person must do before anything goes on; "" where something goes on without that."""
    idle = not (state.jobs or state.runs or state.waiting.delayed or state.waiting.to_cancel or state.builds_running())
    if state.phase != CampaignPhase.RUNNING or state.driver.stopping or not idle or not state.waiting.queues:
        return ""
    ahead = outlook(state, now)
    found = [binding_reason(state, key, now, ahead) for key in state.waiting.queues]
    reasons = [reason for reason in found if reason is None or not reason.key.startswith(("clean-up:", "drill:"))]
    if not reasons or not all(
        reason is not None and reason.key.startswith(("gate:", *FOR_PEOPLE)) for reason in reasons
    ):
        return ""
    asked = [_asks_people(state, number) for number in range(len(state.index.components))]
    asked += [reason.text for reason in reasons if reason is not None and reason.key.startswith(FOR_PEOPLE)]
    return "; ".join(dict.fromkeys(filter(None, asked)))


def _asks_people(state: State, number: int) -> str:
    """What a person must do so that the components which wait for this one may begin; "" where nothing is to be done."""
    component = state.index.components[number]
    awaited = {name for other in state.index.components for name in other.after}
    if component.name not in awaited or component.name in state.gates.waived or not state.tallies[number].over:
        return ""
    missing = state.unattested(number)
    if missing:
        return f"component {component.name} is over but not attested: {', '.join(missing)} (shakedown attest)"
    outcome = state.gates.outcomes.get(component.name)
    if outcome is None or outcome.outcome == "met" or component.name not in state.index.awaited:
        return ""
    way_out = f"shakedown waive {component.name} --gate, or shakedown amend"
    return f"component {component.name} is {outcome.outcome}: {outcome.why} ({way_out})"


def _count(queue: Queue, case: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in queue:
        if case in ("", entry.case):
            counts[entry.case] = counts.get(entry.case, 0) + 1
    return counts


def _why_not_yet(state: State, key: QueueKey, ahead: Outlook, mix: Mix | None) -> str:
    live, limits = state.usage.jobs.get(key.pool, 0), state.index.pools[key.pool]
    if mix is not None:
        full = mix.full_for_fillers if key.mode == FILLER else mix.full
        if full(state, ahead, key):
            return f"{key.pool} is full, and enough waits at its scheduler"
        if live >= limits.high:
            return _no_room(state, key.pool, live)
        test, shares = mix.tests.get(key.case, ""), mix.shares
        first = test in shares and mix.is_behind(test)  # a filler has no share
        behind = not first and any(mix.is_behind(other) for other in shares if other != test)
        return "another test of the mix is further behind its share" if behind else "it is about to be ordered"
    if key.component in state.index.rolling:
        return f"{key.pool} is full, and enough waits at its scheduler"
    if live >= limits.high:
        return _no_room(state, key.pool, live)
    if live > limits.low:
        return f"{live} jobs are with the scheduler of {key.pool}; more are ordered when {limits.low} are left"
    shut = state.pools.backoffs.get(key.pool)
    if shut is not None:
        most = f"until it answers, it is asked for no more than {shut.most}"
        return f"the scheduler of {key.pool} took no job for a time ({shut.why}); {most}"
    return "it is about to be ordered"


def _no_room(state: State, pool: str, live: int) -> str:
    """As many jobs as are allowed are at the scheduler. How many of them do not run is said too, since that may
    explain idle nodes.
    """
    stored = in_store(state, pool)
    waits = f"; {stored} of them wait for their release, or for another job" if stored else ""
    return f"{live} jobs of ours are with the scheduler of {pool}, and no more may be at once{waits}"


def explain_run(state: State, run_id: str, now: float | None = None) -> str:
    """Purpose: what a live run is doing, and what is not known about it; "" for a run that is not live. ``now``: if it is not
    given, the time of the last event.
    """
    said, run = _explain_run(state, run_id, state.time if now is None else now), state.runs.get(run_id)
    job = state.jobs.get(run.job) if run is not None else None
    if run is None or job is None or job.bundle is None or run.id not in job.parts:
        return said
    part = f"part {run.part} of {job.bundle.size} of {job.id}"
    not_begun = run.phase in RUN_NOT_BEGUN and job.phase == JobPhase.RUNNING
    return f"{part}, not begun" if not_begun else f"{part}: {said}"


def _waits_there(state: State, run: Run, job: Job, now: float) -> str:
    """Why Shakedown itself keeps a job in the scheduler's queue; "" where only the scheduler decides when it starts."""
    pool = pool_of(state, job)
    if job.phase == JobPhase.QUEUED and job.requests.hold in (Step.ORDERED, Step.TAKEN) and pool in held_queues(state):
        return f"it is kept in the scheduler's queue, for {queue_in_short(pool)}"
    if job.phase != JobPhase.QUEUED or job.charged:
        return ""
    if job.after:
        return f"it is in the scheduler's queue and follows {job.after}: it begins when that is over"
    assert job.key is not None
    ahead = outlook(state, now)
    mix = mixes(state, Decision(), now).get(job.component)
    reason = mix.reason(state, job.key, now, ahead) if mix else binding_reason(state, job.key, now, ahead)
    text = reason.text if reason is not None else _why_not_yet(state, job.key, ahead, mix)
    return f"we hold it in the scheduler's queue, and let it go by ourselves once this has passed: {text}"


def _explain_run(state: State, run_id: str, now: float) -> str:
    run = state.runs.get(run_id)
    if run is None:
        return ""
    job = state.jobs.get(run.job)
    if job is not None and not job.requests.cancel:
        waits = _waits_there(state, run, job, now) if job.report.state in ("", "queued") else ""
        if waits:
            return waits
    if job is not None and run.phase == RunPhase.RUNNING and (again := waits_again(job)):
        return again
    note = job.report.note if job is not None and run.phase == job.report.state else ""
    if job is not None and note and job.id in state.agenda.stuck and not we_hold(job) and run.part <= 1:
        note = what_it_needs(state, job)  # once for a job of several runs
    if job is not None and note and job.phase == JobPhase.QUEUED and we_hold(job):
        note = _held_by_us(state, job)  # the scheduler's own word would send a person to let it go
    doubt = _why_job_is_uncertain(state, job) if job is not None else ""
    if job is not None and job.phase == JobPhase.REFUSED and job.spared:
        return "it ended before it took its claim; it waits again, without an attempt spent, once its claim is ours"
    if job is not None and job.report.state == "absent" and run.phase == RunPhase.QUEUED:
        return f"the scheduler took it; {doubt}"
    return _activity(run.phase) + (f": {note}" if note else "") + (f"; {doubt}" if doubt else "")


def waits_again(job: Job) -> str:
    """Purpose: a sentence for a job that began although the scheduler now has it waiting in its queue; else "".

    A scheduler that lost its memory reports this, and for a moment an old answer may too. The job counts as running either way:
    what it began may go on, and its claim keeps a second start from doing anything.
    """
    if job.phase != JobPhase.RUNNING or job.report.state != "queued":
        return ""
    began = f" at {moment(job.started)}" if job.started is not None else ""
    return (
        f"it began{began}, and the scheduler has it waiting in its queue again, as one does that lost its memory of that start; "
        "whether that start goes on is not known, and a second one finds its claim taken and does nothing"
    )


def _held_by_us(state: State, job: Job) -> str:
    """Why a job that may start is still held by Shakedown, and when it is released."""
    if job.requests.hold:
        return f"we hold it, for the queue of {pool_of(state, job)} was held; it is let go by itself when that is over"
    return "we held it, and are letting it go now"


def _activity(phase: RunPhase) -> str:
    """What a run is doing, by its phase."""
    match phase:
        case RunPhase.ORDERED:
            return "it is being submitted"
        case RunPhase.QUEUED:
            return "the scheduler has it in its queue"
        case RunPhase.RUNNING:
            return "it is running"
        case RunPhase.ENDED:
            return "it ended and its output is about to be collected"
        case RunPhase.CHECKING:
            return "its output is being checked"
        case RunPhase.UNDETERMINED:
            return "it ended and could not be judged; it is judged again by itself, or by shakedown rejudge"
        case RunPhase.JUDGED:
            return "it is judged; whether it is attempted again is being settled"
        case _:
            assert_never(phase)


def _why_job_is_uncertain(state: State, job: Job) -> str:
    policy = state.index.policy
    if job.phase == JobPhase.AMBIGUOUS:
        return f"whether the scheduler took it is not known ({job.report.message or 'the conductor stopped while it was ordered'})"
    if job.report.state == "absent":
        since = f"no source has known it since {moment(job.since)}"
        if job.report.absent_s:
            since += f", nor for {show_duration(job.report.absent_s)} before that"
        if job.phase == JobPhase.RUNNING or job.requests.claim == Claim.FOUND:
            return f"{since}; after {show_duration(policy.lost_after_s)} it is lost"
        return f"{since}; after {show_duration(policy.grace_s)} it is kept from ever starting, and ordered again"
    if job.report.state in ("no_answer", "unknown"):
        since = f"no source has answered since {moment(job.since)}"
        wanted = "; it is to be cancelled" if job.requests.cancel else ""
        return f"{since}; after {show_duration(policy.no_answer_s)} it is lost{wanted}"
    if job.requests.cancel:
        return "its cancellation is on the way"
    return ""
