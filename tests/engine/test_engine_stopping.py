"""Nodes that fail too often, cases that fail in a row, and what an amendment leaves of standing orders; event by event."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stage import small_document

from shakedown.engine import explain, index_plan
from shakedown.engine.constraints.overrides import component_reason, in_force
from shakedown.engine.policy.decide import decide
from shakedown.engine.state.keys import CaseKey, LimitKey, RunVerdict, YieldKey
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.filling import Phase, Sweep, Window, Yield
from shakedown.model.nouns import Component, Document, Limits

structs = msgspec.structs.replace


def plan_of(*components: Component, nodes: int = 16, **limits: Any) -> Document:
    return structs(
        small_document(nodes=nodes, tests=2, budgets={}), components=components, limits=Limits(queued=400, **limits)
    )


def judge(hand: ByHand, number: int, verdict: str, **facts: Any) -> None:
    """The run of this number ends with this verdict."""
    run = hand.state.runs[f"r{number:06d}"]
    value = {"verdict": verdict, "component": hand.state.index.components[run.component].name, "repeat": run.repeat}
    value |= {"attempt": run.attempt, "final": True} | facts
    hand.play("verdict", case=run.case, run=run.id, job=run.job, value=value)


def orders_of(hand: ByHand, name: str) -> list[Any]:
    return [order.event for order in decide(hand.state, hand.state.time).orders if order.event.event == name]


PART = Component("part", "functionality", ("t0",), repeats=300)


def test_a_node_is_excluded_after_so_many_failures_with_the_runs_that_say_so() -> None:
    hand = begun(plan_of(PART, exclude_after=3))
    judge(hand, 1, "node_fail", nodes="n3")
    judge(hand, 2, "node_fail", nodes="n[3-4]")  # which of them is not known
    judge(hand, 3, "node_fail", nodes="n[3-4]", failed_nodes=["n3"])
    judge(hand, 4, "failed", nodes="n3")
    judge(hand, 5, "node_fail", nodes="n[3,7]", failed_nodes=[])  # neither, as is known
    assert orders_of(hand, "excluded") == []
    judge(hand, 6, "node_fail", nodes="n3")
    (event,) = orders_of(hand, "excluded")
    assert event.value == {"nodes": ["n3"], "runs": ["r000001", "r000003", "r000006"]}
    assert event.reason == (
        "n3 failed 3 times (r000001, r000003, r000006), and the plan's exclude_after is 3; "
        "shakedown include n3 gives it work again"
    )
    hand.settle()
    assert list(hand.state.overrides.excluded) == ["n3"]
    assert orders_of(hand, "excluded") == []


def test_what_waits_when_a_node_is_excluded_is_taken_back_and_ordered_without_it() -> None:
    hand = begun(plan_of(structs(PART, repeats=2)))
    for number in (1, 2):
        hand.play("submit_accepted", job=f"j{number:06d}", value={"id": str(number)})
    hand.play("job_report", job="j000002", run="r000002", value={"state": "running", "source": "queue"})
    hand.play("excluded", value={"nodes": ["n3"], "by": "Ada"}, reason="its fan")
    (order,) = decide(hand.state, hand.state.time).orders
    assert (order.kind, order.event.job) == ("claim", "j000001")
    assert order.event.reason == "withdrawn before it started: n3 may not be given to it any more"
    hand.play("claim_order", job="j000001", run="r000001")
    hand.play("claim_taken", job="j000001", run="r000001")
    (again,) = [order.payload for order in decide(hand.state, hand.state.time).orders if order.kind == "submit"]
    assert (again.run, again.exclude) == ("r000001", ("n3",))


def test_what_waits_when_a_node_is_included_is_taken_back_and_may_have_it() -> None:
    """It was ordered to avoid the node, and the scheduler would leave the node idle for as long as it waits."""
    hand = begun(plan_of(structs(PART, repeats=3)))
    for number in (1, 2, 3):
        hand.play("submit_accepted", job=f"j{number:06d}", value={"id": str(number)})
    hand.play("excluded", value={"nodes": ["n3", "n4"], "by": "Ada"}, reason="their fans")
    hand.play("job_report", job="j000001", run="r000001", value={"state": "running", "source": "queue"})
    hand.settle()
    for number in (2, 3):
        hand.play("claim_taken", job=f"j{number:06d}", run=f"r{number:06d}")
    hand.settle()
    again = [job.id for job in hand.state.jobs.values() if job.phase == "ordered"]
    assert len(again) == 2
    for number, job in enumerate(again, 4):
        hand.play("submit_accepted", job=job, value={"id": str(number)})
    hand.play(
        "job_report", job=again[0], run=hand.state.jobs[again[0]].run, value={"state": "running", "source": "queue"}
    )

    hand.play("included", value={"nodes": ["n1"], "by": "Ada"}, reason="it was never out")
    assert decide(hand.state, hand.state.time).orders == []
    hand.play("included", value={"nodes": ["n3"], "by": "Ada"}, reason="a new fan")
    (order,) = decide(hand.state, hand.state.time).orders
    assert (order.kind, order.event.job) == ("claim", again[1])
    assert order.event.reason == "withdrawn before it started: n3 may be given to it again"
    hand.settle()
    hand.play("claim_taken", job=again[1], run=hand.state.jobs[again[1]].run)
    (last,) = [order for order in decide(hand.state, hand.state.time).orders if order.kind == "submit"]
    assert (last.payload.exclude, last.event.value["attempt"]) == (("n4",), 1)


def test_an_included_node_counts_anew() -> None:
    hand = begun(plan_of(PART, exclude_after=2))
    for number in (1, 2):
        judge(hand, number, "node_fail", nodes="n3")
    hand.settle()
    hand.play("included", value={"nodes": ["n3"], "by": "Ada"}, reason="new board")
    assert hand.state.overrides.excluded == {} and orders_of(hand, "excluded") == []
    judge(hand, 3, "node_fail", nodes="n3")
    assert orders_of(hand, "excluded") == []
    judge(hand, 4, "node_fail", nodes="n3")
    assert len(orders_of(hand, "excluded")) == 1


def test_what_fails_together_in_one_job_is_one_failure_of_its_node() -> None:
    hand = begun(plan_of(PART, exclude_after=2))
    for number in range(1, 20):
        run = hand.state.runs[f"r{number:06d}"]
        value = {"verdict": "node_fail", "component": "part", "repeat": run.repeat, "attempt": 1, "final": True}
        hand.play("verdict", case="t0", run=run.id, job="j000900", value=value | {"nodes": "n3"})
    assert orders_of(hand, "excluded") == []
    judge(hand, 20, "node_fail", nodes="n3")
    assert orders_of(hand, "excluded")[0].value["runs"] == ["r000001", "r000020"]


def test_a_verdict_that_replaces_another_counts_nothing() -> None:
    hand = begun(plan_of(structs(PART, stop_after=2), exclude_after=2))
    judge(hand, 1, "failed", nodes="n3")
    for verdict in ("failed", "node_fail", "failed", "node_fail", "failed"):
        value = {"verdict": verdict, "was": "failed", "supersedes": 5, "component": "part", "nodes": "n3"}
        hand.play("verdict", case="t0", run="r000001", value=value)
    assert (hand.state.failures.nodes, hand.state.failures.streaks) == (
        {},
        {CaseKey("part", "t0"): [RunVerdict("r000001", "failed")]},
    )


def test_a_node_in_several_partitions_is_one_node_of_the_machine() -> None:
    plan = plan_of(PART, nodes=8, exclude_after=1)
    (cluster,) = plan.system.clusters
    (whole,) = cluster.partitions
    debug = structs(whole, name="debug", nodes="n[1-2]", count=2)
    plan = structs(plan, system=structs(plan.system, clusters=(structs(cluster, partitions=(whole, debug)),)))
    hand = begun(plan)
    judge(hand, 1, "node_fail", nodes="n1")
    (told,) = [e for e in orders_of(hand, "finding") if e.value["kind"] == "many_excluded"]
    assert told.reason.startswith("1 of 8 nodes are excluded") and told.value["nodes"] == 8


def test_every_tenth_of_the_machine_that_the_plan_excludes_is_a_finding() -> None:
    hand = begun(plan_of(PART, nodes=20, exclude_after=1))
    told = []
    for number in range(1, 7):
        judge(hand, number, "node_fail", nodes=f"n{number}")
        told.append([e.reason for e in orders_of(hand, "finding") if e.value["kind"] == "many_excluded"])
        hand.settle()
    way_out = "shakedown status lists them, shakedown include NODES gives them work again"
    assert told == [
        [],
        [f"2 of 20 nodes are excluded; {way_out}"],
        [],
        [f"4 of 20 nodes are excluded; {way_out}"],
        [],
        [f"6 of 20 nodes are excluded; {way_out}"],
    ]


@pytest.mark.parametrize(
    ("verdicts", "stops"),
    [
        ("failed incorrect timeout", True),
        ("failed failed passed failed failed", False),
        ("failed failed performance failed", False),
        ("failed node_fail failed interrupted cancelled lost failed", True),
        ("node_fail node_fail node_fail node_fail", False),
    ],
)
def test_a_row_is_what_the_case_does_wrong_itself(verdicts: str, stops: bool) -> None:
    hand = begun(plan_of(structs(PART, stop_after=3)))
    for number, verdict in enumerate(verdicts.split(), 1):
        assert orders_of(hand, "case_stopped") == []
        judge(hand, number, verdict)
    assert bool(orders_of(hand, "case_stopped")) == stops


def test_what_is_remembered_is_bounded_but_never_less_than_the_plan_asks_for() -> None:
    hand = begun(plan_of(structs(PART, stop_after=30), exclude_after=25))
    for number in range(1, 30):
        judge(hand, number, "failed")
    for number in range(30, 60):
        judge(hand, number, "node_fail", nodes="n3")
    assert len(hand.state.failures.streaks[CaseKey("part", "t0")]) == 29
    assert len(hand.state.failures.nodes["n3"]) == 25
    judge(hand, 60, "failed")
    assert len(orders_of(hand, "case_stopped")[0].value["runs"]) == 30


def test_a_capped_test_waits_under_the_same_name_after_a_snapshot() -> None:
    """No cap in the plan: its waiting results are told apart from others by what a person said."""
    both = Component("part", "functionality", ("t0", "t1"), repeats=300)
    hand = begun(plan_of(both))
    hand.play("capped", value={"test": "t0", "copies": 1, "by": "Ada"}, reason="so")
    hand.play("capped", value={"test": "t0", "by": "Ada"}, reason="so")
    again = ByHand(thaw_state(freeze_state(hand.state), index_plan(hand.state.index.document)))
    waiting = sum(map(len, again.state.waiting.queues.values()))
    assert waiting > 0
    assert all(
        again.state.index.class_of(0, entry.case) == key
        for key, queue in again.state.waiting.queues.items()
        for entry in queue
    )
    for number in range(1, 150):
        judge(again, number, "passed")
    assert again.settle().count("submit_order") > 0
    assert sum(map(len, again.state.waiting.queues.values())) < waiting


def test_a_stopped_case_of_a_sweep_holds_no_other_back() -> None:
    sweep = Component("sweep", "functionality", ("t0", "t1"), sweep=Sweep(), stop_after=2)
    plain = plan_of(sweep, nodes=4)
    cases = tuple(structs(case, build="") for case in plain.cases)
    hand = begun(structs(plain, cases=cases))
    hand.play("case_stopped", case="t0", value={"component": "sweep", "runs": []}, reason="it failed")
    hand.play("surveyed", value={"idle": {"c:batch": [2]}})
    ordered = orders_of(hand, "submit_order")
    assert [event.case for event in ordered] == ["t1"]
    waits = {waiting.case: waiting.text for waiting in explain(hand.state, "t0", hand.state.time)}
    assert waits == {"t0": "it failed"}
    hand.play("continued", case="t0", value={"component": "sweep"})
    assert [event.case for event in orders_of(hand, "submit_order")] == ["t0", "t1"]


def test_an_amendment_keeps_what_is_still_about_something() -> None:
    long = Component("long", "stability", ("t0", "t1"), duration_s=100.0, phases=(Phase("a", 50.0), Phase("b", 50.0)))
    before = structs(
        small_document(tests=2, budgets={"fs/mdt": 4.0}),
        components=(long, PART, structs(PART, name="gone")),
        limits=Limits(),
    )
    hand = begun(before)
    for name in ("long", "part", "gone"):
        hand.play("paused", value={"component": name, "by": "Ada"}, reason="so")
    for test in ("t0", "t1"):
        hand.play("capped", value={"test": test, "copies": 1, "by": "Ada"}, reason="so")
        hand.play("case_stopped", case=test, value={"component": "long"}, reason="so")
    for budget in ("fs/mdt", "old"):
        hand.play("budget_set", value={"budget": budget, "amount": 1, "by": "Ada"}, reason="so")
    hand.play("excluded", value={"nodes": ["n1"], "by": "Ada"}, reason="so")
    hand.play("drain_request", value={"component": "part"}, reason="so")
    hand.play("clock", value={"component": "long", "act": "stop"}, reason="so")
    hand.play("surveyed", value={"pending": {"c3": 5}})
    names = [component.name for component in hand.state.index.components]
    after = structs(before, components=(structs(long, cases=("t0",)), PART), tests=before.tests[:1])
    hand.state.plan = index_plan(after, before=hand.state.plan)
    hand.play("amended", value={"document": "x", "components": names})
    state = hand.state
    assert (list(state.overrides.paused), list(state.overrides.caps), list(state.overrides.amounts)) == (
        ["long", "part", "gone"],
        ["t0"],
        ["fs/mdt"],
    )
    assert (list(state.overrides.said_by), list(state.overrides.stopped)) == (
        [LimitKey("cap", "t0"), LimitKey("budget", "fs/mdt")],
        [CaseKey("long", "t0")],
    )
    assert (state.overrides.draining, state.pools.pending, list(state.overrides.excluded)) == ({}, {}, ["n1"])
    assert [spell.act for spell in state.clocks.events["long"]] == ["stop"]


def test_a_pause_outlasts_an_amendment_that_takes_its_component_out_for_a_while() -> None:
    """Its clock stands still all the while: without the pause nobody would set that going again."""
    long = Component("long", "stability", ("t0",), duration_s=100.0)
    before = plan_of(long, PART)
    hand = begun(before)
    hand.play("paused", value={"component": "long", "by": "Ada", "clock": "stops"}, reason="so")
    for components in ((PART,), (long, PART)):
        names = [one.name for one in hand.state.index.components]
        hand.state.plan = index_plan(structs(before, components=components), before=hand.state.plan)
        hand.play("amended", value={"document": "x", "components": names})
        told = [text for text in in_force(hand.state, hand.state.time) if "long" in text]
        assert len(told) == len(components) - 1, "nothing is said of a component that the plan has not"
    (word,) = told
    assert word.startswith("component long is paused by Ada")
    held = component_reason(hand.state, 0, hand.state.time)
    assert held is not None and held.text == word, "nothing new of it is ordered"
    hand.play("continued", value={"component": "long"})
    assert component_reason(hand.state, 0, hand.state.time) is None
    assert [spell.act for spell in hand.state.clocks.events["long"]] == ["stop", "go on"]


def test_a_snapshot_carries_every_standing_order() -> None:
    long = Component(
        "long",
        "stability",
        ("t0",),
        duration_s=1e6,
        windows=(Window("always", 0.0, 0.0, closed=False),),
        yields=(Yield(("c3",), 5),),
        phases=(Phase("a", 1.0), Phase("b", 1e6 - 1)),
    )
    hand = begun(plan_of(long, structs(PART, stop_after=2), exclude_after=1))
    hand.play("surveyed", value={"pending": {"c3": 9}, "idle": {"c:batch": [3, 4]}})
    hand.play("capped", value={"test": "t0", "copies": 1, "by": "Ada"}, reason="so")
    hand.play("excluded", value={"nodes": ["n1"], "by": "Ada"}, reason="so")
    hand.play(
        "paused", value={"component": "long", "phase": "a", "from": hand.state.time, "clock": "stops"}, reason="so"
    )
    hand.play("drain_request", value={"component": "part"}, reason="so")
    run = next(run for run in hand.state.runs.values() if run.case == "t0")
    judge(hand, int(run.id[1:]), "node_fail", nodes="n2")
    again = thaw_state(freeze_state(hand.state), index_plan(hand.state.index.document))
    assert again == hand.state
    assert in_force(again, again.time) == in_force(hand.state, hand.state.time)
    assert (again.pools.idle, again.pools.yielding, again.clocks.parts_over) == (
        {"c:batch": [3, 4]},
        [YieldKey("long", 0)],
        {"long": 1},
    )
    assert again.waiting.to_cancel and all(entry.cancelled for entry in again.waiting.to_cancel)
