"""Folding what concerns the whole campaign: its start, its drivers, amendments, wishes of operators, its end."""

from __future__ import annotations

from bisect import insort

from shakedown.engine.places import class_label, count_closed, enqueue
from shakedown.engine.plan import NO_LONGER_WANTED
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
    state.shut, state.asked = {}, {}
    state.asked_for_s, state.driven_since = 0.0, event.time
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


def asked(state: State, event: Event) -> None:
    state.asked, state.asked_for_s = dict(event.value), max(0.0, event.time - state.driven_since)


def driver_stop(state: State, event: Event) -> None:
    state.driven = False


def stop_request(state: State, event: Event) -> None:
    state.stopping = event.reason or "someone asked to stop"


def campaign_end(state: State, event: Event) -> None:
    state.phase = "ended"


def amended(state: State, event: Event) -> None:
    """A new document is in force (its index was put in place before). What is closed stays closed, what flies goes on, what
    waits keeps its attempt and its back-off; only what is newly wanted begins anew.
    """
    state.epoch += 1
    state.cancelled = ""
    if state.phase == "ended":
        state.phase = "running"
    old = event.value.get("components", [])
    before = _Before(state, old)
    state.queues, state.delayed, state.to_cancel, state.unannounced, state.closed = {}, [], [], [], {}
    state.tallies = [Tally() for _ in state.index.components]
    for number, component in enumerate(state.index.components):
        if component.name in before.verdicts:
            state.tallies[number].verdicts = before.verdicts[component.name]
        for repeat in range(1, component.repeats + 1):
            for case in component.cases:
                _want_again(state, before, number, case, repeat)
    retired = state.index.component_number[NO_LONGER_WANTED]
    for run in before.flying.values():
        _fly_on(state, run, retired)
        state.tallies[retired].wanted += 1
    for entry in before.waiting.values():
        if entry.void_run:  # a run that was ordered and taken back needs a verdict all the same
            entry.component = retired
            state.tallies[retired].wanted += 1
            _wait_on(state, entry, cancelled=True)


class _Before:
    """What an amendment finds, by (component's name, case, repeat)."""

    def __init__(self, state: State, old: list[str]) -> None:
        self.closed = {
            (old[int(key.split(" ", 1)[0])], key.split(" ", 1)[1], repeat)
            for key, repeats in state.closed.items()
            for repeat in repeats
        }
        self.flying = {(old[run.component], run.case, run.repeat): run for run in state.runs.values()}
        self.cancelled = {id(entry) for entry in state.to_cancel}
        entries = [entry for queue in state.queues.values() for entry in queue.entries]
        entries += state.delayed + state.to_cancel
        self.waiting = {(old[entry.component], entry.case, entry.repeat): entry for entry in entries}
        self.verdicts = {name: tally.verdicts for name, tally in zip(old, state.tallies, strict=False)}


def _want_again(state: State, before: _Before, number: int, case: str, repeat: int) -> None:
    """One result that the new plan wants: closed, flying, waiting as it did, or new."""
    tally = state.tallies[number]
    tally.wanted += 1
    key = (state.index.components[number].name, case, repeat)
    if state.index.cases[case].unavailable and key not in before.flying:
        tally.unavailable += 1
        if repeat == 1:
            state.unannounced.append((number, case))
    elif key in before.closed:
        count_closed(state, number, case, repeat)
    elif key in before.flying:
        _fly_on(state, before.flying.pop(key), number)
    else:
        entry = before.waiting.pop(key, None) or Entry(number, case, repeat)
        entry.component = number
        _wait_on(state, entry, cancelled=id(entry) in before.cancelled)


def _fly_on(state: State, run: Run, number: int) -> None:
    run.component = number
    if run.job in state.jobs:
        state.jobs[run.job].component = number
    state.tallies[number].in_flight += 1


def _wait_on(state: State, entry: Entry, cancelled: bool) -> None:
    if cancelled:
        state.to_cancel.append(entry)
    elif entry.not_before > state.time:
        insort(state.delayed, entry, key=lambda e: e.not_before)
    else:
        enqueue(state, entry)
        return
    state.tallies[entry.component].waiting += 1


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
    for run in state.runs.values():
        if everything or run.id in runs or run.case in cases:
            run.cancelled = event.reason or "cancelled"
    for job in state.jobs.values():
        alive = job.phase not in ("ended", "haunting")
        if alive and not job.cancelling and (everything or job.run in runs or job.case in cases):
            job.cancelling, job.message = "wanted", event.reason
            state.attention[job.id] = None
