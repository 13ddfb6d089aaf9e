"""Where results wait and what jobs hold: the few moves that every fold is made of."""

from __future__ import annotations

from typing import Any

from shakedown.engine.plan import ClassKey
from shakedown.engine.state import Entry, Job, Queue, Roll, Run, State


def enqueue(state: State, entry: Entry, first: bool = False) -> None:
    key = state.index.class_of(entry.component, entry.case, entry.mode)
    queue = state.queues.get(key)
    if queue is None:
        queue = state.queues[key] = Queue()
    if first:
        queue.entries.appendleft(entry)
    else:
        queue.entries.append(entry)
    state.tallies[entry.component].waiting += 1


def take(state: State, component: int, case: str, repeat: int, mode: str) -> Entry:
    """Remove a waiting entry from wherever it waits. The usual place is the head of its queue."""
    key = state.index.class_of(component, case, mode)
    places: list[Any] = [state.delayed, state.to_cancel]
    if key in state.queues:
        places.insert(0, state.queues[key].entries)
    for place in places:
        for entry in place:
            if entry.same(component, case, repeat, mode):
                place.remove(entry) if place[0] is not entry else place.__delitem__(0)
                state.tallies[component].waiting -= 1
                if key in state.queues and not state.queues[key].entries:
                    del state.queues[key]
                taken: Entry = entry
                return taken
    raise ValueError(f"nothing waits for repeat {repeat} of {case}")


def number_of(identifier: str) -> int:
    return int(identifier[1:])


def fly(state: State, run: Run, sign: int = 1) -> None:
    """A run of a component is in flight, or no longer."""
    state.tallies[run.component].in_flight += sign
    roll = roll_of(state, run.component)
    if roll is not None:
        test = state.index.cases[run.case].test
        roll.live[test] = roll.live.get(test, 0) + sign


def roll_of(state: State, component: int) -> Roll | None:
    """What the mix of a component has had; None for a component that wants a number of results."""
    if component not in state.index.rolling:
        return None
    return state.rolls.setdefault(state.index.components[component].name, Roll())


def reserve(state: State, job: Job, sign: int = 1) -> None:
    key = job.held = job.held or state.index.class_of(job.component, job.case, job.mode)
    state.live[key.pool] = state.live.get(key.pool, 0) + sign
    state.units[key.pool] = state.units.get(key.pool, 0) + sign * key.units
    state.exclusive_live += sign if key.exclusive else 0
    if key.stage:
        _stand(state, key, sign)
    for budget, load in key.loads:
        left = state.used.get(budget, 0.0) + sign * load
        state.used[budget] = left if abs(left) > 1e-9 else 0.0


def _stand(state: State, key: ClassKey, sign: int) -> None:
    stages = state.floor.setdefault(key.pool, {})
    stages[key.stage] = stages.get(key.stage, 0) + sign
    if not stages[key.stage]:
        del stages[key.stage]


def forget_job(state: State, job: Job) -> None:
    """The job is known to be dead or never to have lived: what it held is free."""
    reserve(state, job, -1)
    state.attention.pop(job.id, None)
    del state.jobs[job.id]


def count_closed(state: State, component: int, case: str, repeat: int, mode: str) -> None:
    state.tallies[component].closed += 1
    state.closed.setdefault(closed_key(component, case, mode), []).append(repeat)


def closed_key(component: int, case: str, mode: str) -> str:
    return f"{component} {mode} {case}"
