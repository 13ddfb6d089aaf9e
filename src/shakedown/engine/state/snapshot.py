"""The state as bytes and back: disposable, since the log says it all; it only saves time."""

from __future__ import annotations

from typing import Any

import msgspec

from shakedown.engine.state.job_index import job_index_of
from shakedown.engine.state.plan import PlanIndex, QueueKey
from shakedown.engine.state.state import Queue, State

_DERIVED = (
    "plan",
    "job_index",
    "queues",
)  # the plan's index, the counts of the jobs; queues are written in their own way


def freeze_state(state: State) -> bytes:
    """Purpose: everything that was folded; the plan's index is derived and left out, but for the tests that people capped, or
    plans before it, by which waiting results are told apart.
    """
    fields = {name: getattr(state, name) for name in state.__dataclass_fields__ if name not in _DERIVED}
    queues = [[key, list(queue), queue.reason] for key, queue in state.queues.items()]
    capped = sorted(state.plan.capped) if state.plan is not None else []
    return msgspec.msgpack.encode({"state": fields, "queues": queues, "capped": capped})


def thaw_state(data: bytes, plan: PlanIndex) -> State:
    """Purpose: the state that was frozen, under its plan. Raises msgspec.MsgspecError where the bytes are not one."""
    raw: dict[str, Any] = msgspec.msgpack.decode(data)
    state = State(plan=plan)
    for name, kind in _FIELD_TYPES.items():
        if name in raw["state"]:
            setattr(state, name, msgspec.convert(raw["state"][name], kind))
    for test in raw.get("capped", ()):
        plan.cap(test)
    for key, entries, reason in raw["queues"]:
        queue = Queue(reason=reason)
        for entry in msgspec.convert(entries, _ENTRIES):
            queue.put(entry)
        state.queues[msgspec.convert(key, QueueKey)] = queue
    state.job_index = job_index_of(state.jobs.values())
    return state


def _types() -> dict[str, Any]:
    from typing import get_type_hints

    hints = get_type_hints(State)
    return {name: hints[name] for name in State.__dataclass_fields__ if name not in _DERIVED}


_FIELD_TYPES = _types()
_ENTRIES: Any = _FIELD_TYPES["delayed"]
