"""Budgets: whether there is room for the load of a run, and which targets the run gets.

``budget_reason`` and ``choose_targets`` use the same numbers: what is reserved, what this decision has promised, and the lowest of
all limits that hold now. What the cluster itself hands out, such as licences, holds no job back here: the job waits there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from shakedown.engine.constraints.observed import held_in_silence, left_for_us, observed_in_words
from shakedown.engine.constraints.overrides import narrowed
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.plan import QueueKey, is_place, jobs_of
from shakedown.engine.state.state import State
from shakedown.model.nouns import Loads
from shakedown.model.units import show_amount

_ROUNDING = 1 + 1e-9
_SHOWN = 8  # targets in a sentence


@dataclass(frozen=True, slots=True)
class Room:
    """What a class may load now of a budget, or of one target of it.

    ``own``: the name of the budget or target. ``limit``: the lowest limit that holds; None where there is none. ``most``: the load
    above which Shakedown orders nothing; infinite where the cluster itself keeps the limit.
    """

    own: str
    limit: float | None
    most: float


@dataclass(slots=True)
class ReservedLoads:
    """What one decision has promised so far of budgets.

    ``used``: budget -> load. ``limits``: component -> the limits that narrow its budgets now. ``rooms``: (component, pool, budget)
    -> the rooms of its targets, or of the budget itself.
    """

    used: dict[str, float] = field(default_factory=dict)
    limits: dict[int, Mapping[str, float]] = field(default_factory=dict)
    rooms: dict[tuple[int, str, str], tuple[Room, ...]] = field(default_factory=dict)


def budget_reason(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> Reason | None:
    """Purpose: the first budget that has no room for one more run of this class, or None."""
    used, more = state.usage.loads, promised.used
    for name, load in key.loads:
        rooms = _rooms(state, key, name, promised, now)
        for room in rooms:
            if used.get(room.own, 0.0) + more.get(room.own, 0.0) + load <= room.most:
                break
        else:
            words = partial(_full_in_words, state, rooms, name, load, promised, now)
            lasting = None if is_place(name) else partial(_full_for_good, state, name, load)
            return Reason(f"budget:{name}", words, recorded=lasting)
    return None


def _full_for_good(state: State, name: str, load: float) -> str:
    """The words for the record. They have no amounts of this moment, since room may come and go many times a minute."""
    need = show_amount(load, dict(state.index.document.system.budget_units).get(name, ""))
    where = f"no target of {name} has room" if name in state.index.targets else f"{name} has no room"
    beside = " beside what others take, as it is observed" if name in state.index.observed else ""
    return f"{where} for {need} more{beside}"


def choose_targets(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> dict[str, str]:
    """Purpose: budget -> the target that the next run of this class loads. Of the targets with room it is the one with the smallest
    share of its limit taken; of equal ones the first. To be called only where ``budget_reason`` returned None.
    """
    found = {}
    for name, load in key.loads:
        if name not in state.index.targets:
            continue
        best, least = "", math.inf
        for room in _rooms(state, key, name, promised, now):
            taken = _taken(state, promised, room)
            share = taken / room.limit if room.limit else taken
            if share < least and taken + load <= room.most:
                best, least = room.own, share
        assert best, f"{name} has no room"
        found[name] = best.rpartition("@")[2]
    return found


def places(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> tuple[float, float]:
    """Purpose: how many more jobs of this class its cluster takes, and how many of our jobs it takes at once (``most_jobs``). Both
    are infinite where no limit is known.
    """
    left = most = math.inf
    for name, _ in key.loads:
        for room in _rooms(state, key, name, promised, now) if is_place(name) else ():
            left, most = min(left, room.most - _taken(state, promised, room)), min(most, room.most)
    return left, most


def in_store(state: State, pool: str) -> int:
    """Purpose: how many jobs of a pool wait at the scheduler for their release, or for the job that they follow."""
    held = sum(len(jobs) for key, jobs in state.job_index.held.items() if key.pool == pool)
    after = (job for job in state.jobs.values() if job.after and job.phase in NOT_BEGUN and job.key is not None)
    return held + sum(job.key is not None and job.key.pool == pool for job in after)


def most_at_once(state: State, key: QueueKey, lanes: int, promised: ReservedLoads, now: float) -> int:
    """Purpose: how many runs of this class may run side by side in one job, at least 1. ``lanes``: how many would fit on its nodes.

    A job that asks its cluster for more licences than exist would wait for ever.
    """
    while lanes > 1:
        wider = at_once(key, lanes)
        if budget_reason(state, wider, promised, now) is None and _could_fit(state, wider, promised, now):
            break
        lanes -= 1
    return lanes


def _could_fit(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> bool:
    """Whether a run of this class would have room if nothing else ran."""
    for name, load in key.loads:
        rooms = _rooms(state, key, name, promised, now)
        if not any(room.limit is None or load <= room.limit * _ROUNDING for room in rooms):
            return False
    return True


def at_once(key: QueueKey, lanes: int) -> QueueKey:
    """Purpose: the class of a job that runs ``lanes`` runs of this class side by side: the loads are multiplied by ``lanes``."""
    if lanes == 1 or not key.loads:
        return key
    return replace(key, loads=tuple((name, load * (1 if is_place(name) else lanes)) for name, load in key.loads))


def in_turn(keys: list[QueueKey]) -> QueueKey:
    """Purpose: the class of a job that runs these classes one after the other: of each budget it has the highest of their loads."""
    loads: dict[str, float] = {}
    for key in keys:
        for name, load in key.loads:
            loads[name] = max(load, loads.get(name, 0.0))
    return replace(keys[0], loads=tuple(loads.items())) if len(keys) > 1 else keys[0]


def fits_slot(state: State, key: QueueKey, loads: Mapping[str, float], targets: Mapping[str, str]) -> bool:
    """Purpose: whether a run of this class fits into what another run loads now, on the same targets."""
    return all(
        loads.get(f"{name}@{targets[name]}" if name in targets else name, 0.0) * _ROUNDING >= load
        for name, load in key.loads
        if not is_place(name)
    )


def is_bound(state: State, key: QueueKey, now: float, promised: ReservedLoads) -> bool:
    """Purpose: whether Shakedown itself makes runs of this class wait for budgets, rather than the queue of the cluster."""
    return any(
        any(room.most < math.inf for room in _rooms(state, key, name, promised, now))
        for name, _ in key.loads
        if not is_place(name)
    )


def waiting_for_licences(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> tuple[str, float]:
    """Purpose: the licence that jobs waiting at the scheduler are most short of, among those that this class needs and its cluster
    hands out; and how many runs of this class would need as much as is missing. ("", 0) where nothing is short.
    """
    found = "", 0.0
    for name, load in key.loads if state.index.licensed else ():
        rooms = [room for room in _rooms(state, key, name, promised, now) if room.most == math.inf]
        more = sum(max(0.0, _taken(state, promised, room) - room.limit) for room in rooms if room.limit is not None)
        if load > 0 and more / load > found[1]:
            found = name, more / load
    return found


def shrunk(state: State, loads: Loads, component: int, pool: str, promised: ReservedLoads, now: float) -> str:
    """Purpose: the first budget or target that a job loads and of which more is taken than its limit allows now; "" where there is
    none.
    """
    for own, _ in loads:
        name = own.partition("@")[0]
        limit = _limit(state, component, name, own, promised, now, waiting=False)
        if limit is None or is_place(own) or _is_licensed(state, component, pool, own, promised, now):
            continue
        if state.usage.loads.get(own, 0.0) > limit * _ROUNDING:
            return own
    return ""


def _taken(state: State, promised: ReservedLoads, room: Room) -> float:
    return state.usage.loads.get(room.own, 0.0) + promised.used.get(room.own, 0.0)


def asked_for(state: State) -> dict[str, float]:
    """Purpose: budget, or budget@target -> the load of jobs that may start but still wait at the scheduler. No run uses it yet."""
    found: dict[str, float] = {}
    for job in state.jobs.values():
        if job.charged and job.phase in NOT_BEGUN:
            for name, load in job.loads:
                found[name] = found.get(name, 0.0) + load
    return found


def _full_in_words(
    state: State, rooms: tuple[Room, ...], name: str, load: float, promised: ReservedLoads, now: float
) -> str:
    """Why the budget has no room, in its unit. The load of running jobs and that of waiting jobs are named apart: both count."""
    if is_place(name):
        return _no_place_in_words(state, name, _taken(state, promised, rooms[0]), rooms[0].limit or 0.0)
    unit, waits = dict(state.index.document.system.budget_units).get(name, ""), asked_for(state)
    need = show_amount(load, unit)
    if rooms[0].own != name:
        shown = [
            f"{room.own.rpartition('@')[2]} {_use_in_words(state, room, waits, unit, promised, now)}{_seen(state, room.own, now)}"
            for room in rooms[:_SHOWN]
        ]
        shown += [f"and {len(rooms) - _SHOWN} more"] if len(rooms) > _SHOWN else []
        return f"{name}: no target has room for {need} more ({', '.join(shown)})"
    words = _use_in_words(state, rooms[0], waits, unit, promised, now)
    taken, comma, more = words.partition(", ")
    return f"{name}: {taken} is taken{comma}{more}{',' if more else ''} and it needs {need}{_seen(state, name, now)}"


def _seen(state: State, own: str, now: float) -> str:
    words = observed_in_words(state, own, now)
    return f"; {words}" if words else ""


def _no_place_in_words(state: State, name: str, ours: float, most: float) -> str:
    """The cluster takes no more of our jobs. Those that wait there for a release, or for another job, explain why nodes may be
    idle.
    """
    stored = sum(in_store(state, pool) for pool in state.index.pools if jobs_of(pool) == name)
    waits = f"; {stored} of them wait for their release, or for another job" if stored else ""
    return (
        f"{ours:g} jobs of ours are with the scheduler of {name.partition(':')[2]}, which takes {most:g} at once{waits}"
    )


def _use_in_words(
    state: State, room: Room, waits: Mapping[str, float], unit: str, promised: ReservedLoads, now: float
) -> str:
    """For instance "1 of 2, 3 more asked for". No limit is named where the only one is that no number was observed."""
    asked = waits.get(room.own, 0.0) + promised.used.get(room.own, 0.0)
    taken = _taken(state, promised, room) - asked
    most = "" if held_in_silence(state, room.own, now) else f" of {show_amount(room.limit or 0.0, unit)}"
    said = f"{show_amount(taken, unit)}{most}"
    return f"{said}, {show_amount(asked, unit)} more asked for" if asked else said


def _rooms(state: State, key: QueueKey, name: str, promised: ReservedLoads, now: float) -> tuple[Room, ...]:
    at = (key.component, key.pool, name)
    found = promised.rooms.get(at)
    if found is None:
        steady = not (
            state.overrides.caps
            or state.overrides.amounts
            or state.pools.yielding
            or state.index.components[key.component].windows
            or name in state.index.observed
        )
        found = state.index.rooms.get(at) if steady else None
        if found is None:
            owns = state.index.targets.get(name) or (name,)
            found = tuple(_room(state, key, name, own, promised, now) for own in owns)
            if steady:  # nothing but the plan says how much it is
                state.index.rooms[at] = found
        promised.rooms[at] = found
    return found


def _room(state: State, key: QueueKey, name: str, own: str, promised: ReservedLoads, now: float) -> Room:
    limit = _limit(state, key.component, name, own, promised, now)
    ours = limit is not None and not _is_licensed(state, key.component, key.pool, own, promised, now)
    return Room(own, limit, limit * _ROUNDING if ours and limit is not None else math.inf)


def _limit(
    state: State, component: int, name: str, own: str, promised: ReservedLoads, now: float, waiting: bool = True
) -> float | None:
    """The lowest limit that holds now; None where there is none. ``own``: the budget ``name`` itself, or one target of it.

    ``waiting``: whether to count the limit 0 that holds while there is no number yet of what others take.
    """
    narrow = narrowed_now(state, component, promised, now)
    known = [state.index.budgets.get(own), narrow.get(name), narrow.get(own), left_for_us(state, own, now, waiting)]
    return min((one for one in known if one is not None), default=None)


def narrowed_now(state: State, component: int, promised: ReservedLoads, now: float) -> Mapping[str, float]:
    """Purpose: budget -> the limit that holds for a component now, of the component itself, windows, yields and overrides by
    people.
    """
    if component not in promised.limits:
        limits = state.index.components[component].limits
        found = dict(limits.budgets) | {f"copies:{test}": float(most) for test, most in limits.copies}
        for name, amount in narrowed(state, component, now).items():
            found[name] = min(amount, found.get(name, amount))
        promised.limits[component] = found
    return promised.limits[component]


def _is_licensed(state: State, component: int, pool: str, own: str, promised: ReservedLoads, now: float) -> bool:
    """Whether the cluster itself counts this budget, and no limit holds now that the cluster does not know."""
    if (pool.partition(":")[0], own) not in state.index.licensed or own.partition("@")[0] in state.index.observed:
        return False
    narrow = narrowed_now(state, component, promised, now)
    return own not in narrow and own.partition("@")[0] not in narrow
