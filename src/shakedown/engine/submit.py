"""Which waiting results become jobs now: queues in the plan's order, then retries whose time has come, then mixes.

``submit`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from shakedown.engine.modes import base, mode_facts
from shakedown.engine.orders import Decision, Order
from shakedown.engine.plan import ClassKey, class_label
from shakedown.engine.reasons import Outlook, Reason, binding_reason, holder_of, outlook
from shakedown.engine.rolling import Mix, mixes
from shakedown.engine.state import Entry, Queue, State, job_name
from shakedown.model.events import Event
from shakedown.model.ports import JobOrder


@dataclass(slots=True)
class _Plan:
    """What this decision has promised, and how many jobs each pool had room for before."""

    ahead: Outlook
    room: dict[str, int]
    ordered: int = 0


def submit(state: State, decision: Decision, now: float) -> None:
    """Purpose: the submissions that policy permits, and the reasons why the rest waits, once per change."""
    room = {name: _room(state, name) for name in state.index.pools}
    for shut in state.shut.values():
        if shut.until > now and not state.stopping:
            decision.wake(shut.until)
    if all(jobs <= 0 for jobs in room.values()) and not state.index.staged and not state.index.rolling:
        return
    plan = _Plan(outlook(state, now, any(order.kind == "build" for order in decision.orders)), room)
    rolling = mixes(state, now)
    for key, queue in in_order(_worth_asking(state, plan, rolling)):
        if room_for(state, plan, key) <= 0:
            continue
        reason = _submit_from(state, decision, plan, key, queue, now)
        _note(state, decision, key, queue, reason)
    _submit_delayed(state, decision, plan, now)
    for mix in rolling.values():
        if mix is not None:
            _submit_mix(state, decision, plan, mix, now)


def queues_in_order(state: State) -> Iterator[tuple[ClassKey, Queue]]:
    return in_order(state.queues.items())


def in_order(queues: Iterable[tuple[ClassKey, Queue]]) -> Iterator[tuple[ClassKey, Queue]]:
    """Queues by component, in the plan's order; within it modes in theirs, the rest in the order in which they first waited."""
    return iter(sorted(queues, key=lambda item: (item[0].component, item[0].place)))


def _worth_asking(state: State, plan: _Plan, rolling: Container[int]) -> Iterator[tuple[ClassKey, Queue]]:
    """All queues but those of mixes, and those that were told already that another has their pool to itself."""
    holders = {pool: holder_of(state, pool, plan.ahead) for pool in plan.room} if state.index.staged else {}
    told = {pool: f"turn:{pool}" for pool, holder in holders.items() if holder}
    for key, queue in state.queues.items():
        if key.component in rolling:
            continue
        if told and queue.reason == told.get(key.pool) and key.stage != holders[key.pool]:
            continue
        yield key, queue


def _room(state: State, pool: str) -> int:
    """How many jobs may be ordered now: none while more than ``low`` live, then up to ``high``; one where none was taken."""
    limits, live = state.index.pools[pool], state.live.get(pool, 0)
    if pool in state.shut:
        return 1 if live < limits.high else 0
    return limits.high - live if live <= limits.low else 0


def room_for(state: State, plan: _Plan, key: ClassKey) -> int:
    """The same for one class. Modes and mixes are topped up at once: what they measure is a full machine."""
    if key.pool not in plan.room:
        return 0
    promised = plan.ahead.jobs.get(key.pool, 0)
    if not key.case or key.pool in state.shut:
        return plan.room[key.pool] - promised
    return state.index.pools[key.pool].high - state.live.get(key.pool, 0) - promised


def _submit_from(
    state: State, decision: Decision, plan: _Plan, key: ClassKey, queue: Queue, now: float
) -> Reason | None:
    """Order from the head of a class until its pool is full or something binds; that reason comes back."""
    for entry in islice(queue.entries, room_for(state, plan, key)):
        reason = binding_reason(state, key, now, plan.ahead)
        if reason is not None:
            return reason
        if base(key.mode) == "fill":
            _say_short(state, decision, key)
        _order_job(state, decision, plan, key, entry, now)
    return None


def _say_short(state: State, decision: Decision, key: ClassKey) -> None:
    """A fill whose copies do not all fit runs with as many as do; that is said once."""
    copies = state.index.copies(key.component, key.case, key.mode)
    said = state.said_short + [order.event.value.get("stage") for order in decision.orders]
    if not copies.binding or key.stage in said:
        return
    component = state.index.components[key.component].name
    value: dict[str, Any] = {"kind": "fill_short", "component": component, "stage": key.stage}
    value |= {"required": copies.wanted, "fits": copies.fits}
    why = f"{copies.wanted} copies at once are asked for and {copies.fits} fit: {copies.binding}"
    decision.record(Event("finding", case=key.case, value=value, reason=why))


def _submit_delayed(state: State, decision: Decision, plan: _Plan, now: float) -> None:
    for entry in state.delayed:
        if entry.not_before > now:
            if not state.stopping:
                decision.wake(entry.not_before)
            return
        key = state.index.class_of(entry.component, entry.case, entry.mode)
        if room_for(state, plan, key) > 0 and binding_reason(state, key, now, plan.ahead) is None:
            _order_job(state, decision, plan, key, entry, now)


def _submit_mix(state: State, decision: Decision, plan: _Plan, mix: Mix, now: float) -> None:
    """Order the test that is furthest behind its share and may start, until the machine is full."""
    while True:
        for key, entry in mix.candidates():
            if mix.full(state, plan.ahead, key) or room_for(state, plan, key) <= 0:
                continue
            if binding_reason(state, key, now, plan.ahead) is None:
                _order_job(state, decision, plan, key, entry, now)
                mix.ordered(key)
                break
        else:
            break
    for key, queue in mix.queues.items():
        _note(state, decision, key, queue, binding_reason(state, key, now, plan.ahead))


def _order_job(state: State, decision: Decision, plan: _Plan, key: ClassKey, entry: Entry, now: float) -> None:
    plan.ahead.promise(key)
    job = job_name(state.next_job + plan.ordered)
    plan.ordered += 1
    run = entry.void_run or decision.new_run(state)
    value = {
        "component": state.index.components[entry.component].name,
        "repeat": entry.repeat,
        "attempt": entry.attempt,
        "units": key.units,
        "now": now,
        "at": state.seq,
    } | mode_facts(entry.mode)
    event = Event("submit_order", case=entry.case, run=run, job=job, value=value)
    decision.orders.append(Order("submit", event, JobOrder(job, run, state.index.cases[entry.case])))


def _note(state: State, decision: Decision, key: ClassKey, queue: Queue, reason: Reason | None) -> None:
    """Log why a class waits, once per change. That the queue ahead is long enough is no news."""
    said = reason.key if reason else ""
    if said != queue.reason and (reason is None or reason.notable):
        value = {"class": class_label(state.index, key), "key": said}
        decision.record(Event("waiting", value=value, reason=reason.text if reason else "nothing holds it any more"))
