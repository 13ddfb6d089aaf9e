"""A job that the scheduler starts again under the same id: what its first run is called, and where it ran."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import seen_running

from shakedown.engine import decide
from shakedown.model.events import Event

BACK = "the scheduler put it back into the queue (restart 1)"


def requeued(*more: tuple[str, dict[str, Any]], reason: str = "", **value: str) -> Event:
    """The verdict on the first run of a job that is queued again."""
    hand = seen_running("queue")
    for name, facts in more:
        hand.play(name, value=facts, reason="wrong deck")
    told = {"state": "requeued", "source": "queue", "restart": 1, "nodes": "n007", **value}
    hand.play("job_report", job="j000001", run="r000001", value=told, reason=reason)
    orders = [order.event for order in decide(hand.state, hand.state.time).orders]
    [verdict] = [event for event in orders if event.event == "verdict" and event.run == "r000001"]
    return verdict


@pytest.mark.parametrize(
    ("cause", "reason", "verdict", "why"),
    [
        ("node_fail", "Slurm lost a node of n007", "node_fail", f": Slurm lost a node of n007; {BACK}"),
        ("node_fail", "", "node_fail", f": {BACK}"),
        ("interrupted", "it was preempted", "interrupted", f"{BACK}: it was preempted"),
        ("", "", "interrupted", BACK),
    ],
)
def test_it_is_judged_by_what_ended_it(cause: str, reason: str, verdict: str, why: str) -> None:
    judged = requeued(reason=reason, cause=cause)
    assert judged.value["verdict"] == verdict
    assert judged.reason == ("a node it ran on failed" if verdict == "node_fail" else "") + why
    assert judged.value["nodes"] == "n007"
    assert not {"cause", "restart", "state"} & judged.value.keys()


@pytest.mark.parametrize("cause", ["node_fail", "interrupted", ""])
def test_a_persons_word_comes_before_the_accidents(cause: str) -> None:
    judged = requeued(("cancel_request", {"cases": ["t0"]}), cause=cause)
    assert judged.value["verdict"] == "cancelled"
    assert judged.value["final"]
