"""Components that run for a time, as their clocks measure it: when a part of that time is over, and when all of it is.

``tell_time`` is the table of contents.
"""

from __future__ import annotations

from shakedown.engine.state.modes import is_step
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.retirement import drained
from shakedown.engine.state.state import State
from shakedown.model.clocks import Act, is_running, read_until, since, when
from shakedown.model.events import Event
from shakedown.model.nouns import Component, Drill


def tell_time(state: State, decision: Decision, now: float) -> bool:
    """Purpose: record once that the time of a component, or a part of it, is over; until then ask to be woken at that moment.
    Returns whether anything was recorded.
    """
    before = len(decision.orders)
    for number in state.index.rolling:
        name = state.index.components[number].name
        roll = state.clocks.mixes.get(name)
        if roll is not None and roll.up:
            continue
        why = drained(state, number) or _why_up(state, number, now)
        if why:
            why = f"{why}; nothing new of it is ordered"
            decision.record(Event("finding", value={"kind": "time_is_up", "component": name}, reason=why))
        else:
            _tell_part(state, decision, number, now)
            _tell_drills(state, decision, number, now)
            _wake(decision, ends_at(state, number, now), now)
    return len(decision.orders) > before


def acts_of(state: State, number: int) -> list[Act]:
    """Purpose: the acts on a component's clock (start, stop, go on, restart) with their times. The clock starts with the first
    order, or when a person starts it.
    """
    component = state.index.components[number]
    said = [(spell.at, spell.act) for spell in state.clocks.events.get(component.name, ())]
    roll, terms = state.clocks.mixes.get(component.name), component.clock
    if roll is not None and roll.started is not None and terms.start == "first order":
        said.insert(0, (roll.started + (0.0 if terms.ramp else component.fill.ramp_s), "start"))
    return said


def ends_at(state: State, number: int, now: float) -> float | None:
    """Purpose: when the time of a component ends, as its clock stands at ``now``; None where the clock stands still."""
    return when(acts_of(state, number), state.index.components[number].duration_s, now)


def is_up(state: State, number: int, now: float) -> bool:
    """Purpose: whether the time of a component has passed at ``now``."""
    end = ends_at(state, number, now)
    return end is not None and now >= end


def idle_since(state: State, number: int, now: float) -> float | None:
    """Purpose: for a component that is over and is run again now: since when its clock would have run on without any work.

    None where the component still has work, is not over, or its clock stands still for another reason. Where the drain does not
    count as clock time, the answer is the moment when its time was over; otherwise it is the end of its last run.
    """
    component = state.index.components[number]
    roll, acts = state.clocks.mixes.get(component.name), acts_of(state, number)
    if not component.duration_s or roll is None or not is_running(acts, now):
        return None
    begun = since(acts) or 0.0
    if roll.up and roll.up_at is not None and not component.clock.drain:
        return max(begun, roll.up_at)
    over = roll.up or bool(state.campaign.cancelled) or state.phase == "ended"
    own = [run for run in state.runs.values() if run.component == number and not is_step(run.mode)]
    if not over or any(run.phase != "judged" for run in own):
        return None
    return min(now, read_until(begun, roll.ended, roll.up_at, now, over=True))


def has_started(state: State, number: int) -> bool:
    """Purpose: whether the clock of a component has been started, where a person must start it. True for a clock that starts by
    itself.
    """
    component = state.index.components[number]
    if not component.duration_s or component.clock.start == "first order":
        return True
    return any(spell.act in ("start", "restart") for spell in state.clocks.events.get(component.name, ()))


def _why_up(state: State, number: int, now: float) -> str:
    component = state.index.components[number]
    if not is_up(state, number, now):
        return ""
    return f"the {component.duration_s:g} s of component {component.name} have passed"


def _tell_part(state: State, decision: Decision, number: int, now: float) -> None:
    """After each part but the last, the component pauses. Its clock stands still from the exact end of the part."""
    component = state.index.components[number]
    over = state.clocks.parts_over.get(component.name, 0)
    if over >= len(component.phases) - 1 or component.name in state.overrides.paused:
        return
    phase = component.phases[over]
    end = when(acts_of(state, number), sum(part.duration_s for part in component.phases[: over + 1]), now)
    if end is not None and now >= end:
        way_out = f"shakedown resume --component {component.name}"
        why = f"part {over + 1} of {len(component.phases)}, {phase.name}, of component {component.name} is over; {way_out}"
        value = {"component": component.name, "phase": phase.name, "from": end, "clock": "stops"}
        decision.record(Event("paused", value=value, reason=why))
    _wake(decision, end, now)


def drill_moment(state: State, number: int, drill: Drill, now: float) -> float | None:
    """Purpose: when the moment of a drill comes, or came; None where the clock stands still."""
    return when(acts_of(state, number), drill.at_s, now)


def _tell_drills(state: State, decision: Decision, number: int, now: float) -> None:
    """Record once that the moment of a drill has come. A drill that a test carries out begins by itself and is not recorded."""
    component = state.index.components[number]
    for drill in component.drills:
        progress = state.clocks.drills.get(component.name, {}).get(drill.name)
        if progress is not None and (progress.due is not None or progress.begun is not None):
            continue
        moment = drill_moment(state, number, drill, now)
        if moment is not None and now >= moment and not drill.case:
            value = {"kind": "drill_due", "component": component.name, "drill": drill.name, "at": moment}
            decision.record(Event("finding", value=value, reason=drill_in_words(component, drill)))
        _wake(decision, moment, now)


def drill_in_words(component: Component, drill: Drill) -> str:
    """Purpose: what a person has to do now for a drill, and the command that records it."""
    what = f": {drill.about}" if drill.about else ""
    whose = f" ({drill.who} does it)" if drill.who else ""
    say = f"shakedown drill {component.name} {drill.name} --begun, and --ended when it is done"
    return f"drill {drill.name} of component {component.name} is due{what}{whose}; say {say}"


def _wake(decision: Decision, when: float | None, now: float) -> None:
    if when is not None and when > now:
        decision.wake(when)
