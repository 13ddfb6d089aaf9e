"""Budgets: whether a run fits into what it loads, and which targets it gets.

``budget_reason`` and ``choose_targets`` go by the same numbers: what is reserved, what this decision has promised, and the least
of all limits that hold now. What a cluster hands out itself, as licences, is not refused here: it waits there.
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
    """A budget, or one target of it, for a class at this time. ``own``: its name. ``limit``: the least that holds; None = none.
    ``most``: what we refuse beyond; infinite where the cluster itself does.
    """

    own: str
    limit: float | None
    most: float


@dataclass(slots=True)
class ReservedLoads:
    """What a decision has promised already. ``used``: loads by budget; ``limits``: component -> what narrows its budgets now;
    ``rooms``: (component, pool, budget) -> its targets, or itself.
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
    """Without what is taken, observed or limited at this moment: there may be room and none again many times a minute."""
    need = show_amount(load, dict(state.index.document.system.budget_units).get(name, ""))
    where = f"no target of {name} has room" if name in state.index.targets else f"{name} has no room"
    beside = " beside what others take, as it is observed" if name in state.index.observed else ""
    return f"{where} for {need} more{beside}"


def choose_targets(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> dict[str, str]:
    """Purpose: budget -> the target that the next run of this class loads: the least loaded one with room, by share of its limit.

    Of equals the first. Only where ``budget_reason`` found nothing.
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
    """Purpose: how many jobs of this class its cluster still takes, and how many of ours it takes at once (``most_jobs``); infinite
    where no limit is known.
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
    """Purpose: how many runs of this class may go on side by side in one job, of ``lanes`` that would fit its nodes; at least 1.

    A job that asks a cluster for more of a licence than there is would wait there for ever.
    """
    while lanes > 1:
        wider = at_once(key, lanes)
        if budget_reason(state, wider, promised, now) is None and _could_fit(state, wider, promised, now):
            break
        lanes -= 1
    return lanes


def _could_fit(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> bool:
    """Whether a run of this class has room where nothing else runs."""
    for name, load in key.loads:
        rooms = _rooms(state, key, name, promised, now)
        if not any(room.limit is None or load <= room.limit * _ROUNDING for room in rooms):
            return False
    return True


def at_once(key: QueueKey, lanes: int) -> QueueKey:
    """Purpose: the class of a job that has so many runs of this class at once: each loads what it loads."""
    if lanes == 1 or not key.loads:
        return key
    return replace(key, loads=tuple((name, load * (1 if is_place(name) else lanes)) for name, load in key.loads))


def in_turn(keys: list[QueueKey]) -> QueueKey:
    """Purpose: the class of a job that has runs of these classes one after the other: it loads the most of each budget."""
    loads: dict[str, float] = {}
    for key in keys:
        for name, load in key.loads:
            loads[name] = max(load, loads.get(name, 0.0))
    return replace(keys[0], loads=tuple(loads.items())) if len(keys) > 1 else keys[0]


def fits_slot(state: State, key: QueueKey, loads: Mapping[str, float], targets: Mapping[str, str]) -> bool:
    """Purpose: whether a run of this class could take over what another one loads, on the same targets."""
    return all(
        loads.get(f"{name}@{targets[name]}" if name in targets else name, 0.0) * _ROUNDING >= load
        for name, load in key.loads
        if not is_place(name)
    )


def is_bound(state: State, key: QueueKey, now: float, promised: ReservedLoads) -> bool:
    """Purpose: whether runs of this class wait for budgets at our side, and not in the queue of the cluster."""
    return any(
        any(room.most < math.inf for room in _rooms(state, key, name, promised, now))
        for name, _ in key.loads
        if not is_place(name)
    )


def waiting_for_licences(state: State, key: QueueKey, promised: ReservedLoads, now: float) -> tuple[str, float]:
    """Purpose: of what the cluster hands out itself: which licence of this class is asked for most by jobs at the scheduler that
    cannot have it now, and how many runs of this class would take so much. ("", 0) where all can.
    """
    found = "", 0.0
    for name, load in key.loads if state.index.licensed else ():
        rooms = [room for room in _rooms(state, key, name, promised, now) if room.most == math.inf]
        more = sum(max(0.0, _taken(state, promised, room) - room.limit) for room in rooms if room.limit is not None)
        if load > 0 and more / load > found[1]:
            found = name, more / load
    return found


def shrunk(state: State, loads: Loads, component: int, pool: str, promised: ReservedLoads, now: float) -> str:
    """Purpose: the first of the budgets that a job loads, by their own names, of which more is taken than holds now; "" = none."""
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
    """Purpose: budget, or budget@target -> the load of jobs that may start and wait at the scheduler: no run takes it yet."""
    found: dict[str, float] = {}
    for job in state.jobs.values():
        if job.charged and job.phase in NOT_BEGUN:
            for name, load in job.loads:
                found[name] = found.get(name, 0.0) + load
    return found


def _full_in_words(
    state: State, rooms: tuple[Room, ...], name: str, load: float, promised: ReservedLoads, now: float
) -> str:
    """In the unit of the budget. What runs and what waits at the scheduler are two things, and both stand in the way."""
    if is_place(name):
        return _no_place_in_words(state, name, _taken(state, promised, rooms[0]), rooms[0].limit or 0.0)
    unit, waits = dict(state.index.document.system.budget_units).get(name, ""), asked_for(state)
    need = show_amount(load, unit)
    if rooms[0].own != name:
        shown = [
            f"{room.own.rpartition('@')[2]} {_standing(state, room, waits, unit, promised, now)}{_seen(state, room.own, now)}"
            for room in rooms[:_SHOWN]
        ]
        shown += [f"and {len(rooms) - _SHOWN} more"] if len(rooms) > _SHOWN else []
        return f"{name}: no target has room for {need} more ({', '.join(shown)})"
    words = _standing(state, rooms[0], waits, unit, promised, now)
    taken, comma, more = words.partition(", ")
    return f"{name}: {taken} is taken{comma}{more}{',' if more else ''} and it needs {need}{_seen(state, name, now)}"


def _seen(state: State, own: str, now: float) -> str:
    words = observed_in_words(state, own, now)
    return f"; {words}" if words else ""


def _no_place_in_words(state: State, name: str, ours: float, most: float) -> str:
    """A cluster that takes no more jobs of ours; what waits there for a word is why nodes may be idle."""
    stored = sum(in_store(state, pool) for pool in state.index.pools if jobs_of(pool) == name)
    waits = f"; {stored} of them wait for their release, or for another job" if stored else ""
    return (
        f"{ours:g} jobs of ours are with the scheduler of {name.partition(':')[2]}, which takes {most:g} at once{waits}"
    )


def _standing(
    state: State, room: Room, waits: Mapping[str, float], unit: str, promised: ReservedLoads, now: float
) -> str:
    """1 of 2, 3 more asked for; no limit is said where there is none but silence."""
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
    """The least that holds now; ``own`` is a target of the budget ``name``, or the same. ``waiting``: with what is held back before
    there is a number of what others take.
    """
    narrow = narrowed_now(state, component, promised, now)
    known = [state.index.budgets.get(own), narrow.get(name), narrow.get(own), left_for_us(state, own, now, waiting)]
    return min((one for one in known if one is not None), default=None)


def narrowed_now(state: State, component: int, promised: ReservedLoads, now: float) -> Mapping[str, float]:
    """Purpose: what narrows budgets for a component at this time: its own limits, windows, yields, people's words."""
    if component not in promised.limits:
        limits = state.index.components[component].limits
        found = dict(limits.budgets) | {f"copies:{test}": float(most) for test, most in limits.copies}
        for name, amount in narrowed(state, component, now).items():
            found[name] = min(amount, found.get(name, amount))
        promised.limits[component] = found
    return promised.limits[component]


def _is_licensed(state: State, component: int, pool: str, own: str, promised: ReservedLoads, now: float) -> bool:
    """Whether the cluster charges this budget itself, and nothing holds now that it does not know of."""
    if (pool.partition(":")[0], own) not in state.index.licensed or own.partition("@")[0] in state.index.observed:
        return False
    narrow = narrowed_now(state, component, promised, now)
    return own not in narrow and own.partition("@")[0] not in narrow
