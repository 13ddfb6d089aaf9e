"""Each measure by numbers worked out by hand, and what is met, not met and undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from shakedown.metrics.cases import summarise
from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.model.figures import CUT_TABLE
from shakedown.model.nouns import FigureSpec

if TYPE_CHECKING:
    from tests.metrics.conftest import Story

# ---- the measures ----------------------------------------------------------------------------------------------------


def test_passed_of_attempts_counts_every_attempt(story: Story) -> None:
    """57 of 60 are exactly 95 %, although 0.01 * 95 is not 0.95 in binary."""
    story.repeats = 60
    story.runs("a", "p" * 57 + "ftt")
    story.must("passed / attempts", ">=", 95 * 0.01, must=">= 95%")
    criterion = story.only()
    assert (criterion.outcome, criterion.measured, criterion.count) == ("met", 0.95, 60)
    assert criterion.arithmetic == "57 passed / 60 attempts = 95.0% (1 failed, 2 timeout), must >= 95%"
    assert criterion.interval == pytest.approx((0.8630, 0.9829), abs=1e-4)


def test_a_retry_erases_nothing_from_attempts_but_saves_the_wanted_result(story: Story) -> None:
    run = story.run("a", "node_fail")
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    story.run("a", attempt=2)
    story.must("passed / attempts", "=", 1.0, must="= 100%")
    story.must("passed / wanted", "=", 1.0, must="= 100%")
    attempts, wanted = story.card().components[0].criteria
    assert attempts.arithmetic == "1 passed / 2 attempts = 50.0% (1 node_fail), must = 100%"
    assert (attempts.outcome, wanted.outcome) == ("not met", "met")
    assert wanted.arithmetic == "1 passed / 1 wanted = 100%, must = 100%"


def test_a_share_just_short_of_its_bound_does_not_look_like_it(story: Story) -> None:
    story.repeats = 2000
    story.runs("a", "p" * 1899 + "f" * 101)
    story.must("passed / attempts", ">=", 0.95, must=">= 95%")
    criterion = story.only()
    assert criterion.outcome == "not met"
    assert "1899 passed / 2000 attempts = 94.95% (101 failed), must >= 95%" in criterion.arithmetic


def test_correct_of_completed_leaves_out_what_did_not_end(story: Story) -> None:
    """Completed are passed, incorrect and performance: 5. Correct of these are all but the incorrect one."""
    story.repeats = 8
    story.runs("a", "pppPiftt")
    story.must("correct / completed", "=", 1.0, must="= 100%")
    criterion = story.only()
    assert (criterion.outcome, criterion.measured, criterion.count) == ("not met", 0.8, 5)
    assert criterion.arithmetic == "4 correct / 5 completed = 80.0%, must = 100%"


def test_value_takes_correct_runs_only_and_names_its_unit(story: Story) -> None:
    """Values 3, 5 and 4 count; the incorrect run's 9 and the failed one's nothing do not: median 4."""
    story.repeats = 5
    for repeat, (verdict, value) in enumerate([("passed", 3), ("performance", 5), ("passed", 4), ("incorrect", 9)], 1):
        story.run("stream", verdict, repeat=repeat, figures={"triad": value})
    story.run("stream", "failed", repeat=5)
    story.must("value", ">=", 3.5, unit="GB/s", of="triad", must=">= 3.5 GB/s")
    criterion = story.only()
    assert (criterion.outcome, criterion.measured, criterion.unit, criterion.count) == ("met", 4.0, "GB/s", 3)
    assert criterion.arithmetic == "median of 3 values of triad = 4 GB/s, must >= 3.5 GB/s"


@pytest.mark.parametrize(
    ("statistic", "expected"), [("mean", 4.5), ("median", 4.0), ("min", 2.0), ("max", 8.0), ("sd", (19 / 3) ** 0.5)]
)
def test_every_statistic(story: Story, statistic: str, expected: float) -> None:
    """2, 4, 4, 8: mean 4.5, squares of deviations 6.25 + .25 + .25 + 12.25 = 19, divided by 3."""
    story.repeats = 4
    story.values("stream", [2.0, 4.0, 8.0, 4.0])
    story.must("value", ">=", 1.0, unit="GB/s", of="triad", statistic=statistic)
    assert story.only().measured == pytest.approx(expected)


def test_a_bound_in_another_unit_of_the_same_thing(story: Story) -> None:
    story.repeats = 2
    story.values("stream", [3.0, 3.0])
    story.must("value", ">=", 3000.0, unit="MB/s", of="triad", must=">= 3000 MB/s")
    criterion = story.only()
    assert criterion.outcome == "met"
    assert criterion.measured == pytest.approx(3000.0)


def test_a_bound_in_a_unit_of_something_else_is_undecided_and_says_so(story: Story) -> None:
    story.values("stream", [3.0])
    story.must("value", ">=", 3.0, unit="s", of="triad")
    criterion = story.only()
    assert criterion.outcome == "undecided"
    assert criterion.reason == "the values of triad cannot be compared: 'GB/s' and 's' do not measure the same thing"


def test_a_number_that_only_rounding_would_lift_to_its_bound(story: Story) -> None:
    story.values("stream", [0.999996])
    story.must("value", ">=", 1.0, unit="GB/s", of="triad", must=">= 1 GB/s")
    criterion = story.only()
    assert criterion.outcome == "not met"
    assert criterion.arithmetic == "median of 1 value of triad = 0.999996 GB/s, must >= 1 GB/s"


def test_spread_of_the_run_time(story: Story) -> None:
    """9, 10, 11: sd 1, mean 10."""
    story.repeats = 3
    story.values("a", [9.0, 10.0, 11.0], "elapsed")
    story.must("sd / mean", "<=", 0.1, of="elapsed", unit="%", must="<= 10%")
    criterion = story.only()
    assert criterion.outcome == "met"
    assert criterion.measured == pytest.approx(0.1)
    assert criterion.arithmetic == "sd 1 s / mean 10 s = 10.0% over 3 values of elapsed, must <= 10%"


def test_spread_is_judged_with_outliers_and_said_without(story: Story) -> None:
    story.repeats = 6
    story.values("a", [9.9, 10.0, 10.1, 10.0, 10.0, 20.0], "elapsed")
    story.must("sd / mean", "<=", 0.05, of="elapsed", must="<= 5%")
    criterion = story.only()
    assert criterion.outcome == "not met"
    assert "(0.7% without 1 outlier)" in criterion.arithmetic


@pytest.mark.parametrize("comparison", [">", "<", "="])
def test_strict_and_equal_comparisons(story: Story, comparison: str) -> None:
    story.values("stream", [2.0])
    for bound in (1.0, 2.0, 3.0):
        story.must("value", comparison, bound, unit="GB/s", of="triad")
    outcomes = [criterion.outcome for criterion in story.card().components[0].criteria]
    expected = {
        ">": ["met", "not met", "not met"],
        "<": ["not met", "not met", "met"],
        "=": ["not met", "met", "not met"],
    }
    assert outcomes == expected[comparison]


# ---- populations -----------------------------------------------------------------------------------------------------


def test_the_worst_case_is_named_and_counts(story: Story) -> None:
    story.repeats = 2
    story.values("stream/threads=1", [5.0, 5.0])
    story.values("stream/threads=2", [2.0, 2.0])
    story.values("stream/threads=4", [7.0, 7.0])
    story.must("value", ">=", 3.0, unit="GB/s", of="triad", per="case", must=">= 3 GB/s")
    criterion = story.only()
    assert (criterion.outcome, criterion.worst_case, criterion.measured) == ("not met", "stream/threads=2", 2.0)
    assert criterion.arithmetic.endswith("must >= 3 GB/s; the worst of 3 cases is stream/threads=2")
    assert [case.outcome for case in criterion.cases] == ["met", "not met", "met"]


def test_the_worst_is_the_largest_where_less_is_better(story: Story) -> None:
    story.repeats = 2
    story.values("a/n=1", [10.0, 10.0], "elapsed")
    story.values("a/n=2", [9.0, 11.0], "elapsed")
    story.must("sd / mean", "<=", 0.5, of="elapsed", per="case")
    assert story.only().worst_case == "a/n=2"


def test_a_criterion_may_look_at_one_test(story: Story) -> None:
    story.run("good", "passed")
    story.run("bad", "failed")
    story.must("passed / wanted", "=", 1.0, test="good", must="= 100%")
    criterion = story.only()
    assert criterion.outcome == "met" and criterion.measure == "passed / wanted, test good"


def test_too_few_are_undecided(story: Story) -> None:
    story.repeats = 3
    story.runs("a", "ppp")
    story.must("passed / attempts", ">=", 0.95, enough=100)
    criterion = story.only()
    assert (criterion.outcome, criterion.reason) == ("undecided", "3 of the 100 that are enough to judge")


def test_too_few_of_one_case_leave_the_criterion_undecided(story: Story) -> None:
    story.repeats = 3
    story.values("stream/a", [1.0, 1.0, 1.0])
    story.runs("stream/b", "pff", figures={"triad": 1.0})
    story.must("value", ">=", 0.5, unit="GB/s", of="triad", per="case", enough=2)
    criterion = story.only()
    assert criterion.outcome == "undecided"
    assert criterion.reason == "1 case of 2 undecided, such as stream/b: 1 of the 2 that are enough to judge"


def test_expected_failures_count_as_wanted_and_stay_visible(story: Story) -> None:
    story.case("cm4/oneapi", expect="build_failed", because="newer standards")
    story.run("cm4/oneapi", "build_failed")
    story.run("cm4/classic", "passed")
    story.must("passed / wanted", "=", 1.0, must="= 100%")
    story.must("passed / attempts", "=", 1.0, must="= 100%")
    story.must("correct / completed", "=", 1.0, must="= 100%")
    component = story.card().components[0]
    assert [criterion.outcome for criterion in component.criteria] == ["met", "met", "met"]
    assert component.as_expected == 1 and dict(component.verdicts) == {"passed": 1, "build_failed": 1}
    assert "(1 build_failed as expected)" in component.criteria[1].arithmetic


def test_an_expected_failure_has_no_figure_and_does_not_block(story: Story) -> None:
    story.case("stream/bad", expect="build_failed")
    story.run("stream/bad", "build_failed")
    story.values("stream/good", [4.0])
    story.must("value", ">=", 1.0, unit="GB/s", of="triad", per="case")
    assert story.only().outcome == "met"


def test_a_case_that_passes_against_the_expectation_is_remarked(story: Story) -> None:
    story.case("cm4", expect="build_failed")
    story.run("cm4", "passed")
    card = story.card()
    assert card.outcome == "accepted"
    assert card.remarks == ("cm4 passed although the plan expects build_failed",)


def test_a_plan_without_criteria_is_held_to_everything_passed(story: Story) -> None:
    story.repeats = 2
    story.runs("a", "pf")
    criterion = story.only()
    assert criterion.usual and criterion.outcome == "not met"
    assert criterion.arithmetic == "1 passed / 2 wanted = 50.0%, must = 100%"


def test_a_superseding_verdict_changes_the_score(story: Story) -> None:
    run = story.run("a", "incorrect")
    story.add("verdict", run=run, case="a", value={"verdict": "passed", "supersedes": len(story.events)})
    card = story.card()
    assert card.outcome == "accepted" and card.components[0].attempts == 1
    assert "1 verdict superseded by a later one; both are in the record" in card.remarks


def test_two_passed_attempts_at_one_wanted_result_are_one(story: Story) -> None:
    """The first attempt is judged again after its retry was ordered: both pass, the other repeat failed."""
    story.repeats = 2
    run = story.run("a", "node_fail")
    old = len(story.events)
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    story.run("a", attempt=2)
    story.run("a", "failed", repeat=2)
    story.add("verdict", run=run, case="a", value={"verdict": "passed", "supersedes": old})
    story.must("passed / wanted", "=", 1.0, must="= 100%")
    assert story.only().arithmetic == "1 passed / 2 wanted = 50.0%, must = 100%"


def test_runs_that_no_plan_asks_for_any_more_are_remarked_not_counted(story: Story) -> None:
    story.run("old", "failed")
    story.run("kept", "passed")
    del story.cases["old"]
    card = story.card()
    assert card.outcome == "accepted" and card.components[0].attempts == 1
    assert "1 run judged that the plan in force no longer asks for: not counted" in card.remarks


# ---- outcomes --------------------------------------------------------------------------------------------------------


def test_repeats_that_an_amended_plan_does_not_want_any_more_stand_in_for_none(story: Story) -> None:
    """Five ran, of which the second failed; then three are wanted. The fourth and fifth make nothing good."""
    story.repeats = 3
    story.runs("a/1", "pfppp")
    story.must("passed / wanted", ">=", 0.9)
    card = story.card()
    assert (card.components[0].attempts, card.components[0].passed, card.to_come) == (3, 2, 0)
    assert card.components[0].criteria[0].outcome == "not met"
    assert card.remarks == ("2 runs judged that the plan in force no longer asks for: not counted",)


def test_what_is_wanted_anew_is_judged_by_its_new_runs(story: Story) -> None:
    """A plan did not want the case any more, the next one does: its two results ran again, and the second failed again."""
    story.repeats = 2
    story.runs("a/1", "pf")
    story.add("amended", value={"document": "e" * 64}, reason="without a")
    story.add("amended", value={"document": "d" * 64}, reason="with it")
    story.runs("a/1", "pf")
    story.must("passed / wanted", "=", 1.0)
    card = story.card()
    assert (card.components[0].attempts, card.components[0].passed) == (2, 1)
    assert card.components[0].criteria[0].outcome == "not met"
    assert "2 runs judged that the plan in force no longer asks for: not counted" in card.remarks


def test_accepted_when_all_is_met(story: Story) -> None:
    story.run("a")
    card = story.card()
    assert (card.outcome, card.summary, exit_status(card)) == ("accepted", "accepted: the only criterion is met", 0)


def test_rejected_names_what_is_not_met(story: Story) -> None:
    story.run("a", "failed")
    story.must("passed / wanted", "=", 1.0, name="done")
    card = story.card()
    assert (card.outcome, exit_status(card)) == ("rejected", 1)
    assert card.summary == "rejected: 1 criterion of 1 not met (main: done)"


def test_unavailable_cases_restrict_and_do_not_fail(story: Story) -> None:
    story.run("a")
    story.case("hpcc", unavailable="needs hpcc; apt-get install hpcc")
    story.case("lammps", unavailable="needs lmp")
    card = story.card()
    assert (card.outcome, card.summary, exit_status(card)) == (
        "accepted with restrictions", "accepted with restrictions (2 cases unavailable): the criterion on the rest is met", 0,
    )  # fmt: skip
    assert [row.case for row in card.components[0].unavailable] == ["hpcc", "lammps"]
    assert card.components[0].wanted == 1


def test_a_criterion_on_an_unavailable_test_restricts(story: Story) -> None:
    story.run("a")
    story.case("hpcc", unavailable="needs hpcc")
    story.must("passed / wanted", "=", 1.0, test="a")
    story.must("value", ">=", 1.0, of="triad", unit="GB/s", test="hpcc")
    card = story.card()
    _, criterion = card.components[0].criteria
    assert (criterion.outcome, criterion.restricted, criterion.reason) == (
        "undecided", True, "its only case is unavailable",
    )  # fmt: skip
    assert card.outcome == "accepted with restrictions"


def test_a_criterion_on_a_figure_that_only_unavailable_cases_have_restricts(story: Story) -> None:
    """It names no test; the other tests of the component never give the figure."""
    story.run("a")
    story.case("hpcc", unavailable="needs hpcc")
    story.must("passed / wanted", "=", 1.0, test="a")
    story.must("value", ">=", 1.0, of="triad", unit="GB/s")
    story.end()
    document = story.document()
    bare, measured = document.tests
    card = score(replace(document, tests=(replace(bare, figures=()), measured)), story.record())
    assert [(c.outcome, c.restricted) for c in card.components[0].criteria] == [("met", False), ("undecided", True)]
    assert card.outcome == "accepted with restrictions"
    name = card.components[0].criteria[1].name
    assert card.restrictions == (
        "main: hpcc is unavailable: needs hpcc", f"main: {name} is not judged: its only case is unavailable",
    )  # fmt: skip


def test_nothing_but_unavailable_cases_judges_nothing(story: Story) -> None:
    story.case("hpcc", unavailable="needs hpcc")
    card = story.card()
    assert card.components[0].outcome == "not judged"
    assert (card.outcome, exit_status(card)) == ("incomplete", 4)
    assert card.summary == "incomplete: 1 case unavailable"


def test_an_empty_campaign_is_undecided(story: Story) -> None:
    story.case("a")
    card = story.card(ended=False)
    criterion = card.components[0].criteria[0]
    assert (criterion.outcome, criterion.reason) == ("undecided", "nothing is judged yet; 1 to come")
    assert (card.outcome, card.summary, exit_status(card)) == ("incomplete", "incomplete: 1 result still to come", 4)


def test_an_unfinished_campaign_is_incomplete_even_if_all_so_far_is_well(story: Story) -> None:
    story.repeats = 3
    story.runs("a", "pp")
    story.must("passed / attempts", ">=", 0.5)
    card = story.card(ended=False)
    assert card.outcome == "incomplete" and card.to_come == 1
    assert card.components[0].criteria[0].arithmetic == "2 passed / 2 attempts = 100%, 1 to come, must >= 50.0%"


def test_what_can_no_longer_change_is_decided_early(story: Story) -> None:
    """Of 10 wanted 6 passed and 2 failed: >= 50 % is met, >= 90 % is out of reach, >= 80 % is open."""
    story.repeats = 10
    story.runs("a", "ppppppff")
    for bound in (0.5, 0.9, 0.8):
        story.must("passed / wanted", ">=", bound)
    card = story.card(ended=False)
    assert [criterion.outcome for criterion in card.components[0].criteria] == ["met", "not met", "undecided"]
    assert card.outcome == "incomplete" and "already not met: main: k1" in card.summary


def test_one_wrong_answer_can_never_become_all_correct(story: Story) -> None:
    story.repeats = 3
    story.runs("a", "pi")
    story.must("correct / completed", "=", 1.0)
    assert story.only(ended=False).outcome == "not met"


def test_a_pending_retry_keeps_the_result_open(story: Story) -> None:
    run = story.run("a", "node_fail")
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    card = story.card(ended=False)
    assert (card.to_come, card.components[0].criteria[0].outcome) == (1, "undecided")


def test_a_measure_of_a_later_version_is_undecided_not_a_crash(story: Story) -> None:
    story.run("a")
    story.must("slowest / fastest", "<=", 0.1)
    assert story.only().reason == "this version does not know the measure 'slowest / fastest'"


def test_an_optional_figure_that_no_run_gave_is_remarked(story: Story) -> None:
    story.repeats = 3
    story.run("a", "passed", repeat=1, figures={"triad": 1.0, "lat[size=8]": 2.0})
    story.run("a", "incorrect", repeat=2, figures={"triad": 1.0})
    story.run("a", "failed", repeat=3, figures={"seldom": 1.0})  # its expression works
    story.run("b", "failed")  # nothing is known of a test of which no run came to its end
    story.end()
    names = ("triad", "lat", "mispelt", "seldom")
    figures = (*(FigureSpec(name, required=False) for name in names), FigureSpec("needed"))
    document = story.document()
    document = replace(document, tests=tuple(replace(test, figures=figures) for test in document.tests))

    card = score(document, story.record())

    assert card.remarks == ("optional figure mispelt of test a is in none of its 2 runs that completed",)
    modelled = story.record()
    modelled.rehearsal = {"seed": 1}
    assert not any("optional" in remark for remark in score(document, modelled).remarks)


def test_the_remark_on_an_optional_figure_says_why_no_run_gave_it(story: Story) -> None:
    why = "'3 GB/s' is in GB/s, and the figure is in MB/s"
    story.repeats = 2
    story.run("a", "failed", repeat=1, problems=["figure rate: it is nowhere"])  # it did not come to its end
    story.run("a", "passed", repeat=2, problems=["the output is long", f"figure rate[size=8]: {why}"])
    story.end()
    document = story.document()
    figures = (FigureSpec("rate", required=False),)
    document = replace(document, tests=tuple(replace(test, figures=figures) for test in document.tests))
    card = score(document, story.record())
    assert card.remarks == (f"optional figure rate of test a is in none of its 1 run that completed: {why}",)


def test_the_tests_whose_figures_make_one_number_are_named(story: Story) -> None:
    story.values("a", [1.0])
    story.values("b", [3.0])
    story.must("value", ">=", 1.0, of="triad", unit="GB/s", statistic="mean", must=">= 1 GB/s")
    story.must("sd / mean", "<=", 1.0, of="triad")
    whole, spread = (one.arithmetic for one in story.card().components[0].criteria)
    assert whole.startswith("mean of 2 values of triad of tests a, b = 2 GB/s")
    assert spread.endswith("over 2 values of triad of tests a, b, must <= 100%")


def test_values_that_could_not_be_read_are_remarked_and_counted(story: Story) -> None:
    why = "figure triad: '95%' is not a number"
    story.repeats = 4
    story.run("a", "passed", repeat=1, figures={"triad": 1.0})
    story.run("a", "passed", repeat=2, problems=[why, "figure triad: another"])
    story.run("a", "passed", repeat=3, figures={"triad": 1.7e308})  # a version before recorded it
    story.run("a", "incorrect", repeat=4, problems=[why])  # its reason says so
    story.end()
    document = story.document()
    for required in (True, False):
        figures = (FigureSpec("triad", required=required),)
        document = replace(document, tests=tuple(replace(test, figures=figures) for test in document.tests))
        (remark,) = score(document, story.record()).remarks
        said = "figure triad of test a could not be read in 2 of 4 runs that completed, and is in no number of them"
        assert remark.startswith(f"{said}; the first is r000002: '95%' is not a number")
        assert remark.endswith("'shakedown rejudge' judges such runs incorrect") is required
    (triad,) = [one for one in summarise(document, story.record())[0].figures if one.spec.name == "triad"]
    assert (triad.missing, triad.unread, triad.values) == (2, 2, (1.0,))


def test_a_figure_that_no_run_of_a_case_gave_to_be_read_has_a_row_of_its_own(story: Story) -> None:
    from shakedown.report.tables.tables import _FIGURES, _figures

    story.run("a", "passed", problems=["figure triad: 'nan' is no finite number"])
    story.end()
    document = story.document()
    figures = (FigureSpec("triad", required=False), FigureSpec("silent", required=False))
    document = replace(document, tests=tuple(replace(test, figures=figures) for test in document.tests))
    rows = [dict(zip(_FIGURES, row, strict=True)) for row in _figures(summarise(document, story.record()))]
    (triad,) = [row for row in rows if row["figure"] != "elapsed"]
    assert (triad["figure"], triad["n"], triad["missing"], triad["mean"]) == ("triad", 0, 1, None)


def test_a_table_that_may_have_been_cut_is_remarked(story: Story) -> None:
    cut = f"{CUT_TABLE}'NCCL INFO', and 2 lines like its rows follow"
    story.repeats = 3
    story.run("a", "passed", repeat=1, figures={"triad": 1.0})
    for repeat, verdict in ((2, "passed"), (3, "failed")):
        story.run("a", verdict, repeat=repeat, figures={"triad": 1.0}, problems=[f"figure triad: {cut}"])
    story.end()
    card = score(story.document(), story.record())
    assert card.remarks == (f"figure triad of test a may lack rows in 1 run: in r000002 {cut}",)


def test_the_interval_on_the_page_is_in_the_unit_of_the_value_beside_it(story: Story) -> None:
    from shakedown.report.page.filters import between

    story.repeats = 6
    story.values("a", [12.9, 8.7, 17.1, 13.0, 12.0, 14.0])
    story.must("value", ">=", 9.0, of="triad", unit="GB/s", statistic="mean", must=">= 9000 MB/s")
    criterion = story.only()
    assert "mean of 6 values of triad = 12950 MB/s, must >= 9000 MB/s" in criterion.arithmetic
    low, high = criterion.interval or (0.0, 0.0)
    assert between(criterion) == f"95% interval {1000 * low:.0f} to {1000 * high:.0f} MB/s"
