"""Modes, mixes, procedures and gates in seeded campaigns, with everything that goes wrong; the oracle watches every event."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import msgspec
import pytest
from stage import (
    ALL_LIES,
    LOCAL_TROUBLE,
    TROUBLE,
    Campaign,
    moded_document,
    people,
    random_deaths,
    small_document,
)

from shakedown.engine import State, evolve, explain, index_plan
from shakedown.engine.policy.explain import waits_for_people
from shakedown.model.events import Event
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document, Limits, Mode, Partition, Procedure
from shakedown.model.waived import gate_digest
from shakedown.twin import Fates, Lies, VirtualClock, World


def campaign_of(seed: int, **options: Any) -> Campaign:
    local = seed % 3 == 0
    settings: dict[str, Any] = {
        "fates": LOCAL_TROUBLE if local else TROUBLE,
        "lies": Lies() if local else ALL_LIES,
        "dies": random_deaths(seed, 0.01 if seed % 2 else 0.0),
        "amnesia": seed % 5 == 0,
        "script": people,
    }
    return Campaign(moded_document(seed, local), seed=seed, local=local, **(settings | options))


@pytest.mark.parametrize("first", range(0, 30, 15))
def test_random_plans_of_modes_and_gates(first: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + 15):
        campaign = campaign_of(seed).run()
        assert campaign.state.phase == "ended"
        assert not any(campaign.state.usage.stages.values()), campaign.state.usage.stages
        assert all(value == 0 for value in (*campaign.state.usage.jobs.values(), *campaign.state.usage.units.values()))
        seen.update(event.value.get("mode", event.value.get("kind", event.event)) for event in campaign.events())
    assert {"isolated", "fill", "warm-up", "time_is_up", "component_outcome", "waived", "attested"} <= set(seen), seen


@pytest.mark.parametrize("seed", range(12))
def test_amended_while_a_mode_or_a_mix_runs(seed: int) -> None:
    document = moded_document(seed)
    first, inspected, rest, modal, long, last = document.components
    modes = tuple(msgspec.structs.replace(mode, repeats=mode.repeats + 1, warm_up=0) for mode in modal.modes)
    changed = [
        (first, rest, msgspec.structs.replace(modal, modes=modes), long, last),
        (first, rest, msgspec.structs.replace(modal, modes=(), repeats=2), long, last),
        (first, rest, msgspec.structs.replace(long, after=(), duration_s=long.duration_s / 2), last),
        (first, rest, modal, msgspec.structs.replace(long, duration_s=0.0, mix=(), repeats=2, after=()), last),
    ][seed % 4]
    after = msgspec.structs.replace(document, components=(inspected, *changed))

    def operator(campaign: Campaign, wait: int) -> None:
        orders = len(campaign.state_now().jobs)
        if wait > 10 * (seed % 5) and orders and not campaign.amended:
            campaign.amend(after)
        people(campaign, wait)

    campaign = campaign_of(seed, script=operator, amnesia=False).run()

    assert campaign.state.phase == "ended"
    assert not any(campaign.state.usage.stages.values())
    attempts = [
        (e.value["component"], e.case, e.value.get("mode"), e.value.get("of"), e.value["repeat"], e.value["attempt"])
        for e in campaign.events("verdict")
    ]
    assert len(attempts) == len(set(attempts)), "an attempt is counted twice"


# ---- one at a time, by hand ------------------------------------------------------------------------------------------


def plan_of(*components: Component, **options: Any) -> Document:
    plain = small_document(tests=3, **options)
    return msgspec.structs.replace(plain, components=components, limits=Limits())


def spans(campaign: Campaign) -> list[tuple[float, float, str, str]]:
    """What really ran: (start, end, mode, case), in the order of the starts."""
    modes = {e.job: (e.value.get("of", ""), e.value.get("mode", "")) for e in campaign.events("submit_order")}
    found = []
    for execution in campaign.world.executions:
        assert execution.end is not None
        mode = " ".join(word for word in reversed(modes[execution.job]) if word)
        found.append((execution.start, execution.end, mode, execution.case))
    return sorted(found)


def test_isolated_then_fill_case_by_case() -> None:
    """On four nodes: each isolated run alone, warm-up first; then four copies of t0 at once, and of t1 when all are over."""
    modes = (Mode("isolated", 2, 1), Mode("fill", 2))
    document = plan_of(Component("p", "performance", ("t0", "t1"), modes=modes), budgets={})
    campaign = Campaign(document, fates=Fates(mean_s=60, spread_s=20)).run()

    ran = spans(campaign)
    isolated = ["warm-up isolated", "isolated", "isolated"]
    assert [(mode, case) for _, _, mode, case in ran] == [
        *((mode, "t0") for mode in isolated),
        *((mode, "t1") for mode in isolated),
        *[("fill", "t0")] * 8,
        *[("fill", "t1")] * 8,
    ]
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(ran[:7]))
    first, second = ran[6:14], ran[14:]
    assert max(end for _, end, _, _ in first) <= min(start for start, _, _, _ in second)
    for fill in (first, second):
        full = max(start for start, *_ in fill[:4])
        assert full < min(end for _, end, _, _ in fill), "four copies run at once before the first of them ends"


@pytest.mark.parametrize(("debug", "apart"), [("n[4-5]", False), ("n[5-6]", True)])
@pytest.mark.parametrize("seed", range(4))
def test_nobody_runs_next_door_on_the_same_nodes(seed: int, debug: str, apart: bool) -> None:
    """Partition debug has a node of batch: who has batch to itself has that node to itself, and the other way round."""
    modes = (Mode("isolated", 3, 1), Mode("fill", 2))
    alone = Component("alone", "performance", ("t0",), modes=modes)
    also = Component("also", "performance", ("t1",), modes=(Mode("isolated", 3),))
    crowd = Component("crowd", "functionality", ("t2",), repeats=12)
    plain = plan_of(*random.Random(seed).sample((alone, also, crowd), 3), budgets={})
    structs = msgspec.structs.replace
    (cluster,) = plain.system.clusters
    both = (*cluster.partitions, Partition("debug", "c", debug, 2, "node"))
    shape = structs(plain.cases[0].shape, units=1, exclusive=False)
    cases = [structs(case, partition="c:debug" if case.id != "t0" else "c:batch", shape=shape) for case in plain.cases]
    system = structs(plain.system, clusters=(structs(cluster, partitions=both),))
    campaign = Campaign(structs(plain, system=system, cases=tuple(cases)), fates=Fates(mean_s=60, spread_s=20)).run()

    ran = spans(campaign)
    assert len(ran) == 4 + 8 + 3 + 12
    mixed = [
        (one, other)
        for one, other in itertools.combinations(ran, 2)
        if (one[3] == "t0") != (other[3] == "t0") and one[0] < other[1] and other[0] < one[1]
    ]
    assert bool(mixed) == apart, mixed[:3]


def test_a_fill_that_a_cap_cuts_short_says_so() -> None:
    document = plan_of(Component("p", "performance", ("t0",), modes=(Mode("fill", 1),)), budgets={"fs/mdt": 3.0})
    campaign = Campaign(document).run()

    (finding,) = [event for event in campaign.events("finding") if event.value["kind"] == "fill_short"]
    assert finding.reason == "4 copies at once are asked for and 3 fit: budget fs/mdt is 3 and each takes 1"
    assert (finding.value["required"], finding.value["fits"]) == (4, 3)
    assert len(campaign.world.executions) == 4


@pytest.mark.parametrize(("share", "other"), [(0.5, 0.5), (0.8, 0.2)])
def test_a_mix_approaches_its_shares_until_its_time_is_up(share: float, other: float) -> None:
    long = Component("long", "stability", ("t0", "t1"), duration_s=7200.0, mix=(("t0", share), ("t1", other)))
    campaign = Campaign(plan_of(long, budgets={}), fates=Fates(mean_s=100, spread_s=50)).run()

    ran = spans(campaign)
    began = campaign.events("submit_order")[0].time
    work = {case: sum(end - start for start, end, _, name in ran if name == case) for case in ("t0", "t1")}
    assert abs(work["t0"] / sum(work.values()) - share) < 0.03
    assert sum(work.values()) > 0.97 * 4 * 7200
    assert all(event.value["now"] < began + 7200 for event in campaign.events("submit_order"))
    assert max(end for _, end, _, _ in ran) < began + 7200 + 2 * 150 + 60
    tally = campaign.state.tallies[0]
    assert tally.wanted == tally.closed == len(ran)


def test_a_mix_takes_up_where_it_was_after_a_crash() -> None:
    long = Component("long", "stability", ("t0", "t1"), duration_s=3600.0)
    document = plan_of(long, budgets={})
    campaign = Campaign(document, seed=4, fates=TROUBLE, lies=ALL_LIES, dies=random_deaths(4, 0.02), amnesia=True).run()

    assert campaign.crashes > 3
    began = campaign.events("submit_order")[0].time
    (up,) = [event for event in campaign.events("finding") if event.value["kind"] == "time_is_up"]
    assert up.time >= began + 3600
    assert up.reason == "the 3600 s of component long have passed; nothing new of it is ordered"


def test_a_gate_waits_for_people_and_says_what_for() -> None:
    """Not attested, then attested as not met, then waived: each time the one reason is the one that binds."""
    walk = Component("walk", "vendor", (), procedures=(Procedure("cables", evidence=0),))
    runs = Component("runs", "functionality", ("t0",), after=("walk",), gate="met")
    seen: list[str] = []

    def operator(campaign: Campaign, wait: int) -> None:
        state = campaign.conductor.state
        asked = waits_for_people(state, state.time)
        if not asked or asked in seen:
            return
        seen.append(asked)
        (waiting,) = explain(state, now=state.time)
        assert waiting.key.startswith("gate:walk")
        if len(seen) == 1:
            campaign.ask("attest", component="walk", procedure="cabels", met=True, by="Ada")
            campaign.ask("attest", component="walk", procedure="cables", by="Ada")
            campaign.ask("attest", component="walk", procedure="cables", met=False, by="Ada")
        else:
            campaign.ask("waive", component="walk")

    campaign = Campaign(plan_of(walk, runs, budgets={}), script=operator).run()

    assert campaign.state.phase == "ended"
    assert seen == [
        "component walk is over but not attested: cables (shakedown attest)",
        "component walk is not met: procedures: 0 attested as met / 1 procedure = 0% (not met: cables), must = 100%"
        " (shakedown waive walk --gate, or shakedown amend)",
    ]
    assert [refused.reason for refused in campaign.events("command_refused")] == [
        "the plan in force has no procedure 'cabels' in component 'walk'",
        "it does not say whether the procedure was met or not",
    ]
    names = [
        e.event for e in campaign.events() if e.event in ("attested", "component_outcome", "waived", "submit_order")
    ]
    assert names == ["attested", "component_outcome", "waived", "submit_order"]


def test_a_gate_opens_when_its_component_is_met() -> None:
    first = Component("first", "functionality", ("t0",), 2, procedures=(Procedure("cables"),))
    then = Component("then", "site", ("t1",), after=("first",), gate="met")

    def operator(campaign: Campaign, wait: int) -> None:
        if campaign.state_now().tallies[0].over and not campaign.state_now().gates.attested:
            campaign.ask("attest", component="first", procedure="cables", met=True, by="Ada")

    campaign = Campaign(plan_of(first, then, budgets={}), script=operator).run()

    (outcome,) = campaign.events("component_outcome")
    assert outcome.value == {"component": "first", "outcome": "met"}
    (order,) = [event for event in campaign.events("submit_order") if event.value["component"] == "then"]
    assert order.seq > outcome.seq


@pytest.mark.parametrize("stricter", [False, True])
def test_a_gate_is_waived_as_it_was_and_an_amended_one_is_closed(stricter: bool) -> None:
    """An amendment that leaves the gate as it is leaves it open; one that asks for another share closes it."""
    asked = Criterion("good", "passed / wanted", ">=", 0.5)
    first = Component("first", "functionality", ("t0",), criteria=(asked,))
    before = plan_of(first, Component("then", "site", ("t1",), after=("first",), gate="met"), budgets={})
    changed = msgspec.structs.replace(first, criteria=(msgspec.structs.replace(asked, bound=0.9, must=">= 90 %"),))
    then = Component("then", "site", ("t1",), repeats=2, after=("first",), gate="met")
    after = plan_of(changed if stricter else first, then, budgets={})
    state = State(plan=index_plan(before))
    value = {"what": "gate", "component": "first", "restriction": "r", "digest": gate_digest(before, "first")}
    for event in (
        Event("campaign_start", seq=1, value={"campaign": "c", "plan": "p", "document": "d" * 64, "seed": 1}),
        Event("waived", seq=2, value=value, reason="agreed"),
    ):
        evolve(state, event)
    assert state.gates.waived == {"first": "agreed"}
    state.plan = index_plan(after, before=state.index)
    components = [component.name for component in state.index.components]
    evolve(state, Event("amended", seq=3, value={"document": "e" * 64, "components": components}))
    assert state.gates.waived == ({} if stricter else {"first": "agreed"})


def test_stopped_while_it_waits_for_people_it_leaves() -> None:
    walk = Component("walk", "vendor", (), procedures=(Procedure("cables"),))
    runs = Component("runs", "functionality", ("t0",), after=("walk",))

    def operator(campaign: Campaign, wait: int) -> None:
        campaign.inbox.post("stop", reason="enough for today")
        campaign.clock.at(campaign.clock.now(), lambda: True)

    campaign = Campaign(plan_of(walk, runs, budgets={}), script=operator).run()

    assert campaign.state.phase == "running"
    assert campaign.world.executions == []


def fails_first(document: Document, seed: int, fates: Fates) -> bool:
    """Whether the first job of a campaign fails."""
    draw = World(document, seed, VirtualClock(), fates).draw("fate", "j000001", 0)
    draw.random()
    return draw.random() < fates.failed


def test_a_later_verdict_changes_an_outcome_and_says_so() -> None:
    """A run that is judged again after its component was over: the gate hears of it, once per change."""
    first = Component("first", "functionality", ("t0",))
    then = Component("then", "site", ("t1",), after=("first",), gate="met")

    def operator(campaign: Campaign, wait: int) -> None:
        state = campaign.state_now()
        if waits_for_people(state, state.time) and not campaign.events("finding"):
            campaign.conductor.log("finding", value={"kind": "late_mark"}, reason="looked again")
            value = {
                "verdict": "passed",
                "component": "first",
                "repeat": 1,
                "attempt": 1,
                "supersedes": 9,
                "was": "failed",
            }
            campaign.conductor.log("verdict", run="r000001", case="t0", value=value, reason="the check was wrong")
            campaign.clock.at(campaign.clock.now(), lambda: True)

    document = plan_of(first, then, budgets={})
    fates = Fates(failed=0.5)
    seed = next(seed for seed in range(50) if fails_first(document, seed, fates))
    campaign = Campaign(document, seed=seed, fates=fates, script=operator).run()

    assert [event.value["outcome"] for event in campaign.events("component_outcome")] == ["not met", "met"]
    assert campaign.state.phase == "ended"


def test_a_log_from_before_modes_folds_as_it_did() -> None:
    """An entry without a mode is what it always was; the snapshot of another fold is not used."""
    campaign = Campaign(small_document(repeats=2)).run()

    assert all("mode" not in event.value and "of" not in event.value for event in campaign.events())
    assert {key.mode for key in campaign.state.results.closed} == {""}
