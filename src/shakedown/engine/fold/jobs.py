"""Folding events of jobs: ordered, accepted, seen, ended, started again, claimed, cancelled."""

from __future__ import annotations

from bisect import insort
from typing import Any, Final

from shakedown.engine.fold import left_out as fold_left_out
from shakedown.engine.fold import parts as fold_parts
from shakedown.engine.fold import queue_guard as fold_guard
from shakedown.engine.fold.bookkeeping import (
    begins,
    charge,
    enqueue,
    fly,
    forget_job,
    hold,
    number_of,
    overtake,
    put_back,
    resolved,
    roll_of,
    take,
    watch_wide,
    widen,
)
from shakedown.engine.fold.first_looks import first_seen
from shakedown.engine.fold.lost_starts import let_go
from shakedown.engine.state.jobs import Handed, Job, JobBundle, PendingResult, Run
from shakedown.engine.state.keys import Deadline, SweepKey
from shakedown.engine.state.modes import mode_in
from shakedown.engine.state.nodes_out import numbers_out
from shakedown.engine.state.phases import LIVE, NOT_BEGUN, UNANSWERED, Claim, JobPhase, RunPhase, Step
from shakedown.engine.state.records import SubmitBackoff
from shakedown.engine.state.retirement import why_unwanted
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.job_terms import terms_of
from shakedown.model.ports import ENDED, SEEN_HERE

CANCEL_AGAIN_S = 30.0
RELEASE_AGAIN_S = 5.0
SHUT_S, LONGEST_SHUT_S = 5.0, 60.0  # before a scheduler that takes nothing is tried again; doubled each time
DEFER_S, LONGEST_DEFER_S = 10.0, 300.0  # before one job that was not taken is
OF_THE_END = (  # of a report: what a verdict is made of
    "state",
    "exit",
    "elapsed_s",
    "nodes",
    "output",
    "failed_nodes",
    "launch_failure",
    "dead",
    "again",
    "cause",
    "halted_s",
    "over",
)
_OF_A_RESTART = ("nodes", "output", "cause", "failed_nodes", "launch_failure", "elapsed_s", "over")
_SILENT = frozenset({"no_answer", "unknown"})
_DOUBTFUL = _SILENT | {"absent"}
_JOB_RUNS: Final = JobPhase.RUNNING
_JOB_QUEUED: Final = JobPhase.QUEUED
_JOB_ENDED: Final = JobPhase.ENDED
_RUN_RUNS: Final = RunPhase.RUNNING
_RUN_QUEUED: Final = RunPhase.QUEUED
_RUN_ENDED: Final = RunPhase.ENDED
_ORPHANED: Final = JobPhase.ORPHANED
_WANTED: Final = Step.WANTED


def submit_order(state: State, event: Event) -> None:
    value = event.value
    number = state.index.component_number[value["component"]]
    mode = mode_in(value)
    entry = take(state, number, event.case, value["repeat"], mode)
    run = Run(event.run, event.case, number, entry.repeat, value["attempt"], event.job, mode=mode)
    run.deferrals, run.part, run.spent = entry.deferrals, value.get("part", 0), entry.spent
    run.handed = [Handed(**handed) for handed in value.get("handed", ())]
    state.runs[event.run] = run
    state.campaign.next_run = max(state.campaign.next_run, number_of(event.run) + 1)
    state.campaign.next_job = max(state.campaign.next_job, number_of(event.job) + 1)
    fly(state, run)
    _has_begun(state, number)
    job = state.jobs.get(event.job)
    if job is not None and job.bundle is not None:
        job.bundle.parts[run.id] = None
        widen(state, job, run)
    else:
        _new_job(state, event, run)
        if state.jobs[event.job].charged:
            fold_guard.probes(state, state.jobs[event.job], event)
        fold_left_out.probes(state, state.jobs[event.job], value.get("may_have", []))
    _roll_on(state, entry, event.time)


def _has_begun(state: State, number: int) -> None:
    """Something of a component was ordered: from now on its clean-ups must run."""
    component = state.index.components[number]
    if component.clean_up and component.name not in state.results.begun:
        state.results.begun[component.name] = None


def _new_job(state: State, event: Event, run: Run) -> None:
    value = event.value
    job = Job(event.job, run.id, run.case, run.component, event.time, mode=run.mode)
    job.targets = dict(value.get("targets", {}))
    if value.get("bundle"):
        job.bundle = JobBundle(
            value["bundle"], value.get("parts", 0), value.get("at_once", 1), value.get("limit_s", 0.0), {run.id: None}
        )
    job.after = value.get("after", "")
    if job.after not in state.jobs:
        job.after = ""  # it is over by now: who follows it may start at once
    job.charged = not (value.get("held") or job.after)
    job.key = state.index.class_of(job.component, job.case, job.mode)
    job.loads = resolved(state.index, job.key, job.targets, job.at_once)
    if job.after in state.jobs:
        state.jobs[job.after].successor = job.id
    state.jobs[job.id] = job
    hold(state, job)
    if job.charged:
        _allowed(state, job, event.time)
    job.node = value.get("node", 0)
    looks = value.get("may_have") or (state.pools.unseen and job.node in numbers_out(state, job.key.pool))
    if state.pools.unseen and not looks:  # one that only looks whether its node launches jobs again ends no wait
        state.pools.unseen.pop(SweepKey(value["component"], job.key.pool), None)
    if "node" in value and value["node"] in state.pools.idle.get(job.key.pool, ()):
        state.pools.idle[job.key.pool].remove(value["node"])


def _allowed(state: State, job: Job, now: float) -> None:
    """A job may start from now on."""
    test = state.index.cases[job.case].test
    if test in state.index.capped:
        state.usage.allowed_at[test] = now
    watch_wide(state, job)


def release_order(state: State, event: Event) -> None:
    """From here on the budgets count a held job as taken. Its release is ordered again until the scheduler has taken it."""
    job = state.jobs[event.job]
    job.requests.release = Step.ORDERED
    fold_guard.probes(state, job, event)
    if not job.charged:
        job.targets = dict(event.value.get("targets", {}))
        assert job.key is not None
        job.loads = resolved(state.index, job.key, job.targets)
        charge(state, job)
        _allowed(state, job, event.time)


def released(state: State, event: Event) -> None:
    job = state.jobs.get(event.job)
    if job is None or job.requests.release != Step.ORDERED:
        return
    if event.value.get("taken", True):
        job.requests.release = Step.TAKEN
        state.agenda.unreleased.pop(job.id, None)
        job.report.note, job.report.stuck = "", ""  # what the scheduler said was said of our own hold
        state.job_index.note(job)
        state.agenda.stuck.pop(job.id, None)
    else:
        job.requests.release, job.requests.release_after = _WANTED, event.time + RELEASE_AGAIN_S
        state.agenda.unreleased[job.id] = None


def _roll_on(state: State, entry: PendingResult, now: float) -> None:
    """As soon as a result of a mix is ordered, the next one of its case is wanted, until the time of the mix is over."""
    roll = roll_of(state, entry.component, entry.mode)
    if roll is None:
        return
    if roll.started is None:
        roll.started = now
    if entry.fresh and not roll.up:
        state.tallies[entry.component].wanted += 1
        bundle = state.index.bundles.get((entry.component, state.index.cases[entry.case].partition))
        step = bundle.nodes if bundle is not None else 1  # of a sweep: the same node in the next round
        enqueue(state, PendingResult(entry.component, entry.case, entry.repeat + step, mode=entry.mode))


def submit_accepted(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.scheduler_id = event.value.get("id", "")
    job.asked = event.value.get("asked", job.asked)
    _open(state, _pool(state, job), event.time)
    fold_guard.count_answer(state, job, event)
    if job.phase in UNANSWERED:
        job.phase = _JOB_QUEUED
        for run in runs_of(state, job):
            run.phase = _RUN_QUEUED


def runs_of(state: State, job: Job) -> list[Run]:
    """The runs of a job that have no verdict yet."""
    names = list(job.parts) if job.bundle else [job.run]
    return [state.runs[name] for name in names if name in state.runs]


def submit_deferred(state: State, event: Event) -> None:
    """Nothing was submitted: the runs keep their names and wait, and so do all others of their pool for a moment."""
    job = state.jobs[event.job]
    _shut(state, _pool(state, job), event)
    fold_guard.probe_is_gone(state, job, event.time)
    for run in reversed(runs_of(state, job)):
        if job.bundle:
            fold_parts.go_back(state, job, run)  # its pool waits as a whole, and so they go together again
        else:
            _put_off(state, job, run, event)
    forget_job(state, job)


def _put_off(state: State, job: Job, run: Run, event: Event) -> None:
    """A run waits again after its job was not submitted; each time it waits longer. Where it is no longer wanted it is judged
    instead.
    """
    del state.runs[run.id]
    fly(state, run, -1)
    wait = min(DEFER_S * 2.0 ** min(run.deferrals, 10), LONGEST_DEFER_S)
    entry = PendingResult(
        run.component, run.case, run.repeat, run.attempt, event.time + wait, run.id, run.deferrals + 1
    )
    entry.deferred, entry.mode, entry.spent = event.reason, run.mode, run.spent
    entry.cancelled = why_unwanted(state, entry)
    if job.requests.cancel or run.cancelled or entry.cancelled:
        state.tallies[run.component].waiting += 1
        state.waiting.to_cancel.append(entry)
    else:
        put_back(state, entry)


def _pool(state: State, job: Job) -> str:
    return (job.key or state.index.class_of(job.component, job.case, job.mode)).pool


def _open(state: State, pool: str, now: float) -> None:
    """The scheduler took a job again: one more may be tried at once than before, until so many are taken that no
    limit is needed.
    """
    shut = state.pools.backoffs.get(pool)
    if shut is None or now < shut.until:
        return  # one of the batch of which another was refused
    shut.strikes, shut.most = 0, shut.most + 1
    if shut.most >= state.index.pools[pool].high:
        del state.pools.backoffs[pool]


def _shut(state: State, pool: str, event: Event) -> None:
    """The scheduler of a pool takes no jobs: nothing is submitted there for a while, each time twice as long up to a limit."""
    before = state.pools.backoffs.get(pool)
    if before is not None and event.time < before.until:
        return  # one of the same batch
    strikes = before.strikes + 1 if before else 1
    wait = min(SHUT_S * 2.0 ** min(strikes - 1, 10), LONGEST_SHUT_S)
    state.pools.backoffs[pool] = SubmitBackoff(event.time + wait, strikes, event.reason)


def _answers_again(state: State, job: Job, now: float) -> None:
    """The queue of a job's cluster answers again after a silence: submitting to it is tried at once."""
    cluster = _pool(state, job).partition(":")[0]
    for pool, shut in state.pools.backoffs.items():
        if pool.partition(":")[0] == cluster:
            shut.until = min(shut.until, now)
    for entry in state.waiting.delayed:
        if entry.deferred and state.index.cases[entry.case].partition.partition(":")[0] == cluster:
            entry.not_before = min(entry.not_before, now)
    state.waiting.delayed.sort(key=lambda entry: entry.not_before)


def submit_refused(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.phase, job.report.message = JobPhase.REFUSED, event.reason
    state.job_index.begin(job)
    if event.value.get("never"):
        job.report.facts["never"] = True  # that is about the job and tells nothing about its queue
    else:
        fold_guard.count_answer(state, job, event)
    state.agenda.attention[job.id] = None


def submit_unknown(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.asked = event.value.get("asked", job.asked)
    if job.phase == JobPhase.ORDERED:
        job.phase, job.since, job.report.message = JobPhase.AMBIGUOUS, event.time, event.reason
        state.agenda.attention[job.id] = None


def job_report(state: State, event: Event) -> None:
    job = state.jobs.get(event.job)
    if job is None:
        return
    value = event.value
    said = value["state"]
    if value.get("part"):
        fold_parts.part_report(state, job, event)
        return
    _note_doubt(state, job, said, event.time)
    if job.report.state in _SILENT and said not in _SILENT and value.get("source") == "queue":
        _answers_again(state, job, event.time)
    _note_halt(job, value, event.time)
    if said == "running":
        job.nodes = value.get("nodes", job.nodes)
    if "terms" in value and job.terms is None:
        job.terms = job.terms_now = terms_of(value["terms"])
        first_seen(state, job, event.time)
    _note_stuck(state, job, value, event.time)
    fold_guard.count_report(state, job, event)
    if state.pools.left_out and said == "running":
        fold_left_out.elsewhere(state, job, value.get("nodes", ""))
    if job.report.state in _DOUBTFUL and said not in _DOUBTFUL:
        job.requests.cancel_after = event.time  # the scheduler answers again: what it was not asked then is asked now
    job.report.state, job.report.source = said, value.get("source", "")
    _note_reason(state, job, said, event.reason)
    job.scheduler_id = value.get("id", job.scheduler_id)
    if value.get("restart", job.restart) > job.restart or said == "requeued":
        kept = (
            _OF_A_RESTART if said == "requeued" else _OF_A_RESTART[:3]
        )  # of another state: the rest is of the later start
        job.report.facts = {k: v for k, v in value.items() if k in kept}
        job.report.facts["restart"] = max(value.get("restart", 0), job.restart + 1)
        job.report.message = event.reason
        state.agenda.attention[job.id] = None
    elif said in _DOUBTFUL:
        if value.get("output") and not job.report.facts:  # should it be lost, that is what is left of it
            job.report.facts = {"output": value["output"]}
        state.agenda.attention[job.id] = None
    elif job.phase == _ORPHANED:
        state.agenda.attention[job.id] = None
    elif said == "void":
        _did_nothing(state, job, event)
    elif job.bundle:
        fold_parts.job_report(state, job, event)
    elif job.phase != _JOB_ENDED and job.run in state.runs:
        _advance(state, job, state.runs[job.run], event)
        if job.phase in LIVE and job.requests.cancel != _WANTED:
            state.agenda.attention.pop(job.id, None)


def _note_doubt(state: State, job: Job, said: str, now: float) -> None:
    """Note since when it is not known what became of a job.

    A scheduler that does not answer for a moment neither ends nor restarts this time: how long the job was absent before is kept
    until its state is known again.
    """
    before = job.report.state
    if said not in _DOUBTFUL:
        job.report.absent_s = 0.0
    elif said != before and not {said, before} <= _SILENT:
        if before == "absent":
            job.report.absent_s += max(0.0, now - max(job.since, state.driver.awake_since))
        job.since = now


def _note_reason(state: State, job: Job, said: str, reason: str) -> None:
    """Note why a job waits, in the scheduler's words. A source that does not answer changes nothing."""
    if said not in _DOUBTFUL:
        job.report.note = reason if said in ("queued", "running") else ""
        state.job_index.note(job)


def _note_halt(job: Job, value: dict[str, Any], now: float) -> None:
    """Note when a job was seen suspended, and when it went on or ended. A report from a source that cannot tell changes nothing."""
    open_since = bool(job.halts) and len(job.halts[-1]) == 1
    if value.get("halted"):
        if not open_since:
            job.halts.append([now])
    elif open_since and value["state"] not in _DOUBTFUL:
        job.halts[-1].append(now)


def _note_stuck(state: State, job: Job, value: dict[str, Any], now: float) -> None:
    """Note since when a person must act before the job can start. A source that does not answer changes nothing."""
    if value["state"] in _DOUBTFUL:
        return
    stuck = value.get("stuck", "")
    if not stuck:
        state.agenda.stuck.pop(job.id, None)
    elif job.id not in state.agenda.stuck:
        state.agenda.stuck[job.id] = None
        job.report.stuck_since = now
    job.report.stuck, job.report.for_good = stuck, bool(value.get("for_good"))


def _did_nothing(state: State, job: Job, event: Event) -> None:
    """The job was started and ended without doing anything, because it had to. Once its claim is taken, its runs wait again."""
    job.report.message = event.reason
    if job.phase != _JOB_ENDED:
        _back_in_the_queue(state, job)
        state.agenda.attention[job.id] = None


def _back_in_the_queue(state: State, job: Job) -> None:
    """A job that was reported as running has not begun."""
    job.phase, job.started, job.report.hearsay = _JOB_QUEUED, None, False
    for run in runs_of(state, job):
        run.started = None
        if run.phase == _RUN_RUNS:
            run.phase = _RUN_QUEUED
    watch_wide(state, job)


def _advance(state: State, job: Job, run: Run, event: Event) -> None:
    """Move a live job forward: queued, running, ended. It never moves back, since the answer of a queue may be old."""
    said = event.value["state"]
    if said == "running" and not (job.charged or job.after) and job.report.source == "accounting":
        said = "queued"  # it was never released: accounting alone is not believed that it runs
    if (
        said == "queued" and job.report.source == "queue" and job.report.hearsay
    ):  # the queue knows better than accounting
        _back_in_the_queue(state, job)
    if said == "queued" and job.phase in NOT_BEGUN:
        job.phase, run.phase = _JOB_QUEUED, _RUN_QUEUED
    elif said == "running":
        job.report.hearsay = job.report.source == "accounting" and (job.report.hearsay or job.phase != _JOB_RUNS)
        if job.phase != _JOB_RUNS:
            overtake(state, job)
        job.phase, run.phase = _JOB_RUNS, _RUN_RUNS
        if not job.charged:
            charge(state, job)
        if run.started is None:
            run.started = job.started = event.time
            begins(state, run, event.time)
            limit = state.index.cases[job.case].shape.time_limit_s + state.index.policy.lost_after_s
            insort(state.agenda.deadlines, Deadline(event.time + limit, job.id))
    elif said == "refused":
        job.phase, job.report.message = JobPhase.REFUSED, event.reason
        state.job_index.begin(job)
        state.agenda.attention[job.id] = None
    elif said in ENDED:
        job.phase, run.phase = _JOB_ENDED, _RUN_ENDED
        state.job_index.begin(job)
        run.started = job.started = _began(state, job, run, event)
        job.report.message = job.report.message if job.requests.cancel else event.reason
        job.report.facts = {k: v for k, v in event.value.items() if k in OF_THE_END}
        if said == "failed" and job.report.source != SEEN_HERE and event.reason and "again" not in event.value:
            job.report.facts["words"] = (
                event.reason
            )  # the scheduler's: a status alone does not tell "out of memory" from a kill
        if said in ("completed", "failed"):
            state.agenda.to_collect[run.id] = None
        else:
            state.agenda.attention[job.id] = None


def _began(state: State, job: Job, run: Run, event: Event) -> float | None:
    """When a run that is over began, in seconds since the epoch. The job's own word is used where it can be true, since the poll
    came later. A time before the job was ordered, or too late for the run to fit in, comes from a wrong clock and is not used.

    Without such a word it is when the run was first seen, but no later than its end less its elapsed time.
    """
    elapsed: float | None = event.value.get("elapsed_s")
    began: float | None = event.value.get("began")
    if began is not None and job.ordered <= began <= event.time - (elapsed or 0.0):
        return began
    if elapsed is None:
        return run.started
    seen, latest = run.started, round(event.time - elapsed, 6)
    return latest if seen is None or seen > latest >= job.ordered else seen


def requeued(state: State, event: Event) -> None:
    """The job goes on under the same id with a new run. The old run was judged just before."""
    job = state.jobs[event.job]
    value = event.value
    number = state.index.component_number[value["component"]]
    entry = take(state, number, event.case, value["repeat"], mode_in(value))
    run = Run(event.run, event.case, number, entry.repeat, value["attempt"], event.job, phase=_RUN_QUEUED)
    run.mode, run.spent = entry.mode, entry.spent
    state.runs[run.id] = run
    state.campaign.next_run = max(state.campaign.next_run, number_of(run.id) + 1)
    fly(state, run)
    _roll_on(state, entry, event.time)
    if value.get("lost_start"):
        job.lost_start = job.restart
    job.run, job.restart, job.phase, job.started = run.id, value["restart"], _JOB_QUEUED, None
    job.report.facts, job.report.state, job.report.note = {}, "", ""
    job.requests.claim, job.requests.cancel, job.requests.claim_unknown = Claim.NONE, Step.NONE, False
    job.requests.release, job.requests.hold = Step.NONE, Step.NONE
    job.after, job.overtaken, job.halts, job.allowed, job.nodes = "", 0, [], event.time, ""
    state.agenda.unreleased.pop(job.id, None)  # the scheduler started it: nothing holds it back there
    state.job_index.follows_no_more(job)
    state.agenda.attention.pop(job.id, None)
    watch_wide(state, job)


def claim_order(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    if event.value.get("part"):
        job_run = state.runs.get(event.run)
        if job_run is not None:
            job_run.claim = Claim.ORDERED
    else:
        job.requests.claim = Claim.ORDERED


def claim_taken(state: State, event: Event) -> None:
    """The driver took the claim of a job, or of a part: it never ran and never will. Its runs keep their names and wait before all
    others.
    """
    job = state.jobs[event.job]
    runs = [state.runs[event.run]] if event.value.get("part") else runs_of(state, job)
    fold_guard.probe_is_gone(state, job, event.time)
    if event.value.get("part"):
        fold_parts.is_known_again(job)
    for run in reversed(runs):
        fold_parts.go_back(state, job, run)
    if not event.value.get("part") or (not job.parts and job.phase == _JOB_ENDED):
        let_go(state, job)


def claim_found(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    if event.value.get("part"):
        fold_parts.is_known_again(job)
        if event.run in state.runs:
            state.runs[event.run].claim = Claim.FOUND
        return
    job.requests.claim = Claim.FOUND
    if job.spared and job.phase == JobPhase.REFUSED:  # it may have run after all: it is asked about again
        job.phase, job.report.state = _JOB_RUNS if job.started is not None else _JOB_QUEUED, ""
        watch_wide(state, job)
    state.agenda.attention[job.id] = None


def cancel_order(state: State, event: Event) -> None:
    state.jobs[event.job].requests.cancel = Step.ORDERED


def cancel_done(state: State, event: Event) -> None:
    """The scheduler took the cancellation, or could not be asked: then it is asked again after a while."""
    job = state.jobs.get(event.job)
    if job is None:
        return
    if event.value.get("taken", True):
        job.requests.cancel = Step.TAKEN
    else:
        job.requests.cancel, job.requests.cancel_after = _WANTED, event.time + CANCEL_AGAIN_S
