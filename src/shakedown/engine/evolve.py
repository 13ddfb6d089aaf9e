"""Fold one logged event into the state, in place, in constant time. Replay calls nothing else of the engine.

``HANDLERS`` at the end is the table of contents: an event's name -> what it changes. An event that is not in it changes nothing.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from typing import Any

from shakedown.engine.plan import ClassKey
from shakedown.engine.state import BuildState, Entry, Job, Queue, Run, State, Tally
from shakedown.model.events import EVENTS, Event
from shakedown.model.ports import ENDED

CANCEL_AGAIN_S = 30.0
_DOUBTFUL = frozenset({"absent", "no_answer", "unknown"})


def evolve(state: State, event: Event) -> None:
    """Purpose: the state after ``event``. Raises ValueError where ``seq`` leaves a gap: the record is damaged."""
    if event.seq != state.seq + 1:
        raise ValueError(f"event {event.seq} follows event {state.seq}")
    state.seq, state.time = event.seq, event.time
    handler = HANDLERS.get(event.event)
    if handler is not None:
        handler(state, event)
    elif event.event not in EVENTS:
        state.unknown_events += 1


# ---- the campaign ----------------------------------------------------------------------------------------------------


def _campaign_start(state: State, event: Event) -> None:
    state.phase, state.epoch = "running", 1
    state.campaign = event.value.get("campaign", "")
    state.seed = event.value.get("seed", 0)
    state.tallies = [Tally() for _ in state.index.components]
    _want_all(state)


def _want_all(state: State) -> None:
    """Everything the plan wants and the record does not have yet: round by round, so that repeats are spread in time."""
    for number, component in enumerate(state.index.components):
        tally = state.tallies[number]
        for repeat in range(1, component.repeats + 1):
            for case in component.cases:
                tally.wanted += 1
                if state.index.cases[case].unavailable:
                    tally.unavailable += 1
                    if repeat == 1:
                        state.unannounced.append((number, case))
                else:
                    _enqueue(state, Entry(number, case, repeat))


def _enqueue(state: State, entry: Entry, first: bool = False) -> None:
    key = state.index.class_of(entry.component, entry.case)
    queue = state.queues.get(key)
    if queue is None:
        queue = state.queues[key] = Queue()
    if first:
        queue.entries.appendleft(entry)
    else:
        queue.entries.append(entry)
    state.tallies[entry.component].waiting += 1


def _take(state: State, component: int, case: str, repeat: int) -> Entry:
    """Remove a waiting entry from wherever it waits. The usual place is the head of its queue."""
    key = state.index.class_of(component, case)
    places: list[Any] = [state.delayed, state.to_cancel]
    if key in state.queues:
        places.insert(0, state.queues[key].entries)
    for place in places:
        for entry in place:
            if entry.same(component, case, repeat):
                place.remove(entry) if place[0] is not entry else place.__delitem__(0)
                state.tallies[component].waiting -= 1
                if key in state.queues and not state.queues[key].entries:
                    del state.queues[key]
                taken: Entry = entry
                return taken
    raise ValueError(f"nothing waits for repeat {repeat} of {case}")


def _driver_start(state: State, event: Event) -> None:
    """What the last driver left open is in doubt: jobs are asked after again, collecting and building start again."""
    state.driven, state.stopping = True, ""
    for job in state.jobs.values():
        job.seen = job.source = ""
        if job.phase == "ordered":
            job.phase, job.since = "ambiguous", event.time
        if job.claim == "ordered":
            job.claim = ""
        if job.cancelling == "ordered":
            job.cancelling = "wanted"
        state.attention[job.id] = None
    for run in state.runs.values():
        if run.phase == "checking":
            run.phase = "ended"
            state.to_collect[run.id] = None
    state.builds = {key: build for key, build in state.builds.items() if build.phase in ("done", "failed")}


def _driver_stop(state: State, event: Event) -> None:
    state.driven = False


def _stop_request(state: State, event: Event) -> None:
    state.stopping = event.reason or "someone asked to stop"


def _campaign_end(state: State, event: Event) -> None:
    state.phase = "ended"


def _amended(state: State, event: Event) -> None:
    """A new document is in force (its index was put in place before). Closed results stay; waiting ones are counted anew."""
    state.epoch += 1
    if state.phase == "ended":
        state.phase = "running"
    old = event.value.get("components", [])
    closed = {(old[int(k.split(" ", 1)[0])], k.split(" ", 1)[1]): n for k, n in state.closed.items()}
    state.closed = {}
    flying = [(old[run.component], run) for run in state.runs.values()]
    tallies = state.tallies
    state.queues, state.delayed, state.to_cancel, state.unannounced = {}, [], [], []
    state.tallies = [Tally() for _ in state.index.components]
    _want_all(state)
    for number, component in enumerate(state.index.components):
        if component.name in old:
            state.tallies[number].verdicts = tallies[old.index(component.name)].verdicts
        for case in component.cases:
            for _ in range(min(closed.get((component.name, case), 0), component.repeats)):
                _close_waiting(state, number, case)
    for name, run in flying:
        _keep_flying(state, name, run)


def _close_waiting(state: State, component: int, case: str) -> None:
    if state.index.cases[case].unavailable:
        return
    entry = _first_waiting(state, component, case)
    _take(state, component, case, entry.repeat)
    _count_closed(state, component, case)


def _first_waiting(state: State, component: int, case: str, repeat: int = 0) -> Entry:
    queue = state.queues[state.index.class_of(component, case)]
    return next(e for e in queue.entries if e.case == case and e.component == component and repeat in (0, e.repeat))


def _keep_flying(state: State, component_name: str, run: Run) -> None:
    """A live run goes on; if the new plan still wants its result, it is that result's attempt, else it is wanted extra."""
    number = state.index.component_number.get(component_name, 0)
    run.component = number
    if run.job in state.jobs:
        state.jobs[run.job].component = number
    try:
        entry = _first_waiting(state, number, run.case)
    except (KeyError, StopIteration):
        state.tallies[number].wanted += 1
    else:
        _take(state, number, run.case, entry.repeat)
        run.repeat = entry.repeat
    state.tallies[number].in_flight += 1


def _unavailable(state: State, event: Event) -> None:
    number = state.index.component_number[event.value["component"]]
    state.unannounced.remove((number, event.case))


def _waiting(state: State, event: Event) -> None:
    for key, queue in state.queues.items():
        if class_label(state, key) == event.value.get("class"):
            queue.reason = event.value.get("key", "")


def class_label(state: State, key: ClassKey) -> str:
    """A class's name in the log: stable, readable, unique."""
    loads = "+".join(f"{name}={amount:g}" for name, amount in key.loads)
    parts = [
        state.index.components[key.component].name,
        key.pool,
        f"{key.units}u",
        "exclusive" if key.exclusive else "",
    ]
    return "/".join(part for part in [*parts, loads, key.build[:12]] if part)


# ---- builds ----------------------------------------------------------------------------------------------------------


def _build_order(state: State, event: Event) -> None:
    state.builds[event.build] = BuildState("ordered")


def _build_start(state: State, event: Event) -> None:
    state.builds[event.build].phase = "started"


def _build_end(state: State, event: Event) -> None:
    state.builds[event.build] = BuildState(event.value["state"], event.reason, event.value.get("log", ""))


# ---- jobs ------------------------------------------------------------------------------------------------------------


def _submit_order(state: State, event: Event) -> None:
    value = event.value
    number = state.index.component_number[value["component"]]
    entry = _take(state, number, event.case, value["repeat"])
    state.runs[event.run] = Run(event.run, event.case, number, entry.repeat, value["attempt"], event.job)
    state.jobs[event.job] = Job(event.job, event.run, event.case, number, event.time)
    state.next_run = max(state.next_run, _number(event.run) + 1)
    state.next_job = max(state.next_job, _number(event.job) + 1)
    tally = state.tallies[number]
    tally.in_flight += 1
    _reserve(state, state.jobs[event.job])


def _number(identifier: str) -> int:
    return int(identifier[1:])


def _reserve(state: State, job: Job, sign: int = 1) -> None:
    key = state.index.class_of(job.component, job.case)
    state.live[key.pool] = state.live.get(key.pool, 0) + sign
    state.exclusive_live += sign if key.exclusive else 0
    for budget, load in key.loads:
        left = state.used.get(budget, 0.0) + sign * load
        state.used[budget] = left if abs(left) > 1e-9 else 0.0


def _forget_job(state: State, job: Job) -> None:
    """The job is known to be dead or never to have lived: what it held is free."""
    _reserve(state, job, -1)
    state.attention.pop(job.id, None)
    del state.jobs[job.id]


def _submit_accepted(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.scheduler_id = event.value.get("id", "")
    if job.phase in ("ordered", "ambiguous"):
        job.phase = state.runs[job.run].phase = "queued"


def _submit_refused(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.phase, job.message = "refused", event.reason
    job.transient = bool(event.value.get("transient"))
    state.attention[job.id] = None


def _submit_unknown(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    if job.phase == "ordered":
        job.phase, job.since, job.message = "ambiguous", event.time, event.reason
        state.attention[job.id] = None


def _job_report(state: State, event: Event) -> None:
    job = state.jobs.get(event.job)
    if job is None:
        return
    value = event.value
    said = value["state"]
    changed = said != job.seen
    job.seen, job.source = said, value.get("source", "")
    job.scheduler_id = value.get("id", job.scheduler_id)
    if value.get("restart", job.restart) > job.restart or said == "requeued":
        job.facts = {"restart": max(value.get("restart", 0), job.restart + 1)}
        state.attention[job.id] = None
    elif said in _DOUBTFUL:
        if changed:
            job.since = event.time
        state.attention[job.id] = None
    elif job.phase == "haunting":
        state.attention[job.id] = None
    elif job.phase != "ended" and job.run in state.runs:
        _advance(state, job, state.runs[job.run], event)
        if job.phase in ("queued", "running") and job.cancelling != "wanted":
            state.attention.pop(job.id, None)


def _advance(state: State, job: Job, run: Run, event: Event) -> None:
    """A live job moves forward: queued, running, ended. It never moves back: a stale queue may still say "queued"."""
    said = event.value["state"]
    if said == "queued" and job.phase in ("ordered", "ambiguous", "queued"):
        job.phase = run.phase = "queued"
    elif said == "running":
        job.phase = run.phase = "running"
        if run.started is None:
            run.started = job.started = event.time
            limit = state.index.cases[job.case].shape.time_limit_s + state.index.policy.lost_after_s
            insort(state.deadlines, (event.time + limit, job.id))
    elif said == "refused":
        job.phase, job.message, job.transient = "refused", event.reason, True
        state.attention[job.id] = None
    elif said in ENDED:
        job.phase = run.phase = "ended"
        if run.started is None and "elapsed_s" in event.value:  # over before anyone saw it run
            run.started = job.started = round(event.time - event.value["elapsed_s"], 6)
        job.message = job.message if job.cancelling else event.reason
        job.facts = {k: v for k, v in event.value.items() if k in ("state", "exit", "elapsed_s", "nodes", "output")}
        while state.deadlines and state.deadlines[0][1] not in state.jobs:
            del state.deadlines[0]
        if said in ("completed", "failed"):
            state.to_collect[run.id] = None
        else:
            state.attention[job.id] = None


def _requeued(state: State, event: Event) -> None:
    """The job lives on under the same id with a new run; the old run was judged just before."""
    job = state.jobs[event.job]
    value = event.value
    number = state.index.component_number[value["component"]]
    entry = _take(state, number, event.case, value["repeat"])
    run = Run(event.run, event.case, number, entry.repeat, value["attempt"], event.job, phase="queued")
    state.runs[run.id] = run
    state.next_run = max(state.next_run, _number(run.id) + 1)
    state.tallies[number].in_flight += 1
    job.run, job.restart, job.phase, job.started = run.id, value["restart"], "queued", None
    job.facts, job.seen, job.claim, job.cancelling = {}, "", "", ""
    state.attention.pop(job.id, None)


def _claim_order(state: State, event: Event) -> None:
    state.jobs[event.job].claim = "ordered"


def _claim_taken(state: State, event: Event) -> None:
    """The job never ran and never will. Its run keeps its id and waits again, before all others."""
    job = state.jobs[event.job]
    run = state.runs.pop(job.run)
    state.tallies[run.component].in_flight -= 1
    _forget_job(state, job)
    entry = Entry(run.component, run.case, run.repeat, run.attempt, void_run=run.id)
    if job.cancelling:
        state.to_cancel.append(entry)
        state.tallies[run.component].waiting += 1
    else:
        _enqueue(state, entry, first=True)


def _claim_found(state: State, event: Event) -> None:
    job = state.jobs[event.job]
    job.claim = "found"
    state.attention[job.id] = None


def _cancel_request(state: State, event: Event) -> None:
    """Waiting entries that match are put aside to be judged cancelled; live jobs that match are to be ended."""
    value = event.value
    everything, runs, cases = bool(value.get("all")), set(value.get("runs", [])), set(value.get("cases", []))
    if everything:
        state.cancelled = event.reason or "cancelled"

    def meant(entry: Entry) -> bool:
        return everything or entry.case in cases or (bool(entry.void_run) and entry.void_run in runs)

    for key, queue in list(state.queues.items()):
        state.to_cancel += [entry for entry in queue.entries if meant(entry)]
        queue.entries = type(queue.entries)(entry for entry in queue.entries if not meant(entry))
        if not queue.entries:
            del state.queues[key]
    state.to_cancel += [entry for entry in state.delayed if meant(entry)]
    state.delayed = [entry for entry in state.delayed if not meant(entry)]
    for job in state.jobs.values():
        alive = job.phase not in ("ended", "haunting")
        if alive and not job.cancelling and (everything or job.run in runs or job.case in cases):
            job.cancelling, job.message = "wanted", event.reason
            state.attention[job.id] = None


def _cancel_order(state: State, event: Event) -> None:
    state.jobs[event.job].cancelling = "ordered"


def _cancel_done(state: State, event: Event) -> None:
    """The scheduler took it, or could not be asked: then it is asked again after a while."""
    job = state.jobs.get(event.job)
    if job is None:
        return
    if event.value.get("taken", True):
        job.cancelling = "taken"
    else:
        job.cancelling, job.cancel_after = "wanted", event.time + CANCEL_AGAIN_S


# ---- verdicts --------------------------------------------------------------------------------------------------------


def _check_start(state: State, event: Event) -> None:
    state.to_collect.pop(event.run, None)
    state.runs[event.run].phase = "checking"


def _verdict(state: State, event: Event) -> None:
    value = event.value
    verdict = value["verdict"]
    number = state.index.component_number.get(value["component"])
    if "supersedes" in value:
        if number is not None:
            _count_verdict(state.tallies[number], value.get("was", ""), -1)
            _count_verdict(state.tallies[number], verdict, 1)
        return
    run = state.runs.get(event.run)
    if run is None:
        assert number is not None
        _judge_waiting(state, event, number)
        return
    _count_verdict(state.tallies[run.component], verdict, 1)
    state.to_collect.pop(run.id, None)
    _leave_job(state, run, bool(value.get("alive")))
    run.phase, run.verdict = "judged", verdict
    if value.get("final"):
        _close_run(state, run)
    else:
        state.to_settle[run.id] = None


def _count_verdict(tally: Tally, verdict: str, step: int) -> None:
    count = tally.verdicts.get(verdict, 0) + step
    if count > 0:
        tally.verdicts[verdict] = count
    else:
        tally.verdicts.pop(verdict, None)


def _judge_waiting(state: State, event: Event, number: int) -> None:
    """A wanted result was judged without a job: its build failed, or a person cancelled it."""
    _take(state, number, event.case, event.value["repeat"])
    state.next_run = max(state.next_run, _number(event.run) + 1)
    _count_verdict(state.tallies[number], event.value["verdict"], 1)
    _count_closed(state, number, event.case)


def _leave_job(state: State, run: Run, alive: bool) -> None:
    """A judged run's job is forgotten once it is known to be dead; else it haunts us and keeps what it holds."""
    job = state.jobs.get(run.job)
    if job is None or job.run != run.id:
        return
    if "restart" in job.facts:
        job.started = None
    elif alive:
        job.phase, job.since = "haunting", state.time
        state.attention[job.id] = None
    else:
        _forget_job(state, job)


def _count_closed(state: State, component: int, case: str) -> None:
    state.tallies[component].closed += 1
    key = f"{component} {case}"
    state.closed[key] = state.closed.get(key, 0) + 1


def _close_run(state: State, run: Run) -> None:
    del state.runs[run.id]
    state.to_settle.pop(run.id, None)
    state.tallies[run.component].in_flight -= 1
    _count_closed(state, run.component, run.case)


def _given_up(state: State, event: Event) -> None:
    _close_run(state, state.runs[event.run])


def _retry(state: State, event: Event) -> None:
    run = state.runs.pop(event.run)
    state.to_settle.pop(run.id, None)
    state.tallies[run.component].in_flight -= 1
    entry = Entry(run.component, run.case, run.repeat, event.value["attempt"], event.value.get("not_before", 0.0))
    if entry.not_before > event.time:
        insort(state.delayed, entry, key=lambda e: e.not_before)
        state.tallies[run.component].waiting += 1
    else:
        _enqueue(state, entry)


def _finding(state: State, event: Event) -> None:
    """A late mark, or a deadline that passed, proves a haunting job dead."""
    job = state.jobs.get(event.job)
    if job is not None and job.phase == "haunting":
        if event.value.get("dead"):
            _forget_job(state, job)
        else:
            job.facts = {"noted": event.value.get("seen", "")}
    elif job is not None and event.value.get("kind") == "unwanted_restart":
        job.phase, job.since, job.restart = "haunting", event.time, event.value["restart"]
        job.cancelling, job.facts, job.seen = "wanted", {}, ""


HANDLERS: dict[str, Callable[[State, Event], None]] = {
    "campaign_start": _campaign_start,
    "amended": _amended,
    "driver_start": _driver_start,
    "driver_stop": _driver_stop,
    "stop_request": _stop_request,
    "cancel_request": _cancel_request,
    "campaign_end": _campaign_end,
    "build_order": _build_order,
    "build_start": _build_start,
    "build_end": _build_end,
    "submit_order": _submit_order,
    "submit_accepted": _submit_accepted,
    "submit_refused": _submit_refused,
    "submit_unknown": _submit_unknown,
    "job_report": _job_report,
    "requeued": _requeued,
    "claim_order": _claim_order,
    "claim_taken": _claim_taken,
    "claim_found": _claim_found,
    "cancel_order": _cancel_order,
    "cancel_done": _cancel_done,
    "check_start": _check_start,
    "verdict": _verdict,
    "retry": _retry,
    "given_up": _given_up,
    "unavailable": _unavailable,
    "waiting": _waiting,
    "finding": _finding,
}
