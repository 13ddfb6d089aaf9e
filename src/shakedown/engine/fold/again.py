"""Folding that a component is run again: its results are wanted once more, beside those it already has."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.engine.fold.bookkeeping import enqueue
from shakedown.engine.fold.drills import clock_began_anew
from shakedown.engine.fold.overrides import stood_still
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.keys import ResultsKey
from shakedown.engine.state.modes import is_drill, is_step
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.records import ClockEvent, MixProgress
from shakedown.engine.state.state import State
from shakedown.engine.state.wanted_results import wanted_results
from shakedown.model.events import Event

Want = tuple[str, str, int]  # mode, case, repeat


def again(state: State, event: Event) -> None:
    """A component is run again. A drain, or the cancellation of the campaign, no longer holds for it, but still does for the
    others.
    """
    name = event.value["component"]
    number = state.index.component_number[name]
    others = [one.name for one in state.index.components if one.name != name]
    for why in filter(None, [state.overrides.draining.pop("", "")]):
        state.overrides.draining = dict.fromkeys(others, why) | state.overrides.draining
    state.overrides.draining.pop(name, None)
    state.phase, state.campaign.cancelled = CampaignPhase.RUNNING, ""
    state.results.begun.pop(name, None)
    state.results.again[name] = state.results.again.get(name, 0) + 1
    if state.index.components[number].duration_s:
        _take_up(state, number, event)
    else:
        wanted = _round(state, number, state.results.again[name])
        for mode, case, repeat in wanted:
            _want(state, number, mode, case, repeat)
    state.gates.outcomes.pop(name, None)
    state.campaign.doubted = event.seq


def all_rounds(state: State, number: int) -> Iterator[Want]:
    """Purpose: every result that a component without a duration wants: those of the plan, and those of each time
    it was run again.
    """
    for count in range(state.results.again.get(state.index.components[number].name, 0) + 1):
        yield from _round(state, number, count)


def _round(state: State, number: int, count: int) -> Iterator[Want]:
    """The results of one round. Repeats of later rounds are numbered on from those of the rounds before."""
    every = list(wanted_results(state.index, number))
    most: dict[tuple[str, str], int] = {}
    for mode, case, repeat in every:
        most[mode, case] = max(repeat, most.get((mode, case), 0))
    for mode, case, repeat in every:
        yield mode, case, repeat + count * most[mode, case]


def _want(state: State, number: int, mode: str, case: str, repeat: int) -> None:
    state.tallies[number].wanted += 1
    if state.index.cases[case].unavailable:
        state.tallies[number].unavailable += 1
    else:
        enqueue(state, PendingResult(number, case, repeat, mode=mode))


def _take_up(state: State, number: int, event: Event) -> None:
    """A component that runs for a time goes on: as at its beginning, the next result of each case is wanted."""
    component = state.index.components[number]
    roll = state.clocks.mixes.setdefault(component.name, MixProgress())
    roll.up, roll.up_at = False, None
    if event.value.get("clock") == "restart":
        state.clocks.events.setdefault(component.name, []).append(ClockEvent(event.time, "restart", "", event.reason))
        state.clocks.events[component.name].sort(key=lambda spell: spell.at)
        state.clocks.parts_over.pop(component.name, None)
        clock_began_anew(state, component.name)
        roll.work, roll.judged, roll.missed = {}, {}, {}
    elif "stopped" in event.value:
        stood_still(state, component.name, event.value["stopped"], event)
    for mode, case, first in wanted_results(state.index, number):
        begun = state.results.closed.get(ResultsKey(number, mode, case), [])
        if is_drill(mode):
            if not begun or event.value.get("clock") == "restart":
                _want(state, number, mode, case, len(begun) + 1)
            continue
        if is_step(mode):
            _want(state, number, mode, case, 1 + state.results.again[component.name])
            continue
        live = [
            run.repeat for run in state.runs.values() if (run.component, run.mode, run.case) == (number, mode, case)
        ]
        _want(state, number, mode, case, max([*begun, *live], default=first - 1) + 1)
