"""A job that the scheduler starts again under the same id: what its first run is called, and where it ran."""

from __future__ import annotations

from typing import Any

import pytest
from engine_by_hand import seen_running

from shakedown.engine import decide
from shakedown.engine.state.phases import JobPhase
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


def test_what_it_wrote_and_how_long_it_ran_stay_with_the_first_run() -> None:
    output: Any = {"file": "outputs/x", "bytes": 12}
    over: Any = 1000.0
    judged = requeued(cause="interrupted", output=output, over=over)
    assert judged.value["output"] == output and judged.value["ended"] == 1000.0
    assert judged.value["started"] < 1000.0 and "over" not in judged.value


@pytest.mark.parametrize("cause", ["node_fail", "interrupted", ""])
def test_a_persons_word_comes_before_the_accidents(cause: str) -> None:
    judged = requeued(("cancel_request", {"cases": ["t0"]}), cause=cause)
    assert judged.value["verdict"] == "cancelled"
    assert judged.value["final"]


def carry_on(hand: Any, *names: str) -> list[Event]:
    """Everything that is decided now becomes true; the events of these names."""
    orders = [order.event for order in decide(hand.state, hand.state.time).orders]
    for event in orders:
        hand.play(event.event, case=event.case, run=event.run, job=event.job, value=event.value, reason=event.reason)
    return [event for event in orders if event.event in names]


@pytest.mark.parametrize(("launch_failure", "held"), [(None, True), (True, False)])
def test_what_a_job_holds_is_held_while_a_lost_start_of_it_may_live(launch_failure: bool | None, held: bool) -> None:
    """It went on elsewhere and ended; its first start is out of reach, unless it never was started at all."""
    hand = seen_running("queue")
    told = {"state": "requeued", "source": "queue", "restart": 1, "nodes": "n007", "cause": "node_fail"}
    if launch_failure:
        told["launch_failure"] = True
    hand.play("job_report", job="j000001", run="r000001", value=told, reason="why")
    carry_on(hand)
    carry_on(hand)
    [again] = carry_on(hand, "requeued")
    assert again.value.get("lost_start", False) is held
    job = hand.state.jobs["j000001"]
    done = {"state": "completed", "source": "marks", "restart": 1, "elapsed_s": 1.0}
    hand.play("job_report", job=job.id, run=job.run, value=done)
    verdict = {"verdict": "passed", "component": "c", "repeat": 1, "attempt": 2, "final": True}
    hand.play("verdict", case="t0", run=job.run, job=job.id, value=verdict)
    assert ("j000001" in hand.state.jobs) is held
    if held:
        assert (job.phase, job.restart, job.lost, job.charged) == (JobPhase.ORPHANED, 0, True, True)
        assert not hand.state.over
        gone = {"state": "interrupted", "source": "queue"}
        hand.play("job_report", job=job.id, run=job.run, value=gone, reason="all nodes of n007 answer again")
        [finding] = carry_on(hand, "finding")
        assert finding.value["dead"] and "j000001" not in hand.state.jobs


def started_again(*before: tuple[str, dict[str, Any]]) -> Any:
    """A job that was seen running, then told of ``before``, and queued again under the same id with a new run."""
    hand = seen_running("queue")
    for name, value in before:
        hand.play(name, case="t0", job="j000001", run="r000001", value=value)
    told = {"state": "requeued", "source": "queue", "restart": 1, "nodes": "n007"}
    hand.play("job_report", job="j000001", run="r000001", value=told, reason="why")
    while "requeued" not in [event.event for event in carry_on(hand, "requeued")]:
        pass
    return hand


def test_a_release_that_was_not_taken_is_over_when_the_scheduler_starts_the_job_again() -> None:
    hand = started_again(("release_order", {"targets": {}, "again": True}), ("released", {"taken": False}))
    hand.state.time += 3600.0
    assert not carry_on(hand, "release_order")


@pytest.mark.parametrize(
    ("word", "value", "goes"),
    [("drain_request", {}, True), ("excluded", {"nodes": ["n001"]}, True), ("paused", {"component": "first"}, False)],
)
def test_a_job_that_was_started_again_is_let_go_with_its_queue(word: str, value: dict[str, Any], goes: bool) -> None:
    """It is not taken back as others are, whatever was said since: once its queue goes on, nothing keeps it there."""
    hand = started_again()
    pool = hand.state.jobs["j000001"].key.pool
    hand.play("finding", value={"kind": "queue_held", "pool": pool})
    assert carry_on(hand, "hold_order")
    hand.play("held", job="j000001", run=hand.state.jobs["j000001"].run)
    hand.play(word, value=value, reason="so it is")
    hand.play("finding", case="t0", value={"kind": "queue_released", "pool": pool, "held_s": 1.0})
    assert bool(carry_on(hand, "release_order")) is goes
