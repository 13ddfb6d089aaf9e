"""Baselines of a plan, and criteria on a change: what is frozen, and what is wrong told at its place with the way out."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.baselines import Baseline, BaselineCase, Sample, content_digest
from shakedown.model.errors import FileProblems, UsageError
from shakedown.model.nouns import System
from shakedown.plans.checking import check_site

TEST = """\
test: m
parameters: {n: [1, 2]}
run: {command: "echo {n}"}
figures: {rate: {regex: 'rate (?P<value>[0-9.]+)', unit: GB/s, better: higher}}
"""
PLAN = """\
plan: p
system: here
baselines:
  before: {campaign: p-1, epoch: 2}
  given:
    values:
      - {test: m, where: {n: 1}, figure: rate, values: [1.5 GB/s, 1.25 GB/s, 1 GB/s]}
      - {test: m, mode: isolated, where: {n: 2}, figure: rate, values: [1500 MB/s, 1.25 GB/s]}
      - {test: m, runs: 30, failed: 1}
components:
  - performance:
      tests: [m]
      modes: {isolated: {repeats: 5}}
      criteria:
        rate: {measure: change since, of: rate, since: before, must: "<= 5%"}
        other: {measure: change since, of: rate, since: given, must: "< 10%"}
        failures: {measure: failures since, since: given, must: "<= 0%"}
        epoch: {measure: change since, of: elapsed, since: epoch  1, must: "<= 5%", epochs: 2}
"""


def measured(campaign: str, epoch: int) -> Baseline:
    """What the campaign p-1 of this site measured."""
    if campaign != "p-1":
        raise UsageError(f"there is no campaign '{campaign}'", hint="did you mean p-1?")
    samples = (Sample("rate", "GB/s", (1.0, 1.1, 1.2), ("r1", "r2", "r3")), Sample("elapsed", "s", (9.0,), ("r1",)))
    cases = tuple(
        BaselineCase("m", "performance", (("n", n),), "local:cores", "isolated", 3, 0, (), samples) for n in "12"
    )
    every = (*cases, BaselineCase("other", judged=1))
    return Baseline("", campaign, epoch, content_digest(campaign, epoch, every), "s" * 64, True, every)


@pytest.fixture
def room(site: Any) -> Any:
    return site.test(TEST, "tests/m.yaml")


def test_what_criteria_ask_for_is_frozen_and_no_more(room: Any) -> None:
    plan = room.plan(PLAN, past=measured)
    before, given = plan.baselines
    assert (before.name, before.campaign, before.epoch, before.seal) == ("before", "p-1", 2, "s" * 64)
    assert [(case.test, [one.figure for one in case.samples]) for case in before.cases] == [("m", ["rate"])] * 2
    assert before.digest == measured("p-1", 2).digest  # of all that was measured there
    assert [case.samples for case in given.cases] == [
        (Sample("rate", "GB/s", (1.5, 1.25, 1.0)),),
        (Sample("rate", "MB/s", (1500.0, 1250.0)),),
        (),
    ]
    assert (given.cases[2].judged, given.cases[2].failed) == (30, 1)
    criteria = {one.name: one for one in plan.components[0].criteria}
    assert {name: (one.since, one.inputs) for name, one in criteria.items()} == {
        "rate": ("before", before.digest),
        "other": ("given", given.digest),
        "failures": ("given", given.digest),
        "epoch": ("epoch 1", ""),
    }
    assert (criteria["rate"].comparison, criteria["rate"].bound) == ("<=", 0.05)


def test_a_plan_is_looked_at_without_reading_campaigns(room: Any) -> None:
    before, _ = room.plan(PLAN).baselines
    assert before == Baseline("before", "p-1", 2)


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        ("campaign: p-1", "campaign: p-9", "baselines.before: there is no campaign 'p-9'", "p-1"),
        ("{campaign: p-1, epoch: 2}", "{epoch: 2}", "baselines.before has neither campaign nor values", "campaign: NAME"),
        ("epoch: 2}", "values: [{test: m, runs: 3}]}", "baselines.before has both campaign and values", "campaign: NAME"),
        ("    values:\n", "    epoch: 1\n    values:\n", "values of the plan have no epoch", "goes with campaign"),
        ("since: before,", "since: befor,", "the plan has no baseline 'befor'", "before"),
        ("since: before, ", "", "'since' is missing in criteria.rate", "since: a baseline of the plan"),
        ("of: rate, since: before,", "since: before,", "'of' is missing in criteria.rate", "of: the figure"),
        ("failures since, since", "failures since, of: rate, since", "'of' has no meaning for measure 'failures since'", "value"),
        ("measure: change since, of: elapsed", "measure: value, of: elapsed", "'since' has no meaning for measure 'value'", ""),
        ('since: before, must: "<= 5%"', 'since: before, must: ">= 5%"', "is bounded from above, and this is '>= 5%'", "<= 5%"),
        ('since: before, must: "<= 5%"', 'since: before, must: "<= 0%"', "shows that nothing at all has changed", "<= 5%"),
        ("epochs: 2", "epochs: 1", "epoch 1 is not after epoch 1, which it is held against", "epochs: 2, or last"),
        ("since: epoch  1", "since: era 1", "'era 1' names no baseline", "or epoch 1"),
        ("figure: rate, values: [1.5", "values: [1.5", "an entry has a figure with its values, or a number of runs", "{test,"),
        ("1.25 GB/s, 1 GB/s]", "1.25, 1 GB/s]", "some values have a unit and some have none", "write GB/s with each"),
        ("1.25 GB/s, 1 GB/s]", "1.25 s, 1 GB/s]", "baselines.given.values", "in one unit"),
        ("[1.5 GB/s, 1.25 GB/s, 1 GB/s]", "[1.5 s, 1 s]", "rate of m is in GB/s, not in s", "a unit of the same kind"),
        ("values: [1.5 GB/s", "values: [fast", "'fast' is no value of a figure", "100.2 GB/s or 90 s"),
        ("runs: 30, failed: 1", "runs: 30, failed: 31", "31 of 30 runs failed", "failed <= runs"),
        ("where: {n: 1}, figure", "figure", "baselines.given has values of rate of m/n=2 twice", "narrow each entry"),
        ("mode: isolated, where: {n: 2}", "mode: isolated, where: {n: 3}", "no criterion asks for m (n=3, rate)", "that entry"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_the_way_out(room: Any, old: str, new: str, said: str, hint: str) -> None:
    assert PLAN.count(old) == 1
    with pytest.raises(FileProblems) as caught:
        room.plan(PLAN.replace(old, new), past=measured)
    texts = [str(problem) for problem in caught.value.problems]
    assert any(said in text and hint in text for text in texts), texts


def test_check_says_what_stays_undecided(room: Any, here: System) -> None:
    lines = [line for line in PLAN.splitlines(keepends=True) if "mode: isolated, where" not in line]
    room.write("plans/p.yaml", "".join(lines).replace("repeats: 5", "repeats: 2"))
    checked = check_site(room.path, lambda: here, past=measured)
    assert not checked.problems
    said = "\n".join(str(problem) for problem in checked.warnings)
    assert "criteria.other: baseline given of the plan has no rate of m/n=2: it stays undecided" in said
    assert (
        "criteria.rate: enough is 3, and there are never more than 2 values of rate of m/n=1: it stays undecided"
        in said
    )


def test_a_change_is_asked_of_no_test_that_lacks_the_figure(room: Any, here: System) -> None:
    """The other test measures nothing: nothing of it stays undecided, as judging has it."""
    room.test("test: bare\nrun: {command: echo}\n", "tests/bare.yaml")
    room.write("plans/p.yaml", PLAN.replace("tests: [m]", "tests: [m, bare]"))
    said = "\n".join(str(problem) for problem in check_site(room.path, lambda: here, past=measured).warnings)
    assert "values of rate of bare" not in said and "criteria.rate: enough" not in said


def test_a_baseline_that_nothing_is_held_against_is_told(room: Any, here: System) -> None:
    room.write("plans/p.yaml", PLAN.replace("since: before,", "since: given,"))
    checked = check_site(room.path, lambda: here, past=measured)
    assert "no criterion is held against baseline before" in "\n".join(str(problem) for problem in checked.warnings)
