"""A scheduler may end a run much later than its time limit: the verdict says how late it was."""

from __future__ import annotations

import pytest
from engine_by_hand import seen_running

from shakedown.engine import decide


def test_what_ended_it_says_nothing_twice() -> None:
    hand = seen_running("queue")
    value = {"state": "timeout", "source": "queue"}
    hand.play(
        "job_report", job="j000001", run="r000001", value=value, reason="it was ended at its time limit of 5 min 00 s"
    )
    (verdict,) = [order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "verdict"]
    assert verdict.reason == "it was ended at its time limit of 300 s"


@pytest.mark.parametrize(
    ("took", "more"), [(419.0, ""), (487.0, ", 8 min 07 s after it began: the scheduler was late"), (None, "")]
)
def test_how_late_the_limit_was(took: float | None, more: str) -> None:
    hand = seen_running("queue")
    began = hand.state.runs["r000001"].started
    assert began is not None
    value = {"state": "timeout", "source": "queue"} | ({"began": began, "over": began + took} if took else {})
    hand.play("job_report", job="j000001", run="r000001", value=value)
    (verdict,) = [order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "verdict"]
    assert "over" not in verdict.value
    assert (verdict.value["verdict"], verdict.reason) == ("timeout", f"it was ended at its time limit of 300 s{more}")
