"""Folding what was found: marks that came late, deadlines that passed, a component's time that is up, tests that fell out."""

from __future__ import annotations

from shakedown.engine.fold import queue_guard as fold_guard
from shakedown.engine.fold.bookkeeping import forget_job
from shakedown.engine.fold.campaign import opens_epoch
from shakedown.engine.fold.overrides import count_nodes
from shakedown.engine.state.state import STANDSTILL, MixProgress, PendingResult, State
from shakedown.model.events import Event


def finding(state: State, event: Event) -> None:
    """A late mark, or a deadline that passed, proves a haunting job dead; the time of a mix is up; copies do not fit;
    the conductor heard nobody up to now.
    """
    kind = event.value.get("kind")
    if kind == "time_is_up":
        time_is_up(state, event.value["component"])
        state.rolls[event.value["component"]].up_at = event.time
    elif kind == "fell_out":
        roll = state.rolls.get(event.value["component"])
        if roll is not None:
            said = roll.stalled if event.value.get("submitted") else roll.fallen
            said[event.value["test"]] = event.time
    elif kind == "stood_still":
        state.awake_since = event.time
    elif kind == "conditions_changed":
        if not event.value.get("late"):
            opens_epoch(state, event)
        state.inputs = event.value.get("inputs", state.inputs)
    elif kind in ("queue_held", "queue_released"):
        fold_guard.finding(state, event)
    elif kind in ("disk_full", "disk_has_room"):
        state.no_room = event.reason if kind == "disk_full" else ""
    elif kind == "stands_still":
        roll = state.rolls.get(event.value["component"])
        if roll is not None:
            roll.stalled[STANDSTILL] = event.time
    elif kind == "idle_while_pending":
        if event.value["pool"] in state.unused:
            state.unused[event.value["pool"]].told = True
    elif kind == "fill_short":
        state.said_short.append(event.value["stage"])
    elif kind in ("started_again", "unwanted_restart") and event.value.get("cause") == "node_fail":
        count_nodes(state, event)
    job = state.jobs.get(event.job)
    if job is not None and (job.phase == "haunting" or (job.bundle and event.value.get("dead"))):
        if event.value.get("dead"):
            forget_job(state, job)
        else:
            job.facts = {"noted": event.value.get("seen", "")}
    elif job is not None and kind == "unwanted_restart":
        job.phase, job.since, job.restart = "haunting", event.time, event.value["restart"]
        job.cancelling, job.facts, job.seen = "wanted", {}, ""


def time_is_up(state: State, component: str) -> None:
    """What was never ordered of a mix is no longer wanted; what waits for another attempt gets none; what runs may end."""
    number = state.index.component_number[component]
    tally = state.tallies[number]
    state.rolls.setdefault(component, MixProgress()).up = True
    for key in [key for key in state.queues if key.component == number]:
        queue = state.queues[key]
        gone = [entry for entry in queue if entry.fresh]
        tally.wanted -= len(gone)
        tally.waiting -= len(gone)
        state.to_cancel += [_unwanted(entry, component) for entry in queue if not entry.fresh]
        del state.queues[key]
    state.to_cancel += [_unwanted(entry, component) for entry in state.delayed if entry.component == number]
    state.delayed = [entry for entry in state.delayed if entry.component != number]


def _unwanted(entry: PendingResult, component: str) -> PendingResult:
    entry.cancelled = f"the time of component {component} is over"
    return entry
