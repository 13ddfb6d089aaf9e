"""Random campaigns that are sealed, agreed to, ruled and sealed again, in which parties exchange their names, beside a program that
shares no code with the package: rules B6 and B13.
"""

from __future__ import annotations

import random
from functools import cache

import pytest
import recompute_acts as script
from acts_story import CASES, PARTIES, Acted, plan
from msgspec.structs import replace

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document, Party

SEEDS = 80
DONE = Criterion("done", "passed / attempts", ">=", 0.9, "%", must=">= 90%", leave_out=("ruled site",))
OTHER_NAMES = [(PARTIES[0], Party("vendor", ("Cy",))), (Party("site", ("Ada", "Di")), PARTIES[1]), PARTIES]
STEPS = [
    "ruled",
    "ruled",
    "waived",
    "withdrawn",
    "agreed",
    "agreed",
    "agreed",
    "sealed",
    "joint",
    "names",
    "more",
    "end",
]


@cache
def told_of(seed: int) -> Acted:
    """Two runs of six fail; then people seal, agree, rule, waive, and one of them has more runs, by an amendment of their own."""
    draw = random.Random(f"seals {seed}")
    whole = plan(PARTIES, draw.choice([(), (), ("waive",), ("rule",)]))
    whole = replace(whole, components=(replace(whole.components[0], criteria=(DONE,)),))
    told = Acted(whole)
    for place in range(6):
        told.run("speed", CASES[place // 2], "failed" if place < draw.choice([0, 1, 2]) else "passed", place % 2 + 1)
    told.end()
    for _ in range(draw.randrange(3, 14)):
        step(told, draw, draw.choice(STEPS))
    told.end()
    return told


def step(told: Acted, draw: random.Random, kind: str) -> None:
    by, name = draw.choice(["Ada", "Bo", "Bo", "Cy", "Di"]), f"{len(told.documents)}"
    acts = [act for act in told.acts if act.kind != "agree"]
    if kind == "ruled":
        said = {"as": draw.choice(["site", "site", "none"]), "by": by}
        told.say("ruled", said, "a disk", run=draw.choice(["r000001", "r000002"]))
    elif kind == "waived":
        said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": by}
        told.say("waived", said, "so")
    elif kind == "withdrawn" and (
        mine := [act for act in acts if act.kind in ("rule", "waive") and act.number not in told.record.withdrawn]
    ):
        told.say("withdrawn", {"events": list(draw.choice(mine).events), "by": by}, "no longer")
    elif kind == "agreed" and acts:
        told.agree(draw.choice(acts[-3:]).number, by)
    elif kind in ("sealed", "joint"):
        digest = f"{len(told.events):064x}"
        outcome = told.card().outcome
        seal = told.say("sealed", {"digest": digest, "through": len(told.events), "outcome": outcome, "by": by})
        for one in ("Ada", "Bo", "Cy") if kind == "joint" else draw.choice([(), (), ("Ada",), ("Bo",)]):
            told.say("agreed", {"acts": [[seal, digest]], "by": one}, "so be it")
    elif kind == "names":
        amend(told, by, replace(told.documents[told.record.document], parties=draw.choice(OTHER_NAMES)), name)
        for one in draw.choice([(by,), ("Ada", "Bo"), ("Ada", "Cy")]):
            told.agree(len(told.events), one) if one == by else None
    elif kind == "more":
        before = told.documents[told.record.document]
        part = before.components[0]
        amend(told, by, replace(before, components=(replace(part, repeats=part.repeats + 1),)), name)
        told.run("speed", CASES[0], draw.choice(["passed", "failed"]), part.repeats + 1)
    elif kind == "end":
        told.end()


def amend(told: Acted, by: str, document: Document, name: str) -> None:
    value = {"document": told.keep(document), "components": ["speed"], "difference": [name], "by": by}
    told.say("amended", value, "so")


@cache
def card_of(seed: int) -> Scorecard:
    return told_of(seed).card()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_comes_out_as_a_program_of_its_own_says(seed: int) -> None:
    told, card = told_of(seed), card_of(seed)
    again = script.settle(told.lines, told.plans)
    judged = [act for act in card.acts_judged if act.kind != "agree"]
    assert (card.outcome, card.without_acts or card.outcome) == (again["outcome"], again["without_acts"])
    live = {str(act.number): act.without for act in judged if act.standing not in ("withdrawn", "no effect")}
    assert live == again["without"]
    assert {str(act.number): sorted(act.missing) for act in judged if act.missing} == again["missing"]


def test_some_are_closed_and_some_are_opened_again() -> None:
    cards = [card_of(seed) for seed in range(SEEDS)]
    assert sum(card.after_seal is not None for card in cards) > 10
    opened = [card for card in cards if any("the whole record is judged again" in line for line in card.remarks)]
    assert len(opened) > 1
    assert {card.outcome for card in cards} >= {"disputed", "rejected", "accepted", "accepted with restrictions"}
