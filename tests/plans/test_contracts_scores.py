"""Contract rows on scores of the plan: read without a plan, in the unit of the score once a plan names them."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import FileProblems
from shakedown.model.events import Event
from shakedown.plans.checking import check_site
from shakedown.plans.contracts.contract_views import row_views, scene

TEST = "test: m\nrun: {command: x}\nfigures: {rate: {regex: 'rate (?P<value>[0-9.]+)', unit: GB/s, better: higher}}\n"
PLAN = """\
plan: p
system: here
contract: deal
components: [{performance: {tests: [m], repeats: 2}}]
scores:
  ssp:
    kind: ssp
    nodes: 10
    parts:
      one: {test: m, tflop: 100, nodes: 1}
      two: {time: 20 s, tflop: 100, nodes: 1}
"""
OTHER_PLAN = """\
plan: other
system: here
contract: deal
components: [{performance: {tests: [m]}}]
scores:
  ci: {kind: ci, parts: {one: {test: m, baseline: {time: 20 s}}}}
"""
CONTRACT = """\
contract: deal
columns: [test, where, figure, must, basis, clause]
rows:
  - [scores, {}, ssp, ">= 50 TFLOP/s", contract, SOW 7]
  - [scores, {}, ssp, "> 0.1 PFLOP/s", vendor, ""]
  - [scores, {}, ssp.one, ">= 80", site, ""]
  - [scores, {}, ci, ">= 4", contract, ""]
"""


@pytest.fixture
def room(site: Any) -> Any:
    site.write("contracts/deal.yaml", CONTRACT)
    site.write("plans/other.yaml", OTHER_PLAN)
    return site.test(TEST, "tests/m.yaml")


def card(room: Any, times: list[float], plan: str = PLAN) -> Scorecard:
    document = room.plan(plan)
    events = [Event("campaign_start", value={"campaign": "c", "plan": "p", "document": "d"})]
    for number, seconds in enumerate(times, 1):
        about = {"component": "performance", "repeat": number, "attempt": 1, "verdict": "passed", "elapsed_s": seconds}
        events.append(Event("verdict", run=f"r{number}", case=document.cases[0].id, value=about))
    placed = [
        Event(one.event, n, float(n), case=one.case, run=one.run, value=one.value) for n, one in enumerate(events, 1)
    ]
    return score(document, fold_runs(placed))


def test_rows_are_in_the_unit_of_the_score_and_hold_what_it_is_computed_from(room: Any) -> None:
    rows = room.plan(PLAN).contracts[0].rows
    assert [(row.low, row.unit, row.strict) for row in rows] == [
        (50.0, "TFLOP/s", False),
        (100.0, "TFLOP/s", True),
        (80.0, "TFLOP/s", False),
        (4.0, "", False),
    ]
    other = (
        room.plan(PLAN.replace("tflop: 100, nodes: 1}\n      two", "tflop: 101, nodes: 1}\n      two"))
        .contracts[0]
        .rows
    )
    assert [row.inputs == before.inputs for row, before in zip(other, rows, strict=True)] == [False, False, False, True]


def test_a_row_comes_out_as_the_number_of_its_score(room: Any) -> None:
    """ssp = 10 nodes x sqrt(100 / 10 x 100 / 20) = 70.7 TFLOP/s; the part alone 10 x 100 / 10 = 100."""
    rows = card(room, [10.0, 9.0]).contract
    assert rows is not None
    assert [score.outcome for score in rows.rows] == ["met", "not met", "met", "unjudged"]
    assert rows.rows[0].measured == pytest.approx(70.71068) and rows.rows[2].measured == pytest.approx(100)
    assert "ssp = 70.71068 TFLOP/s" in rows.rows[0].arithmetic and "it hangs on one r1" in rows.rows[0].arithmetic
    assert rows.rows[3].reason == "the plan has no score 'ci'"


def test_a_row_is_undecided_while_runs_are_missing(room: Any) -> None:
    for times, why in (([], "one: "), ([10.0], "results are still to come")):
        contract = card(room, times).contract
        assert contract is not None and [score.outcome for score in contract.rows][:3] == ["undecided"] * 3
        assert why in contract.rows[0].reason


def test_show_contract_says_which_cases_a_row_on_a_score_is_about(room: Any, here: Any) -> None:
    room.plan(PLAN)
    views = row_views(scene(room.path, "p", None, lambda: here))
    assert [view.matches for view in views] == [("m", "two"), ("m", "two"), ("m",), ()]


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        (">= 50 TFLOP/s", "<= 50 TFLOP/s", "is no bound of a score: more is better", "write >= or >"),
        (">= 50 TFLOP/s", ">= 50 GB/s", "score ssp is in TFLOP/s, not in GB/s", "write TFLOP/s"),
        (">= 50 TFLOP/s", ">= 0", "'0' is no amount of a score", "above 0"),
        (">= 50 TFLOP/s", ">= many", "must: ", ""),
        ("[scores, {}, ssp, \">= 50", "[scores, {n: 2}, ssp, \">= 50", "a score has its cases from the plan", "'where' empty"),
        ("basis, clause]", "basis, mode]", "a row on a score is about no single run", "leave 'mode' empty"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_cell(room: Any, old: str, new: str, said: str, hint: str) -> None:
    text = CONTRACT.replace(old, new, 1)
    room.write("contracts/deal.yaml", text.replace("SOW 7", "fill") if "mode]" in new else text)
    with pytest.raises(FileProblems) as caught:
        room.plan(PLAN)
    texts = [str(problem) for problem in caught.value.problems]
    assert any(said in text and hint in text and "contracts/deal.yaml:" in text for text in texts), texts


def test_a_score_that_no_plan_has_is_an_error_with_the_nearest_name(room: Any, here: Any) -> None:
    """The other plan's score is none of this plan's, but some plan has it; a misspelt one nobody has."""
    room.write(
        "contracts/deal.yaml",
        CONTRACT.replace("ssp.one", "ssp.onne").replace("[scores, {}, ci,", "[scores, {}, ci.one,"),
    )
    with pytest.raises(FileProblems) as caught:
        room.plan(PLAN)
    (told,) = caught.value.problems
    assert (told.path, told.line) == ("site/contracts/deal.yaml", 6)
    assert told.message == "figure: no plan with contract 'deal' has a score 'ssp.onne'"
    assert told.hint == "did you mean 'ssp.one'?"
    checked = check_site(room.path, lambda: here)
    assert [(one.line, one.message) for one in checked.problems] == [(6, told.message)]


def test_the_scores_of_a_plan_with_another_contract_do_not_count(room: Any) -> None:
    room.write("plans/other.yaml", OTHER_PLAN.replace("contract: deal\n", ""))
    with pytest.raises(FileProblems) as caught:
        room.plan(PLAN)
    assert [one.message for one in caught.value.problems] == ["figure: no plan with contract 'deal' has a score 'ci'"]


def test_a_contract_that_no_plan_names_is_held_against_all_plans(room: Any, here: Any) -> None:
    room.plan(PLAN)
    room.write(
        "contracts/spare.yaml", CONTRACT.replace("contract: deal", "contract: spare").replace("{}, ssp,", "{}, spp,", 1)
    )
    (told,) = check_site(room.path, lambda: here).problems
    assert (told.path, told.message) == ("site/contracts/spare.yaml", "figure: no plan of the site has a score 'spp'")
    assert told.hint == "did you mean 'ssp'?"


def test_beside_a_plan_that_cannot_be_read_nothing_is_told_of_its_scores(room: Any) -> None:
    room.write("plans/other.yaml", "plan: other\nscores: [\n")
    room.plan(PLAN)


def test_a_test_that_is_called_scores_is_a_test(room: Any) -> None:
    room.test(TEST.replace("test: m", "test: scores"), "tests/scores.yaml")
    room.write(
        "contracts/deal.yaml",
        CONTRACT.split("  - ", maxsplit=1)[0] + '  - [scores, {}, rate, ">= 1 GB/s", contract, ""]\n',
    )
    (row,) = room.plan(PLAN.replace("tests: [m]", "tests: [m, scores]")).contracts[0].rows
    assert (row.test, row.unit, row.inputs, row.statistic) == ("scores", "GB/s", "", "each")
