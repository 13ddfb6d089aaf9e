"""Everything that is asked for, in the order of the contract's clauses, with its margin to the bound."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.requirements import Requirement, clause_order, requirements
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import Component, Procedure
from shakedown.report.page.filters import margin


def matrix(story: Any, rows: tuple[ContractRow, ...] = (), procedures: tuple[Procedure, ...] = ()) -> list[Requirement]:
    document = story.document()
    cases = tuple(replace(case, rows=tuple(row.name for row in rows)) for case in document.cases)
    contracts = (Contract("c", rows=rows),) if rows else ()
    components = (*document.components, Component("demonstrations", "vendor", (), procedures=procedures))
    document = replace(document, cases=cases, contracts=contracts, components=components)
    record = fold_runs(story.events)
    return list(requirements(document, record, score(document, record)))


def row(name: str, must: str, clause: str, low: float | None = None, high: float | None = None) -> ContractRow:
    return ContractRow(name, "c", "t", "triad", must, "contract", low=low, high=high, unit="GB/s", clause=clause)


def test_clauses_are_in_the_order_of_their_numbers_and_what_names_none_comes_last(story: Any) -> None:
    story.values("t/a", [95.0, 98.0])
    story.repeats = 2
    story.must("passed / wanted", "=", 1.0, unit="%", must="all", name="without", clause="")
    story.must("passed / attempts", ">=", 0.9, unit="%", must=">= 90%", name="tenth", clause="SOW 4.10")
    rows = (row("c:1", ">= 90 GB/s", "SOW 4.2.1", low=90.0), row("c:2", "<= 100 GB/s", "SOW 4.2", high=100.0))
    found = matrix(story, rows, (Procedure("diag", clause="SOW 3"),))
    assert [(one.clause, one.name) for one in found if one.name != "procedures"] == [
        ("SOW 3", "diag"),
        ("SOW 4.2", "c:2"),
        ("SOW 4.2.1", "c:1"),
        ("SOW 4.10", "tenth"),
        ("", "without"),
    ]


@pytest.mark.parametrize(
    ("first", "second"), [("4.2", "4.10"), ("A.2", "B.1"), ("4", "4.1"), ("§ 9 (2)", "§ 10"), ("4.2 a", "4.2 b")]
)
def test_one_clause_before_the_other(first: str, second: str) -> None:
    assert clause_order(first) < clause_order(second)


def test_the_margin_is_how_far_inside_of_the_nearer_bound_the_worst_value_lies(story: Any) -> None:
    """Of 95 and 98 between 90 and 100: 95 lies 5.6 % above 90, 98 lies 2 % below 100. A row on each run has its worst value, 98."""
    story.values("t/a", [95.0, 98.0])
    story.repeats = 2
    story.must("passed / attempts", ">=", 0.9, unit="%", must=">= 90%", name="share", clause="1")
    story.must("sd / mean", "<=", 0.01, unit="%", must="<= 1%", of="triad", name="spread", clause="2")
    story.must("value", ">=", 100.0, unit="GB/s", must=">= 100 GB/s", of="triad", name="fast", clause="3")
    both = row("c:1", "90..100 GB/s", "4", low=90.0, high=100.0)
    found = {one.name: one for one in matrix(story, (both,))}
    share, spread, fast, between = (found[name] for name in ("share", "spread", "fast", "c:1"))
    assert share.margin == pytest.approx(0.1) and share.points  # 100 % of >= 90 %: ten points
    assert spread.margin == pytest.approx(0.01 - 2.1213203 / 96.5, abs=1e-6) and spread.outcome == "not met"
    assert fast.margin == pytest.approx(-0.035) and not fast.points  # the median 96.5 of >= 100
    assert between.margin == pytest.approx(0.02) and between.count == 2
    assert dict(between.margins) == {
        "lower": pytest.approx(5 / 90),
        "upper": pytest.approx(0.02),
    }  # 95 above 90, 98 below 100
    assert (margin(between), margin(share)) == ("+5.6% lower, +2.0% upper", "+10.0 pt")


def test_one_bound_has_one_margin_and_what_lies_on_it_has_no_sign(story: Any) -> None:
    story.values("t/a", [90.0, 120.0])
    story.repeats = 2
    story.must("passed / attempts", "=", 1.0, unit="%", must="all", name="share", clause="1")
    found = {one.name: one for one in matrix(story, (row("c:1", ">= 90 GB/s", "4", low=90.0),))}
    assert (margin(found["c:1"]), found["c:1"].margins) == ("0.0%", ()) and margin(found["share"]) == "0.0 pt"


@pytest.mark.parametrize(
    ("bound", "words"), [(9.0, "+900.0%"), (0.9, "+9900.0%"), (0.00002, "+4.50e8%"), (90.0, "0.0%"), (100.0, "-10.0%")]
)
def test_a_margin_is_never_wider_than_its_column(story: Any, bound: float, words: str) -> None:
    story.values("t/a", [90.0])
    (asked,) = [one for one in matrix(story, (row("c:1", f">= {bound} GB/s", "4", low=bound),)) if one.name == "c:1"]
    assert margin(asked) == words


def test_what_is_in_per_cent_lies_so_many_points_inside_whoever_asks_for_it(story: Any) -> None:
    """Of 95.5 % between 95 and 97 %: half a point above the lower bound; of 0 % a share of the bound would be no number."""
    story.values("t/a", [95.5])
    story.must("value", ">=", 95.0, unit="GB/s", must=">= 95%", of="triad", name="plan", clause="1")
    rows = (
        replace(row("c:1", "95..97 %", "3", low=95.0, high=97.0), unit="%"),
        replace(row("c:2", ">= 0%", "4", low=0.0), unit="%"),
    )
    found = {one.name: margin(one) for one in matrix(story, rows)}
    assert (found["c:1"], found["c:2"]) == ("+0.5 pt lower, +1.5 pt upper", "+95.5 pt")
    document, record = story.document(), fold_runs(story.events)
    card = score(document, record)
    (component,) = card.components
    in_percent = replace(component, criteria=tuple(replace(item, unit="%") for item in component.criteria))
    (asked,) = requirements(document, record, replace(card, components=(in_percent,)))
    assert margin(asked) == "+0.5 pt"


def test_what_a_clause_says_stands_with_all_that_it_asks_for(story: Any) -> None:
    story.values("t/a", [95.0])
    story.must("passed / attempts", ">=", 0.9, unit="%", must=">= 90%", name="share", clause="4.2")
    story.must("passed / wanted", ">=", 0.9, unit="%", must=">= 90%", name="other", clause="4.3")
    said = replace(row("c:1", ">= 90 GB/s", "4.2", low=90.0), text="The memory shall sustain 90 GB/s.")
    found = {one.name: one.text for one in matrix(story, (said,))}
    assert {name for name, text in found.items() if text == said.text} == {"c:1", "share"} and found["other"] == ""


def test_a_procedure_says_who_attested_it_and_what_it_lacks(story: Any) -> None:
    story.run("t/a")
    procedures = (
        Procedure("diag", evidence=1, clause="1"),
        Procedure("doc", clause="2"),
        Procedure("plan", clause="3"),
    )
    for name, evidence in (("diag", []), ("doc", [{"name": "a", "sha256": "d" * 64}])):
        value = {"component": "demonstrations", "procedure": name, "met": True, "by": "Ada", "evidence": evidence}
        story.add("attested", value=value, reason="seen")
    diag, doc, plan = (one for one in matrix(story, procedures=procedures) if one.kind == "procedure")
    assert diag.outcome == "undecided: too few files of evidence" and doc.outcome == "met"
    assert doc.measured == "by Ada: seen" and doc.count == 1
    assert (plan.outcome, plan.measured) == ("undecided: not attested", "")


def test_a_waiver_stands_beside_what_is_not_met(story: Any) -> None:
    story.run("t/a", "failed")
    asked = Criterion("ok", "passed / attempts", ">=", 0.9, unit="%", must=">= 90%", clause="1")
    story.criteria.append(asked)
    value = {"component": "main", "name": "ok", "what": "criterion", "by": "Ada", "restriction": "no wide jobs"}
    story.add("waived", value=value, reason="agreed")
    (one,) = [one for one in matrix(story) if one.name == "ok"]
    assert (
        one.outcome == "not met, waived" and one.waiver == "no wide jobs (by Ada)" and one.margin == pytest.approx(-0.9)
    )
