"""Observed numbers that do not come any more: the finding that says so once, and when to look again. Pure."""

from __future__ import annotations

from shakedown.engine.constraints.observed import names_observed, observed_in_words, silent_from
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.records import Observed
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.units import show_duration


def tell_silent(state: State, decision: Decision, now: float) -> None:
    """Purpose: record a finding for each number that has been missing for longer than the plan allows. Not while
    the driver stops.
    """
    if not state.index.observed or state.driver.stopping:
        return
    for own, word in names_observed(state).items():
        due = silent_from(state, own, word)
        if state.pools.observed.get(own, Observed()).told:
            continue
        if now < due:
            decision.wake(due)
            continue
        value = {"kind": "observed_silent", "budget": own, "then": word.when_silent}
        why = f"nobody says what is taken of {own} for {show_duration(word.oldest_s)}"
        decision.record(Event("finding", value=value, reason=f"{why}: {observed_in_words(state, own, now)}"))
