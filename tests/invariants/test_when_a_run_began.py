"""When a run began, where the driver hears of it late: by the job's own word, as far as that fits the driver's clock."""

from __future__ import annotations

from typing import Any

import pytest
from engine_by_hand import ByHand
from stage import small_document

from shakedown.engine import State, evolve, index_plan
from shakedown.engine.policy.verdict_facts import verdict_value
from shakedown.model.events import Event

ORDERED, SEEN, HEARD = 100.0, 130.0, 160.0  # when the job was ordered, was seen to run, and was heard to be over


def started(seen: float | None, **facts: float) -> float | None:
    """The start in the verdict on a run of which the queue said "running" at ``seen`` and the end was heard at 160 s."""
    hand = ByHand(State(plan=index_plan(small_document(tests=1, repeats=1))))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.state.time = ORDERED
    hand.settle()
    for build in hand.state.builds:
        evolve(hand.state, Event("build_end", hand.state.seq + 1, ORDERED, build=build, value={"state": "done"}))
    hand.settle()
    if seen is not None:
        _told(hand, seen, state="running", source="queue")
    _told(hand, HEARD, state="completed", source="marks", **facts)
    return verdict_value(hand.state, hand.state.runs["r000001"], "passed").get("started")


def _told(hand: ByHand, time: float, **value: Any) -> None:
    evolve(hand.state, Event("job_report", hand.state.seq + 1, time, job="j000001", run="r000001", value=value))


@pytest.mark.parametrize("seen", [SEEN, None])
@pytest.mark.parametrize("began", [ORDERED, 112.25, HEARD - 40.0])
def test_the_jobs_own_word_counts(seen: float | None, began: float) -> None:
    assert started(seen, began=began, elapsed_s=40.0) == began


@pytest.mark.parametrize("began", [ORDERED - 0.5, HEARD - 39.5, -3600.0, 5e9])
def test_a_clock_that_cannot_be_ours_is_not_believed(began: float) -> None:
    """It began before it was ordered, or so late that it would not be over yet."""
    assert started(SEEN, began=began, elapsed_s=20.0) == (SEEN if began != HEARD - 39.5 else began)
    assert started(SEEN, began=began, elapsed_s=40.0) == HEARD - 40.0
    assert started(None, began=began, elapsed_s=40.0) == HEARD - 40.0


def test_without_a_word_it_began_when_it_was_seen() -> None:
    assert started(SEEN, elapsed_s=20.0) == SEEN
    assert started(None, elapsed_s=40.0) == HEARD - 40.0
    assert started(SEEN) == SEEN
    assert started(None) is None


def test_a_run_that_was_seen_late_began_early_enough_to_be_over() -> None:
    """Seen 30 s before its end was heard, it took 40 s: at 130 s it ran already, and no copy after it overlaps with it."""
    assert started(SEEN, elapsed_s=40.0) == HEARD - 40.0
    assert started(SEEN, elapsed_s=HEARD - ORDERED + 1) == SEEN, "longer than since its order: a clock that is not ours"


def test_a_run_that_did_not_end_by_itself_began_when_the_scheduler_says() -> None:
    assert started(SEEN, began=111.0) == 111.0
