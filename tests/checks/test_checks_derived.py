"""Figures computed from others: units, order, what is missing."""

from __future__ import annotations

import pytest

from shakedown.checks.derived import derive
from shakedown.checks.judge import judge
from shakedown.model.figures import FigureSpec, Table
from shakedown.model.formulas import FormulaError, amount, names_in, value
from shakedown.model.nouns import Case, Check, Test
from shakedown.model.ports import Evidence, JobReport

SYPD = FigureSpec("sypd", unit="years/day", regex="x")
RATE = FigureSpec("rate", unit="TFLOP/s", regex="x")


def test_a_share_of_the_peak_comes_out_in_per_cent_whatever_the_units() -> None:
    share = FigureSpec(
        "efficiency",
        "%",
        formula="rate / (nodes * node.peak)",
        given=(("nodes", 4.0, ""), ("node.peak", 2e12, "FLOP/s")),
    )
    assert derive([RATE, share], [("rate", 3.2)], 10.0) == ((("efficiency", 40.0),), ())


def test_weights_of_one_unit_stay_in_it_and_the_run_time_is_a_figure_too() -> None:
    blend = FigureSpec("blend", "years/day", formula="2/3 * sypd + 1/3 * sypd")
    pace = FigureSpec("pace", "s", formula="elapsed / 4")
    assert derive([SYPD, blend, pace], [("sypd", 3.0)], 8.0)[0] == (("blend", 3.0), ("pace", 2.0))


@pytest.mark.parametrize(("unit", "expected"), [("1/s", 25.0), ("1/min", 1500.0), ("1/ms", 0.025), ("Hz", 25.0)])
def test_a_number_over_a_time_can_be_in_one_over_a_unit_of_time(unit: str, expected: float) -> None:
    assert value("100 / loop", {"loop": amount(4000.0, "ms")}, unit) == pytest.approx(expected)
    assert value("rate * loop", {"loop": amount(4.0, "s"), "rate": amount(expected, unit)}, "") == pytest.approx(100.0)


def test_formulas_are_computed_in_the_order_in_which_they_need_each_other() -> None:
    twice = FigureSpec("twice", "TFLOP/s", formula="once + once")
    once = FigureSpec("once", "TFLOP/s", formula="rate")
    assert dict(derive([twice, once, RATE], [("rate", 1.5)], None)[0]) == {"once": 1.5, "twice": 3.0}


@pytest.mark.parametrize(
    ("formula", "unit", "said"),
    [
        ("rate + elapsed", "s", "it adds FLOP/s and s"),
        ("rate", "GB/s", "it comes out in FLOP/s, and the figure is in GB/s"),
        ("rate / 0", "TFLOP/s", "it divides by zero"),
        ("gone * 2", "", "gone is missing"),
        ("(0 - 1) ** 0.5", "", "a negative number has no such power"),
        ("10 ** 99 ** 2", "", "a power of 9801 is too large"),
    ],
)
def test_what_has_no_value_says_why(formula: str, unit: str, said: str) -> None:
    with pytest.raises(FormulaError, match="^" + said.replace("*", r"\*")):
        value(formula, {"rate": amount(2.0, "TFLOP/s"), "elapsed": amount(5.0, "s")}, unit)


def test_means_and_numbers_without_their_units_make_a_score() -> None:
    given = {"bw": amount(2.0, "GiB/s"), "iops": amount(8.0, "kIOPS")}
    assert value("sqrt(number(bw) * number(iops))", given, "score") == 4.0
    assert value("gmean(number(bw), number(iops))", given, "") == pytest.approx(4.0)
    assert value("hmean(1, 4, 4)", given, "") == pytest.approx(2.0)


@pytest.mark.parametrize(
    "formula", ["", "a b", "__import__('os')", "[1]", "lambda: 1", "a if b else c", "f(1)", "min()"]
)
def test_nothing_else_is_a_formula(formula: str) -> None:
    with pytest.raises(FormulaError, match="is not a formula"):
        names_in(formula)


def test_a_dash_in_a_name_is_no_minus() -> None:
    assert names_in("random-ring - best") == ("random-ring", "best")


def _judged(
    figures: tuple[FigureSpec, ...], taken: tuple[tuple[str, float], ...], problems: tuple[str, ...] = ()
) -> tuple[str, str]:
    test = Test("t", checks=(Check("exit", "exit", "0", "exit is 0"),), figures=figures)
    report = JobReport("j", "completed", "local", exit_status=0, elapsed_s=5.0)
    found = judge(Case("t", "t", "p"), test, report, Evidence("r", figures=taken, problems=problems))
    return found.verdict, found.reason


def test_a_run_whose_formula_has_no_value_is_incorrect_and_says_which_input_is_missing() -> None:
    half = FigureSpec("half", "TFLOP/s", formula="rate / 2")
    optional = FigureSpec("rate", unit="TFLOP/s", regex="x", required=False)
    assert _judged((optional, half), ()) == ("incorrect", "figure half is missing: rate is missing")
    assert _judged((optional, half), (("rate", 3.0),))[0] == "passed"


def test_a_row_without_a_number_makes_a_run_incorrect_and_a_table_with_rows_is_there() -> None:
    table = FigureSpec("lat", "us", table=Table(header="^n", column="lat", by=("n",)))
    assert _judged((table,), (("lat[n=8]", 1.0),))[0] == "passed"
    assert _judged((table,), ()) == ("incorrect", "figure lat is missing")
    problem = "figure lat[n=4]: 'nan' is no finite number"
    assert _judged((table,), (("lat[n=8]", 1.0),), (problem,)) == (
        "incorrect",
        "figure lat[n=4] is missing: 'nan' is no finite number",
    )


def test_a_formula_that_gives_no_measurement_has_no_value_and_neither_have_those_that_need_it() -> None:
    huge = FigureSpec("huge", formula="number(rate) ** 60")
    more = FigureSpec("more", formula="huge + 1", required=False)
    found, problems = derive([RATE, huge, more], [("rate", 100.0)], None)
    assert found == () and problems[0] == "figure huge: 1e+120 is no measurement: its size is 1e+100 or more"
    assert "huge" in problems[1]
