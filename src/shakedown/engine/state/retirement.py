"""Results for which nothing is ordered any more: their component was drained or its time is over, their case failed too often in a
row, or an amendment took them out of the plan.
"""

from __future__ import annotations

from shakedown.engine.state.jobs import PendingResult, Run
from shakedown.engine.state.keys import CaseKey
from shakedown.engine.state.modes import CLEAN_UP
from shakedown.engine.state.plan import PlanIndex
from shakedown.engine.state.state import State
from shakedown.model.events import NO_LONGER_WANTED


def component_of(state: State, run: Run) -> str:
    """Purpose: the name of the component that a run is judged by: the one it was ordered for, whatever the plan in force wants."""
    return run.home or state.index.components[run.component].name


def lasts(index: PlanIndex, component: int) -> bool:
    """Whether a component goes on for a time, or sweeps nodes. Cases that are stopped in it wait for a person instead of being
    cancelled.
    """
    found = index.components[component]
    return bool(found.duration_s) or found.sweep is not None


def drained(state: State, component: int) -> str:
    """Purpose: why a person drained this component; "" where nobody did."""
    if not state.overrides.draining:
        return ""
    return state.overrides.draining.get(state.index.components[component].name) or state.overrides.draining.get("", "")


def stopped(state: State, component: int, case: str) -> str:
    """Purpose: why no run of this case of a component is ordered any more; "" where it is."""
    if not state.overrides.stopped:
        return ""
    return state.overrides.stopped.get(CaseKey(state.index.components[component].name, case), "")


def cleans_up(state: State, component: int, mode: str) -> bool:
    """Purpose: whether a result is a clean-up of a component of which anything was ordered. It must run, whatever else is taken
    back.
    """
    return mode == CLEAN_UP and state.index.components[component].name in state.results.begun


def why_no_more(state: State, component: int, case: str, mode: str = "") -> str:
    """Purpose: why a result of a case gets no further attempt; "" where it may."""
    if cleans_up(state, component, mode):
        return ""
    why = drained(state, component)
    if why:
        return why
    component_ = state.index.components[component]
    if component_.name == NO_LONGER_WANTED:
        return "the plan in force does not want it any more"
    if component_.duration_s:
        roll = state.clocks.mixes.get(component_.name)
        return f"the time of component {component_.name} is over" if roll is not None and roll.up else ""
    return "" if component_.sweep is not None else stopped(state, component, case)


def why_unwanted(state: State, entry: PendingResult) -> str:
    """Purpose: why a waiting result is to be judged cancelled; "" where it is still wanted.

    In a component that runs for a time, a result that was never ordered needs no verdict: when that time is over it is simply no
    longer wanted.
    """
    if entry.fresh and state.index.components[entry.component].duration_s:
        return drained(state, entry.component) if _cleans_nothing(state, entry) else ""
    return why_no_more(state, entry.component, entry.case, entry.mode)


def _cleans_nothing(state: State, entry: PendingResult) -> bool:
    return entry.mode == CLEAN_UP and not cleans_up(state, entry.component, entry.mode)
