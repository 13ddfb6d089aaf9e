"""The engine and the report have one opinion of which waivers of gates stand, whoever amends what consent is asked for."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace
from stage import Campaign, small_document

from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.gates import weigh as weigh_gate
from shakedown.conductor.driver.loop import hear
from shakedown.metrics.judging.consent import weigh
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document, Party
from shakedown.model.ports import Command
from shakedown.model.waived import gate_digest

PARTIES = (Party("site", ("Ada",)), Party("vendor", ("Bo",)))
HALF = Criterion("good", "passed / wanted", ">=", 0.5, must=">= 50 %")


def plan(*consent: str, criterion: Criterion = HALF, parties: tuple[Party, ...] = PARTIES) -> Document:
    first = Component("first", "functionality", ("t0",), criteria=(criterion,))
    then = Component("then", "site", ("t1",), after=("first",), gate="met")
    plain = small_document(tests=2, repeats=1, budgets={})
    return replace(plain, components=(first, then), parties=parties, consent=consent)


class Said:
    """A campaign whose conductor hears people, and drives nothing."""

    def __init__(self, document: Document) -> None:
        self.campaign = Campaign(document)
        self.conductor = self.campaign._conductor(1000)
        self.conductor.watch, self.conductor.commands = None, commands_for(self.campaign.documents.__getitem__)
        (name,) = self.campaign.documents
        self.conductor.log("campaign_start", value={"campaign": "toy", "document": name, "seed": 1})
        self.conductor.log("driver_start")
        self.conductor.commit()

    def hear(self, what: str, /, **value: Any) -> int:
        request = f"q{self.conductor.state.seq}"
        self.campaign.inbox.waiting.append(Command(request, what, "operator", dict(value), "so"))
        hear(self.conductor)
        self.conductor.commit()
        return self.conductor.state.seq

    def waive(self, by: str) -> int:
        return self.hear("waive", what="gate", component="first", restriction="small jobs", by=by)

    def amend(self, document: Document, by: str = "Bo") -> int:
        name = f"{len(self.campaign.documents)}" * 64
        self.campaign.documents[name] = document
        return self.hear("amend", document=name, by=by)

    def agree(self, number: int, by: str) -> int:
        digest = next((act.digest for act in acts_of(fold_runs(self.campaign.events())) if act.number == number), "")
        return self.hear("agree", acts=[[number, digest]], by=by)

    @property
    def is_open(self) -> bool:
        return "first" in self.conductor.state.gates.waived

    @property
    def is_waived_on_the_page(self) -> bool:
        """As the report reads the log: a waiver of the gate as it is, in effect and not withdrawn by what is in effect."""
        record = fold_runs(self.campaign.events())
        document = self.campaign.documents[record.document]
        void = weigh(record, acts_of(record), self.campaign.documents.__getitem__, {}).void
        digest = gate_digest(document, "first")
        return any(row.what == "gate" and row.seq not in void and row.digest == digest for row in record.waivers)


def last(conductor: Conductor) -> str:
    return list(conductor.reread())[-1].event


def test_one_party_alone_cannot_keep_a_gate_closed_by_asking_for_consent_to_waivers() -> None:
    said = Said(plan())
    said.amend(plan("waive"))
    said.waive("Ada")
    assert said.is_waived_on_the_page and said.is_open


def test_one_party_alone_cannot_open_a_gate_by_asking_for_no_consent_any_more() -> None:
    said = Said(plan("waive"))
    amended = said.amend(plan())
    waived = said.waive("Bo")
    assert not said.is_waived_on_the_page and not said.is_open
    said.agree(waived, "Ada")
    assert said.is_waived_on_the_page and said.is_open
    for by in ("Ada", "Bo"):
        said.agree(amended, by)
    assert said.is_open


def test_what_both_agreed_to_ask_for_counts_from_then_on() -> None:
    said = Said(plan("waive"))
    amended = said.amend(plan())
    for by in ("Ada", "Bo"):
        said.agree(amended, by)
    said.waive("Bo")
    assert said.is_waived_on_the_page and said.is_open


@pytest.mark.parametrize("cases", [("t2",), ("t0", "t2")])
def test_a_gate_is_closed_where_other_cases_stand_before_it_and_opens_where_they_are_as_they_were(
    cases: tuple[str, ...],
) -> None:
    """The criteria are the same to the letter: what was waived is that t0 is not good."""
    said = Said(plan())
    first = said.waive("Ada")
    said.agree(first, "Bo")
    assert said.is_waived_on_the_page and said.is_open
    plain = small_document(tests=3, repeats=1, budgets={})
    part, then = plan().components
    said.amend(replace(plain, components=(replace(part, cases=cases), then), parties=PARTIES))
    assert not said.is_waived_on_the_page and not said.is_open
    said.amend(plan())
    assert said.is_waived_on_the_page and said.is_open


def test_a_withdrawn_waiver_leaves_no_gate_open_for_one_that_has_no_effect() -> None:
    said = Said(plan("waive"))
    first = said.waive("Ada")
    said.agree(first, "Bo")
    assert said.is_open
    said.waive("Bo")
    said.hear("withdraw", events=[first], by="Ada")
    assert last(said.conductor) == "withdrawn"
    assert not said.is_open


def test_an_agreement_to_a_waiver_of_what_the_gate_was_opens_nothing() -> None:
    said = Said(plan("waive"))
    first = said.waive("Ada")
    said.amend(plan("waive", criterion=replace(HALF, bound=0.9, must=">= 90 %")))
    said.waive("Ada")
    said.agree(first, "Bo")
    assert not said.is_waived_on_the_page and not said.is_open


def test_a_bound_that_one_party_alone_loosened_opens_no_gate() -> None:
    """The plan asks for consent to amendments: the bound of before is in force, also where a gate waits for it."""
    said = Said(plan("amend"))
    order = {"component": "first", "repeat": 1, "attempt": 1}
    run = {"run": "r000001", "case": "t0"}
    said.conductor.log("submit_order", job="j000001", value=order, **run)
    said.conductor.log("verdict", value=order | {"verdict": "failed"}, **run)
    assert weigh_gate(said.conductor, "first")[0] == "not met"
    amended = said.amend(plan("amend", criterion=replace(HALF, bound=0.0, must=">= 0 %")))
    assert weigh_gate(said.conductor, "first")[0] == "not met"
    said.agree(amended, "Ada")
    assert weigh_gate(said.conductor, "first")[0] == "met"


def test_a_change_that_one_party_alone_declared_opens_no_gate() -> None:
    """The criterion counts the last epoch; the plan asks for consent to changes, and without it there is no other epoch."""
    all_of_them = replace(HALF, measure="passed / attempts", bound=1.0, must="= 100 %", comparison="=", epochs="last")
    plain = plan("change", criterion=all_of_them)
    said = Said(replace(plain, components=(replace(plain.components[0], repeats=2), plain.components[1])))
    acts: list[int] = []
    for repeat, verdict in ((1, "failed"), (2, "passed")):
        order = {"component": "first", "repeat": repeat, "attempt": 1}
        run = {"run": f"r00000{repeat}", "case": "t0"}
        said.conductor.log("submit_order", job=f"j00000{repeat}", value=order, **run)
        said.conductor.log("verdict", value=order | {"verdict": verdict}, **run)
        acts += [said.hear("change", by="Bo")] if repeat == 1 else []
    assert weigh_gate(said.conductor, "first")[0] == "not met"
    said.agree(acts[0], "Ada")
    assert weigh_gate(said.conductor, "first")[0] == "met"


def test_a_gate_that_asks_again_for_what_was_waived_is_open_again() -> None:
    said = Said(plan())
    said.waive("Ada")
    said.amend(plan(criterion=replace(HALF, bound=0.9, must=">= 90 %")))
    assert not said.is_waived_on_the_page and not said.is_open
    said.amend(plan())
    assert said.is_waived_on_the_page and said.is_open


@pytest.mark.parametrize("seed", range(60))
def test_random_words_on_a_gate(seed: int) -> None:
    draw = random.Random(seed)
    said = Said(plan(*draw.choice([(), ("waive",)])))
    waivers: list[int] = []
    others: list[int] = []
    for _ in range(12):
        word, by = draw.choice(["waive", "waive", "amend", "agree", "agree"]), draw.choice(["Ada", "Bo"])
        if word == "waive":
            waivers.append(said.waive(by))
        elif word == "amend":
            bound = draw.choice([0.5, 0.5, 0.9])
            criterion = replace(HALF, bound=bound, must=f">= {bound:.0%}")
            others.append(said.amend(plan(*draw.choice([(), ("waive",)]), criterion=criterion), by))
        elif waivers or others:
            said.agree(draw.choice(waivers + others), by)
        assert said.is_open == said.is_waived_on_the_page, [event.event for event in said.campaign.events()]
