"""Where results wait and what jobs hold: the few steps that all folds use."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from shakedown.engine.state.job_index import job_index_of
from shakedown.engine.state.jobs import Job, PendingResult, Queue, Run
from shakedown.engine.state.keys import NeededKey, ResultsKey, Stage
from shakedown.engine.state.modes import FILLER, SET_UP, is_step
from shakedown.engine.state.needs import needs_others, standing_of
from shakedown.engine.state.phases import NOT_BEGUN, OVER, RunPhase
from shakedown.engine.state.plan import REMEMBERED, PlanIndex, QueueKey, is_place
from shakedown.engine.state.records import STANDSTILL, Given, MixProgress
from shakedown.engine.state.retirement import why_unwanted
from shakedown.engine.state.state import State
from shakedown.model.events import SPARED
from shakedown.model.nouns import Loads

_NOTHING = 1e-9
_UNDETERMINED: Final = RunPhase.UNDETERMINED


def enqueue(state: State, entry: PendingResult, first: bool = False) -> None:
    """Put a wanted result where it waits: in its queue, or with those that wait for results they need.

    Where nothing new of it is to be ordered it waits to be judged cancelled; where what it needs is lost, to be judged not run.
    """
    state.tallies[entry.component].waiting += 1
    entry.cancelled = why_unwanted(state, entry)
    if entry.cancelled:
        state.waiting.to_cancel.append(entry)
        return
    if _waits_for_others(state, entry):
        return
    key = state.index.class_of(entry.component, entry.case, entry.mode)
    queue = state.waiting.queues.get(key)
    if queue is None:
        queue = state.waiting.queues[key] = Queue()
    queue.put(entry, first)


def put_back(state: State, entry: PendingResult) -> None:
    """Let a result wait for its next attempt: until its time has come, or in its queue. Where what it needs has gone meanwhile it
    is judged instead.
    """
    later = entry.not_before > state.time
    if later and (not needs_others(state, entry) or standing_of(state, entry).word == "met"):
        state.tallies[entry.component].waiting += 1
        insort(state.waiting.delayed, entry, key=lambda e: e.not_before)
        return
    enqueue(state, entry)


def _waits_for_others(state: State, entry: PendingResult) -> bool:
    """Whether the result cannot be queued: it waits for what it needs, or that is lost or not needed any more, so that it is only
    judged.
    """
    entry.unmet, entry.spared = "", False
    if not needs_others(state, entry):
        return False
    standing = standing_of(state, entry)
    if standing.word == "open":
        state.waiting.needing.setdefault(entry.case, []).append(entry)
    elif standing.word in ("lost", "spared"):
        entry.unmet, entry.spared = standing.why, standing.word == "spared"
        state.waiting.unmet.append(entry)
    return standing.word != "met"


def came_out(state: State, result: ResultsKey, repeat: int, given: Given) -> None:
    """A result is closed. Results that need it now begin, or are judged not run."""
    count_closed(state, result, repeat)
    name = state.index.components[result.component].name
    followers = _followers(state, name, result.mode, result.case)
    rungs = state.index.ladders.get((result.component, result.case), ()) if not result.mode else ()
    if followers or rungs:
        state.results.given.setdefault(NeededKey(name, result.mode, result.case), {})[repeat] = given
        look_at_needing(state, followers)
    if given.verdict != SPARED:  # else nothing is known that was not known before
        look_at_needing(state, [rung.case for rung in rungs])


def _followers(state: State, component: str, mode: str, case: str) -> tuple[str, ...]:
    """The cases whose results may wait for this one: those that need its case; for a set-up, all cases of its component."""
    followers = state.index.followers.get(case, ())
    number = state.index.component_number.get(component)
    return (*followers, *state.index.all_cases(number)) if mode == SET_UP and number is not None else followers


def count_closed(state: State, result: ResultsKey, repeat: int) -> None:
    """Count a result as closed."""
    state.tallies[result.component].closed += 1
    state.results.closed.setdefault(result, []).append(repeat)


def judged_otherwise(state: State, needed: NeededKey, run: str, verdict: str) -> None:
    """A run whose result others need has a later verdict. Those that have not begun go by the new one; what is judged stays as it
    is.
    """
    mine = [given for given in state.results.given.get(needed, {}).values() if given.run == run]
    for given in mine:
        given.verdict = verdict
    number = state.index.component_number.get(needed.component, -1)
    rungs = state.index.ladders.get((number, needed.case), ()) if not needed.mode else ()
    others = (*_followers(state, needed.component, needed.mode, needed.case), *(rung.case for rung in rungs))
    followers = set(others) if mine else set()
    if followers:
        for entry in state.waiting.set_aside(lambda entry: entry.case in followers):
            state.tallies[entry.component].waiting -= 1
            put_back(state, entry)


def look_at_needing(state: State, cases: Iterable[str]) -> None:
    """Check the results of these cases that wait for others again, because one of those was closed or is no longer wanted."""
    for case in cases:
        for entry in state.waiting.needing.pop(case, []):
            state.tallies[entry.component].waiting -= 1
            put_back(state, entry)


def take(state: State, component: int, case: str, repeat: int, mode: str) -> PendingResult:
    """Remove a waiting result from the place where it waits, usually the head of its queue. Raises ValueError where it waits
    nowhere.
    """
    key = state.index.class_of(component, case, mode)
    queue = state.waiting.queues.get(key)
    taken = queue.entries.pop((case, repeat), None) if queue is not None else None
    if queue is not None and not queue:
        del state.waiting.queues[key]
    if taken is not None:
        state.tallies[component].waiting -= 1
        return taken
    needing = state.waiting.needing.get(case, [])
    for place in (state.waiting.delayed, state.waiting.to_cancel, state.waiting.unmet, needing):
        for number, entry in enumerate(place):
            if entry.same(component, case, repeat, mode):
                del place[number]
                if place is needing and not needing:
                    del state.waiting.needing[case]
                state.tallies[component].waiting -= 1
                return entry
    raise ValueError(f"nothing waits for repeat {repeat} of {case}")


def number_of(identifier: str) -> int:
    """The number in the name of a job or run: 17 for "r17"."""
    return int(identifier[1:])


def fly(state: State, run: Run, sign: int = 1) -> None:
    """Count a run as in flight (``sign`` 1) or no longer (-1). A run that could not be judged yet does not count as live in its
    mix.
    """
    state.tallies[run.component].in_flight += sign
    if run.phase != _UNDETERMINED:
        count_live(state, run, sign)


def count_live(state: State, run: Run, sign: int) -> None:
    """Count a run of a mix as live (``sign`` 1) or no longer (-1)."""
    roll = roll_of(state, run.component, run.mode)
    if roll is not None:
        test = state.index.cases[run.case].test
        left = roll.live[test] = roll.live.get(test, 0) + sign
        if left:
            roll.idle.pop(test, None)
            roll.fallen.pop(test, None)
        else:
            roll.idle[test] = state.time


def begins(state: State, run: Run, when: float) -> None:
    """A run of a mix began: its test counts as under way, whatever else of it waits."""
    roll = roll_of(state, run.component, run.mode)
    if roll is not None:
        test = state.index.cases[run.case].test
        roll.begun[test] = max(when, roll.begun.get(test, 0.0))
        roll.missed.pop(test, None)
        roll.stalled.pop(test, None)
        roll.stalled.pop(STANDSTILL, None)


def roll_of(state: State, component: int, mode: str = "") -> MixProgress | None:
    """The progress of a component's mix. None for a component that wants a number of results, and for runs that are in no mix."""
    if component not in state.index.rolling or is_step(mode):
        return None
    return state.clocks.mixes.setdefault(state.index.components[component].name, MixProgress())


def facts_of(state: State, run: Run) -> dict[str, Any]:
    """The facts that the end of a run was reported with. A run in a job of several has its own; else they are those of its job. A
    run that could not be judged keeps them itself, since its job may be forgotten.
    """
    if run.phase == _UNDETERMINED:
        return run.facts
    job = state.jobs[run.job]
    return run.facts if job.bundle else job.report.facts


# ---- what jobs hold ----------------------------------------------------------------------------------------------------


def resolved(index: PlanIndex, key: QueueKey, targets: Mapping[str, str], side_by_side: int = 1) -> Loads:
    """Purpose: what a job of this class loads, with the name of the target it got in place of a budget with targets.
    ``side_by_side``: how many runs load it at once.
    """
    at = (key, tuple(targets.items()), side_by_side)
    if at not in index.loaded:
        found = tuple(
            (
                f"{name}@{targets[name]}" if name in targets else name,
                load * (1 if is_place(name) else side_by_side),
            )
            for name, load in key.loads
        )
        if len(index.loaded) > REMEMBERED:
            index.loaded.clear()
        index.loaded[at] = found
    return index.loaded[at]


def hold(state: State, job: Job) -> None:
    """Count a new job. Its loads and its units count only if it may start."""
    key = job.key = job.key or state.index.class_of(job.component, job.case, job.mode)
    state.usage.jobs[key.pool] = state.usage.jobs.get(key.pool, 0) + 1
    _load(state, ((name, load) for name, load in job.loads if is_place(name)), 1)
    if job.charged:
        _reserve(state, job, 1)
    else:
        state.agenda.uncharged[job.id] = None
    state.job_index.add(job)


def widen(state: State, job: Job, run: Run) -> None:
    """Add a run to a job of several runs: of each budget the job loads the most that any of its runs does."""
    key = state.index.class_of(run.component, run.case, run.mode)
    loads = dict(job.loads)
    more = [one for one in resolved(state.index, key, job.targets, job.at_once) if one[1] > loads.get(one[0], 0.0)]
    if not more:
        return
    added = [(name, load - loads.get(name, 0.0)) for name, load in more]
    job.loads = tuple((loads | dict(more)).items())
    _load(state, ((name, load) for name, load in added if job.charged or is_place(name)), 1)


def charge(state: State, job: Job, sign: int = 1) -> None:
    """Reserve what a job takes that may start now (``sign`` 1), or give it back (-1)."""
    job.charged = sign > 0
    state.agenda.uncharged.pop(job.id, None)
    state.job_index.charge(job, sign)
    _reserve(state, job, sign)


def _reserve(state: State, job: Job, sign: int) -> None:
    key = job.key
    assert key is not None
    job.allowed = state.time if sign > 0 else job.allowed
    state.usage.units[key.pool] = state.usage.units.get(key.pool, 0) + sign * key.units
    state.usage.exclusive += sign if key.exclusive else 0
    if key.stage is not None:
        _count_stage(state, key.pool, key.stage, sign)
    _load(state, ((name, load) for name, load in job.loads if not is_place(name)), sign)


def _load(state: State, loads: Iterable[tuple[str, float]], sign: int) -> None:
    for budget, load in loads:
        left = state.usage.loads.get(budget, 0.0) + sign * load
        state.usage.loads[budget] = left if abs(left) > _NOTHING else 0.0


def _count_stage(state: State, pool: str, stage: Stage, sign: int) -> None:
    stages = state.usage.stages.setdefault(pool, {})
    stages[stage] = stages.get(stage, 0) + sign
    if not stages[stage]:
        del stages[stage]


def forget_job(state: State, job: Job) -> None:
    """A job is known to be over, or never to have existed: what it held is free, or goes to the job that follows it."""
    key = job.key
    assert key is not None
    if job.charged:
        charge(state, job, -1)
    state.agenda.uncharged.pop(job.id, None)
    state.job_index.forget(job)
    state.agenda.stale.pop(job.id, None)
    state.agenda.stuck.pop(job.id, None)
    state.agenda.unreleased.pop(job.id, None)
    state.usage.jobs[key.pool] -= 1
    _load(state, ((name, load) for name, load in job.loads if is_place(name)), -1)
    state.agenda.attention.pop(job.id, None)
    del state.jobs[job.id]
    while state.agenda.deadlines and state.agenda.deadlines[0].job not in state.jobs:
        del state.agenda.deadlines[0]
    _pass_on(state, job)
    if state.usage.wide.get(key.pool) == job.id:
        next_wide(state, key.pool)


def _pass_on(state: State, job: Job) -> None:
    """The job that follows this one may start now. If this one never ran, that job would start beside the one before this one, so
    it is taken back.
    """
    successor, before = state.jobs.get(job.successor), state.jobs.get(job.after)
    began = job.started is not None or job.report.state in ("completed", "failed")
    if before is not None and before.successor == job.id and not began:
        before.successor = ""  # else that is over, told or not, and who followed it now would begin at once
    if successor is None:
        return
    successor.after = ""
    if before is not None and job.started is None:
        doubt(state, successor, f"job {job.id}, which it was to follow, was taken back")
    if not successor.charged and successor.phase not in OVER:
        charge(state, successor)
    else:
        state.job_index.follows_no_more(successor)


def doubt(state: State, job: Job, why: str) -> None:
    """Mark a job that has not begun to be taken back and ordered again, for the reason ``why``."""
    job.stale = why
    state.agenda.stale[job.id] = None


# ---- wide jobs ---------------------------------------------------------------------------------------------------------


def next_wide(state: State, pool: str) -> None:
    """Find the job of more than one unit that may start and has waited longest in a pool."""
    state.usage.wide.pop(pool, None)
    waiting = [name for name in state.job_index.wide.get(pool, ()) if _waits_wide(state.jobs[name])]
    if waiting:
        state.usage.wide[pool] = min(waiting, key=number_of)


def watch_wide(state: State, job: Job) -> None:
    """Note that a job may start and waits: it was ordered or released, or it waits again."""
    if _waits(job):
        state.job_index.wait(job)
    if job.key is None or not _waits_wide(job):
        return
    state.job_index.wide.setdefault(job.key.pool, {})[job.id] = None
    if job.key.pool not in state.usage.wide:
        state.usage.wide[job.key.pool] = job.id


def overtake(state: State, job: Job) -> None:
    """A job begins. A wide job that was ordered earlier and still waits counts as overtaken. Fillers do not count: they end before
    it begins.
    """
    if job.key is None:
        return
    pool = job.key.pool
    state.job_index.begin(job)
    waiting = state.jobs.get(state.usage.wide.get(pool, ""))
    if waiting is job:
        next_wide(state, pool)
    elif waiting is not None and job.mode != FILLER and number_of(job.id) > number_of(waiting.id):
        waiting.overtaken += job.key.units


def _waits_wide(job: Job) -> bool:
    return _waits(job) and job.key is not None and job.key.units > 1


def _waits(job: Job) -> bool:
    return job.phase in NOT_BEGUN and job.charged


def cap_test(state: State, test: str) -> None:
    """From now on the copies of a test are limited: its waiting results get classes of their own, and its live runs are counted."""
    if test in state.index.capped:
        return
    state.index.cap(test)
    entries = [(entry, queue.reason) for queue in state.waiting.queues.values() for entry in queue]
    state.waiting.queues = {}
    for entry, reason in entries:
        key = state.index.class_of(entry.component, entry.case, entry.mode)
        state.waiting.queues.setdefault(key, Queue(reason=reason)).put(entry)
    for job in state.jobs.values():
        _count_copies(state, job, test)
    state.job_index = job_index_of(state.jobs.values())


def _count_copies(state: State, job: Job, test: str) -> None:
    """Count a live job as so many copies of a test as it may run at once. A job that is held counts when it is released."""
    cases = [state.runs[part].case for part in job.parts if part in state.runs] if job.bundle else [job.case]
    copies = sum(state.index.cases[case].test == test for case in cases)
    load = (f"copies:{test}", float(min(copies, job.at_once)))
    if not copies or any(name == load[0] for name, _ in job.loads):
        return
    job.loads = (*job.loads, load)
    if job.charged:
        _load(state, (load,), 1)
    if job.key is not None and state.index.cases[job.case].test == test:
        places = tuple(one for one in job.key.loads if is_place(one[0]))
        others = tuple(one for one in job.key.loads if not is_place(one[0]))
        job.key = replace(job.key, loads=(*others, (load[0], 1.0), *places), test=test)
