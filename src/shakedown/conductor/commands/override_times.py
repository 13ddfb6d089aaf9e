"""What people say of a component's clock, and as of when: checked against the earlier acts on that clock."""

from __future__ import annotations

import math
from typing import Any

from shakedown.engine import State
from shakedown.engine.constraints.component_clock import acts_of
from shakedown.engine.state.moments import moment
from shakedown.model.clocks import is_running, since
from shakedown.model.errors import UsageError
from shakedown.model.ports import Command

ACTS = ("start", "stop", "go on", "restart")
SKEW_S = 60.0  # clocks of two hosts may differ by so much


def checked_from(state: State, number: int, written: Any, now: float) -> float:
    """Purpose: the time from which an act on a clock holds: within the campaign, and not in the future. Errors: UsageError, also
    where the component has no clock, or its clock was started later.
    """
    at, begun = _clock_time(state, number, written, now), since(acts_of(state, number))
    name = state.index.components[number].name
    if begun is None:
        raise UsageError(f"the clock of component {name} has not started yet")
    if at < begun:
        raise UsageError(f"the clock of component {name} was started on {moment(begun)}, after {moment(at)}")
    return at


def act_on_clock(state: State, number: int, value: dict[str, Any], now: float) -> dict[str, Any]:
    """Purpose: ``act`` and ``from`` of an act on a clock, if it makes sense after all earlier ones. Errors: UsageError."""
    component, act = state.index.components[number], str(value.get("act", ""))
    written = now if value.get("from") is None else value["from"]
    if act not in ACTS:
        raise UsageError(f"a clock has no command '{act[:40]}'", hint=f"there are {', '.join(ACTS)}")
    if act == "start":
        return {"act": act, "from": _first_start(state, number, written, now)}
    at = _clock_time(state, number, written, now)
    at = checked_from(state, number, at, now)
    runs = is_running(acts_of(state, number), at)
    if act == "stop" and not runs:
        raise UsageError(f"the clock of component {component.name} already stands still at {moment(at)}")
    if act == "go on" and runs:
        raise UsageError(f"the clock of component {component.name} already runs at {moment(at)}")
    pause = state.overrides.paused.get(component.name)
    if act == "go on" and pause is not None and pause.clock in ("stops", "restarts") and at >= pause.since:
        hint = f"shakedown resume --component {component.name} lets both go on"
        raise UsageError(
            f"component {component.name} is paused, and its clock stands still as long as it is", hint=hint
        )
    return {"act": act, "from": at}


def when_said(command: Command) -> dict[str, Any]:
    """Purpose: when a person gave a command that names a time, for its event: the conductor may have heard it later."""
    return {"said": command.said} if command.said is not None else {}


def _first_start(state: State, number: int, written: Any, now: float) -> float:
    """The time of the first start of a clock that a person starts. Errors: UsageError."""
    component = state.index.components[number]
    at = _clock_time(state, number, written, now)
    if component.clock.start == "first order":
        raise UsageError(
            f"the clock of component {component.name} starts with its first order", hint="see clock in the plan"
        )
    begun = since(acts_of(state, number))
    if begun is not None:
        raise UsageError(
            f"the clock of component {component.name} was started on {moment(begun)}", hint="there is: restart"
        )
    return at


def _clock_time(state: State, number: int, written: Any, now: float) -> float:
    """A time within this campaign, for a component that has a clock. Errors: UsageError."""
    component = state.index.components[number]
    if not component.duration_s:
        message = f"component {component.name} has no clock"
        raise UsageError(message, hint="a component has a clock if the plan gives it a duration")
    if isinstance(written, bool) or not isinstance(written, int | float) or not math.isfinite(written):
        raise UsageError(f"'{str(written)[:40]}' is no time")
    at = float(written)
    if not 0 <= at <= now + SKEW_S:
        raise UsageError("the time is in the future; give the command once that time has come")
    if at < state.campaign.began:
        raise UsageError(f"the campaign began on {moment(state.campaign.began)}, after {moment(at)}")
    return min(at, now)
