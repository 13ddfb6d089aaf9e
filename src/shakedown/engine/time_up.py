"""When the time of a component that runs for a time is over, and saying so once."""

from __future__ import annotations

from shakedown.engine.orders import Decision
from shakedown.engine.state import State
from shakedown.model.events import Event


def tell_time(state: State, decision: Decision, now: float) -> bool:
    """Purpose: say once that the time of a mix is up; until then be woken for it. Whether it was said."""
    said = False
    for number in state.index.rolling:
        component = state.index.components[number]
        roll = state.rolls.get(component.name)
        if roll is None or roll.started is None or roll.up:
            continue
        if now >= roll.started + component.duration_s:
            why = f"the {component.duration_s:g} s of component {component.name} have passed; nothing new of it is ordered"
            decision.record(Event("finding", value={"kind": "time_is_up", "component": component.name}, reason=why))
            said = True
        else:
            decision.wake(roll.started + component.duration_s)
    return said


def ends_at(state: State, number: int, now: float) -> float | None:
    """Purpose: when the time of a component will be over if nothing changes; None where nobody can tell."""
    component = state.index.components[number]
    roll = state.rolls.get(component.name)
    return roll.started + component.duration_s if roll is not None and roll.started is not None else None
