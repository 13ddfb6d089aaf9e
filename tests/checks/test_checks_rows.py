"""A run that completed correctly and lies outside a contract row is judged performance, by the rows frozen in its plan."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.checks.judge import REASON_LIMIT, judge
from shakedown.model.contracts import beside, distance, holds, rows_of
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case, Check, Document, FigureSpec, System, Test
from shakedown.model.ports import CheckResult, Evidence, JobReport

CASE = Case("stream", "stream", "local:all")
TRIAD = Test("stream", figures=(FigureSpec("triad", unit="GB/s", required=False),))


def row(**fields: Any) -> ContractRow:
    usual: dict[str, Any] = {"name": "c5:3", "contract": "c5", "test": "stream", "figure": "triad"}
    usual |= {"must": ">= 10 GB/s", "basis": "contract", "low": 10.0, "unit": "GB/s", "verdict": True}
    return ContractRow(**(usual | fields))


def verdict(
    *rows: ContractRow, triad: float | None = 9.0, elapsed: float | None = 1.5, mode: str = "", case: Case = CASE
) -> tuple[str, str]:
    report = JobReport("j000001", "completed", "local", exit_status=0, elapsed_s=elapsed)
    evidence = Evidence("r000001", figures=() if triad is None else (("triad", triad),))
    judgement = judge(case, TRIAD, report, evidence, rows, mode)
    return judgement.verdict, judgement.reason


def test_the_reason_names_figure_value_bound_row_and_clause() -> None:
    assert verdict(row(clause="SOW 4.2.1")) == (
        "performance",
        "triad is 9 GB/s, must be >= 10 GB/s (c5:3, contract, SOW 4.2.1)",
    )


def test_a_run_inside_passes_and_says_by_how_many_rows() -> None:
    assert verdict(row(), triad=10.0) == ("passed", "exit status 0, 1 figure taken, inside 1 contract row")
    assert verdict(row(), row(low=None, high=20.0), triad=10.0)[1].endswith("inside 2 contract rows")


@pytest.mark.parametrize(
    ("unit", "triad", "wanted"),
    [
        ("MB/s", 9000.0, ("performance", "triad is 9 GB/s, must be >= 10 GB/s (c5:3, contract)")),
        ("MB/s", 11000.0, ("passed", "exit status 0, 1 figure taken, inside 1 contract row")),
        ("s", 11.0, ("passed", "exit status 0, 1 figure taken; c5:3 is in another unit and was not asked")),
    ],
)
def test_a_row_of_before_an_amendment_is_asked_in_its_own_unit(
    unit: str, triad: float, wanted: tuple[str, str]
) -> None:
    """The run is judged again by an amended test that takes the figure in another unit; the row in force for it is the old one."""
    amended = Test("stream", figures=(FigureSpec("triad", unit=unit, required=False),))
    report = JobReport("j000001", "completed", "local", exit_status=0, elapsed_s=1.5)
    judgement = judge(CASE, amended, report, Evidence("r000001", figures=(("triad", triad),)), (row(),), "")
    assert (judgement.verdict, judgement.reason) == wanted


def test_a_run_outside_several_rows_names_the_first_and_counts_the_rest() -> None:
    found = verdict(row(), row(name="c5:4", figure="elapsed", must="<= 1 s", low=None, high=1.0, unit="s"), row())
    assert found[1] == "triad is 9 GB/s, must be >= 10 GB/s (c5:3, contract) (and outside 2 contract rows more)"


def test_the_run_time_is_always_there_to_be_judged() -> None:
    bound = row(figure="elapsed", must="<= 1.5 s", low=None, high=1.5, unit="s")
    assert verdict(bound, triad=None)[0] == "passed"
    assert verdict(bound, elapsed=1.500001) == (
        "performance",
        "elapsed is 1.500001 s, must be <= 1.5 s (c5:3, contract)",
    )


@pytest.mark.parametrize("absent", [row(), row(figure="elapsed", low=None, high=0.1, unit="s")])
def test_a_value_that_is_not_there_is_outside_of_nothing(absent: ContractRow) -> None:
    assert verdict(absent, triad=None, elapsed=None) == ("passed", "exit status 0")


@pytest.mark.parametrize("other", [{"verdict": False}, {"statistic": "mean"}, {"mode": "isolated"}])
def test_rows_that_judge_no_run_of_this_kind(other: dict[str, Any]) -> None:
    assert verdict(row(**other), mode="fill") == ("passed", "exit status 0, 1 figure taken")


def test_rows_of_a_mode_judge_its_runs_and_no_row_judges_a_warm_up() -> None:
    assert verdict(row(mode="fill"), mode="fill")[0] == "performance"
    assert verdict(row(), mode="fill")[0] == "performance"
    assert verdict(row(), mode="warm-up")[0] == "passed"


@pytest.mark.parametrize(
    ("state", "held", "wanted"),
    [("failed", True, "failed"), ("timeout", True, "timeout"), ("completed", False, "incorrect")],
)
def test_only_what_completed_correctly_is_held_against_rows(state: str, held: bool, wanted: str) -> None:
    check = Check("contains", "output", "ok", 'output contains "ok"')
    test = Test("stream", checks=(check,), figures=TRIAD.figures)
    report = JobReport("j000001", state, "local", exit_status=None if state == "timeout" else int(state == "failed"))
    evidence = Evidence("r000001", (CheckResult(check.text, held, ""),), (("triad", 1.0),))
    assert judge(CASE, test, report, evidence, [row()]).verdict == wanted


def test_an_expected_performance_verdict_says_so() -> None:
    case = Case("stream", "stream", "local:all", expect="performance", because="one memory channel is empty")
    assert verdict(row(), case=case)[1].startswith("as expected: one memory channel is empty (triad is 9 GB/s")


def test_what_a_person_wrote_in_a_row_does_not_burst_the_reason() -> None:
    name, why = verdict(row(clause="x" * 5000, must=">= \x1b[31m10"), row())
    assert (name, len(why)) == ("performance", REASON_LIMIT)
    assert "\x1b" not in why


def test_rows_are_looked_up_by_the_names_frozen_in_the_case() -> None:
    rows = (row(name="c5:1"), row(name="c5:2"), row(name="c5:3"))
    contracts = (Contract("c5", rows), Contract("d", (row(name="d:1"),)))
    case = Case("stream", "stream", "local:all", rows=("c5:3", "d:1"))
    document = Document("p", System("s", (), ()), (), (case,), (TRIAD,), contracts=contracts)
    assert [found.name for found in rows_of(document, case)] == ["c5:3", "d:1"]
    assert rows_of(document, CASE) == ()


# ---- values and bounds -----------------------------------------------------------------------------------------------

NUMBERS = st.floats(-1e6, 1e6)


def test_a_bound_that_converting_units_moved_by_the_last_bit_still_holds() -> None:
    assert holds(row(low=0.1 + 0.2), 0.3)
    assert holds(row(low=None, high=0.3), 0.1 + 0.2)
    assert not holds(row(low=0.1 + 0.2, strict=True), 0.3)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_value_is_inside_exactly_where_both_sides_say_so(low: float, high: float, value: float) -> None:
    both = row(low=low, high=high)
    assert holds(both, value) == (holds(row(low=low), value) and holds(row(low=None, high=high), value))
    assert holds(both, value) or distance(both, value) > 0


@given(NUMBERS, NUMBERS)
def test_a_value_outside_never_looks_like_its_bound(bound: float, value: float) -> None:
    outside = row(low=bound)
    if not holds(outside, value):
        assert beside(value, outside) != beside(bound, outside)
