"""A node that launches nothing while others do is left out for a while: it burns neither attempts nor the queue."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from stability_plan import Filled, at_times, play, sweep_of_five
from stage import Campaign, random_deaths, small_document

from shakedown.engine import explain
from shakedown.engine.constraints.left_out import left_out_in_words
from shakedown.engine.constraints.queue_guard import held_queues
from shakedown.model.nouns import Component, Document
from shakedown.twin import Fates, Lies, Others

replaced = msgspec.structs.replace
STEADY = Fates(mean_s=60, spread_s=20)
SHORT = Fates(mean_s=20.0, spread_s=5.0)
FOR_EVER = 1e9


def plan_of(repeats: int = 12, nodes: int = 6, tests: tuple[str, ...] = ("t0", "t1", "t3")) -> Document:
    plain = small_document(nodes=nodes, tests=4, budgets={})
    cases = tuple(replaced(case, build="") for case in plain.cases)
    return replaced(plain, components=(Component("many", "functionality", tests, repeats),), builds=(), cases=cases)


def verdicts(campaign: Campaign) -> Counter[str]:
    return Counter(event.value["verdict"] for event in campaign.events("verdict"))


def found(campaign: Campaign, kind: str) -> list[tuple[float, list[Any]]]:
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

    assert verdicts(campaign) == {"passed": 90}
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


DRAWN_FIRST = ("n1", "n2", "n3", "n4")  # a free node with a low number is given away before others


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [2, 3, 4])
def test_several_bad_nodes_hold_the_queue_for_a_minute_or_two_and_cost_no_attempt(count: int, seed: int) -> None:
    """They end jobs at once, so that they are idle and drawn every time. A probe goes to nodes that were not tried yet."""
    nodes = DRAWN_FIRST[:count]
    campaign = Campaign(plan_of(repeats=30, nodes=10), fates=STEADY, lies=bad(*nodes), seed=seed).run()

    assert verdicts(campaign) == {"passed": 90}
    (released,) = [one for one in campaign.events("finding") if one.value["kind"] == "queue_released"]
    assert released.value["held_s"] <= 20 + 10 * 2 ** (count - 1), "the first probe on a well node opens the queue"
    assert sorted({node for _, nodes in found(campaign, "node_left_out") for node in nodes}) == sorted(nodes)
    assert probed_elsewhere(campaign)


def probed_elsewhere(campaign: Campaign) -> bool:
    """Whether each probe was kept from the nodes on which launches had failed since shortly before its queue was held."""
    failed, held, avoids = dict[str, None](), False, dict[str, list[str]]()
    for event in campaign.log.events():
        value = event.value
        if value.get("kind") in ("queue_held", "queue_released"):
            held = value["kind"] == "queue_held"
            failed = failed if held else {}
        elif event.event in ("submit_order", "release_order"):
            if held and set(value.get("avoids", ())) != set(failed):
                return False
            avoids[event.job] = value.get("avoids", [])
        elif event.event == "job_report" and value.get("nodes") in avoids.get(event.job, ()):
            return False
        elif event.event == "job_report" and value.get("launch_failure"):
            failed[value["nodes"]] = None
    return True


def test_where_every_other_node_is_busy_a_probe_tries_a_bad_one_again_after_a_minute() -> None:
    """Others have the well nodes for an hour. The three that failed launch jobs again soon, and nobody waits for the hour."""
    busy = Others(busy=tuple((f"n{number}", 0.0, 3600.0) for number in range(4, 9)))
    plan = plan_of(repeats=8, nodes=8)
    campaign = Filled(plan, fates=STEADY, lies=bad("n1", "n2", "n3", until=60.0), others=busy, seed=1)
    campaign.run(6000)

    (released,) = [one for one in campaign.events("finding") if one.value["kind"] == "queue_released"]
    assert 60 <= released.value["held_s"] <= 200
    again = [one for one in campaign.events("release_order") if one.value.get("avoids") == []]
    assert len(again) == 1
    assert verdicts(campaign)["passed"] == 24 and sum(verdicts(campaign).values()) <= 26


def test_a_queue_goes_on_when_all_that_failed_is_left_out() -> None:
    """A sweep has nothing else to see: no probe can launch. By that rule alone the queue goes on, and the nodes are tried again."""
    plan = sweep_of_five(nodes=8, queued=8, wait_s=7200.0)
    campaign = play(plan, fates=SHORT, lies=bad("n6", "n7", "n8", until=3000.0), seed=1)

    (released,) = [one for one in campaign.events("finding") if one.value["kind"] == "queue_released"]
    assert released.reason.endswith("all that failed was on n6, n7, n8, left out by now")
    assert released.value["held_s"] < 2000, "three probes in vain on each"
    assert verdicts(campaign) == {"passed": 40}


@pytest.mark.parametrize("nodes", [("n3",), ("n1", "n2", "n3"), ("n6", "n7", "n8")])
def test_a_sweep_waits_for_a_node_that_is_left_out_as_for_one_that_is_down(nodes: tuple[str, ...]) -> None:
    """Its few attempts are not burnt in a minute; what it could not see in the time that it waits is told as not seen."""
    campaign = play(sweep_of_five(nodes=8, wait_s=7200.0), fates=SHORT, lies=bad(*nodes), seed=4)

    assert campaign.state.phase == "ended"
    came_out = by_node(campaign)
    assert sum(count for (verdict, _), count in came_out.items() if verdict == "passed") == 5 * (8 - len(nodes))
    assert {node for verdict, node in came_out if verdict != "passed"} == set(nodes)
    spent = sum(count for (verdict, _), count in came_out.items() if verdict == "node_fail")
    assert spent <= 2 * 5, "two attempts of each of the five, before it was known"
    assert sum(count for (verdict, _), count in came_out.items() if verdict == "cancelled") == 5 * len(nodes)
    (waits, _), (ends, _) = found(campaign, "sweep_waits")[-1], found(campaign, "sweep_ends")[0]
    assert 7200 <= ends - waits < 7200 + 3600
    why = {
        event.reason.partition(" since")[0]
        for event in campaign.events("verdict")
        if event.value["verdict"] == "cancelled"
    }
    assert why == {f"its node was not seen: {node} is left out" for node in nodes}


def by_node(campaign: Campaign) -> Counter[tuple[str, str]]:
    """Verdicts by node; a result that was never judged on a node is that of the node that it was to see."""
    names = [f"n{number}" for number in range(1, 9)]
    said = ((event.value["verdict"], names[(event.value["repeat"] - 1) % 8]) for event in campaign.events("verdict"))
    return Counter(said)


def test_a_sweep_goes_on_when_the_node_launches_again() -> None:
    """Its own job looks: after ten minutes in vain, and twenty later it runs."""
    campaign = play(sweep_of_five(nodes=8), fates=SHORT, lies=bad("n3", until=900.0), seed=4)

    assert verdicts(campaign)["passed"] == 40
    assert sum(verdicts(campaign).values()) <= 40 + 2 * 5
    assert campaign.clock.now() - campaign.world.began < 3600
    looked = [event for event in campaign.events("submit_order") if event.value.get("may_have")]
    assert {tuple(event.value["may_have"]) for event in looked} == {("n3",)}
    assert all(event.value["node"] == 3 for event in looked)
    assert not found(campaign, "sweep_ends")


def test_a_sweep_goes_on_as_soon_as_a_person_gives_the_node_back() -> None:
    act = at_times((1000.0, "include", {"nodes": ["n3"], "by": "Ada"}))
    campaign = play(sweep_of_five(nodes=8), fates=SHORT, lies=bad("n3", until=950.0), seed=4, script=act)

    assert verdicts(campaign)["passed"] == 40
    assert campaign.clock.now() - campaign.world.began < 1300


@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_and_bad_nodes_hold_through_crashes_of_the_conductor(seed: int) -> None:
    campaign = play(
        sweep_of_five(nodes=8, wait_s=3600.0),
        fates=SHORT,
        lies=bad("n2", "n5", "n7"),
        seed=seed,
        dies=random_deaths(seed, 0.02, 12),
        amnesia=True,
    )
    assert campaign.crashes
    assert verdicts(campaign)["passed"] == 25
    assert verdicts(campaign)["cancelled"] == 15


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


# ---- more than half of a partition: they cannot be left out, and nothing but a sweep wants them ------------------------------


@pytest.mark.parametrize(
    "nodes", [(1, 2, 3, 4, 5), (4, 5, 6, 7, 8), tuple(range(1, 9))], ids=["drawn first", "drawn last", "all"]
)
def test_a_sweep_alone_ends_where_more_than_half_of_its_nodes_launch_nothing(nodes: tuple[int, ...]) -> None:
    """Its queue is held for them. They are waited for as nodes that are left out are, and then told as not seen, and why."""
    names = tuple(f"n{number}" for number in nodes)
    campaign = play(sweep_of_five(nodes=8, wait_s=3600.0), fates=SHORT, lies=bad(*names), seed=4, limit=4000)

    assert campaign.state.phase == "ended"
    came_out = by_node(campaign)
    assert sum(count for (verdict, _), count in came_out.items() if verdict == "passed") == 5 * (8 - len(nodes))
    assert {node for verdict, node in came_out if verdict != "passed"} == set(names)
    assert sum(count for (verdict, _), count in came_out.items() if verdict == "cancelled") == 5 * len(nodes)
    assert all(
        event.reason.startswith("its node was not seen: n")
        and "jobs end there before they take their claims" in event.reason
        for event in campaign.events("verdict")
        if event.value["verdict"] == "cancelled"
    )
    (waits, told), (ends, _) = found(campaign, "sweep_waits")[-1], found(campaign, "sweep_ends")[0]
    assert [f"n{number}" for number in told] == list(names) and waits < 300
    assert 3600 <= ends - waits < 3600 + 300


def test_the_well_nodes_among_many_bad_ones_are_seen_before_a_bad_one_is_tried_again() -> None:
    names = tuple(f"n{number:02}" for number in range(1, 25) if number % 4)
    campaign = play(sweep_of_five(nodes=24, wait_s=600.0), fates=SHORT, lies=bad(*names), seed=4, limit=4000)

    assert verdicts(campaign) == {"passed": 30, "cancelled": 90}
    waits, _ = found(campaign, "sweep_waits")[0]
    assert waits < 600
    looked = [event.value["node"] for event in campaign.events("submit_order") if event.value.get("part", 1) == 1]
    assert len(set(looked)) == 24
    last_new = max(looked.index(node) for node in range(1, 25))
    assert max(Counter(looked[:last_new]).values()) <= 3, "none again and again while others were not looked at"
    assert all(count == 1 for node, count in Counter(looked).items() if not node % 4), "a well one takes one job"


def test_a_sweep_sees_the_many_nodes_that_launch_again_before_its_wait_is_over() -> None:
    names = ("n1", "n2", "n3", "n4", "n5", "n6")
    campaign = play(
        sweep_of_five(nodes=8, wait_s=7200.0), fates=SHORT, lies=bad(*names, until=1800.0), seed=4, limit=4000
    )

    assert verdicts(campaign)["passed"] == 40
    assert found(campaign, "sweep_waits") and not found(campaign, "sweep_ends")
    assert campaign.clock.now() - campaign.world.began < 1800 + 600
