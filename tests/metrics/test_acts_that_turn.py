"""An act without which something would not be met restricts, whatever it changed: so no amendment, alone or with others, makes a
campaign accepted without restrictions that would be rejected without it.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from acts_story import PARTIES, Acted
from msgspec.structs import replace

from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Case,
    Cluster,
    Component,
    Document,
    FigureSpec,
    NodeType,
    Partition,
    Party,
    Shape,
    System,
    Test,
)

USE = Criterion("use", "delivered node-hours / calendar node-hours", ">=", 0.4, "%", must=">= 40%")
MOST = Criterion("most", "passed / attempts", ">=", 0.7, "%", must=">= 70%")


def machine(**nodes: int) -> System:
    """A cluster of each name with as many nodes; cases run on the first."""
    clusters = tuple(
        Cluster(name, "slurm", (Partition("batch", name, f"{name}[1-{count}]", count, "node"),))
        for name, count in nodes.items()
    )
    return System("m", clusters, (NodeType("node"),))


def plan(system: System, parties: tuple[Party, ...] = ()) -> Document:
    case = Case("r", "r", f"{system.clusters[0].name}:batch", shape=Shape(time_limit_s=60.0))
    part = Component("speed", "performance", ("r",), 4, criteria=(USE, MOST))
    return Document("p", system, (part,), (case,), (Test("r"),), parties=parties)


def told(document: Document, verdicts: str = "pppp", *amendments: Document) -> Acted:
    """One run after the other on one node, then amendments, each by another side in turn."""
    campaign = Acted(document)
    words = {"p": "passed", "f": "failed"}
    for place, letter in enumerate(verdicts, 1):
        campaign.run("speed", "r", words[letter], place)
    for place, amended in enumerate(amendments):
        by = ("Bo", "Ada")[place % 2]
        campaign.say("amended", {"document": campaign.keep(amended), "by": by, "difference": ["it"]}, "not delivered")
    campaign.end()
    return campaign


def test_nodes_that_no_case_runs_on_are_taken_out_of_the_denominator() -> None:
    """One node of nine works: 10 %. Without the other cluster the same work is 90 % of the machine."""
    whole = plan(machine(a=1, z=8))
    assert told(whole).card().outcome == "rejected"
    for less in (machine(a=1), machine(a=1, z=1)):
        card = told(whole, "pppp", replace(whole, system=less)).card()
        (took,) = card.acts[0].takes
        assert took.startswith(
            "what keeps use of speed from being met (0.01111 delivered node-hours of 4 runs / (9 nodes x "
        )
        assert took.endswith(" = 9.7%, must >= 40%)")
        assert (card.outcome, card.acts[0].without) == ("accepted with restrictions", "rejected")
        assert "takes away what keeps use of speed from being met" in card.restrictions[0]


def test_a_row_on_a_statistic_that_a_new_component_dilutes_is_told_with_its_old_number() -> None:
    row = ContractRow("c:1", "c", "r", "rate", ">= 80", "contract", low=80.0, statistic="mean")
    first = plan(machine(a=1))
    first = replace(
        first,
        components=(replace(first.components[0], repeats=1, criteria=(MOST,)),),
        cases=(replace(first.cases[0], rows=("c:1",)),),
        tests=(Test("r", figures=(FigureSpec("rate", "", "higher"),)),),
        contracts=(Contract("c", rows=(row,)),),
    )
    more = replace(first, components=(*first.components, replace(first.components[0], name="more")))
    campaign = Acted(first)
    campaign.run("speed", "r", rate=70.0)
    value = {"document": campaign.keep(more), "by": "Bo", "difference": ["component more is added"]}
    campaign.say("amended", value, "more data")
    campaign.run("more", "r", rate=120.0)
    campaign.end()
    card = campaign.card()
    was = "what keeps contract row c:1 from being met (mean of 1 value of rate = 70, must be >= 80)"
    assert card.acts[0].takes == (was,)
    assert card.restrictions[0].startswith(f"the amendment by Bo (event 4) takes away {was}: Bo amended the plan")


def test_what_two_amendments_turn_only_together_is_told_with_the_first() -> None:
    """Without either of them the plan of the other one is in force, in which the use is met."""
    whole = plan(machine(a=1, y=4, z=4))
    parts = replace(whole.components[0], criteria=(replace(USE, bound=0.15, must=">= 15%"), MOST))
    whole = replace(whole, components=(parts,))
    card = told(whole, "pppp", replace(whole, system=machine(a=1, y=4)), replace(whole, system=machine(a=1))).card()
    first, second = card.acts
    assert [took.partition(" (")[0] for took in first.takes] == ["what keeps use of speed from being met"]
    assert second.takes == ()
    assert first.together == (first.number, second.number)
    assert card.outcome == "accepted with restrictions"


def test_what_was_agreed_restricts_and_what_one_side_did_alone_disputes() -> None:
    whole = plan(machine(a=1, z=8), PARTIES)
    campaign = told(whole, "pppp", replace(whole, system=machine(a=1)))
    assert campaign.card().outcome == "disputed"
    campaign.agree(campaign.card().acts[0].number, "Ada")
    assert campaign.card().outcome == "accepted with restrictions"


def test_an_amendment_that_takes_back_what_one_side_did_alone_turns_nothing() -> None:
    """Bo adds a cluster that nobody asked for, Ada takes it out again: the plan is as it was agreed."""
    whole = plan(machine(a=1), PARTIES)
    more = replace(whole, system=machine(a=1, z=8))
    campaign = told(whole, "pppp", more, replace(whole, about="as it was"))
    assert [act.takes for act in campaign.card().acts] == [(), ()]


def test_an_act_by_which_nothing_comes_out_otherwise_restricts_nothing() -> None:
    whole = plan(machine(a=1, z=1))
    card = told(whole, "pppp", replace(whole, about="in other words")).card()
    assert (card.outcome, card.acts[0].takes) == ("accepted", ())


def test_each_run_is_reckoned_by_the_plan_that_was_in_force_at_its_order() -> None:
    """One core of two is half of the node, also where somebody says afterwards that the node has one core."""
    here = Cluster("here", "local", (Partition("batch", "here", "n1", 1, "node"),))
    two = System("m", (here,), (NodeType("node", cores=2),))
    con = Criterion("con", "contractual node-hours / clock node-hours", ">=", 0.85, "%", must=">= 85%")
    whole = plan(two)
    whole = replace(whole, components=(replace(whole.components[0], criteria=(con,)),))
    one = replace(whole, system=replace(two, node_types=(NodeType("node", cores=1),)))
    before, after = (told(whole, "pppp", *plans).card() for plans in ((), (one,)))
    mine, then = (card.components[0].criteria[0] for card in (before, after))
    assert mine.outcome == then.outcome == "not met" and mine.measured == then.measured
    assert mine.measured is not None and 0.4 < mine.measured < 0.5


def _amended(draw: random.Random, document: Document) -> Document:
    """The plan with anything of it changed that a person may change."""
    part, system = document.components[0], document.system
    first, *others = system.clusters
    word: Any = draw.choice(
        [
            "fewer nodes",
            "fewer nodes",
            "no cluster",
            "no cluster",
            "one more",
            "repeats",
            "retry",
            "cores",
            "bound",
            "names",
            "order",
        ]
    )
    if word == "fewer nodes" and others:
        less = draw.randrange(1, 9)
        batch = replace(others[-1].partitions[0], nodes=f"{others[-1].name}[1-{less}]", count=less)
        return replace(
            document, system=replace(system, clusters=(first, *others[:-1], replace(others[-1], partitions=(batch,))))
        )
    if word == "no cluster":
        return replace(document, system=replace(system, clusters=(first, *others[1:])))
    if word == "one more":
        more = Partition("batch", "x", "x[1-3]", 3, "node")
        return replace(document, system=replace(system, clusters=(first, *others, Cluster("x", "slurm", (more,)))))
    if word == "repeats":
        return replace(document, components=(replace(part, repeats=draw.randrange(2, 12)),))
    if word == "cores":
        return replace(document, system=replace(system, node_types=(NodeType("node", cores=draw.randrange(1, 5)),)))
    if word == "bound":
        tight = replace(USE, bound=draw.choice([0.2, 0.5]))
        return replace(document, components=(replace(part, criteria=(tight, *part.criteria[1:])),))
    if word == "order":
        return replace(document, system=replace(system, clusters=(first, *reversed(others))))
    return replace(document, about=f"{draw.random()}")


@pytest.mark.parametrize("seed", range(200))
def test_no_amendment_turns_not_met_into_met_in_an_acceptance_without_restrictions(seed: int) -> None:
    draw = random.Random(seed)
    first = plan(machine(a=1, z=draw.randrange(1, 9)), PARTIES if seed % 2 else ())
    plans = [first]
    for _ in range(draw.randrange(1, 4)):
        plans.append(_amended(draw, plans[-1]))
    campaign = told(first, "".join(draw.choice("pppppppf") for _ in range(draw.choice([4, 8]))), *plans[1:])
    if seed % 4 == 1:
        for act in campaign.card().acts:
            campaign.agree(act.number, "Ada" if act.by == "Bo" else "Bo")
    card = campaign.card()
    if card.outcome != "accepted":
        return
    for act in card.acts:
        turned = [line for line in act.difference if "is not met instead of met" in line]
        assert act.kind == "agree" or not turned or act.missing, act
