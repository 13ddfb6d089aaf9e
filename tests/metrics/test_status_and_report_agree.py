"""How many results are still to come is one number: the state (``status``) and the rows (``report``) have it from one log each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import out_and_in_story
import pytest
from acts_story import Acted
from msgspec.structs import replace

from shakedown.conductor.driver.startup import fold_one
from shakedown.engine import State
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.rows.table import Record

FOLDED = (
    "campaign_start",
    "amended",
    "submit_order",
    "verdict",
    "retry",
    "given_up",
    "campaign_end",
)  # what the engine says of results


def _both(told: Acted) -> Iterator[tuple[int, str, int, int]]:
    """After each event: its number and name, what the report says is to come, and what waits or runs by the state."""
    state, record = State(), Record(plans=dict(told.documents))
    for event in told.events:
        record.add(event)
        if event.event not in FOLDED:
            state.seq = event.seq
            continue
        settled = {one.run for one in told.events if one.event in ("retry", "given_up")}
        closes = event.event == "verdict" and event.run not in settled
        more: dict[str, Any] = {"final": True} if closes else {}
        if event.event == "amended":
            more = {"components": [part.name for part in state.index.components], "returns": True}
        fold_one(state, replace(event, value=event.value | more), told.documents.__getitem__)
        if state.agenda.to_settle:
            continue  # whether it is attempted again is said by the next event
        (tally, *_), people = state.tallies, populations(told.documents[record.document], record)
        yield event.seq, event.event, people["speed"].to_come, tally.waiting + tally.in_flight


@pytest.mark.parametrize("live", [False, True], ids=["all judged", "some live"])
@pytest.mark.parametrize("seed", range(60))
def test_they_agree_after_each_event_of_a_campaign_whose_cases_come_and_go(seed: int, live: bool) -> None:
    told = out_and_in_story.drawn(seed, live=live)
    assert [one for one in _both(told) if one[2] != one[3]] == []


def test_something_is_wanted_anew_in_these_campaigns_before_anything_of_it_is_ordered() -> None:
    amended = [one for seed in range(60) for one in _both(out_and_in_story.drawn(seed)) if one[1] == "amended"]
    assert sum(to_come > 0 for _, _, to_come, _ in amended) > 20
