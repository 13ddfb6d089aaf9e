"""A sweep that waits for nodes that are excluded, down or drained says which and why, and comes to its end by a rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from engine_by_hand import ByHand, begun
from msgspec.structs import replace
from stability_plan import BUSY, Filled, at_times, document, machine, play, sweep_of_five
from stability_plan import case as case_of

from shakedown.engine import State, index_plan
from shakedown.engine.policy.explain import explain
from shakedown.engine.state.moments import moment
from shakedown.model.filling import Sweep
from shakedown.model.nouns import Case, Component, Retry, Shape
from shakedown.twin import Fates, Lies, Others

DAY = 86400.0
SHORT = Fates(mean_s=20.0, spread_s=5.0)


def told(campaign: Filled, kind: str) -> list[str]:
    return [event.reason for event in campaign.events("finding") if event.value["kind"] == kind]


def by_node(campaign: Filled) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    where = {event.run: event.value["node"] for event in campaign.events("submit_order") if "node" in event.value}
    for event in campaign.events("verdict"):
        node = where.get(event.run, event.value["repeat"])
        found.setdefault(node, Counter())[event.value["verdict"]] += 1
    return found


def exclude(*nodes: str) -> tuple[str, dict[str, Any]]:
    return "exclude", {"nodes": list(nodes), "by": "Ada"}


def test_excluded_nodes_end_a_sweep_when_it_has_seen_all_others() -> None:
    plan = sweep_of_five(nodes=8)
    campaign = play(plan, fates=SHORT, others=BUSY_EARLY, seed=3, script=at_times((1.0, *exclude("n3", "n7"))))
    assert campaign.state.phase == "ended"
    found = by_node(campaign)
    assert {node for node, verdicts in found.items() if verdicts != {"passed": 5}} == {3, 7}
    assert found[3] == found[7] == {"cancelled": 5}
    (ends,) = told(campaign, "sweep_ends")
    assert ends.startswith("component sweep has seen every other node of c:batch; n3, n7 are excluded by Ada on ")
    assert "so it was seen (shakedown include n3,n7 gives them work again)" in ends
    why = next(event.reason for event in campaign.events("verdict") if event.value["verdict"] == "cancelled")
    assert why.startswith("its node was not seen: n3 is excluded by Ada on ") and "so it was seen" in why
    assert campaign.clock.now() - campaign.world.began < 3600, "nobody waits for what a person took away"


BEFORE_US = Others(busy=(("n3", 0.0, 100.0), ("n4", 0.0, 100.0), ("n5", 0.0, 100.0)))  # these are taken when we begin
BUSY_EARLY = Others(busy=(("n3", 0.0, 100.0), ("n7", 0.0, 100.0), ("n5", 0.0, 600.0)))


def test_while_another_node_is_busy_an_excluded_one_may_be_let_in_again() -> None:
    acts = at_times((1.0, *exclude("n3")), (400.0, "include", {"nodes": ["n3"], "by": "Ada"}))
    campaign = play(sweep_of_five(nodes=8), fates=SHORT, others=BUSY_EARLY, seed=3, script=acts)
    assert all(verdicts == {"passed": 5} for verdicts in by_node(campaign).values())
    assert not told(campaign, "sweep_ends")


def test_a_node_excluded_in_mid_sweep_keeps_what_ran_there_and_loses_its_retries() -> None:
    again = (Retry("failed", times=3, backoff_s=600.0),)
    fates = Fates(mean_s=20.0, spread_s=5.0, bad_nodes={"n3": 1.0})
    campaign = play(sweep_of_five(nodes=4, retry=again), fates=fates, seed=4, script=at_times((300.0, *exclude("n3"))))
    assert campaign.state.phase == "ended"
    found = by_node(campaign)
    assert found[3]["failed"], "it ran there before"
    assert found.pop(3)["cancelled"] and all(verdicts["passed"] == 5 for verdicts in found.values())


def test_a_node_that_is_down_is_waited_for_as_the_plan_says_and_named() -> None:
    seen: list[tuple[str, str]] = []

    def look(campaign: Any, wait: int) -> None:
        if campaign.conductor.state.plan is not None:
            state = campaign.conductor.state
            seen.extend((waiting.key, waiting.text) for waiting in explain(state, now=campaign.clock.now()))

    fates = Fates(mean_s=20.0, spread_s=5.0, deaths=(("n3", 50.0, 10 * DAY), ("n4", 50.0, 10 * DAY)))
    campaign = play(sweep_of_five(nodes=8), fates=fates, others=BEFORE_US, seed=3, script=look)
    assert campaign.state.phase == "ended"
    (waits,), (ends,) = told(campaign, "sweep_waits"), told(campaign, "sweep_ends")
    since = next(event.time for event in campaign.events("finding") if event.value["kind"] == "sweep_waits")
    assert waits == (
        "component sweep has seen every other node of c:batch; n3, n4 are down; they are waited for until "
        f"{moment(since + DAY)}; shakedown exclude NODES ends that sooner"
    )
    assert ends.endswith("they were waited for 1 d 0 h; what it wants there is judged cancelled")
    assert DAY <= campaign.clock.now() - campaign.world.began < DAY + 3600
    assert by_node(campaign)[3] == {"cancelled": 5}
    assert any(key == "out:c:batch" and "n3, n4 are down; they are waited for until " in text for key, text in seen)


def test_a_node_that_comes_back_in_time_is_seen() -> None:
    fates = Fates(mean_s=20.0, spread_s=5.0, deaths=(("n3", 50.0, 7200.0),))
    campaign = play(sweep_of_five(nodes=8), fates=fates, others=BEFORE_US, seed=3)
    assert all(verdicts == {"passed": 5} for verdicts in by_node(campaign).values())
    assert len(told(campaign, "sweep_waits")) == 1 and not told(campaign, "sweep_ends")


def test_excluding_the_nodes_that_are_down_ends_the_waiting() -> None:
    fates = Fates(mean_s=20.0, spread_s=5.0, deaths=(("n3", 50.0, 10 * DAY),))
    campaign = play(
        sweep_of_five(nodes=8), fates=fates, others=BEFORE_US, seed=3, script=at_times((3000.0, *exclude("n3")))
    )
    assert campaign.state.phase == "ended"
    assert 3000 <= campaign.clock.now() - campaign.world.began < 3600


def test_each_of_several_sweeps_ends_by_itself_and_a_gate_opens() -> None:
    cases = tuple(case_of(name, 1, 60.0, load=0.0) for name in ("one", "two"))
    first = Component("first", "functionality", ("one",), sweep=Sweep(4, wait_s=600.0))
    then = Component("then", "functionality", ("two",), sweep=Sweep(4, wait_s=1200.0), after=("first",))
    plan = document(machine(8, targets=False), cases, first, then)
    fates = Fates(mean_s=20.0, spread_s=5.0, deaths=(("n3", 50.0, 10 * DAY),))
    campaign = play(plan, fates=fates, others=BEFORE_US, seed=3, script=at_times((1.0, *exclude("n5"))))
    assert campaign.state.phase == "ended"
    assert [reason.split()[1] for reason in told(campaign, "sweep_ends")] == ["first", "then"]
    assert 1800 <= campaign.clock.now() - campaign.world.began < 2600
    counts = Counter((event.case, event.value["verdict"]) for event in campaign.events("verdict"))
    assert counts == {
        (name, verdict): count for name in ("one", "two") for verdict, count in (("passed", 6), ("cancelled", 2))
    }


def test_nodes_that_are_busy_are_waited_for_without_end() -> None:
    campaign = play(sweep_of_five(), fates=SHORT, others=BUSY, seed=3)
    assert not told(campaign, "sweep_waits") and not told(campaign, "sweep_ends")


def test_a_sweep_that_is_paused_does_not_end() -> None:
    pause = (1.0, "pause", {"component": "sweep", "by": "Ada"})
    on = (2 * DAY, "continue", {"component": "sweep", "by": "Ada"})
    acts = at_times(pause, (2.0, *exclude("n3", "n4")), on)
    campaign = play(sweep_of_five(nodes=8), fates=SHORT, others=BEFORE_US, seed=3, script=acts)
    (ends,) = [event.time for event in campaign.events("finding") if event.value["kind"] == "sweep_ends"]
    assert ends >= campaign.world.began + 2 * DAY


def test_the_bound_of_a_sweep_is_of_its_component_on_all_partitions_together() -> None:
    """Eight idle nodes on each of two partitions, and four jobs that may wait at the scheduler."""
    plan = sweep_of_five(nodes=8, queued=4)
    (cluster,) = plan.system.clusters
    (first,) = cluster.partitions
    second = replace(first, name="other", nodes="m[1-8]")
    others = tuple(replace(case, id=f"{case.id}/other", partition="c:other") for case in plan.cases)
    names = (*plan.components[0].cases, *(case.id for case in others))
    plan = replace(
        plan,
        system=replace(plan.system, clusters=(replace(cluster, partitions=(first, second)),)),
        cases=(*plan.cases, *others),
        components=(replace(plan.components[0], cases=names),),
    )
    hand = ByHand(State(plan=index_plan(plan)))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.state.pools.idle |= {pool: list(range(1, 9)) for pool in ("c:batch", "c:other")}
    hand.settle()
    assert len(hand.state.jobs) == 4
    assert all(job.bundle is not None and job.bundle.size == 5 for job in hand.state.jobs.values())


def test_a_look_that_is_older_than_a_job_sends_no_second_one_after_it() -> None:
    """The next round of a node waits until its job is over, whatever an old look says of the node."""
    hand = ByHand(State(plan=index_plan(sweep_of_five(nodes=4, queued=8, rounds=2))))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.play("surveyed", value={"idle": {"c:batch": [1, 2, 3, 4]}})
    hand.settle()
    first = {job.id for job in hand.state.jobs.values()}
    assert len(first) == 4
    for job in sorted(first):
        hand.play("submit_accepted", job=job, value={"id": job[-1]})
    hand.play("job_report", job="j000001", run="r000001", value={"state": "running", "source": "queue"})
    hand.play("surveyed", value={"idle": {"c:batch": [1, 2, 3, 4]}})
    hand.settle()
    assert set(hand.state.jobs) == first


# ---- a node that goes out while a job waits for it -----------------------------------------------------------------------

LATE = Lies(stale_s=30.0)  # what is said of nodes is as old as that: the busy node looks idle, and its job waits there
BUSY_FOR_AN_HOUR = Others(busy=(("n3", 0.0, 3600.0),))


def out_while_its_job_waits(repair_s: float, wait_s: float = DAY) -> Filled:
    """The job for n3 waits behind somebody else's when the node goes down, and nothing else is left to see."""
    fates = Fates(mean_s=20.0, spread_s=5.0, deaths=(("n3", 300.0, repair_s),))
    plan = sweep_of_five(nodes=4, queued=8, wait_s=wait_s)
    campaign = play(plan, fates=fates, lies=LATE, others=BUSY_FOR_AN_HOUR, seed=3)
    first = next(event for event in campaign.events("submit_order") if event.value["node"] == 3)
    assert first.time < campaign.world.began + 300, "it was ordered before the node went down"
    return campaign


def attempts_on(campaign: Filled, node: int) -> Counter[int]:
    verdicts = campaign.events("verdict")
    return Counter(event.value["attempt"] for event in verdicts if event.value["repeat"] == node)


def test_a_node_that_goes_down_while_a_job_waits_for_it_is_waited_for_as_the_plan_says() -> None:
    campaign = out_while_its_job_waits(10 * DAY, wait_s=7200.0)
    assert campaign.state.phase == "ended"
    (waits,) = [event for event in campaign.events("finding") if event.value["kind"] == "sweep_waits"]
    (ends,) = [event for event in campaign.events("finding") if event.value["kind"] == "sweep_ends"]
    assert "has seen every other node of c:batch; n3 is down; they are waited for until " in waits.reason
    assert 7200 <= ends.time - waits.time < 7200 + 60
    found = by_node(campaign)
    assert found.pop(3) == {"cancelled": 5} and all(verdicts == {"passed": 5} for verdicts in found.values())
    assert attempts_on(campaign, 3) == {1: 5}
    (back,) = {event.reason for event in campaign.events("claim_order")}
    assert back == "withdrawn before it started: the node that it is for is down or drained"
    assert len({event.job for event in campaign.events("submit_order") if event.value["node"] == 3}) == 1


def test_a_node_that_comes_back_in_time_is_seen_though_its_job_was_taken_back() -> None:
    campaign = out_while_its_job_waits(7200.0)
    assert not told(campaign, "sweep_ends") and len(told(campaign, "sweep_waits")) == 1
    assert all(verdicts == {"passed": 5} for verdicts in by_node(campaign).values())
    assert attempts_on(campaign, 3) == {1: 5}
    assert len({event.job for event in campaign.events("submit_order") if event.value["node"] == 3}) == 2


def one_waiting() -> ByHand:
    """A sweep of four nodes with a job at the scheduler for each, of which three run."""
    hand = ByHand(State(plan=index_plan(sweep_of_five(nodes=4, queued=8))))
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.play("surveyed", value={"idle": {"c:batch": [1, 2, 3, 4]}})
    hand.settle()
    for job in sorted(hand.state.jobs):
        hand.play("submit_accepted", job=job, value={"id": job[-1]})
    for job in ("j000001", "j000002", "j000004"):
        hand.play("job_report", job=job, run=hand.state.jobs[job].run, value={"state": "running", "source": "queue"})
    return hand


def test_only_a_job_that_has_not_begun_is_taken_back_from_a_node_that_is_drained() -> None:
    hand = one_waiting()
    hand.play("surveyed", value={"out": {"c:batch": {"drained: switch 4": [3, 4]}}})
    assert hand.settle() == ["claim_order"]
    assert [event.job for event in hand.log if event.event == "claim_order"] == ["j000003"]


def test_a_node_that_looks_idle_and_drained_at_once_is_given_no_job() -> None:
    """Else its job would be ordered and taken back for ever."""
    hand = one_waiting()
    hand.play("surveyed", value={"idle": {"c:batch": [3]}, "out": {"c:batch": {"drained: switch 4": [3]}}})
    assert hand.settle() == ["claim_order"]
    hand.play("claim_taken", job="j000003")
    assert "submit_order" not in hand.settle()
    hand.play("surveyed", value={"out": {"c:batch": {}}})
    assert "submit_order" in hand.settle(), "it is back"


@pytest.mark.parametrize("has_begun", [False, True])
@pytest.mark.parametrize("state", ["requeued", "queued"])
def test_a_job_that_the_scheduler_starts_again_for_a_node_that_is_down_is_ended(has_begun: bool, state: str) -> None:
    """Its runs go on in other jobs, when the node is back; nothing waits for a job that would wait for the node."""
    names = ("c0", "c1")
    cases = tuple(Case(name, "t", "c:batch", shape=Shape(units=1, time_limit_s=30.0)) for name in names)
    hand = begun(document(machine(2, targets=False), cases, Component("many", "functionality", names, sweep=Sweep(4))))
    hand.play("surveyed", value={"idle": {"c:batch": [1, 2]}})
    hand.settle()
    hand.play("submit_accepted", job="j000001", value={"id": "1"})
    if has_begun:
        hand.play("job_report", job="j000001", value={"state": "running", "source": "queue", "nodes": "n1"})
        mark = {"state": "running", "source": "marks", "part": True}
        hand.play("job_report", job="j000001", run="r000001", value=mark)
    hand.play("job_report", job="j000001", value={"state": state, "source": "queue", "restart": 1})
    hand.settle()
    for event in [event for event in hand.log if event.event == "claim_order"]:
        hand.play("claim_taken", job=event.job, run=event.run, value={"part": True})
    hand.play("surveyed", value={"idle": {"c:batch": []}, "out": {"c:batch": {"down": [1]}}})
    hand.settle()
    assert "cancel_order" in [event.event for event in hand.log if event.job == "j000001"]
    hand.play("cancel_done", job="j000001")
    hand.play("job_report", job="j000001", value={"state": "cancelled", "source": "queue", "restart": 1})
    hand.settle()
    assert "j000001" not in hand.state.jobs
