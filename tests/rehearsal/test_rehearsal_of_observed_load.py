"""A plan with a budget whose load is measured, rehearsed: others come and go by the hours of the week, and are left their room."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from rehearsal_plans import USUAL, Mixed, Played, play, times

from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.nouns import Document
from shakedown.model.observing import Observe
from shakedown.model.scenario import Neighbour

HOUR = 3600.0


def measured(means: str) -> Document:
    plan = Mixed(per_target=4.0, hours=6.0).plan()
    word = Observe("f2/mdt", "command", "lfs-load {target}", means=means, full=100.0, smooth_s=600.0, smooth_by="most")
    return replace(plan, limits=replace(plan.limits, observed=(word,)))


def rehearsed(root: Path, means: str, loads: float, to_h: float) -> Played:
    """It begins on a Monday at 6. Others load each target from 8 o'clock on."""
    others = (Neighbour("c3", 8 * HOUR, to_h * HOUR, loads=(("f2/mdt", loads),)),)
    scenario = replace(times(**(USUAL | {"small": 600.0, "large": 600.0})), begins_s=6 * HOUR, others=others)
    return play(root, measured(means), scenario)


def most_at_once(events: list[Event], begin: float, end: float) -> int:
    """Of a target, of the runs that were let start between two times."""
    live: dict[str, str] = {}
    most = 0
    for event in events:
        if event.event in ("submit_order", "release_order") and event.value.get("targets"):
            live[event.job] = event.value["targets"]["f2/mdt"]
            if begin <= event.time < end:
                most = max(most, sum(target == live[event.job] for target in live.values()))
        elif event.event == "verdict":
            live.pop(event.job, None)
    return most


@pytest.mark.parametrize("means", ["used", "others", "free"])
def test_others_are_left_their_room_and_no_more(means: str, tmp_path: Path) -> None:
    played = rehearsed(tmp_path, means, 3.0, 10.0)
    events = list(read_events(played.layout.log))
    began = events[0].time
    assert most_at_once(events, began, began + 2 * HOUR) == 4
    assert most_at_once(events, began + 2 * HOUR + 60, began + 4 * HOUR) == 1, "within a minute"
    assert most_at_once(events, began + 4 * HOUR, began + 6 * HOUR) == 4
    assert played.outcome.finished
    assert "observed:f2/mdt" in {limit.cause for limit in played.limits.limits}
    observed = [event for event in events if event.event == "observed"]
    assert 12 <= len(observed) < 6 * HOUR / 30, (
        "numbers come when something changes, and else before the last one is too old"
    )


def test_others_that_never_go_end_a_rehearsal(tmp_path: Path) -> None:
    plan = measured("others")
    component = replace(plan.components[0], kind="functionality", duration_s=0.0, mix=(), repeats=2)
    always = Neighbour("c3", 8 * HOUR, 8 * HOUR, loads=(("f2/mdt", 4.0),))
    scenario = replace(times(**USUAL), others=(always,))
    played = play(tmp_path, replace(plan, components=(component,)), scenario)
    assert not played.outcome.finished
    assert "nothing more will happen" in played.outcome.left and "observed 100 of 100" in played.outcome.left


def test_nobody_is_silent_in_a_rehearsal(tmp_path: Path) -> None:
    played = rehearsed(tmp_path, "others", 3.0, 10.0)
    kinds = {event.value.get("kind") for event in read_events(played.layout.log) if event.event == "finding"}
    assert "observed_silent" not in kinds
