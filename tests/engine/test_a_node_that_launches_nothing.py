"""A node that launches nothing while others do is left out for a while: it burns neither attempts nor the queue."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from stability_plan import play, sweep_of_five
from stage import Campaign, random_deaths, small_document

from shakedown.engine import explain
from shakedown.engine.constraints.left_out import left_out_in_words
from shakedown.engine.constraints.queue_guard import held_queues
from shakedown.model.nouns import Component, Document
from shakedown.twin import Fates, Lies

replaced = msgspec.structs.replace
STEADY = Fates(mean_s=60, spread_s=20)
FOR_EVER = 1e9


def plan_of(repeats: int = 12, nodes: int = 6, tests: tuple[str, ...] = ("t0", "t1", "t3")) -> Document:
    plain = small_document(nodes=nodes, tests=4, budgets={})
    cases = tuple(replaced(case, build="") for case in plain.cases)
    return replaced(plain, components=(Component("many", "functionality", tests, repeats),), builds=(), cases=cases)


def verdicts(campaign: Campaign) -> Counter[str]:
    return Counter(event.value["verdict"] for event in campaign.events("verdict"))


def found(campaign: Campaign, kind: str) -> list[tuple[float, list[str]]]:
    events = (event for event in campaign.events("finding") if event.value["kind"] == kind)
    return [(event.time - campaign.world.began, event.value.get("nodes", [])) for event in events]


def bad(*nodes: str, since: float = 0.0, until: float = FOR_EVER) -> Lies:
    return Lies(launches_nothing=tuple((node, since, until) for node in nodes))


@pytest.mark.parametrize("seed", range(4))
def test_one_bad_node_costs_no_attempt_and_holds_no_queue(seed: int) -> None:
    campaign = Campaign(plan_of(), fates=STEADY, lies=bad("n4"), seed=seed).run()

    assert verdicts(campaign)["passed"] == 36
    assert sum(verdicts(campaign).values()) <= 36 + 2, "one or two before it was known"
    assert found(campaign, "queue_held") == []
    assert [nodes for _, nodes in found(campaign, "node_left_out")] == [["n4"]]
    begun = [event for event in campaign.events("job_report") if event.value.get("launch_failure")]
    known, _ = found(campaign, "node_left_out")[0]
    later = {event.job for event in begun if event.time - campaign.world.began > known}
    assert len(later) <= 4, "one at a time, after ten minutes, twenty..."


def test_it_is_let_in_by_the_first_job_that_takes_its_claim_there() -> None:
    """Down for a quarter of an hour: left out for ten minutes, one job fails there, and twenty later one runs."""
    seen: list[list[str]] = []

    def look(campaign: Campaign, wait: int) -> None:
        seen.append(left_out_in_words(campaign.state_now()))

    campaign = Campaign(plan_of(repeats=120), fates=STEADY, lies=bad("n4", until=900.0), seed=2, script=look).run()

    (out, nodes), (back, again) = *found(campaign, "node_left_out"), *found(campaign, "node_let_in")
    assert (nodes, again) == (["n4"], ["n4"])
    assert out + 600 + 600 <= back < 3600
    there = [event for event in campaign.events("submit_order") if event.value.get("may_have") == ["n4"]]
    assert all(event.time - campaign.world.began >= out + 600 for event in there)
    assert any(said and said[0].startswith("n4 is left out since") for said in seen)
    assert seen[-1] == []
    assert verdicts(campaign)["passed"] == 360
    assert sum(verdicts(campaign).values()) <= 362


def test_two_bad_nodes_hold_the_queue_once_and_are_left_out() -> None:
    """Nobody can tell two nodes from the queue at first. Once a probe has run elsewhere, and they do it again, one can."""
    campaign = Campaign(plan_of(repeats=30, nodes=8), fates=STEADY, lies=bad("n4", "n5"), seed=1).run()

    assert verdicts(campaign)["passed"] == 90
    assert sum(verdicts(campaign).values()) <= 90 + 4
    assert len(found(campaign, "queue_held")) <= 1
    assert sorted({node for _, nodes in found(campaign, "node_left_out") for node in nodes}) == ["n4", "n5"]


def test_what_fails_on_every_node_is_the_queue_s_and_leaves_none_out_for_good() -> None:
    everywhere = tuple((f"n{number}", 100.0, 400.0) for number in range(1, 7))
    campaign = Campaign(plan_of(), fates=STEADY, lies=Lies(launches_nothing=everywhere), seed=1).run()

    assert verdicts(campaign)["passed"] == 36
    assert sum(verdicts(campaign).values()) <= 38
    held, released = found(campaign, "queue_held"), found(campaign, "queue_released")
    assert len(held) == len(released) >= 1
    assert not held_queues(campaign.state)


def test_a_sweep_judges_the_node_and_nobody_waits_for_it() -> None:
    plan = sweep_of_five(nodes=8)
    campaign = play(plan, fates=Fates(mean_s=20.0, spread_s=5.0), lies=bad("n3"), seed=4)

    assert campaign.state.phase == "ended"
    by_node = Counter(
        (event.value["verdict"], event.value["nodes"]) for event in campaign.events("verdict") if "nodes" in event.value
    )
    failed = {node: count for (verdict, node), count in by_node.items() if verdict != "passed"}
    assert set(failed) == {"n3"}
    assert 5 <= failed["n3"] <= 5 * 4, "few attempts of each of the five"
    assert sum(count for (verdict, _), count in by_node.items() if verdict == "passed") == 35
    assert found(campaign, "queue_held") == []


def test_a_job_that_needs_the_node_says_what_it_waits_for() -> None:
    """t2 takes every node. It waits for the one that is left out, and is what goes there when that is tried again."""
    seen: list[str] = []

    def look(campaign: Campaign, wait: int) -> None:
        seen.extend(waiting.text for waiting in explain(campaign.state_now(), now=campaign.clock.now()))

    plan = plan_of(repeats=8, tests=("t0", "t2"))
    campaign = Campaign(plan, fates=STEADY, lies=bad("n4", until=500.0), seed=3, script=look).run()

    assert any("5 of 6 nodes of c:batch are left and it takes 6; n4 is left out since" in text for text in seen)
    assert verdicts(campaign)["passed"] == 16


@pytest.mark.parametrize("seed", range(3))
def test_it_holds_through_crashes_of_the_conductor(seed: int) -> None:
    lies = Lies(launches_nothing=(("n4", 0.0, FOR_EVER),), timed_out=0.1, stale_s=7.0)
    campaign = Campaign(
        plan_of(repeats=6), fates=STEADY, lies=lies, seed=seed, dies=random_deaths(seed, 0.02, 12), amnesia=True
    ).run()

    assert campaign.crashes
    assert verdicts(campaign)["passed"] == 18
    assert sum(verdicts(campaign).values()) <= 20
