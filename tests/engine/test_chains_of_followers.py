"""Jobs that follow each other under a budget: a follower that runs before the end of the job before it is told withdraws nobody."""

from __future__ import annotations

from engine_by_hand import ByHand
from stability_plan import small_stability
from stage import small_document

from shakedown.engine import State, decide, index_plan
from shakedown.engine.policy.job_recovery import HANDED_OVER_S
from shakedown.engine.policy.mix import Mix, _mix
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


# ---- behind a node that does not answer ----------------------------------------------------------------------------------


def on_nodes(hand: ByHand, number: int, nodes: str) -> None:
    value = {"state": "running", "source": "queue", "nodes": nodes}
    hand.play("job_report", job=f"j00000{number}", run=f"r00000{number}", value=value)


def silent(hand: ByHand, *nodes: str) -> None:
    key = hand.state.jobs["j000001"].key
    assert key is not None
    hand.play("surveyed", value={"silent": {key.pool: list(nodes)}})


def test_what_follows_a_job_on_a_node_that_does_not_answer_goes_elsewhere_and_what_that_job_holds_stays_held() -> None:
    hand = chain()
    on_nodes(hand, 1, "n[7-8]")
    silent(hand, "n8")
    orders = [order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == "claim_order"]
    assert [event.job for event in orders] == ["j000003", "j000002"], (
        "the last first: it could start once the other is gone"
    )
    assert orders[0].reason == (
        "withdrawn before it started: n8 does not answer, on which j000001 runs that it is to follow"
    )
    for event in orders:
        hand.play("claim_order", job=event.job, run=event.run)
        hand.play("claim_taken", job=event.job, run=event.run)
    again = decide(hand.state, hand.state.time).orders
    assert not [order for order in again if order.kind == "submit"], "its place in the budget is held while it may live"
    assert dict(hand.state.jobs["j000001"].loads) == {"f2/mdt": 1.0}
    said(hand, 1, "completed")
    hand.play("verdict", run="r000001", job="j000001", case=hand.state.runs["r000001"].case, value=_failed(hand, 1))
    assert [order for order in decide(hand.state, hand.state.time).orders if order.kind == "submit"]


def test_a_silent_node_on_which_nothing_runs_that_is_followed_is_nobody_s_affair() -> None:
    hand = chain()
    on_nodes(hand, 1, "n7")
    silent(hand, "n8")
    assert withdrawn(hand) == []
    silent(hand, "n7")
    assert withdrawn(hand) == ["j000003", "j000002"]
    silent(hand)
    assert withdrawn(hand) == [], "it answers again"
    silent(hand, "n7")
    hand.play("driver_start")
    assert hand.state.pools.silent == {}, "nobody looked meanwhile"


def test_nothing_is_expected_of_a_run_on_a_node_that_does_not_answer() -> None:
    """A test of a mix whose run sits there goes on elsewhere: it counts as one that has had nothing."""
    hand = ByHand(State(plan=index_plan(small_stability())))
    hand.play("campaign_start")
    hand.play("driver_start")
    for build in list(hand.state.builds):
        hand.play("build_end", build=build, value={"state": "done"})
    hand.settle()
    number = hand.state.index.rolling[0]
    job = next(job for job in hand.state.jobs.values() if job.component == number)
    assert job.key is not None
    test = hand.state.index.cases[job.case].test
    hand.play("submit_accepted", job=job.id, value={"id": "1"})
    hand.play("job_report", job=job.id, run=job.run, value={"state": "running", "source": "queue", "nodes": "n1"})

    def weighed() -> Mix:
        progress = hand.state.clocks.mixes[hand.state.index.components[number].name]
        return _mix(hand.state, number, progress, None, hand.state.time)

    before = weighed().expected[test]
    hand.play("surveyed", value={"silent": {job.key.pool: ["n1"]}})
    assert before - weighed().expected[test] == weighed().each[test] > 0
