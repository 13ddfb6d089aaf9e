"""Jobs that follow each other under a budget: a follower that runs before the end of the job before it is told withdraws nobody."""

from __future__ import annotations

from engine_by_hand import ByHand
from stage import small_document

from shakedown.engine import State, decide, index_plan
from shakedown.engine.policy.job_recovery import HANDED_OVER_S
from shakedown.engine.state.job_index import job_index_of, same


def chain() -> ByHand:
    """Three jobs, each of which takes all of the budget: the first runs, the others follow each other."""
    hand = ByHand(State(plan=index_plan(small_document(tests=1, repeats=3, budgets={"f2/mdt": 1.0}))))
    hand.play("campaign_start")
    hand.play("driver_start")
    part = hand.state.index.components[1]
    for number in (1, 2, 3):
        value = {"component": part.name, "repeat": number, "attempt": 1}
        value |= {"after": f"j00000{number - 1}"} if number > 1 else {}
        hand.play("submit_order", run=f"r00000{number}", job=f"j00000{number}", case=part.cases[0], value=value)
        hand.play("submit_accepted", job=f"j00000{number}", value={"id": str(number)})
        hand.play(
            "job_report", job=f"j00000{number}", run=f"r00000{number}", value={"state": "queued", "source": "queue"}
        )
    said(hand, 1, "running")
    return hand


def said(hand: ByHand, number: int, state: str) -> None:
    hand.play("job_report", job=f"j00000{number}", run=f"r00000{number}", value={"state": state, "source": "queue"})


def withdrawn(hand: ByHand, later_s: float = 0.0) -> list[str]:
    orders = decide(hand.state, hand.state.time + later_s).orders
    return [order.event.job for order in orders if order.event.event == "claim_order"]


def test_a_follower_that_runs_before_the_end_of_the_job_before_it_is_told_withdraws_nobody() -> None:
    hand = chain()
    assert hand.state.jobs["j000003"].after == "j000002"
    said(hand, 2, "running")
    assert withdrawn(hand) == []
    said(hand, 1, "completed")
    assert withdrawn(hand) == []


def test_a_job_whose_end_is_never_told_beside_its_follower_lets_nobody_follow() -> None:
    """Its node is lost, and it may live on there: the place that the last one waits for may be given to nobody."""
    hand = chain()
    said(hand, 2, "running")
    assert withdrawn(hand, HANDED_OVER_S - 5.0) == []
    assert withdrawn(hand, HANDED_OVER_S + 5.0) == ["j000003"]


def test_a_job_whose_follower_began_is_followed_by_nobody_else() -> None:
    """Its end is not told yet, and it is over all the same: what followed it now would begin at once."""
    hand = chain()
    said(hand, 2, "failed")
    hand.play("verdict", run="r000002", job="j000002", case=hand.state.runs["r000002"].case, value=_failed(hand, 2))
    assert "j000002" not in hand.state.jobs
    assert hand.state.jobs["j000001"].successor, "it has had its follower"


def test_what_is_called_running_and_did_nothing_waits_again() -> None:
    """Accounting called it running; its own mark says that it did nothing, for the job before it may live."""
    hand = chain()
    run = hand.state.runs["r000002"]
    for state, source in (("running", "accounting"), ("void", "marks")):
        hand.play("job_report", job="j000002", run="r000002", value={"state": state, "source": source})
    assert (hand.state.jobs["j000002"].started, run.started, run.phase) == (None, None, "queued")
    assert same(hand.state.job_index, job_index_of(hand.state.jobs.values()))


def _failed(hand: ByHand, number: int) -> dict[str, object]:
    component = hand.state.index.components[1].name
    return {"verdict": "failed", "component": component, "repeat": number, "attempt": 1, "started": hand.state.time}
