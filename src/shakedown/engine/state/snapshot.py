"""The state as bytes, and back. A snapshot only saves time and may be thrown away, since the log has everything."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import msgspec

from shakedown.engine.state.job_index import job_index_of
from shakedown.engine.state.jobs import Queue
from shakedown.engine.state.plan import PlanIndex, QueueKey
from shakedown.engine.state.records import Waiting
from shakedown.engine.state.state import State

_DERIVED = ("plan", "job_index")  # the plan's index, and the counts of the jobs
_IN_THEIR_OWN_WAY = ("waiting", "queues")  # a queue is a list of results and a reason


def freeze_state(state: State) -> bytes:
    """Purpose: everything that was folded, as bytes. The plan's index is left out, as it is derived; only the tests that were
    capped, by people or by earlier plans, are kept, since classes depend on them.
    """
    records = {name: getattr(state, name) for name in _STATE_TYPES}
    waiting = {name: getattr(state.waiting, name) for name in _WAITING_TYPES}
    queues = [[key, list(queue), queue.reason] for key, queue in state.waiting.queues.items()]
    capped = sorted(state.plan.capped) if state.plan is not None else []
    return msgspec.msgpack.encode({"state": records, "waiting": waiting, "queues": queues, "capped": capped})


def thaw_state(data: bytes, plan: PlanIndex) -> State:
    """Purpose: the state from ``freeze_state``, under its plan. Raises msgspec.MsgspecError where the bytes are not a state."""
    raw: dict[str, Any] = msgspec.msgpack.decode(data)
    state = State(plan=plan)
    _fill(state, raw["state"], _STATE_TYPES)
    _fill(state.waiting, raw.get("waiting", {}), _WAITING_TYPES)
    for test in raw.get("capped", ()):
        plan.cap(test)
    for key, entries, reason in raw["queues"]:
        queue = Queue(reason=reason)
        for entry in msgspec.convert(entries, _WAITING_TYPES["delayed"]):
            queue.put(entry)
        state.waiting.queues[msgspec.convert(key, QueueKey)] = queue
    state.job_index = job_index_of(state.jobs.values())
    return state


def _fill(record: State | Waiting, raw: dict[str, Any], types: dict[str, Any]) -> None:
    for name, kind in types.items():
        if name in raw:
            setattr(record, name, msgspec.convert(raw[name], kind))


def _types(record: type[State | Waiting]) -> dict[str, Any]:
    hints = get_type_hints(record)
    return {one.name: hints[one.name] for one in fields(record) if one.name not in (*_DERIVED, *_IN_THEIR_OWN_WAY)}


_STATE_TYPES, _WAITING_TYPES = _types(State), _types(Waiting)
