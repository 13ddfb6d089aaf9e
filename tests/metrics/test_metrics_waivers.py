"""Waivers hold for what they were given for, each stands, and whatever came before there was a result says so. By hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from recompute import Judge
from record_rows import Book, criterion

from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.waivers import ahead
from shakedown.metrics.rows.rows import NoteRow
from shakedown.model.contracts import content
from shakedown.model.frozen import freeze
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Procedure
from shakedown.model.waived import criterion_digest, gate_digest, holds, row_digest, waived_criterion, waived_row

ALL, MOST = criterion("passed / attempts", "= 100%"), criterion("passed / attempts", ">= 90%")


def half(*criteria: object) -> Book:
    """Two components whose criteria have one name: in both one run of two passed."""
    book = Book()
    for name, case in (("st", "a"), ("ft", "b")):
        book.component(name, case, repeats=2, criteria=criteria)
        book.runs(name, case, "pf")
    return book


def test_a_waiver_holds_for_the_criterion_that_it_was_given_for() -> None:
    """``k`` was = 100 % when it was waived in both; an amendment makes it >= 90 %: 50 % is not met, and nobody waived that."""
    book = half(MOST)
    for name in ("st", "ft"):
        book.waive(name, "k", f"no {name}", digest=criterion_digest(ALL), asked="passed / attempts, must = 100%")
    card = book.card()
    assert [found.outcome for component in card.components for found in component.criteria] == ["not met", "not met"]
    assert (card.outcome, exit_status(card)) == ("rejected", 1)
    same = half(replace(ALL, clause="4.2", must="all"))
    for name in ("st", "ft"):
        same.waive(name, "k", f"no {name}", digest=criterion_digest(ALL))
    assert same.card().outcome == "accepted with restrictions"


def test_waivers_of_one_name_at_different_times_both_stand() -> None:
    book = half(MOST)
    book.waive("st", "k", "no wide jobs", digest=criterion_digest(ALL), asked="passed / attempts, must = 100%")
    book.waive("st", "k", "half the price", digest=criterion_digest(MOST))
    book.waive("ft", "k", "a third", digest=criterion_digest(MOST))
    card = book.card()
    assert (card.outcome, exit_status(card)) == ("accepted with restrictions", 0)
    assert card.restrictions == (
        "st: k is not met, waived: half the price",
        "ft: k is not met, waived: a third",
        "st: criterion k was waived as it was (passed / attempts, must = 100%), and the plan in force asks for something else: "
        "no wide jobs",
    )
    assert card.summary == (
        "accepted with restrictions (2 criteria waived, 1 waiver of what an amendment replaced): 0 of 2 criteria are met"
    )


@pytest.mark.parametrize(("waived", "other"), [("st", "ft"), ("ft", "st")])
def test_a_waiver_of_one_component_leaves_the_other_as_it_is(waived: str, other: str) -> None:
    """The criteria of both have one name and one digest: which component was meant decides."""
    book = half(ALL)
    book.waive(waived, "k", "no wide jobs", digest=criterion_digest(ALL))
    card = book.card()
    assert (card.outcome, exit_status(card)) == ("rejected", 1)
    assert card.restrictions == (f"{waived}: k is not met, waived: no wide jobs",)
    book.waive(other, "k", "a third", digest=criterion_digest(ALL))
    assert book.card().outcome == "accepted with restrictions"


def test_two_waivers_of_the_same_criterion_both_stand() -> None:
    book = half(ALL)
    book.waive("st", "k", "no wide jobs")
    book.waive("st", "k", "half the price")
    book.waive("ft", "k", "a third")
    assert book.card().restrictions[0] == "st: k is not met, waived: no wide jobs; half the price"


def test_what_an_amendment_replaced_restricts_even_where_everything_is_met() -> None:
    book = half(criterion("passed / attempts", ">= 50%"))
    book.waive("st", "k", "no wide jobs", digest=criterion_digest(ALL))
    card = book.card()
    assert (card.outcome, len(card.restrictions)) == ("accepted with restrictions", 1)


def test_a_waiver_of_what_is_met_restricts_nothing_and_says_so() -> None:
    book = half(criterion("passed / attempts", ">= 50%"))
    book.waive("st", "k", "none needed")
    card = book.card()
    assert (card.outcome, card.restrictions) == ("accepted", ())
    assert card.remarks == ("st: k is met: its waiver by A. Person (none needed) changes nothing",)


@pytest.mark.parametrize(
    ("seq", "said"),
    [
        (9, "r"),
        (3, "r (waived when 2 of its 4 results were there)"),
        (1, "r (waived ahead: before any of its 4 results)"),
    ],
)
def test_a_waiver_ahead_of_its_results_is_marked(seq: int, said: str) -> None:
    book = Book()
    book.component("ft", "b")
    book.component("st", "a", repeats=4, criteria=(ALL,))
    book.run("ft", "b", seq=1)
    for number, verdict in enumerate(("passed", "failed", "failed", "passed")):
        book.run("st", "a", verdict, seq=(2, 3, 5, 6)[number] if seq != 3 else (1, 2, 5, 6)[number])
    book.waive("st", "k", "r", seq=seq)
    assert book.card().restrictions == (f"st: k is not met, waived: {said}",)


# ---- of which cases ----------------------------------------------------------------------------------------------------


def waived_then(book: Book, component: str, restriction: str, **fields: Any) -> None:
    """A waiver of ``k`` as the plan is now."""
    part = book.components[component]
    book.waive(component, "k", restriction, digest=waived_criterion(book.document(), part, part.criteria[0]), **fields)


def test_tests_that_two_components_swap_take_no_waiver_with_them() -> None:
    """Both have a criterion k; the one that was met when it was waived holds the failing test after the swap."""
    book = Book()
    for name, case, verdicts in (("ft", "good", "pp"), ("st", "bad", "ff")):
        book.component(name, case, repeats=2, criteria=(ALL,))
        book.runs(name, case, verdicts)
    waived_then(book, "ft", "just in case")
    waived_then(book, "st", "no wide jobs")
    before = book.card()
    assert [one.outcome for part in before.components for one in part.criteria] == ["met", "waived"]
    for name, case in (("ft", "bad"), ("st", "good")):
        book.components[name] = replace(book.components[name], cases=(case,))
        book.runs(name, case, "ff" if case == "bad" else "pp")
    card = book.card()
    assert [one.outcome for part in card.components for one in part.criteria] == ["not met", "met"]
    assert (card.outcome, exit_status(card)) == ("rejected", 1)
    assert len(card.restrictions) == 2
    assert all("the plan in force asks for something else" in line for line in card.restrictions)


@pytest.mark.parametrize("cases", [("b",), ("a", "b"), ("a", "c")])
def test_a_waiver_ends_where_a_case_comes_or_goes_in_its_own_component_alone(cases: tuple[str, ...]) -> None:
    book = Book()
    for name in ("ft", "st"):
        book.component(name, "a", repeats=1, criteria=(ALL,))
        book.runs(name, "a", "f")
        waived_then(book, name, f"no {name}")
    assert book.card().outcome == "accepted with restrictions"
    for case in ("b", "c"):
        book.case(case)
        book.runs("st", case, "f")
    book.components["st"] = replace(book.components["st"], cases=cases)
    card = book.card()
    assert [one.outcome for part in card.components for one in part.criteria] == ["waived", "not met"]


def test_a_criterion_of_one_test_stays_waived_where_another_test_comes() -> None:
    book = Book()
    book.component("st", "a", repeats=1, criteria=(replace(ALL, test="a"),))
    book.runs("st", "a", "f")
    waived_then(book, "st", "no a")
    book.case("b")
    book.components["st"] = replace(book.components["st"], cases=("a", "b"))
    book.runs("st", "b", "p")
    assert book.card().components[0].criteria[0].outcome == "waived"


def test_procedures_that_come_after_a_waiver_are_not_waived() -> None:
    book = Book()
    book.component("vt", procedures=(Procedure("racks"),), criteria=(criterion("attested", "= 100%"),))
    waived_then(book, "vt", "racks in May")
    assert book.card().components[0].criteria[0].outcome == "waived"
    book.components["vt"] = replace(book.components["vt"], procedures=(Procedure("racks"), Procedure("pipes")))
    assert book.card().components[0].criteria[0].outcome != "waived"


@pytest.mark.parametrize("criteria", [(ALL,), ()])
def test_a_gate_asks_for_something_else_where_its_cases_are_others(criteria: tuple[Any, ...]) -> None:
    book = half(*criteria)
    book.components["ft"] = replace(book.components["ft"], after=("st",), gate="met")
    before = gate_digest(book.document(), "st")
    book.case("c")
    book.components["st"] = replace(book.components["st"], cases=("a", "c"))
    after = gate_digest(book.document(), "st")
    assert not holds(before, after)
    assert before.partition(".")[0] == after.partition(".")[0]
    assert holds(before.partition(".")[0], after), "records of before say only what was asked"


@pytest.mark.parametrize("criteria", [(ALL,), (replace(ALL, test="a"), replace(MOST, name="m")), ()])
def test_what_a_gate_asks_is_reckoned_alike_on_two_ways(criteria: tuple[Any, ...]) -> None:
    """The independent recomputation reads the frozen plan alone."""
    book = half(*criteria)
    book.components["st"] = replace(book.components["st"], procedures=(Procedure("racks", evidence=1),))
    book.components["ft"] = replace(book.components["ft"], after=("st",), gate="met")
    before = gate_digest(book.document(), "st")
    for cases, same in ((("a",), True), (("a", "c"), False)):
        book.case("c")
        book.components["st"] = replace(book.components["st"], cases=cases)
        judge = object.__new__(Judge)
        judge.document = json.loads(freeze(book.document()))
        assert judge._is_gate(before, "st") == same == holds(before, gate_digest(book.document(), "st"))
        assert judge._is_gate(before.partition(".")[0], "st"), "of which cases older logs do not say"


def test_a_row_that_is_in_force_for_another_case_is_not_waived() -> None:
    row = ContractRow("c:1", "c", "a", "rate", ">= 20 GB/s", "contract", low=20.0, unit="GB/s")
    book = Book()
    book.component("pt", "a/n1", criteria=(criterion("rows met", "= 100%"),))
    book.cases["a/n1"] = replace(book.cases["a/n1"], rows=("c:1",))
    contracts = (Contract("c", (row,)),)
    book.run("pt", "a/n1", figures={"rate": 10.0}, seq=1)
    said = waived_row(replace(book.document(), contracts=contracts), row)
    book.waive("pt", "c:1", "n is 1", "row", row=content(row), digest=said, seq=2)
    book.record.ended = book.record.last
    card = score(replace(book.document(), contracts=contracts), book.record)
    assert card.components[0].criteria[0].outcome == "waived"
    book.case("a/n2")
    book.cases["a/n2"] = replace(book.cases["a/n2"], rows=("c:1",))
    book.components["pt"] = replace(book.components["pt"], cases=("a/n2",))
    book.run("pt", "a/n2", figures={"rate": 10.0}, seq=3)
    book.record.ended = book.record.last
    card = score(replace(book.document(), contracts=contracts), book.record)
    assert (card.outcome, card.components[0].criteria[0].outcome) == ("rejected", "not met")
    assert card.restrictions[0] == (
        "pt: row c:1 was waived as it was (rate >= 20 GB/s), and the plan in force asks for something else: n is 1"
    )


def test_a_row_that_two_components_meet_together_says_which_of_them_does_not_alone() -> None:
    """A mean of 11 over both, at least 10: st has 9, and its criterion on rows is not met; pt has 13. The row's line tells it."""
    row = ContractRow("c:1", "c", "a", "rate", ">= 10 GB/s", "contract", low=10.0, unit="GB/s", statistic="mean")
    book = Book()
    for name, value, seq in (("st", 9.0, 1), ("pt", 13.0, 2)):
        book.component(name, "a", criteria=(criterion("rows met", "= 100%"),))
        book.run(name, "a", figures={"rate": value}, seq=seq)
    book.cases["a"] = replace(book.cases["a"], rows=("c:1",))
    book.record.ended = book.record.last
    card = score(replace(book.document(), contracts=(Contract("c", (row,)),)), book.record)
    assert {part.name: part.criteria[0].outcome for part in card.components} == {"st": "not met", "pt": "met"}
    assert card.contract is not None
    assert (card.contract.rows[0].outcome, card.contract.rows[0].measured) == ("met", 11.0)
    assert card.contract.rows[0].arithmetic.endswith(", must be >= 10 GB/s; not met on the runs of st alone")


def test_a_waiver_of_results_that_count_no_more_was_not_given_ahead() -> None:
    """An amendment took the case out and another one back in: only the later run counts, and what was waived had been seen."""
    book = Book()
    book.component("st", "a", repeats=1, criteria=(ALL,))
    book.run("st", "a", "failed", seq=1)
    waived_then(book, "st", "r", seq=2)
    book.run("st", "a", "failed", repeat=2, seq=4)
    mine = {row.run for row in book.record.runs if row.seq == 4}
    (waiver,) = book.record.waivers
    assert ahead(waiver, mine, book.record) == ""
    assert "waived ahead" in ahead(replace(waiver, seq=0.5), mine, book.record)


# ---- gates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came_out", "restricts"),
    [((), True), ((("met", 3),), False), ((("met", 7),), True), ((("not met", 3), ("met", 7)), True)],
)
def test_a_gate_that_was_met_before_it_was_waived_restricts_nothing(came_out: Any, restricts: bool) -> None:
    book = half(criterion("passed / attempts", ">= 50%"))
    book.components["ft"] = replace(book.components["ft"], after=("st",), gate="met")
    for outcome, seq in came_out:
        book.record.notes.append(NoteRow("component_outcome", 0.0, "", {"component": "st", "outcome": outcome}, seq))
    book.waive("st", "", "later", what="gate", digest=gate_digest(book.document(), "st"), seq=5)
    card = book.card()
    assert card.outcome == ("accepted with restrictions" if restricts else "accepted")
    early = not came_out or came_out[0][1] > 5
    words = "st: gate is waived: later" + (" (waived ahead: before it was judged)" if early else "")
    assert card.restrictions == ((words,) if restricts else ())


# ---- rows --------------------------------------------------------------------------------------------------------------


def rows(*musts: float, waived: tuple[str, ...] = (), bound: str = "= 100%") -> Scorecard:
    """A value of 10 GB/s against rows that ask for at least so much."""
    book = Book()
    book.component("pt", "a", criteria=(criterion("rows met", bound),))
    book.run("pt", "a", figures={"rate": 10.0}, seq=1)
    every = tuple(
        ContractRow(f"c:{n}", "c", "a", "rate", f">= {low:g} GB/s", "contract", low=low, unit="GB/s")
        for n, low in enumerate(musts, 1)
    )
    names = tuple(row.name for row in every)
    book.cases["a"] = replace(book.cases["a"], rows=names)
    for row in every:
        if row.name in waived:
            book.waive("pt", row.name, f"of {row.name}", "row", row=content(row), digest=row_digest(row), seq=2)
    book.record.ended = book.record.last
    return score(replace(book.document(), contracts=(Contract("c", every),)), book.record)


def test_rows_that_are_missed_and_all_waived_are_accepted_with_restrictions_and_not_met() -> None:
    """One of two rows is met: 50 %, waived, whatever the waivers."""
    card = rows(5.0, 20.0, waived=("c:2",))
    (found,) = card.components[0].criteria
    assert (found.outcome, found.outcome_words, found.measured) == ("waived", "not met, waived", 0.5)
    assert found.arithmetic == "1 met / 2 rows = 50.0% (c:2 not met, waived), must = 100%"
    assert (card.outcome, exit_status(card)) == ("accepted with restrictions", 0)
    assert card.summary == (
        "accepted with restrictions (1 criterion waived, 1 waiver of gates and rows): 0 of 1 criteria are met"
    )
    assert card.restrictions == (
        "pt: k is not met, waived: row c:2: of c:2",
        "pt: row c:2 is waived: of c:2",
    )


def test_waiving_one_of_two_missed_rows_is_not_enough() -> None:
    card = rows(5.0, 20.0, 30.0, waived=("c:2",))
    assert card.outcome == "rejected"
    assert card.components[0].criteria[0].measured == pytest.approx(1 / 3)
    assert rows(5.0, 20.0, 30.0, waived=("c:2",), bound=">= 60%").outcome == "accepted with restrictions"


def test_a_waived_row_that_is_met_restricts_nothing() -> None:
    card = rows(5.0, waived=("c:1",))
    assert (card.outcome, card.restrictions) == ("accepted", ())
    assert card.remarks == ("contract row c:1 is met: its waiver by A. Person (of c:1) changes nothing",)
