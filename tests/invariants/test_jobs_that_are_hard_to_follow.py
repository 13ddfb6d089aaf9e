"""Jobs that scheduler and marks tell different stories of: by hand, event by event."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, seen_running
from stability_plan import MDTS, Wish, case, document, machine, play, small_stability, sweep_of_five

from shakedown.conductor.driver.loop import _is_news
from shakedown.engine import Decision, State, decide, index_plan
from shakedown.engine.state.phases import Step
from shakedown.model.filling import Fill, Pack
from shakedown.model.nouns import Component, Document, System
from shakedown.model.ports import JobReport
from shakedown.twin import Fates, Lies


def hand_on(plan: Document) -> ByHand:
    hand = ByHand(State(plan=index_plan(plan)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    return hand


def pack_of(runs: int, load: float = 0.0, system: System | None = None, at_once: int = 2) -> Document:
    names = tuple(f"p{number}" for number in range(runs))
    cases = tuple(case(name, 1, 60.0, load=load) for name in names)
    pack = Component("pack", "functionality", names, pack=Pack(runs=runs, at_once=at_once))
    return document(system or machine(2, targets=False), cases, pack)


def told(hand: ByHand, run: str, job: str = "j000001", **value: Any) -> None:
    hand.play("job_report", job=job, run=run, value={"source": "marks", **value})


def decided(hand: ByHand) -> Decision:
    return decide(hand.state, hand.state.time)


# ---- jobs of one run -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["absent", "no_answer"])
def test_a_lost_run_says_where_what_it_wrote_would_be(state: str) -> None:
    """The report that nobody knows it has that; a later one that says less takes nothing away, an end replaces it."""
    where = {"file": "outputs/0/j000001.0.out", "bytes": 17, "directory": "work/0/j000001.0"}
    hand = seen_running("queue")
    told(hand, "r000001", state=state, source="queue", output=where)
    told(hand, "r000001", state="no_answer", source="accounting")
    hand.state.time += hand.state.index.policy.no_answer_s + 1.0
    lost = next(order.event for order in decided(hand).orders if order.event.event == "verdict")
    assert (lost.value["verdict"], lost.value["output"]) == ("lost", where)

    told(hand, "r000001", state="running", source="queue")
    told(hand, "r000001", state="completed", exit=0, elapsed_s=5.0)
    assert "output" not in hand.state.jobs["j000001"].report.facts


# ---- jobs of several runs --------------------------------------------------------------------------------------------------


def a_pack_with_two_judged_parts() -> ByHand:
    """Both parts came to their own end and were judged; nobody has said yet that the job is over."""
    hand = hand_on(pack_of(2))
    hand.play("submit_accepted", job="j000001", run="r000001", value={"id": "7"})
    for run in ("r000001", "r000002"):
        told(hand, run, state="running", part=True)
        told(hand, run, state="completed", part=True, exit=0, elapsed_s=5.0)
        hand.settle()
        value = {"verdict": "passed", "component": "pack", "repeat": 1, "attempt": 1, "final": True}
        hand.play("verdict", run=run, case=hand.state.runs[run].case, job="j000001", value=value, reason="so it was")
    return hand


def test_a_job_of_which_no_run_is_open_and_that_nobody_knows_is_let_go() -> None:
    hand = a_pack_with_two_judged_parts()
    told(hand, "r000001", state="absent")
    hand.state.time += hand.state.index.policy.lost_after_s
    (finding,) = [order.event for order in decided(hand).orders]
    assert (finding.event, finding.value["kind"], finding.value["dead"]) == ("finding", "believed_dead", True)
    assert "none of its runs is open" in finding.reason
    assert hand.settle() == ["finding", "campaign_end"]
    assert not hand.state.jobs


def test_a_job_that_is_refused_when_all_its_parts_went_back_is_let_go() -> None:
    hand = hand_on(pack_of(2))
    hand.play("submit_accepted", job="j000001", run="r000001", value={"id": "7"})
    hand.play("cancel_request", value={"runs": ["r000001", "r000002"]}, reason="wrong deck")
    for run in ("r000001", "r000002"):
        if run in hand.state.runs:
            hand.play("claim_taken", job="j000001", run=run, value={"part": True})
    hand.state.jobs["j000001"].requests.cancel = Step.NONE
    told(hand, "r000001", state="refused")
    assert "finding" in hand.settle()
    assert not hand.state.jobs


@pytest.mark.parametrize("said", ["completed", "failed"])
def test_marks_of_parts_that_come_after_the_end_of_their_job_are_waited_for(said: str) -> None:
    """A file system shows them late; what came to its own end must not be called interrupted, and run again."""
    hand = hand_on(pack_of(1))
    hand.play("submit_accepted", job="j000001", run="r000001", value={"id": "7"})
    told(hand, "r000001", state="running", part=True)
    told(hand, "r000001", state=said, source="queue", exit=0)
    assert not decided(hand).orders
    assert decided(hand).wake_at == hand.state.time + hand.state.index.policy.grace_s
    told(hand, "r000001", state="completed", part=True, exit=0, elapsed_s=5.0)
    assert [order.event.event for order in decided(hand).orders] == ["check_start"]


def test_marks_that_do_not_come_are_not_waited_for_for_ever() -> None:
    hand = hand_on(pack_of(1))
    hand.play("submit_accepted", job="j000001", run="r000001", value={"id": "7"})
    told(hand, "r000001", state="running", part=True)
    told(hand, "r000001", state="completed", source="queue", exit=0)
    hand.state.time += hand.state.index.policy.grace_s
    (verdict,) = [order.event for order in decided(hand).orders]
    assert verdict.value["verdict"] == "interrupted"


@pytest.mark.parametrize("said", ["node_fail", "timeout", "cancelled", "failed"])
def test_a_part_that_the_end_of_its_job_cut_off_keeps_its_output_and_its_directory(said: str) -> None:
    hand = hand_on(pack_of(1))
    hand.play("submit_accepted", job="j000001", run="r000001", value={"id": "7"})
    told(hand, "r000001", state="running", part=True)
    run = hand.state.runs["r000001"]
    left = {
        "file": "outputs/000/j000001.0/r000001.out",
        "bytes": 3,
        "crc": "352441c2",
        "directory": "work/000/j000001.0/r000001",
    }
    report = JobReport("j000001", "running", "marks", output=left, run="r000001")
    assert _is_news(hand.state, report)
    told(hand, "r000001", state="running", part=True, output=left)
    assert not _is_news(hand.state, report), "once"
    assert run.phase == "running"
    told(hand, "r000001", state=said, source="queue", nodes="n001")
    hand.state.time += hand.state.index.policy.grace_s
    (verdict,) = [order.event for order in decided(hand).orders]
    assert verdict.value["output"] == left


def test_with_late_marks_a_sweep_sees_each_node_once() -> None:
    campaign = play(sweep_of_five(nodes=4), lies=Lies(marks_late_s=30.0), fates=Fates(mean_s=20.0), quiet=False)
    assert len(campaign.world.executions) == 20
    assert {event.value["verdict"] for event in campaign.events("verdict")} == {"passed"}


def test_a_pack_asks_for_no_more_of_a_licence_than_there_is() -> None:
    """Four would fit the node; the cluster has two, and a job that asks it for four waits for ever."""
    system = msgspec.structs.replace(
        machine(2, licences=(("f2/mdt", 2.0),), per_target=2.0), targeted=(), filesystems=()
    )
    plan = pack_of(8, load=1.0, system=system, at_once=4)
    cases = tuple(msgspec.structs.replace(one, work="", targets=()) for one in plan.cases)
    campaign = play(msgspec.structs.replace(plan, cases=cases), fates=Fates(mean_s=5.0, spread_s=1.0))
    assert {event.value["at_once"] for event in campaign.events("submit_order")} == {2}
    assert campaign.state.phase == "ended"


def test_no_node_is_seen_after_its_exclusion_though_it_was_idle() -> None:
    """The scheduler is not asked again before the next order."""
    hand = hand_on(sweep_of_five(nodes=4, queued=4))
    hand.play("surveyed", value={"idle": {"c:batch": [1, 2, 3, 4]}})
    hand.play("excluded", value={"nodes": ["n2"], "by": "Ada"}, reason="it is hot")
    nodes = [order.event.value["node"] for order in decided(hand).orders if order.event.event == "submit_order"]
    assert set(nodes) == {1, 3, 4}


# ---- jobs of one run -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["requeued", "running", "completed", "node_fail"])
def test_what_was_asked_before_a_restart_was_heard_of_is_no_news(state: str) -> None:
    """A look that was under way says once more that the first start was put back: the second one goes on."""
    hand = seen_running("queue")
    told(hand, "r000001", state="requeued", source="queue", restart=1, nodes="n007")
    hand.settle()
    job = hand.state.jobs["j000001"]
    assert (job.restart, job.run) == (1, "r000002")
    late = 1 if state == "requeued" else 0
    assert not _is_news(hand.state, JobReport("j000001", state, "queue", "7", restart=late, nodes="n007"))
    assert _is_news(hand.state, JobReport("j000001", state, "queue", "7", restart=late + 1, nodes="n008"))


def test_that_only_accounting_says_any_more_that_it_runs_is_news() -> None:
    """The queue forgot it while nobody drove; a record that ran away must not be taken for the queue's own word."""
    hand = seen_running("queue")
    report = JobReport("j000001", "running", "accounting", "7")
    assert _is_news(hand.state, report)
    told(hand, "r000001", state="running", source="accounting")
    assert not _is_news(hand.state, report)
    policy = hand.state.index.policy
    hand.state.time += 300.0 + policy.lost_after_s + 1
    assert [
        event.value["verdict"] for event in (o.event for o in decided(hand).orders) if event.event == "verdict"
    ] == ["lost"]


def test_the_deadline_of_a_start_is_its_own() -> None:
    """It was put back into the queue when it had run for long: the next start has all its time."""
    hand = seen_running("accounting")
    policy, limit = hand.state.index.policy, 300.0
    first = hand.state.time
    hand.state.time += 200.0
    told(hand, "r000001", state="queued", source="queue", restart=1)
    hand.settle()
    hand.state.time += 100.0
    told(hand, "r000002", state="running", source="accounting", restart=1)
    second = hand.state.time
    hand.state.time = first + limit + policy.lost_after_s + 1
    assert not [order for order in decided(hand).orders if order.event.event == "verdict"]
    assert decided(hand).wake_at == second + (limit + policy.lost_after_s)
    hand.state.time = second + limit + policy.lost_after_s + 1
    assert [o.event.event for o in decided(hand).orders].count("verdict") == 1


def held_ones() -> ByHand:
    """A mix behind a budget: some jobs are held at the scheduler."""
    wish = Wish(per_target=1.0, fill=Fill(queue_ahead_s=120.0), minutes=5.0, filler=False)
    hand = hand_on(small_stability(wish))
    for job in list(hand.state.jobs.values()):
        hand.play("submit_accepted", job=job.id, run=job.run, value={"id": job.id[1:]})
        hand.play("job_report", job=job.id, run=job.run, value={"state": "queued", "source": "queue"})
    hand.settle()
    assert hand.state.job_index.held
    return hand


def test_what_is_to_be_cancelled_is_not_released() -> None:
    """The scheduler was away when its cancellation was asked for; now it answers, and the budget has room."""
    hand = held_ones()
    held = [job for job in hand.state.jobs.values() if not job.charged]
    hand.play("cancel_request", value={"all": True}, reason="the power goes at noon")
    hand.settle()
    for job in held:
        hand.play("cancel_done", job=job.id, value={"taken": False})
    for job in [job for job in hand.state.jobs.values() if job.charged]:
        hand.play("job_report", job=job.id, run=job.run, value={"state": "cancelled", "source": "queue"})
    hand.state.time += 60.0
    assert "release_order" not in hand.settle()


def test_a_release_that_was_not_taken_is_not_asked_for_again_while_its_component_is_paused() -> None:
    hand = held_ones()
    first = next(job for job in hand.state.jobs.values() if not job.charged)
    targets = {"f2/mdt": MDTS[0]}
    hand.play("release_order", job=first.id, run=first.run, case=first.case, value={"targets": targets})
    hand.play("released", job=first.id, run=first.run, value={"taken": False})
    hand.play("paused", value={"component": "stability", "by": "Ada"}, reason="maintenance")
    hand.state.time += 60.0
    orders = [order.event.event for order in decided(hand).orders if order.event.job == first.id]
    assert orders == ["claim_order"]


def test_whom_another_job_follows_is_not_taken_back_before_that_one() -> None:
    """With its leader gone it could start, in a place that is another's; in doubt, it cannot be taken back itself."""
    wish = Wish(per_target=2.0, fill=Fill(survive_s=180.0), minutes=8.0, filler=False)
    hand = hand_on(small_stability(wish))
    follower = ""
    for _ in range(40):
        for job in [job for job in hand.state.jobs.values() if job.phase == "ordered"]:
            if job.after and hand.state.jobs[job.after].after and not follower:
                follower = job.id
                hand.play("submit_unknown", job=job.id, run=job.run, reason="socket timed out")
            else:
                hand.play("submit_accepted", job=job.id, run=job.run, value={"id": job.id[1:]})
        if not hand.settle():
            break
    assert follower, "no chain of three"
    hand.play("paused", value={"component": "stability", "by": "Ada"}, reason="maintenance")
    taken_back = {order.event.job for order in decided(hand).orders if order.event.event == "claim_order"}
    assert taken_back
    assert hand.state.jobs[follower].after not in taken_back


# ---- a scheduler that wakes the conductor only where it has something to say ---------------------------------------------------


def test_a_lost_submission_is_found_out_about_where_nobody_polls() -> None:
    """Of one run nothing else happens meanwhile that would wake the conductor."""
    plan = document(machine(2, targets=False), (case("t", 1, 60.0, load=0.0),), Component("c", "site", ("t",)))
    played = [play(plan, lies=Lies(lost_submit=0.6), seed=seed) for seed in range(4)]
    assert any(campaign.events("claim_taken") for campaign in played)
    assert {campaign.state.phase for campaign in played} == {"ended"}


def test_an_idle_node_that_a_sweep_wants_again_is_seen_where_nobody_polls() -> None:
    campaign = play(sweep_of_five(nodes=4), lies=Lies(lost_submit=0.5), seed=2)
    assert campaign.events("claim_taken")
    assert campaign.state.phase == "ended"
