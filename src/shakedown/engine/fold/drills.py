"""Folding drills: that one is due, and that a person said it began or ended."""

from __future__ import annotations

from shakedown.engine.state.records import DrillProgress
from shakedown.engine.state.state import State
from shakedown.model.events import Event


def drilled(state: State, event: Event) -> None:
    """A person said that a drill began or ended. A later begin opens the drill anew, so an earlier end no longer counts."""
    state.campaign.doubted = event.seq
    progress, at = _progress(state, event), float(event.value["from"])
    if event.value.get("act") == "begun":
        progress.begun = at
        progress.ended = progress.ended if progress.ended is not None and progress.ended >= at else None
    else:
        progress.ended = at


def due(state: State, event: Event) -> None:
    """The moment of a drill has come, and this was recorded."""
    _progress(state, event).due = float(event.value["at"])


def clock_began_anew(state: State, component: str) -> None:
    """The clock of a component restarted: each of its drills comes once more."""
    state.clocks.drills.pop(component, None)


def _progress(state: State, event: Event) -> DrillProgress:
    drills = state.clocks.drills.setdefault(event.value["component"], {})
    return drills.setdefault(event.value["drill"], DrillProgress())
