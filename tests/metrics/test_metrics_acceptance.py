"""How a plan comes out: waivers, procedures, parts that run until a time has passed, and what is planted in a story."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from record_rows import Book, criterion

from shakedown.metrics.cases import summarise
from shakedown.metrics.judging.criteria import exit_status
from shakedown.model.nouns import Procedure

if TYPE_CHECKING:
    from tests.metrics.conftest import Story

DIAGNOSTICS, FAILOVER = Procedure("diagnostics", evidence=1), Procedure("failover")


def failing(*names: str) -> Book:
    book = Book()
    criteria = tuple(criterion("passed / attempts", "= 100%", name=name) for name in names)
    book.component("st", "a", repeats=2, criteria=(*criteria, criterion("passed / wanted", ">= 50%", name="done")))
    book.runs("st", "a", "pf")
    return book


def test_a_waived_criterion_restricts_and_shows_what_it_was() -> None:
    book = failing("all")
    assert book.card().outcome == "rejected"
    book.waive("st", "all", "no jobs on more than 1,000 nodes")
    card = book.card()
    waived = card.components[0].criteria[0]
    assert (waived.outcome, waived.outcome_words, waived.waiver) == (
        "waived", "not met, waived", "no jobs on more than 1,000 nodes",
    )  # fmt: skip
    assert (card.outcome, exit_status(card)) == ("accepted with restrictions", 0)
    assert card.summary == "accepted with restrictions (1 criterion waived): 1 of 2 criteria are met"
    assert card.restrictions == ("st: all is not met, waived: no jobs on more than 1,000 nodes",)
    assert "50.0%" in waived.arithmetic


def test_one_waiver_is_not_all() -> None:
    book = failing("first", "second")
    book.waive("st", "first")
    card = book.card()
    assert (card.outcome, card.summary) == ("rejected", "rejected: 1 criterion of 3 not met (st: second)")


def test_a_waiver_of_what_is_met_changes_nothing() -> None:
    book = failing()
    book.waive("st", "done", "none needed")
    card = book.card()
    assert (card.outcome, card.restrictions) == ("accepted", ())


def test_a_waiver_of_a_gate_or_a_row_restricts_too() -> None:
    book = failing()
    book.waive("ft", "met", "the fabric is looked at again", what="gate")
    card = book.card()
    assert (card.outcome, card.restrictions) == (
        "accepted with restrictions", ("ft: gate met is waived: the fabric is looked at again",),
    )  # fmt: skip
    assert card.summary == "accepted with restrictions (1 waiver of gates and rows): the only criterion is met"


def test_a_waiver_of_nothing_is_remarked() -> None:
    book = failing()
    book.waive("st", "dnoe")
    assert book.card().remarks == ("criterion dnoe of st is waived, and the plan in force has none of that name",)


def test_a_waiver_does_not_end_a_campaign() -> None:
    book = failing("all")
    book.component("later", "b")
    book.waive("st", "all")
    card = book.card(ended=False)
    assert (card.outcome, card.summary) == ("incomplete", "incomplete: 1 result still to come")


# ---- procedures ------------------------------------------------------------------------------------------------------


def procedures(*criteria: object) -> Book:
    book = Book()
    book.component("vt", procedures=(DIAGNOSTICS, FAILOVER), criteria=criteria)
    return book


def test_procedures_are_asked_for_even_where_no_criterion_is() -> None:
    book = procedures()
    card = book.card()
    assert card.summary == ("incomplete: undecided: vt: procedures (not attested yet: diagnostics, failover)")
    book.attest("vt", "diagnostics", files=1)
    assert book.only().outcome == "undecided"
    assert book.only().arithmetic == ("1 attested as met / 2 procedures = 50.0% (not attested: failover), must = 100%")
    book.attest("vt", "failover")
    assert book.card().outcome == "accepted"


def test_a_procedure_that_is_not_met_rejects_and_a_later_word_counts() -> None:
    book = procedures()
    book.attest("vt", "diagnostics", files=1)
    book.attest("vt", "failover", met=False)
    assert book.card().summary == "rejected: 1 criterion of 1 not met (vt: procedures)"
    assert "(not met: failover)" in book.only().arithmetic
    book.attest("vt", "failover")
    assert book.card().outcome == "accepted"


def test_an_attestation_without_its_evidence_is_none() -> None:
    book = procedures(criterion("attested", "= 100%"))
    book.attest("vt", "diagnostics", files=0)
    book.attest("vt", "failover")
    found = book.only()
    assert found.outcome == "undecided"
    assert "(attested with too few files of evidence: diagnostics)" in found.arithmetic


# ---- until a time has passed -----------------------------------------------------------------------------------------


def stability(*criteria: object) -> Book:
    book = Book()
    book.component("st", "a", kind="stability", duration_s=100.0, criteria=criteria)
    return book


def test_what_runs_until_a_time_has_passed_wants_what_was_ordered() -> None:
    book = stability(criterion("passed / wanted", ">= 60%"), criterion("correct / completed", "= 100%", name="right"))
    for begin in (0.0, 20.0, 40.0):
        book.run("st", "a", begin=begin)
    book.run("st", "a", "failed", begin=60.0)
    component = book.card(ended=False).components[0]
    assert (component.outcome, component.wanted, component.to_come) == ("incomplete", 4, 1)
    assert [found.outcome for found in component.criteria] == ["undecided"] * 3
    assert component.criteria[0].arithmetic == "3 passed / 4 wanted = 75.0%, more to come, must >= 60%"
    book.record.time_up["st"] = 100.0
    component = book.card(ended=False, over=("st",)).components[0]
    assert (component.outcome, component.to_come) == ("accepted", 0)


def test_a_wrong_answer_decides_before_the_time_has_passed() -> None:
    book = stability(criterion("correct / completed", "= 100%"))
    book.run("st", "a", "incorrect", begin=0.0)
    assert book.only(ended=False).outcome == "not met"


def test_it_is_over_when_the_time_has_passed_and_nothing_runs() -> None:
    book = stability(criterion("passed / attempts", "= 100%"))
    book.run("st", "a", begin=95.0)
    book.record.first_orders["st"] = 0.0
    book.open("st", "a", ordered=96.0)
    assert book.card(ended=False).components[0].to_come == 1
    book.record.open.clear()
    assert book.only(ended=False).outcome == "met"


def test_it_is_not_over_while_a_retry_waits_for_its_time() -> None:
    """Nothing runs and the time has passed; but the second attempt, which is due in a minute, may still make it good."""
    book = stability(criterion("passed / attempts", ">= 60%"))
    book.run("st", "a", begin=0.0)
    book.run("st", "a", "failed", begin=90.0, elapsed_s=15.0, result=2, retried=True)
    found = book.card(ended=False).components[0]
    assert (found.outcome, found.to_come, found.criteria[0].outcome) == ("incomplete", 1, "undecided")
    book.run("st", "a", begin=160.0, result=2, attempt=2)
    assert book.only(ended=False).outcome == "met"


# ---- planted ---------------------------------------------------------------------------------------------------------


def test_three_wrong_answers_among_four_hundred_runs_are_not_averaged_away() -> None:
    book = Book()
    wishes = (
        criterion("correct / completed", "= 100%", name="correct"),
        criterion("passed / attempts", ">= 95%", name="completed"),
        criterion("sd / mean", "<= 2%", of="elapsed", name="variation", per="case"),
    )
    book.component("st", "a", repeats=400, criteria=wishes)
    for number in range(400):
        book.run("st", "a", "incorrect" if number in (17, 200, 399) else "passed", elapsed_s=10 + number % 3 * 0.01)
    card = book.card()
    assert [found.outcome for found in card.components[0].criteria] == ["not met", "met", "met"]
    assert card.summary == "rejected: 1 criterion of 3 not met (st: correct)"
    assert card.components[0].criteria[0].arithmetic == "397 correct / 400 completed = 99.2%, must = 100%"


def test_too_few_runs_of_one_test_leave_the_plan_undecided() -> None:
    book = Book()
    book.component(
        "st", "a", "b", repeats=3, criteria=(criterion("passed / attempts", ">= 50%", per="case", enough=5),)
    )
    for result in (1, 2, 3):
        book.run("st", "a", "node_fail", result=result, retried=True)
        book.run("st", "a", result=result, attempt=2)
    book.runs("st", "b", "ppp")
    card = book.card()
    assert (card.outcome, exit_status(card)) == ("incomplete", 4)
    assert card.summary == (
        "incomplete: undecided: st: k (1 case of 2 undecided, such as b: 3 of the 5 that are enough to judge)"
    )


@pytest.mark.parametrize("statistic", ["p5", "p95", "p99"])
def test_a_criterion_may_name_a_quantile(statistic: str) -> None:
    """Of 1 to 101 the 95 % quantile is the 96th value."""
    book = Book()
    book.component(
        "st", "a", repeats=101, criteria=(criterion("value", "<= 96", of="elapsed", unit="s", statistic=statistic),)
    )
    for value in range(1, 102):
        book.run("st", "a", elapsed_s=float(value))
    found = book.only()
    assert found.measured == pytest.approx({"p5": 6, "p95": 96, "p99": 100}[statistic])
    assert found.outcome == ("not met" if statistic == "p99" else "met")


def test_variation_of_a_case_with_and_without_outliers() -> None:
    """As table IV of paper 004 prints it: mean, standard deviation, number of jobs; the doubled run in one and not the other."""
    book = Book()
    book.component("st", "cm4", repeats=7)
    for elapsed in (4140.0, 4150.0, 4145.0, 8290.0, 4155.0, 4150.0, 4148.0):
        book.run("st", "cm4", elapsed_s=elapsed)
    book.run("st", "cm4", "timeout", elapsed_s=9000.0)
    figure = summarise(book.document(), book.record)[0].figures[0]
    with_all, without = figure.summary, figure.without_outliers
    assert with_all is not None and without is not None
    assert (with_all.count, without.count) == (7, 6)
    assert without.mean == pytest.approx(4148.0)
    assert without.sd == pytest.approx((130 / 5) ** 0.5)  # squares: 64 + 4 + 9 + 49 + 4 + 0
    assert with_all.sd is not None and with_all.sd > 1500
    assert [(outlier.run, outlier.value) for outlier in figure.outliers] == [("r4", 8290.0)]
    assert figure.run_of_record == "r1"


def test_from_the_log_to_the_scorecard(story: Story) -> None:
    """Orders, verdicts, a ruling, a change and a waiver, as a log tells them."""
    bad = story.run("a", "failed", repeat=1)
    story.run("a", "passed", repeat=2)
    story.add("ruled", run=bad, value={"as": "site", "by": "B"}, reason="power")
    story.repeats = 2
    story.must("passed / attempts", "=", 1.0, leave_out=("ruled site",), name="ours")
    story.must("passed / attempts", "=", 1.0, name="all")
    story.add("waived", value={"what": "criterion", "component": "main", "name": "all", "restriction": "x", "by": "B"})
    card = story.card()
    assert [found.outcome_words for found in card.components[0].criteria] == ["met", "not met, waived"]
    assert card.outcome == "accepted with restrictions"
