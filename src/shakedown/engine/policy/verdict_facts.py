"""The values that every verdict on a run has."""

from __future__ import annotations

from typing import Any

from shakedown.engine.state.jobs import Run
from shakedown.engine.state.modes import mode_facts
from shakedown.engine.state.retirement import component_of
from shakedown.engine.state.state import State
from shakedown.model.retrying import NEVER_RETRIED


def verdict_value(state: State, run: Run, verdict: str) -> dict[str, Any]:
    """The values of a verdict event that every verdict has."""
    value: dict[str, Any] = {
        "verdict": verdict,
        "component": component_of(state, run),
        "repeat": run.repeat,
        "attempt": run.attempt,
    } | mode_facts(run.mode)
    if run.started is not None:
        value["started"] = run.started
    if verdict in NEVER_RETRIED:
        value["final"] = True
    return value
