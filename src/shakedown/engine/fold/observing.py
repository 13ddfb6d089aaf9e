"""Folding numbers that narrow budgets, and what is told where there are none."""

from __future__ import annotations

from shakedown.engine.state.records import Observed
from shakedown.engine.state.state import State
from shakedown.model.events import Event


def observed(state: State, event: Event) -> None:
    """A number, or why there is none: then the one before counts until it is too old."""
    value = event.value
    seen = state.pools.observed.setdefault(value["budget"], Observed())
    if value.get("number") is None:
        seen.trouble = event.reason
        return
    seen.number, seen.beside, seen.at = float(value["number"]), float(value["beside"]), float(value["at"])
    seen.trouble, seen.told = "", False


def silent(state: State, event: Event) -> None:
    """It was said that there is no number young enough: once, until there is one."""
    state.pools.observed.setdefault(event.value["budget"], Observed()).told = True
