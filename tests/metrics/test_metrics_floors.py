"""Floors, interrupts and holes by hand, with their arithmetic, and how early they can be decided."""

from __future__ import annotations

import pytest
from record_rows import Book, criterion, stated

from shakedown.metrics.failure_rates import failure_rates
from shakedown.metrics.interrupts import interrupts, mean_time_interval
from shakedown.metrics.judging.populations import Population, populations
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.judging.scorecard import CriterionScore
from shakedown.metrics.mix import shares_of
from shakedown.model.judging import Criterion

HOUR = 3600.0


def book_with(*wishes: Criterion, tests: tuple[str, ...] = ("a", "b"), **fields: object) -> Book:
    book = Book()
    book.component("st", *tests, duration_s=10 * HOUR, criteria=wishes, **fields)  # type: ignore[arg-type]
    return book


def only(book: Book, ended: bool = True) -> CriterionScore:
    (found,) = stated(book.card(ended))
    return found


def looked_at(book: Book) -> tuple[Population, MeasureContext]:
    document = book.document()
    (around,) = arounds(document, book.record)
    return populations(document, book.record)["st"], around


# ---- runs and node-hours -----------------------------------------------------------------------------------------------


def test_the_least_test_counts_and_one_that_never_ran_has_none() -> None:
    book = book_with(criterion("runs", ">= 2", per="test"), tests=("a/1", "a/2", "b"))
    book.runs("st", "a/1", "pPf", begin=0.0)
    book.run("st", "a/2", begin=0.0)
    found = only(book)
    assert [(case.case, case.measured, case.outcome) for case in found.cases] == [("a", 3, "met"), ("b", 0, "not met")]
    assert found.outcome == "not met" and found.measure == "runs, per test"
    assert found.arithmetic == "0 right runs of 0 attempts, must >= 2; the worst of 2 tests is b"


def test_a_floor_is_met_as_soon_as_it_is_reached_and_missed_only_at_the_end() -> None:
    book = book_with(criterion("runs", ">= 2"))
    book.run("st", "a", begin=0.0)
    assert only(book, ended=False).outcome == "undecided"
    book.run("st", "b", begin=0.0)
    assert only(book, ended=False).outcome == "met"
    book = book_with(criterion("runs", ">= 2"))
    book.run("st", "a", begin=0.0)
    assert only(book).outcome == "not met"


def test_node_hours_are_those_of_right_runs_while_the_clock_ran() -> None:
    """Two nodes for four hours, of which the clock stood still for one; the run that failed is no work."""
    book = book_with(criterion("node-hours", ">= 7"))
    book.run("st", "a", begin=0.0, elapsed_s=4 * HOUR)
    book.run("st", "a", "failed", begin=0.0, elapsed_s=4 * HOUR)
    book.say(1, "paused", cause="site")
    book.say(2, "continued")
    found = only(book)
    assert (found.measured, found.outcome, found.unit) == (6, "not met", "node-hours")


# ---- hours per node ------------------------------------------------------------------------------------------------------


def test_the_node_that_was_held_least_counts() -> None:
    """Eight nodes: n8 is excluded and never held; an hour that two runs share counts once; another component's run counts."""
    book = book_with(criterion("hours per node", ">= 2", unit="h"))
    book.component("other", "c")
    book.run("st", "a", begin=0.0, elapsed_s=3 * HOUR, nodes="n[1-6]")
    book.run("st", "a", "failed", begin=2 * HOUR, elapsed_s=2 * HOUR, nodes="n[1-3]")
    book.run("other", "c", begin=1 * HOUR, elapsed_s=1 * HOUR, nodes="n7")
    book.say(0, "excluded", nodes=["n8"])
    found = only(book)
    assert (found.outcome, found.measured) == ("not met", 0)
    assert found.arithmetic == "0 h on n8, held least of 8 nodes, of 4 h on the clock, must >= 2"
    book.run("st", "b", begin=0.0, elapsed_s=1.5 * HOUR, nodes="n8")
    found = only(book)
    assert found.arithmetic.startswith("1 h on n7, held least of 8 nodes")
    book.run("st", "b", begin=0.0, elapsed_s=HOUR, nodes="")
    assert "(1 run of unknown times or nodes not counted)" in only(book).arithmetic


def test_nodes_that_cannot_be_read_are_no_nodes() -> None:
    book = book_with(criterion("hours per node", ">= 0", unit="h"))
    book.run("st", "a", begin=0.0, elapsed_s=HOUR, nodes="n[1-")
    assert "(1 run of unknown times or nodes not counted)" in only(book).arithmetic


# ---- interrupts --------------------------------------------------------------------------------------------------------------


def test_what_interrupts() -> None:
    """By verdict, by ruling, and within a minute one of the system; not what the application did, nor what ended while it stood."""
    book = book_with(criterion("mean time to interrupt", ">= 3", unit="h"))
    for verdict, hour, ruling in (
        ("node_fail", 1.0, ""),
        ("lost", 1.01, ""),
        ("interrupted", 2, "harness"),
        ("failed", 3, "vendor"),
        ("timeout", 4, "application"),
        ("failed", 4, ""),
        ("node_fail", 6.5, ""),
        ("passed", 7, "vendor"),
    ):
        book.run("st", "a", verdict, begin=0.0, elapsed_s=hour * HOUR, ruling=ruling)
    book.run("st", "b", begin=0.0, elapsed_s=10 * HOUR)
    book.say(6, "paused", cause="site")
    book.say(7, "continued")
    _, around = looked_at(book)
    assert around.clock is not None
    found = interrupts(around.component, around.clock, book.record)
    assert (found.jobs, found.system, found.seconds) == ((("failed", 1), ("lost", 1), ("node_fail", 1)), 2, 9 * HOUR)
    scored = only(book)
    assert scored.arithmetic == (
        "9 h of clock / 3 interrupts = 3 h (1 failed, 1 lost, 1 node_fail; 1.027 to 14.55 h at 95 %; 2 system interrupts), "
        "must >= 3"
    )
    assert scored.outcome == "met" and scored.count == 3


def test_no_interrupt_says_at_least() -> None:
    """10 h without: a bound of 10 h is met; of one of 11 h nobody can tell."""
    for bound, outcome, reason in (
        (10, "met", ""),
        (11, "undecided", "no interrupt in 10 h of clock, which is too short a time to tell"),
    ):
        book = book_with(criterion("mean time to interrupt", f">= {bound}", unit="h"))
        book.run("st", "a", begin=0.0, elapsed_s=10 * HOUR)
        found = only(book)
        assert (found.outcome, found.reason) == (outcome, reason)
        assert found.arithmetic.startswith("no interrupt in 10 h of clock: at least 3.338 h at 95 %")


def test_a_bound_in_another_unit() -> None:
    book = book_with(criterion("mean time to interrupt", ">= 290", unit="min"))
    book.runs("st", "a", "nn", begin=0.0, elapsed_s=10 * HOUR)
    found = only(book)
    assert (found.measured, found.unit, found.outcome) == (300, "min", "met")


def test_the_interval_of_a_mean_time() -> None:
    """Of 3 events in 30 h: 30 / 8.767 to 30 / 0.6187 h (chi-square with 8 and 6 degrees of freedom, halved)."""
    assert mean_time_interval(30, 3) == pytest.approx((30 / 8.7673, 30 / 0.61867), rel=1e-4)
    least, most = mean_time_interval(30, 0) or (0.0, 0.0)
    assert least == pytest.approx(10.0142, rel=1e-4) and most is None
    assert mean_time_interval(0, 0) is None


# ---- holes ---------------------------------------------------------------------------------------------------------------------


def test_holes_are_measured_by_the_clock_and_named() -> None:
    """``a`` has none from 2 to 8 of which the clock stood still for 1; ``b`` begins after 4 and is live to the end."""
    book = book_with(criterion("longest hole", "<= 4", unit="h"))
    book.run("st", "a", begin=0.0, elapsed_s=2 * HOUR)
    book.run("st", "a", "failed", begin=8 * HOUR, elapsed_s=HOUR)
    book.run("st", "b", begin=4 * HOUR, elapsed_s=6 * HOUR)
    book.say(3, "paused", cause="maintenance")
    book.say(4, "continued")
    found = only(book)
    assert (found.outcome, found.measured) == ("not met", 5)
    assert found.arithmetic == (
        "5 h without a run of a, from 2 h 00 min to 8 h 00 min after the clock began, "
        "of which it stood still for 1 h 00 min, must <= 4"
    )
    population, around = looked_at(book)
    assert around.clock is not None
    holes = {
        share.test: share.hole.seconds / HOUR for share in shares_of(population, around, around.clock) if share.hole
    }
    assert holes == {"a": 5, "b": 3}


def test_a_hole_that_is_still_open_decides_nothing_and_one_that_is_closed_does() -> None:
    book = book_with(criterion("longest hole", "<= 4", unit="h"), tests=("a",))
    book.component("other", "b")
    book.run("st", "a", begin=0.0, elapsed_s=HOUR)
    book.record.time_up["st"] = 9 * HOUR
    book.open("st", "a", ordered=HOUR)
    assert (only(book, ended=False).measured, only(book, ended=False).outcome) == (8, "undecided")
    book.run("st", "a", begin=6 * HOUR, elapsed_s=HOUR)
    assert only(book, ended=False).outcome == "not met"


# ---- shares, rates and intervals -----------------------------------------------------------------------------------------------


def test_shares_of_the_mix_in_points() -> None:
    book = book_with(mix=(("a", 3.0), ("b", 1.0)), fillers=("f",))
    book.component("filler", "f")
    del book.components["filler"]
    book.run("st", "a", begin=0.0, elapsed_s=6 * HOUR)
    book.run("st", "b", "failed", begin=0.0, elapsed_s=4 * HOUR)
    book.run("st", "f", begin=0.0, elapsed_s=HOUR, mode="filler")
    population, around = looked_at(book)
    assert around.clock is not None
    a, b, f = shares_of(population, around, around.clock)
    assert (a.share, a.asked, a.points) == pytest.approx((0.6, 0.75, -15))
    assert (b.runs, b.right, b.node_hours, b.right_node_hours) == (1, 0, 8, 0)
    assert (f.test, f.filler, f.share, f.node_hours) == ("f", True, None, 2)


def test_failure_rates_of_runs_and_of_node_hours_before_and_after_rulings() -> None:
    """Four runs of 2 nodes for 125 h are 1,000 node-hours; of three failures one was the site's."""
    book = book_with()
    for verdict, ruling in (("passed", ""), ("failed", ""), ("failed", "site"), ("node_fail", "vendor")):
        book.run("st", "a", verdict, begin=0.0, elapsed_s=125 * HOUR, ruling=ruling)
    found = {(rate.by, rate.name): rate for rate in failure_rates(*looked_at(book))}
    assert list(found) == [("", ""), ("verdict", "failed"), ("verdict", "node_fail")]
    failed = found["verdict", "failed"]
    assert (failed.before.hits, failed.before.count, failed.per_thousand) == (2, 4, 2)
    assert (failed.after.hits, failed.after.count, failed.per_thousand_after) == (1, 3, 1)
    assert failed.per_thousand_interval == pytest.approx((0.2422, 7.2247), abs=1e-4)
    assert found["", ""].after.share == pytest.approx(2 / 3)
