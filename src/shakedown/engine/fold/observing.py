"""Folding the numbers that narrow budgets, and the note that such a number is missing."""

from __future__ import annotations

from shakedown.engine.state.records import Observed
from shakedown.engine.state.state import State
from shakedown.model.events import Event


def observed(state: State, event: Event) -> None:
    """A number was observed, or could not be: then the last number counts until it is too old."""
    value = event.value
    seen = state.pools.observed.setdefault(value["budget"], Observed())
    if value.get("number") is None:
        seen.trouble = event.reason
        return
    seen.number, seen.beside, seen.at = float(value["number"]), float(value["beside"]), float(value["at"])
    seen.trouble, seen.told = "", False


def silent(state: State, event: Event) -> None:
    """It was recorded that the number is missing. This is recorded once, until there is a number again."""
    state.pools.observed.setdefault(event.value["budget"], Observed()).told = True
