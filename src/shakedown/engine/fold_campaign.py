"""Folding what concerns the whole campaign: its start, its drivers, amendments, wishes of operators, its end."""

from __future__ import annotations

from shakedown.engine.places import class_label, count_closed, enqueue, take
from shakedown.engine.state import Entry, Run, State, Tally
from shakedown.model.events import Event


def campaign_start(state: State, event: Event) -> None:
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
                    enqueue(state, Entry(number, case, repeat))


def driver_start(state: State, event: Event) -> None:
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


def driver_stop(state: State, event: Event) -> None:
    state.driven = False


def stop_request(state: State, event: Event) -> None:
    state.stopping = event.reason or "someone asked to stop"


def campaign_end(state: State, event: Event) -> None:
    state.phase = "ended"


def amended(state: State, event: Event) -> None:
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
    take(state, component, case, entry.repeat)
    count_closed(state, component, case)


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
        take(state, number, run.case, entry.repeat)
        run.repeat = entry.repeat
    state.tallies[number].in_flight += 1


def unavailable(state: State, event: Event) -> None:
    number = state.index.component_number[event.value["component"]]
    state.unannounced.remove((number, event.case))


def waiting(state: State, event: Event) -> None:
    for key, queue in state.queues.items():
        if class_label(state, key) == event.value.get("class"):
            queue.reason = event.value.get("key", "")


def cancel_request(state: State, event: Event) -> None:
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
