"""What a machine can never give is refused once: no other attempt is made, and nothing else waits for it."""

from __future__ import annotations

import pytest
from engine_by_hand import ByHand
from msgspec.structs import replace
from stage import small_document

from shakedown.engine import State, index_plan

WHY = "t0 needs 2 GPUs; this machine lets us use 1"


def refused(never: bool, duration_s: float = 0.0) -> ByHand:
    """A campaign of four tests, one of them unavailable, whose jobs are all refused in the same words."""
    document = small_document(tests=4, repeats=1, nodes=8, budgets={})
    cases = tuple(case.id for case in document.cases)
    rest = replace(document.components[1], cases=cases, after=(), duration_s=duration_s)
    hand = ByHand(State(plan=index_plan(replace(document, components=(rest,)))))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    for job in list(hand.state.jobs):
        value = {"never": True} if never else {}
        hand.play("submit_refused", job=job, run=hand.state.jobs[job].run, value=value, reason=WHY)
    hand.settle()
    return hand


def test_it_is_attempted_once() -> None:
    hand = refused(never=True)
    assert hand.state.tallies[0].verdicts == {"submit_failed": 3}
    assert not hand.state.waiting.delayed
    assert not any(guard.since for guard in hand.state.pools.guards.values()), "its queue is as good as before"


@pytest.mark.parametrize(("never", "duration_s"), [(False, 0.0), (True, 3600.0)])
def test_what_may_change_and_the_next_result_of_a_mix_come_later(never: bool, duration_s: float) -> None:
    hand = refused(never, duration_s)
    assert all(entry.not_before > hand.state.time for entry in hand.state.waiting.delayed)
    assert hand.state.waiting.delayed or any(guard.since for guard in hand.state.pools.guards.values())
