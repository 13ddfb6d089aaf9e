"""Each verdict has retries of its own: what somebody put back into the queue uses up none of those that a failed node is worth."""

from __future__ import annotations

import pytest
from engine_by_hand import ByHand, begun
from msgspec.structs import replace
from stage import small_document

from shakedown.model.nouns import Retry

RULES = (Retry("node_fail", 1), Retry("interrupted", 2), Retry("failed", 1, 10.0))


def campaign() -> ByHand:
    document = small_document(tests=1, repeats=1)
    first, *rest = document.components
    return begun(replace(document, components=(replace(first, retry=RULES), *rest)))


def ends(hand: ByHand, verdict: str) -> list[str]:
    """The run that is there is judged so; what the engine does then."""
    (run,) = [run for run in hand.state.runs.values() if not run.verdict]
    value = {"verdict": verdict, "component": hand.state.index.components[0].name, "repeat": 1, "attempt": run.attempt}
    hand.play("submit_accepted", job=run.job, value={"id": run.id})
    hand.play("job_report", job=run.job, run=run.id, value={"state": "running", "source": "marks"})
    hand.play("job_report", job=run.job, run=run.id, value={"state": "interrupted", "source": "marks"})
    hand.play("verdict", job=run.job, run=run.id, case=run.case, value=value)
    return [name for name in hand.settle() if name in ("retry", "given_up")]


@pytest.mark.parametrize(
    ("verdicts", "last"),
    [
        (["interrupted", "interrupted", "node_fail"], "retry"),
        (["interrupted", "interrupted", "interrupted"], "given_up"),
        (["node_fail", "interrupted", "node_fail"], "given_up"),
        (["node_fail", "interrupted", "interrupted"], "retry"),
    ],
)
def test_each_verdict_is_counted_by_itself(verdicts: list[str], last: str) -> None:
    hand = campaign()
    for verdict in verdicts[:-1]:
        assert ends(hand, verdict) == ["retry"]
    assert ends(hand, verdicts[-1]) == [last]


def test_a_back_off_is_that_of_its_verdict() -> None:
    hand = campaign()
    assert ends(hand, "interrupted") == ["retry"] and ends(hand, "node_fail") == ["retry"]
    before = hand.state.time
    assert ends(hand, "failed") == ["retry"]
    (entry,) = hand.state.waiting.delayed
    assert entry.attempt == 4 and 10.0 <= entry.not_before - before <= 20.0, "the first wait, not the third"
