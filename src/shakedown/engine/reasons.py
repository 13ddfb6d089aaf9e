"""Why a class of runs may not start now: exactly one binding reason, naming the thing and who holds it.

``decide`` refuses by these predicates and ``explain`` shows them, so that what a person reads is what the engine did.
"""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.engine.plan import ClassKey
from shakedown.engine.state import State

_NONE: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Reason:
    """``key`` is stable (it changes only when the reason does); ``text`` is for people; ``notable`` ones are logged."""

    key: str
    text: str
    notable: bool = True


def binding_reason(
    state: State, key: ClassKey, now: float, promised: dict[str, float] = _NONE, building: bool = False
) -> Reason | None:
    """Purpose: the first thing that holds this class back at ``now``, or None. ``promised``: loads ordered in this
    decision; ``building``: builds ordered in this decision."""
    if state.stopping:
        return Reason("stopping", f"nothing new is submitted: {state.stopping}")
    return (
        _gate(state, key)
        or _waits_for_build(state, key)
        or _disturbed(state, key, building)
        or _budget(state, key, promised)
        or _shut(state, key, now)
    )


def _shut(state: State, key: ClassKey, now: float) -> Reason | None:
    shut = state.shut.get(key.pool)
    if shut is None or now >= shut.until:
        return None
    return Reason(f"shut:{key.pool}", f"the scheduler of {key.pool} takes no job for now: {shut.why}")


def _gate(state: State, key: ClassKey) -> Reason | None:
    for name in state.index.components[key.component].after:
        tally = state.tallies[state.index.component_number[name]]
        if not tally.over:
            open_results = tally.waiting + tally.in_flight
            return Reason(f"gate:{name}", f"component {name} comes first; {open_results} of its results are open")
    return None


def _waits_for_build(state: State, key: ClassKey) -> Reason | None:
    if not key.build:
        return None
    build = state.builds.get(key.build)
    if build is not None and build.phase == "done":
        return None
    name = state.index.builds[key.build].name
    if build is None:
        why = build_reason(state, 0)
        return Reason(f"build:{key.build}", f"build {name} has not started" + (f": {why}" if why else ""))
    if build.phase == "held":
        return Reason(f"build:{key.build}", f"build {name} is tried again: {build.message}")
    if build.phase == "failed":
        return Reason(f"build:{key.build}", f"build {name} failed: {build.message}")
    return Reason(f"build:{key.build}", f"build {name} is running")


def build_reason(state: State, started: int) -> str:
    """Why no build may start now, or "". ``started``: builds ordered in this decision."""
    if state.stopping:
        return f"nothing new is started: {state.stopping}"
    cap = state.index.document.limits.builds
    running = state.builds_running() + started
    if running >= cap:
        return f"{running} builds are running, {cap} at once are allowed"
    if state.index.policy.builds_disturb_runs and state.exclusive_live:
        return f"{state.exclusive_live} exclusive runs have this machine to themselves"
    return ""


def _disturbed(state: State, key: ClassKey, building: bool) -> Reason | None:
    if not (key.exclusive and state.index.policy.builds_disturb_runs):
        return None
    if state.builds_running() or building:
        return Reason("builds", "it wants this machine to itself, and builds are running on it")
    return None


def _budget(state: State, key: ClassKey, promised: dict[str, float]) -> Reason | None:
    for name, load in key.loads:
        limit = state.index.budgets.get(name)
        taken = state.used.get(name, 0.0) + promised.get(name, 0.0)
        if limit is not None and taken + load > limit * (1 + 1e-9):
            return Reason(f"budget:{name}", f"{name}: {taken:g} of {limit:g} is taken and it needs {load:g}")
    return None
