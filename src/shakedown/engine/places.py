"""Where results wait and what jobs hold: the few moves that every fold is made of."""

from __future__ import annotations

from typing import Any

from shakedown.engine.plan import ClassKey
from shakedown.engine.state import Entry, Job, Queue, State


def enqueue(state: State, entry: Entry, first: bool = False) -> None:
    key = state.index.class_of(entry.component, entry.case)
    queue = state.queues.get(key)
    if queue is None:
        queue = state.queues[key] = Queue()
    if first:
        queue.entries.appendleft(entry)
    else:
        queue.entries.append(entry)
    state.tallies[entry.component].waiting += 1


def take(state: State, component: int, case: str, repeat: int) -> Entry:
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


def number_of(identifier: str) -> int:
    return int(identifier[1:])


def reserve(state: State, job: Job, sign: int = 1) -> None:
    key = job.held = job.held or state.index.class_of(job.component, job.case)
    state.live[key.pool] = state.live.get(key.pool, 0) + sign
    state.exclusive_live += sign if key.exclusive else 0
    for budget, load in key.loads:
        left = state.used.get(budget, 0.0) + sign * load
        state.used[budget] = left if abs(left) > 1e-9 else 0.0


def forget_job(state: State, job: Job) -> None:
    """The job is known to be dead or never to have lived: what it held is free."""
    reserve(state, job, -1)
    state.attention.pop(job.id, None)
    del state.jobs[job.id]


def count_closed(state: State, component: int, case: str, repeat: int) -> None:
    state.tallies[component].closed += 1
    state.closed.setdefault(f"{component} {case}", []).append(repeat)


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
