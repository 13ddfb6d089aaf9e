"""Isolated and fill: who had the machine as the mode says, and how much worse a full machine is. Eight nodes, two a copy."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from record_rows import Book, criterion

from shakedown.metrics.cases import summarise
from shakedown.metrics.isolated_fill import slowdowns
from shakedown.metrics.judging.criteria import exit_status
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Mode, Partition

ISOLATED, FILL = Mode("isolated", repeats=3, warm_up=1), Mode("fill", repeats=1)


def book(*criteria: Criterion) -> Book:
    made = Book()
    made.component("pt", "cm4", modes=(ISOLATED, FILL), criteria=criteria)
    return made


def isolated(made: Book, *elapsed: float, case: str = "cm4", rate: float = 8.0) -> None:
    """One after the other, with a second between; a warm-up run first, twice as long."""
    begin = 0.0
    for number, seconds in enumerate((2 * elapsed[0], *elapsed)):
        mode = "isolated" if number else "warm-up"
        made.run("pt", case, begin=begin, elapsed_s=seconds, mode=mode, figures={"rate": rate})
        begin += seconds + 1


def fill(made: Book, *elapsed: float, skew: float = 0.0, begin: float = 1000.0, rate: float = 8.0) -> None:
    for number, seconds in enumerate(elapsed):
        at = begin + number * skew
        made.run("pt", "cm4", begin=at, elapsed_s=seconds, mode="fill", figures={"rate": rate})


def test_a_slowdown_with_its_arithmetic() -> None:
    """Isolated 10 s, three times; four copies of 11.2 s: 12 % more."""
    made = book(criterion("fill / isolated", "<= 10%", of="elapsed", statistic="mean"))
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 11.2, 11.2, 11.2, 11.2)
    found = made.only()
    assert (found.outcome, found.worst_case, found.count) == ("not met", "cm4", 3)
    assert found.measured == pytest.approx(0.12)
    assert found.arithmetic == (
        "mean 11.2 s of 4 fill runs / mean 10 s of 3 isolated runs - 1 = 12.0%; the worst copy 11.2 s, 12.0%; "
        "4 of 4 copies at once, must <= 10%; the only case is cm4"
    )


def test_warm_up_counts_nowhere() -> None:
    made = book(criterion("passed / attempts", "= 100%"))
    isolated(made, 10.0, 10.0, 10.0)
    made.run("pt", "cm4", "incorrect", begin=500.0, mode="warm-up")
    fill(made, 10.0, 10.0, 10.0, 10.0)
    card = made.card()
    component = card.components[0]
    assert (component.wanted, component.judged, component.attempts, component.warm_ups) == (7, 7, 7, 2)
    assert component.criteria[0].outcome == "met"
    assert card.remarks == ("1 warm-up run of cm4 did not pass, such as r5: incorrect; in no count",)


def test_of_a_rate_it_is_what_is_lost() -> None:
    """8 GB/s alone, 7 GB/s full: 1 / 8 is lost, not 1 / 7."""
    made = book(criterion("fill / isolated", "<= 12.5%", of="rate", statistic="mean"))
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 10.0, 10.0, 10.0, 10.0, rate=7.0)
    found = made.only()
    assert found.outcome == "met" and found.measured == pytest.approx(0.125)
    assert found.arithmetic.startswith("1 - mean 7 GB/s of 4 fill runs / mean 8 GB/s of 3 isolated runs = 12.5%")


def test_a_figure_without_a_direction_is_undecided() -> None:
    made = book(criterion("fill / isolated", "<= 10%", of="energy"))
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 10.0, 10.0, 10.0, 10.0)
    found = made.only()
    assert found.outcome == "undecided" and "nobody says whether a higher or a lower energy is better" in found.reason


def test_of_a_fill_only_what_ran_on_a_full_machine_counts() -> None:
    """The fifth copy begins when the others are over: it ran alone, fast, and must not make fill look good."""
    made = book(criterion("fill / isolated", "<= 10%", of="elapsed", statistic="mean"))
    isolated(made, 10.0, 10.0, 10.0)
    made.components["pt"] = replace(made.components["pt"], modes=(ISOLATED, Mode("fill", repeats=2)))
    fill(made, 12.0, 12.0, 12.0, 12.0)
    fill(made, 10.0, begin=1020.0)
    for _ in range(3):
        made.run("pt", "cm4", "failed", begin=1040.0, elapsed_s=0.5, mode="fill")
    component = made.card().components[0]
    assert component.aside[0] == ("r9", "the machine was full (4 copies at once) for only 0% of its time")
    assert component.criteria[0].measured == pytest.approx(0.2)
    assert "mean 12 s of 4 fill runs" in component.criteria[0].arithmetic
    assert "; 4 runs not counted" in component.criteria[0].arithmetic


def test_next_to_nothing_is_told_without_its_digits() -> None:
    made = book()
    made.components["pt"] = replace(made.components["pt"], modes=(ISOLATED, Mode("fill", repeats=2)))
    fill(made, 10.0, 10.0, 10.0, 10.0)
    made.run("pt", "cm4", begin=1010.0 - 1e-6, elapsed_s=9.0, mode="fill", figures={"rate": 8.0})
    component = made.card().components[0]
    assert component.aside == (("r5", "the machine was full (4 copies at once) for less than 0.1% of its time"),)


def test_copies_that_an_amendment_does_not_want_any_more_filled_the_machine_all_the_same() -> None:
    """Two fills were interleaved, and one of them is wanted now: the copies of both count as company, those of one as values."""
    made = book()
    fill(made, 10.0, 10.0, begin=1000.0)
    fill(made, 30.0, 30.0, begin=1020.0)
    fill(made, 10.0, 10.0, begin=1000.0)
    component = made.card().components[0]
    assert component.attempts == 4
    assert [run for run, _ in component.aside] == ["r3", "r4"]


def test_a_straggler_is_what_a_fill_looks_for() -> None:
    """Isolated 10 s; copies of 11, 11, 11 and 25 s. Mean (3 x 11 + 25) / 4 = 14.5: 45 % more; the worst 25 / 10 - 1 = 150 %."""
    made = book(criterion("fill / isolated", "<= 20%", of="elapsed", statistic="mean"))
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 11.0, 11.0, 11.0, 25.0)
    card = made.card()
    found = card.components[0].criteria[0]
    assert (found.outcome, card.outcome, exit_status(card), card.components[0].aside) == ("not met", "rejected", 1, ())
    assert found.measured == pytest.approx(0.45)
    assert "the worst copy 25 s, 150.0%; 4 of 4 copies at once" in found.arithmetic


def test_a_straggler_counts_in_each_test_and_component_of_its_own() -> None:
    """Two components with a criterion of one name, two node types: only the one with the straggler is not met."""
    made = Book()
    wish = criterion("fill / isolated", "<= 20%", of="elapsed", statistic="max", name="slowdown")
    modes = (Mode("isolated", repeats=1), FILL)
    made.component("pt", "cm4", modes=modes, criteria=(wish,))
    made.component("big", "lu", units=2, partition="c:big", modes=modes, criteria=(wish,))
    for component, case, times in (("pt", "cm4", (11.0, 11.0, 11.0, 11.5)), ("big", "lu", (11.0, 30.0))):
        made.run(component, case, begin=0.0, elapsed_s=10.0, mode="isolated")
        for seconds in times:
            made.run(component, case, begin=100.0, elapsed_s=seconds, mode="fill")
    card = made.card()
    assert [component.criteria[0].outcome for component in card.components] == ["met", "not met"]
    assert [component.criteria[0].measured for component in card.components] == pytest.approx([0.15, 2.0])
    assert card.summary == "rejected: 1 criterion of 2 not met (big: slowdown)"


def test_a_copy_that_started_full_and_was_quick_while_it_emptied_does_not_count() -> None:
    """Three copies of 100 s; the fourth begins a second before they end and takes 10 s, nearly alone."""
    made = book()
    fill(made, 100.0, 100.0, 100.0)
    fill(made, 100.0, begin=1000.0)
    fill(made, 10.0, begin=1099.0)
    made.components["pt"] = replace(made.components["pt"], modes=(ISOLATED, Mode("fill", repeats=2)))
    assert [run for run, _ in made.card().components[0].aside] == ["r5"]


def test_of_copies_that_a_crash_left_on_an_emptier_machine_only_slow_ones_count() -> None:
    """The second set loses a copy at once: what took as long as the first set's did is left out, what took longer is not."""
    made = book()
    made.components["pt"] = replace(made.components["pt"], modes=(ISOLATED, Mode("fill", repeats=2)))
    fill(made, 20.0, 20.0, 20.0, 20.0)
    fill(made, 10.0, 15.0, 40.0, begin=1100.0)
    made.run("pt", "cm4", "failed", begin=1100.0, elapsed_s=0.5, mode="fill")
    assert [run for run, _ in made.card().components[0].aside] == ["r5", "r6"]


@pytest.mark.parametrize("verdict", ["passed", "failed"])
def test_copies_that_warm_up_fill_the_machine_whatever_became_of_them(verdict: str) -> None:
    """One warm-up failed and is repeated while the measured copies run: it is the fourth copy."""
    made = book(criterion("fill / isolated", "<= 20%", of="elapsed", statistic="mean"))
    isolated(made, 10.0, 10.0, 10.0)
    made.run("pt", "cm4", verdict, begin=995.0, elapsed_s=17.0, mode="warm-up", figures={"rate": 8.0})
    fill(made, 11.0, 11.0, 11.0)
    fill(made, 11.0, begin=1012.0)
    component = made.card().components[0]
    assert [run for run, _ in component.aside] == ["r9"]
    assert component.criteria[0].measured == pytest.approx(0.1)


@pytest.mark.parametrize(("skew", "counted"), [(0.1, 4), (0.166, 4), (0.3, 0)])
def test_copies_may_start_a_twentieth_apart(skew: float, counted: int) -> None:
    """Ten seconds each, the last begins 3 x skew after the first: full for 10 - 3 x skew of each one's time."""
    made = book()
    fill(made, 10.0, 10.0, 10.0, 10.0, skew=skew)
    assert 4 - len(made.card().components[0].aside) == counted


def test_too_few_copies_are_no_fill() -> None:
    made = book(criterion("fill / isolated", "<= 10%", of="elapsed"))
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 10.0, 10.0, 10.0)
    made.run("pt", "cm4", "failed", begin=1000.0, elapsed_s=0.5, mode="fill")
    found = made.only()
    assert found.outcome == "undecided"
    assert found.reason == (
        "1 case of 1 undecided, such as cm4: no fill run gave a value of elapsed that counts, "
        "such as the machine was full (4 copies at once) for only 5.0% of its time"
    )


def test_as_many_copies_as_the_plan_says() -> None:
    made = Book()
    made.component("pt", "cm4", modes=(Mode("fill", 1, copies=2),))
    fill(made, 10.0, 10.0)
    card = made.card()
    assert (card.components[0].wanted, card.components[0].aside) == (2, ())


def test_an_isolated_run_with_company_does_not_count() -> None:
    """Another component's run on the same partition is company for 6 of 15 s; one on other nodes is none."""
    made = book(criterion("value", "<= 11", of="elapsed", unit="s", statistic="max", mode="isolated", enough=2))
    made.component("ft", "other")
    made.component("far", "away", partition="c:big")
    isolated(made, 10.0, 10.0, 15.0)
    made.run("ft", "other", begin=45.0, elapsed_s=6.0)
    made.run("far", "away", begin=0.0, elapsed_s=200.0)
    component = made.card().components[0]
    assert component.aside == (("r4", "it was alone for only 60.0% of its time"),)
    assert component.criteria[0].measured == 10.0
    assert "(1 run not counted, such as r4: it was alone for only" in component.criteria[0].arithmetic


def test_a_run_on_another_partition_with_the_same_nodes_is_company() -> None:
    made = book(criterion("value", "<= 11", of="elapsed", unit="s", statistic="max", mode="isolated", enough=2))
    made.overlapping = Partition("debug", "c", "n[8-9]", 2, "t")
    made.component("ft", "short", units=1, partition="c:debug")
    isolated(made, 10.0, 10.0, 15.0)
    made.run("ft", "short", begin=45.0, elapsed_s=6.0)
    assert made.card().components[0].aside == (("r4", "it was alone for only 60.0% of its time"),)
    made.overlapping = Partition("debug", "c", "n[9-10]", 2, "t")
    assert made.card().components[0].aside == ()


def test_runs_of_unknown_times_do_not_count() -> None:
    made = book()
    made.run("pt", "cm4", mode="isolated")
    assert made.card().components[0].aside == (("r1", "its times are not known"),)


def test_each_mode_has_its_own_numbers_and_run_of_record() -> None:
    made = book()
    isolated(made, 10.0, 11.0, 12.0)
    fill(made, 20.0, 20.0, 20.0, 20.0)
    (case,) = summarise(made.document(), made.record)
    elapsed = [figure for figure in case.figures if figure.spec.name == "elapsed"]
    assert [(figure.mode, figure.values) for figure in elapsed] == [
        ("isolated", (10.0, 11.0, 12.0)), ("fill", (20.0, 20.0, 20.0, 20.0)),
    ]  # fmt: skip
    assert [figure.run_of_record for figure in elapsed] == ["r2", "r5"]
    assert len(case.warm_ups) == 1 and len(case.rows) == 7


def test_slowdowns_of_every_figure_for_the_report() -> None:
    made = book()
    isolated(made, 10.0, 10.0, 10.0)
    fill(made, 11.0, 11.0, 11.0, 11.0, rate=4.0)
    found = {item.figure.name: item for item in slowdowns(made.document(), made.record)}
    assert set(found) == {"elapsed", "rate"}
    assert [found["elapsed"].share, found["rate"].share] == pytest.approx([0.1, 0.5])
    assert (found["elapsed"].achieved, found["elapsed"].required) == (4, 4)


def test_results_in_modes_that_the_plan_does_not_ask_for_are_remarked() -> None:
    made = Book()
    made.component("pt", "cm4")
    made.run("pt", "cm4")
    made.run("pt", "cm4", "failed", mode="fill")
    card = made.card()
    assert card.outcome == "accepted" and card.components[0].attempts == 1
    assert "1 run judged that the plan in force no longer asks for: not counted" in card.remarks
