"""Folding events of builds: ordered, started, ended."""

from __future__ import annotations

from shakedown.engine.state.jobs import BuildState
from shakedown.engine.state.phases import BuildPhase
from shakedown.engine.state.state import State
from shakedown.model.events import Event

LONGEST_HOLD_S = 60.0  # between two tries of a build that cannot be carried out


def build_order(state: State, event: Event) -> None:
    before = state.builds.get(event.build)
    state.builds[event.build] = BuildState(BuildPhase.ORDERED, tries=before.tries + 1 if before else 1)


def build_start(state: State, event: Event) -> None:
    state.builds[event.build].phase = BuildPhase.STARTED


def build_end(state: State, event: Event) -> None:
    """A build is done or has failed. A build that could not be carried out at all tells nothing, so it is tried again later."""
    build = state.builds[event.build]
    build.message, build.log = event.reason, event.value.get("log", "")
    if event.value.get("transient"):
        build.phase = BuildPhase.HELD
        build.not_before = event.time + min(2.0**build.tries, LONGEST_HOLD_S)
    else:
        build.phase = BuildPhase.DONE if event.value["state"] == BuildPhase.DONE else BuildPhase.FAILED
