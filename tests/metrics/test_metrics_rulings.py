"""Rulings stand beside verdicts: rates before and after, and what a criterion leaves out is shown with everything counted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from record_rows import Book, criterion

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.exclusions import BY_RULING
from shakedown.metrics.judging.scorecard import CriterionScore
from shakedown.metrics.rulings import rates
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Mode
from shakedown.plans.schema.criteria import GOES_WITH


def judged(*criteria: object, repeats: int = 100) -> Book:
    """100 attempts: 90 passed, 4 node failures of the vendor's, 5 failures ruled the site's, 1 wrong answer."""
    book = Book()
    book.component("st", "cm4", repeats=repeats, criteria=criteria)
    book.runs("st", "cm4", "p" * 90)
    book.runs("st", "cm4", "nn", ruling="vendor")
    book.runs("st", "cm4", "nn")
    book.runs("st", "cm4", "fffff", ruling="site")
    book.runs("st", "cm4", "i", ruling="application")
    return book


def test_rates_before_and_after_rulings() -> None:
    """After: without the five of the site and the one of the application; what is the vendor's, or nobody's yet, stays."""
    book = judged()
    test, whole = rates(book.document(), book.record)
    assert (test.test, whole.test, test.attempts) == ("cm4", "", 100)
    assert (test.passed_before.share, test.passed_after.hits, test.passed_after.count) == (0.9, 90, 94)
    assert test.failed_after.share == pytest.approx(4 / 94)
    assert dict(test.ruled) == {"application": 1, "site": 5, "vendor": 2}
    assert {verdict: rate.share for verdict, rate in test.verdicts} == {
        "passed": 0.9, "failed": 0.05, "incorrect": 0.01, "node_fail": 0.04,
    }  # fmt: skip
    assert test.passed_before.interval == pytest.approx((0.8256, 0.9448), abs=1e-4)  # Wilson, 90 of 100


def test_a_criterion_that_leaves_out_shows_both_numbers() -> None:
    book = judged(criterion("passed / attempts", ">= 94%", leave_out=("ruled site",)))
    found = book.only()
    assert (found.outcome, found.left_out, found.measured_before) == ("met", (("ruled site", 5),), 0.9)
    assert found.arithmetic == (
        "90 passed / 95 attempts = 94.7% (1 incorrect, 4 node_fail), must >= 94%; left out: 5 ruled site; with everything "
        "counted: 90 passed / 100 attempts = 90.0% (5 failed, 1 incorrect, 4 node_fail), must >= 94%"
    )
    assert found.measure == "passed / attempts, without ruled site"


def test_a_wrong_answer_is_never_left_out_of_correctness() -> None:
    book = judged(criterion("correct / completed", "= 100%", leave_out=("ruled application",)))
    found = book.only()
    assert (found.outcome, found.left_out) == ("not met", ())
    assert found.arithmetic.startswith("90 correct / 91 completed = 98.9% (1 incorrect counted whatever the ruling)")


def test_what_passed_needs_no_excuse() -> None:
    """Ruling passed runs to be the site's neither raises nor lowers a rate."""
    book = Book()
    book.component(
        "st", "a", repeats=4, criteria=(criterion("passed / attempts", ">= 50%", leave_out=("ruled site",)),)
    )
    book.runs("st", "a", "pp", ruling="site")
    book.runs("st", "a", "ff")
    assert book.only().measured == 0.5
    assert rates(book.document(), book.record)[0].passed_after.share == 0.5


def test_a_result_whose_attempts_are_all_left_out_is_not_wanted() -> None:
    """Three results: one passed at once, one at its second attempt, one failed only by the site's fault."""
    book = Book()
    book.component("st", "a", repeats=3, criteria=(criterion("passed / wanted", "= 100%", leave_out=("ruled site",)),))
    book.run("st", "a", result=1)
    book.run("st", "a", "failed", result=2, ruling="site", retried=True)
    book.run("st", "a", result=2, attempt=2)
    book.run("st", "a", "failed", result=3, ruling="site")
    found = book.only()
    assert found.outcome == "met"
    assert found.arithmetic.startswith("2 passed / 2 wanted = 100%, must = 100%; left out: 2 ruled site")
    assert "2 passed / 3 wanted = 66.7%" in found.before


def test_a_result_that_is_still_to_come_stays_wanted() -> None:
    book = Book()
    book.component("st", "a", criteria=(criterion("passed / wanted", "= 100%", leave_out=("ruled site",)),))
    book.run("st", "a", "failed", ruling="site", retried=True)
    assert book.only(ended=False).reason == "nothing is judged yet; 1 to come"


def test_everything_left_out_judges_nothing() -> None:
    book = Book()
    book.component("st", "a", criteria=(criterion("passed / attempts", "= 100%", leave_out=("ruled excused",)),))
    book.run("st", "a", "failed", ruling="excused")
    found = book.only()
    assert (found.outcome, found.reason) == ("undecided", "no run is left that counts")
    assert book.card().outcome == "incomplete"


def test_outliers_are_left_out_only_where_the_plan_says_so_and_then_counted() -> None:
    values = [10.0, 10.1, 9.9, 10.0, 10.05, 9.95, 20.0]
    for leave_out, outcome in (((), "not met"), (("outliers",), "met")):
        book = Book()
        book.component(
            "st", "a", repeats=7, criteria=(criterion("sd / mean", "<= 2%", of="elapsed", leave_out=leave_out),)
        )
        for value in values:
            book.run("st", "a", elapsed_s=value)
        found = book.only()
        assert found.outcome == outcome
        assert found.left_out == ((("outlier", 1),) if leave_out else ())
    assert "; left out: 1 outlier; with everything counted: sd" in found.arithmetic


def test_outliers_are_told_apart_case_by_case() -> None:
    """Two cases of different length: no run of the shorter is an outlier among the longer ones."""
    book = Book()
    steady = criterion("sd / mean", "<= 50%", of="elapsed", leave_out=("outliers",))
    book.component("st", "a/n=1", "a/n=2", repeats=6, criteria=(steady,))
    for value in (1.0, 1.0, 1.01, 0.99, 1.0, 1.02):
        book.run("st", "a/n=1", elapsed_s=value)
    for value in (9.0, 9.0, 9.01, 8.99, 9.0, 18.0):
        book.run("st", "a/n=2", elapsed_s=value)
    assert book.only().left_out == (("outlier", 1),)


def test_outliers_that_are_left_out_are_told_of_the_case_whose_number_stands_there() -> None:
    book = Book()
    each = criterion("sd / mean", "<= 50%", of="elapsed", leave_out=("outliers",), per="case")
    book.component("st", "a/n=1", "a/n=2", "a/n=3", repeats=6, criteria=(each,))
    for case, values in (
        ("a/n=1", (1.0, 1.0, 1.01, 0.99, 1.0, 9.0)),
        ("a/n=2", (9.0, 9.1, 9.2, 8.9, 9.0, 18.0)),
        ("a/n=3", (9.0, 9.0, 9.0, 9.0, 9.0, 9.0)),
    ):
        for value in values:
            book.run("st", case, elapsed_s=value)
    found = book.only()
    assert (found.worst_case, found.left_out) == ("a/n=2", (("outlier", 2),))
    assert "over 5 values" in found.arithmetic
    assert (
        "; the worst of 3 cases is a/n=2; left out: 2 outliers, 1 outlier of these of a/n=2; with" in found.arithmetic
    )


@pytest.mark.parametrize(("epochs", "text"), [("all", "3 passed / 5"), ("2", "2 passed / 3"), ("last", "1 passed / 1")])
def test_a_criterion_says_which_epochs_it_accepts(epochs: str, text: str) -> None:
    book = Book()
    book.component("st", "a", repeats=5, criteria=(criterion("passed / attempts", ">= 50%", epochs=epochs),))
    book.runs("st", "a", "pf", epoch=1)
    book.runs("st", "a", "pf", epoch=2)
    book.runs("st", "a", "p", epoch=3)
    book.record.epoch = 3
    assert book.only().arithmetic.startswith(text)


# ---- what a ruling may change, measure by measure ----------------------------------------------------------------------

BOUNDS = {
    "passed / attempts": ("= 100%", {}),
    "passed / wanted": ("= 100%", {}),
    "correct / completed": ("= 100%", {}),
    "value": ("<= 11", {"of": "elapsed", "unit": "s", "statistic": "max"}),
    "sd / mean": ("<= 1%", {"of": "elapsed"}),
    "fill / isolated": ("<= 10%", {"of": "elapsed", "statistic": "max"}),
    "rows met": ("= 100%", {}),
}


def told(measure: str, verdict: str, ruling: str) -> CriterionScore:
    """Four runs of 10 s, two isolated and two full ones; the last took 20 s, and ended with ``verdict``, which was ruled so.

    ``other`` is a second component whose criterion has the same name, with the same runs and no ruling.
    """
    book = Book()
    must, fields = BOUNDS[measure]
    asked = criterion(measure, must, leave_out=("ruled site",), **fields)
    modes = (Mode("isolated", repeats=2), Mode("fill", repeats=2, copies=1))
    for name, case, said in (("st", "a", ruling), ("other", "b", "")):
        book.component(name, case, modes=modes, criteria=(asked,))
        for number, mode in enumerate(("isolated", "isolated", "fill", "fill")):
            last = number == 3
            book.run(name, case, verdict if last else "passed", begin=1000.0 * number + (0 if name == "st" else 500),
                     mode=mode, elapsed_s=20.0 if last else 10.0, ruling=said if last else "")  # fmt: skip
        book.cases[case] = replace(book.cases[case], rows=("c:1",))
    row = ContractRow("c:1", "c", "a", "elapsed", "<= 11 s", "contract", high=11.0, unit="s")
    book.record.ended = book.record.last
    card = score(replace(book.document(), contracts=(Contract("c", (row,)),)), book.record)
    assert card.components[1].criteria[0].left_out == ()
    return card.components[0].criteria[0]


@pytest.mark.parametrize("measure", BY_RULING)
def test_a_ruling_on_a_run_that_passed_changes_nothing(measure: str) -> None:
    """The run was slow and passed: what it gave counts, whoever is said to have slowed it down."""
    ruled, bare = told(measure, "passed", "site"), told(measure, "passed", "")
    assert (ruled.left_out, ruled.measured, ruled.outcome) == ((), bare.measured, bare.outcome)
    slow = measure in ("value", "sd / mean", "fill / isolated", "rows met")
    assert ruled.outcome == ("not met" if slow else "met")


@pytest.mark.parametrize("measure", BY_RULING)
def test_a_ruling_on_a_slow_run_leaves_out_its_values_and_shows_what_they_were(measure: str) -> None:
    """``performance``: it came to its end with the right answer, outside of its bounds. By hand: without it 3 of 3, 10 s, 0 %."""
    ruled = told(measure, "performance", "site")
    if measure == "correct / completed":
        assert (ruled.left_out, ruled.measured, ruled.outcome) == ((), 1.0, "met")
        return
    assert (ruled.left_out, ruled.outcome) == ((("ruled site", 1),), "met")
    before = {
        "passed / attempts": 0.75,
        "passed / wanted": 0.75,
        "value": 20.0,
        "fill / isolated": 1.0,
        "rows met": 0.0,
    }
    assert ruled.measured_before == pytest.approx(
        before.get(measure, 0.4)
    )  # sd of 10, 10, 10, 20 is 5, their mean 12.5
    assert told(measure, "performance", "vendor").outcome == "not met"


@pytest.mark.parametrize("measure", BY_RULING)
def test_a_ruling_on_a_wrong_answer_changes_no_correctness(measure: str) -> None:
    ruled = told(measure, "incorrect", "site")
    if measure == "correct / completed":
        assert (ruled.outcome, ruled.measured) == ("not met", 0.75)
        assert "(1 incorrect counted whatever the ruling)" in ruled.arithmetic
    else:
        assert ruled.outcome == "met" and ruled.left_out == (("ruled site", 1),)


def test_what_ended_as_the_plan_expects_is_not_left_out() -> None:
    book = Book()
    asked = criterion("passed / attempts", ">= 50%", leave_out=("ruled site",))
    book.component("st", "a", repeats=2, criteria=(asked,))
    book.cases["a"] = replace(book.cases["a"], expect="failed")
    book.run("st", "a", "failed", ruling="site")
    book.run("st", "a", "timeout")
    assert (book.only().measured, book.only().left_out) == (0.5, ())


def test_the_rules_of_the_page_name_every_measure_that_leaves_out() -> None:
    assert set(BY_RULING) == set(GOES_WITH["leave_out"])
