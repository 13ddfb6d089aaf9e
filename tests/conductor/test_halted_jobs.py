"""Jobs that somebody suspended or stopped at the scheduler: what the record says of them, and what their end is worth."""

from __future__ import annotations

import pytest
from one_cluster_job import SUSPENDED, Story

from shakedown.engine import decide
from shakedown.engine.fold.evolve import evolve
from shakedown.engine.state.state import State


@pytest.mark.parametrize("word", ["suspended", "stopped"])
def test_a_halt_is_said_when_it_is_seen_and_when_it_is_over_and_what_the_job_holds_stays_held(word: str) -> None:
    story = Story()
    held = story.loads()
    story.said("running", 5.0, halted=word, message=f"it is {word}")
    story.said("running", 6.0, halted=word, message=f"it is {word}")
    assert held == story.loads() == {"fs/mdt": 1.0} and story.conductor.state.jobs["j000001"].charged
    story.said("running", 65.0)
    assert story.halts() == [("halted", word), ("goes_on", 60.0)]
    first = story.events("finding")[0]
    assert first.job == "j000001" and first.run == "r000001"
    assert f"it was {word} at the scheduler" in first.reason and "does not say by whom" in first.reason


@pytest.mark.parametrize(
    ("figures", "state", "kept"),
    [
        (False, "completed", "completed"),
        (True, "completed", "interrupted"),
        (False, "failed", "interrupted"),
        (False, "timeout", "interrupted"),
        (False, "node_fail", "node_fail"),
    ],
)
def test_what_the_end_of_a_run_that_stood_still_is_worth(figures: bool, state: str, kept: str) -> None:
    story = Story(figures)
    story.said("running", 5.0, halted="suspended", message=SUSPENDED)
    story.said("running", 35.0)
    story.said(state, 50.0, elapsed_s=49.0, exit_status={"completed": 0, "failed": 3}.get(state))
    end = story.end()
    assert end.value["state"] == kept
    assert end.value.get("halted_s") == (None if state == "node_fail" else 30.0)
    if kept == "interrupted":
        assert end.reason.startswith("it stood still for 30.0 s while it ran, suspended or stopped at the scheduler; ")
    orders = [order.event for order in decide(story.conductor.state, story.conductor.state.time).orders]
    verdicts = [event for event in orders if event.event == "verdict"]
    assert [(event.value["verdict"], event.value.get("halted_s")) for event in verdicts] == (
        [] if kept == "completed" else [(kept, None if state == "node_fail" else 30.0)]
    )


def test_a_halt_up_to_the_end_counts_to_the_end() -> None:
    story = Story()
    story.said("running", 5.0, halted="stopped", message="it is stopped")
    story.said("timeout", 45.0)
    assert (story.end().value["state"], story.end().value["halted_s"]) == ("interrupted", 40.0)


def test_slurms_own_count_tells_of_a_halt_that_nobody_saw() -> None:
    story = Story()
    story.said("completed", 50.0, exit_status=0, elapsed_s=49.0, halted_s=17.0)
    assert story.halts() == [("halted", 17.0)]
    assert (story.end().value["state"], story.end().value["halted_s"]) == ("completed", 17.0)


def test_a_run_that_never_stood_still_says_nothing_of_it() -> None:
    story = Story(figures=True)
    story.said("completed", 50.0, exit_status=0, elapsed_s=49.0, halted_s=0.0)
    assert story.halts() == []
    assert story.end().value["state"] == "completed" and "halted_s" not in story.end().value


def test_a_source_that_knows_nothing_ends_no_halt() -> None:
    story = Story()
    story.said("running", 5.0, halted="suspended", message=SUSPENDED)
    story.said("no_answer", 10.0)
    story.said("running", 20.0, halted="suspended", message=SUSPENDED)
    story.said("running", 25.0)
    assert story.halts() == [("halted", "suspended"), ("goes_on", 20.0)]


def test_the_fold_alone_knows_when_it_stood_still() -> None:
    story = Story()
    story.said("running", 5.0, halted="suspended", message=SUSPENDED)
    story.conductor.commit()
    state = State()
    state.plan = story.conductor.state.plan
    for event in story.campaign.log.events():
        evolve(state, event)
    assert state.jobs["j000001"].halts == story.conductor.state.jobs["j000001"].halts == [[story.begin + 5.0]]
