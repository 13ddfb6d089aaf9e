"""What is queued and has not begun is taken back where a window, or a person, lets less run than runs and waits."""

from __future__ import annotations

from typing import Any

from engine_by_hand import ByHand
from msgspec.structs import replace
from stage import small_document

from shakedown.engine import State, index_plan
from shakedown.engine.state.phases import Claim
from shakedown.model.filling import Window

NOW, HOUR = 1_600_000_000.0, 3600.0
WEEK_S = 6 * 86400 + 12 * HOUR + 26 * 60 + 40  # how far the week was at that moment: Sunday 12:26:40 UTC


def queued(count: int, **window: Any) -> ByHand:
    """A campaign whose jobs of one test wait at the scheduler, an hour before its window opens; the first of them runs."""
    document = small_document(tests=1, repeats=count, nodes=8, budgets={})
    window_ = Window("soon", WEEK_S + HOUR, WEEK_S + 2 * HOUR, **window)
    one = replace(document.components[1], cases=(document.cases[0].id,), after=(), repeats=count, windows=(window_,))
    hand = ByHand(State(plan=index_plan(replace(document, components=(one,), builds=()))))
    hand.state.time = NOW
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    for job in list(hand.state.jobs):
        hand.play("submit_accepted", job=job, run=hand.state.jobs[job].run, value={"id": job})
    first = next(iter(hand.state.jobs.values()))
    hand.play("job_report", job=first.id, run=first.run, value={"state": "running", "source": "queue"})
    return hand


def taken_back(hand: ByHand) -> list[str]:
    hand.settle()
    return [job.id for job in hand.state.jobs.values() if job.requests.claim != Claim.NONE]


def test_a_closed_window_takes_back_what_waits_and_leaves_what_runs() -> None:
    hand = queued(4, closed=True)
    jobs = list(hand.state.jobs)
    assert len(jobs) == 4
    assert taken_back(hand) == []
    hand.state.time = NOW + HOUR + 1
    assert taken_back(hand) == jobs[1:]


def test_copies_of_a_window_take_back_what_came_last() -> None:
    hand = queued(4, copies=(("t0", 2),))
    jobs = list(hand.state.jobs)
    assert taken_back(hand) == []
    hand.state.time = NOW + HOUR + 1
    assert taken_back(hand) == jobs[2:]
