"""Contract rows against a campaign: met, not met, undecided, unjudged; and figures that no row asks about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shakedown.metrics.judging.contract import ContractScore, RowScore, UnjudgedFigure, score_contract
from shakedown.metrics.judging.contract_measure import rows_met
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import WaiverRow
from shakedown.model.contracts import content, holds
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import Document, Mode


def row(number: int = 1, **fields: Any) -> ContractRow:
    usual: dict[str, Any] = {
        "name": f"c:{number}",
        "contract": "c",
        "test": "a",
        "figure": "triad",
        "basis": "contract",
    }
    usual |= {"must": ">= 10 GB/s", "low": 10.0, "unit": "GB/s"}
    return ContractRow(**(usual | fields))


def under(story: Any, *rows: ContractRow, modes: tuple[Mode, ...] = ()) -> Document:
    """The story's document with these rows, in force for every case of their test."""
    document: Document = story.document()
    cases = tuple(
        replace(case, rows=tuple(item.name for item in rows if item.test == case.test)) for case in document.cases
    )
    components = tuple(replace(component, modes=modes) for component in document.components)
    return replace(document, cases=cases, components=components, contracts=(Contract("c", rows),))


def scored(story: Any, *rows: ContractRow, ended: bool = True, modes: tuple[Mode, ...] = ()) -> ContractScore:
    if ended:
        story.end()
    document = under(story, *rows, modes=modes)
    found = score_contract(document, populations(document, story.record()))
    assert found is not None
    return found


def only(story: Any, item: ContractRow, ended: bool = True) -> RowScore:
    (found,) = scored(story, item, ended=ended).rows
    return found


def test_a_row_on_each_run_is_met_when_every_value_is_inside(story: Any) -> None:
    story.repeats = 3
    story.values("a/1", [12.0, 10.0, 11.0])
    found = only(story, row())
    assert (found.outcome, found.measured, found.count, found.outside, found.worst_run) == (
        "met",
        10.0,
        3,
        0,
        "r000002",
    )
    assert found.arithmetic == "3 of 3 values of triad inside >= 10 GB/s, the worst 10 GB/s (r000002)"


def test_one_value_outside_is_enough_and_is_known_before_the_end(story: Any) -> None:
    story.repeats = 5
    story.values("a/1", [12.0, 9.5, 11.0])
    found = only(story, row(), ended=False)
    assert (found.outcome, found.outside, found.to_come, found.worst_run) == ("not met", 1, 2, "r000002")
    assert found.arithmetic == "2 of 3 values of triad inside >= 10 GB/s, the worst 9.5 GB/s (r000002), 2 to come"


def test_while_results_are_to_come_nothing_is_met(story: Any) -> None:
    story.repeats = 2
    story.values("a/1", [12.0])
    found = only(story, row(), ended=False)
    assert (found.outcome, found.reason, found.to_come) == ("undecided", "results are still to come", 1)


def test_without_a_value_a_row_is_undecided_and_says_why(story: Any) -> None:
    story.case("a/1")
    assert only(story, row(), ended=False).reason == "nothing is judged yet"
    story.run("a/1", "failed")
    found = only(story, row())
    assert (found.outcome, found.reason) == ("undecided", "no run that completed correctly gave a value of triad")


@pytest.mark.parametrize("statistic", ["each", "mean"])
def test_a_row_is_not_met_while_one_of_its_cases_gave_no_value(story: Any, statistic: Any) -> None:
    """Two of three cases are fast; of the third nobody knows."""
    story.values("a/1", [12.0])
    story.values("a/2", [13.0])
    story.run("a/3", "failed")
    found = only(story, row(statistic=statistic))
    assert (found.outcome, found.count, found.to_come) == ("undecided", 2, 0)
    assert found.reason == "no value of triad counts of a/3"


def test_a_case_without_a_value_mends_no_row_and_one_that_ended_as_expected_blocks_none(story: Any) -> None:
    story.values("a/1", [9.0])
    story.run("a/2", "failed")
    assert only(story, row()).outcome == "not met"
    story.values("b/1", [12.0])
    story.case("b/2", expect="build_failed")
    story.run("b/2", "build_failed")
    found = only(story, row(test="b"))
    assert found.outcome == "met"
    assert found.arithmetic.endswith("; no value of b/2, which ended as expected")


def test_wrong_answers_give_no_values_and_slow_runs_do(story: Any) -> None:
    story.repeats = 3
    story.run("a/1", "incorrect", 1, figures={"triad": 1.0})
    story.run("a/1", "performance", 2, figures={"triad": 9.0})
    story.run("a/1", "passed", 3, figures={"triad": 11.0})
    found = only(story, row())
    assert (found.outcome, found.count, found.measured) == ("not met", 2, 9.0)


@pytest.mark.parametrize(
    ("statistic", "low", "high", "outcome", "measured"),
    [
        ("mean", 11.0, None, "met", 11.0),
        ("mean", 11.5, None, "not met", 11.0),
        ("median", None, 10.0, "met", 10.0),
        ("max", None, 12.0, "not met", 14.0),
        ("min", 9.0, None, "met", 9.0),
        ("sd", None, 2.0, "not met", 7.0**0.5),
    ],
)
def test_a_row_on_a_statistic_is_one_number_of_all(
    story: Any, statistic: Any, low: Any, high: Any, outcome: str, measured: float
) -> None:
    story.repeats = 3
    story.values("a/1", [9.0, 14.0, 10.0])
    found = only(story, row(statistic=statistic, low=low, high=high))
    assert (found.outcome, found.count) == (outcome, 3)
    assert found.measured == pytest.approx(measured)
    assert found.arithmetic.startswith(f"{statistic} of 3 values of triad = ")


def test_a_statistic_pools_the_cases_that_the_row_is_in_force_for(story: Any) -> None:
    story.values("a/1", [8.0])
    story.values("a/2", [14.0])
    story.values("b/1", [1000.0])
    assert only(story, row(statistic="mean")).measured == 11.0


@pytest.mark.parametrize(
    ("statistic", "values", "bounds", "outcome"),
    [
        ("max", [9.0, 21.0], {"low": None, "high": 20.0}, "not met"),  # a maximum only rises
        ("min", [9.0, 21.0], {"low": 10.0, "high": None}, "not met"),
        ("max", [9.0, 21.0], {"low": 30.0, "high": None}, "undecided"),
        ("min", [9.0, 21.0], {"low": None, "high": 5.0}, "undecided"),
        ("mean", [9.0, 21.0], {"low": None, "high": 10.0}, "undecided"),
        ("max", [9.0, 19.0], {"low": None, "high": 20.0}, "undecided"),
    ],
)
def test_before_the_end_a_statistic_is_judged_only_where_nothing_can_mend_it(
    story: Any, statistic: Any, values: list[float], bounds: Any, outcome: str
) -> None:
    story.repeats = 3
    story.values("a/1", values)
    assert only(story, row(statistic=statistic, **bounds), ended=False).outcome == outcome


def test_one_value_has_no_standard_deviation(story: Any) -> None:
    story.values("a/1", [9.0])
    found = only(story, row(statistic="sd", low=None, high=1.0))
    assert (found.outcome, found.reason) == ("undecided", "a standard deviation needs two values")


# ---- unjudged --------------------------------------------------------------------------------------------------------


def test_a_row_that_matches_nothing_is_unjudged_and_stays_in_its_place(story: Any) -> None:
    story.values("a/1", [12.0])
    found = scored(story, row(1), row(2, test="z"), row(3, figure="errors", low=None, high=0.0, unit=""))
    assert [score.outcome for score in found.rows] == ["met", "unjudged", "undecided"]
    assert found.rows[1].reason == "it matches no case of the plan"
    assert (found.count("met"), found.count("unjudged")) == (1, 1)


def test_a_row_whose_cases_cannot_run_here_is_unjudged(story: Any) -> None:
    story.case("a/1", unavailable="there is no compiler cc")
    found = only(story, row())
    assert (found.outcome, found.reason) == ("unjudged", "1 case of it unavailable: there is no compiler cc")
    assert found.unavailable  # the scorecard names it among its restrictions


def test_a_row_that_others_override_everywhere_is_unjudged_and_says_so(story: Any) -> None:
    story.values("a/1", [12.0])
    story.end()
    document = under(story, row(1), row(2))
    document = replace(document, cases=(replace(document.cases[0], rows=("c:2",)),))
    found = score_contract(document, populations(document, story.record()))
    assert found is not None
    assert (found.rows[0].outcome, found.rows[0].overridden) == ("unjudged", ("a/1",))
    assert found.rows[0].reason == "more specific rows are in force for 1 case that it matches"


def test_figures_that_no_row_asks_about_are_named_with_their_values(story: Any) -> None:
    story.values("a/1", [12.0])
    story.values("b/1", [7.0])
    assert scored(story, row()).figures == (
        UnjudgedFigure("a", "elapsed", "s", ("a/1",), 0),
        UnjudgedFigure("a", "errors", "", ("a/1",), 0),
        UnjudgedFigure("b", "elapsed", "s", ("b/1",), 0),
        UnjudgedFigure("b", "triad", "GB/s", ("b/1",), 1),
        UnjudgedFigure("b", "errors", "", ("b/1",), 0),
    )


def test_a_plan_without_a_contract_has_no_score_of_one(story: Any) -> None:
    story.values("a/1", [12.0])
    assert score_contract(story.document(), populations(story.document(), story.record())) is None


def test_a_row_in_a_mode_that_no_component_runs_is_unjudged(story: Any) -> None:
    story.values("a/1", [12.0])
    found = only(story, row(mode="fill"))
    assert (found.outcome, found.reason) == ("unjudged", "no component runs its 1 case in mode fill")


def test_a_row_in_a_mode_counts_the_runs_of_that_mode_alone(story: Any) -> None:
    story.run("a/1", figures={"triad": 4.0}, started=0.0, ended=1.0)
    story.end()
    rows = row(1, mode="isolated"), row(2, mode="fill"), row(3)
    document = under(story, *rows, modes=(Mode("isolated"), Mode("fill", copies=1)))
    record = story.record()
    record.runs = [replace(run, mode="isolated") for run in record.runs]
    found = score_contract(document, populations(document, record))
    assert found is not None
    assert [(score.outcome, score.count) for score in found.rows] == [("not met", 1), ("undecided", 0), ("not met", 1)]


# 0, and what is large enough to be a measurement.
MEASURED = st.floats(0, 20).filter(lambda value: value == 0 or value > 1e-99)


@given(st.lists(MEASURED, min_size=1, max_size=6), st.floats(0, 20), st.floats(0, 20))
def test_a_row_on_each_run_agrees_with_looking_at_each(values: list[float], one: float, other: float) -> None:
    from tests.metrics.conftest import Story

    item, told = row(low=min(one, other), high=max(one, other)), Story()
    told.repeats = len(values)
    told.values("a/1", values)
    found = only(told, item)
    assert found.outside == sum(not holds(item, value) for value in values)
    assert found.outcome == ("met" if all(holds(item, value) for value in values) else "not met")
    assert found.measured in values


# ---- rows met --------------------------------------------------------------------------------------------------------


def measured(story: Any, *rows: ContractRow, ended: bool = True, **fields: Any) -> Measured:
    if ended:
        story.end()
    document = under(story, *rows)
    population = populations(document, story.record())["main"]
    return rows_met(Criterion("k", "rows met", "=", 1.0, **fields), population, {item.name: item for item in rows})


ROWS = (row(1), row(2, low=20.0, must=">= 20 GB/s"), row(3, basis="vendor", low=30.0), row(4, test="z"))


def test_rows_met_counts_the_rows_of_its_basis_that_ask_about_its_cases(story: Any) -> None:
    story.values("a/1", [12.0])
    found = measured(story, *ROWS)
    assert (found.value, found.count, found.low, found.high) == (0.5, 2, 0.5, 0.5)
    assert found.arithmetic == "1 met / 2 rows = 50.0% (c:2 not met)"
    assert measured(story, *ROWS, basis="vendor").arithmetic == "0 met / 1 row = 0% (c:3 not met)"


def test_rows_met_may_still_go_either_way_where_rows_are_undecided(story: Any) -> None:
    story.repeats = 2
    story.values("a/1", [12.0])
    found = measured(story, *ROWS, ended=False)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.5)
    assert found.reason == "1 row undecided: c:1, results are still to come"


def test_rows_met_without_any_row_measures_nothing(story: Any) -> None:
    story.values("a/1", [12.0])
    found = measured(story, *ROWS, basis="site")
    assert (found.value, found.reason) == (None, "no row of basis site asks about a case of it")


def test_rows_that_cannot_be_judged_are_said_and_not_counted(story: Any) -> None:
    story.values("a/1", [12.0])
    found = measured(story, row(1), row(2, mode="fill"))
    assert (found.value, found.count) == (1.0, 1)
    assert found.arithmetic == "1 met / 1 row = 100%, 1 more unjudged"


def test_a_criterion_of_one_mode_asks_for_rows_of_that_mode_and_of_none(story: Any) -> None:
    story.values("a/1", [12.0])
    assert measured(story, row(1), row(2, mode="fill"), mode="isolated").count == 1


# ---- waivers ---------------------------------------------------------------------------------------------------------


def waiver(name: str, component: str = "main") -> WaiverRow:
    return WaiverRow("row", component, name, "only up to 64 nodes", "ada", "agreed", 9, 9.0)


def test_a_waived_row_stays_not_met_and_is_not_counted_as_met(story: Any) -> None:
    story.values("a/1", [9.0])
    story.end()
    document, rows = under(story, row(1)), {"c:1": row(1)}
    people = populations(document, story.record())
    found = score_contract(document, people, [waiver("c:1")])
    assert found is not None
    assert (found.rows[0].outcome, found.rows[0].outcome_words) == ("not met", "not met, waived")
    assert (found.rows[0].waiver, found.rows[0].waived_by) == ("only up to 64 nodes", "ada")
    asked = Criterion("k", "rows met", "=", 1.0)
    share = rows_met(asked, people["main"], rows, [waiver("c:1")], "main")
    assert (share.value, share.arithmetic) == (0.0, "0 met / 1 row = 0% (c:1 not met, waived)")
    assert rows_met(asked, people["main"], rows, [waiver("c:1")], "main", waived_count=True).value == 1.0
    assert rows_met(asked, people["main"], rows, [waiver("c:1", "other")], "main").value == 0.0
    assert rows_met(asked, people["main"], rows, [waiver("c:2")], "main").value == 0.0


def test_a_waiver_stays_with_its_row_when_an_amendment_moves_the_names(story: Any) -> None:
    """Row c:1 was waived; then a stricter row is written before it: it is c:1 now, and what was waived is c:2."""
    story.values("a/1", [9.0])
    story.add(
        "waived", value={"what": "row", "component": "main", "name": "c:1", "restriction": "r", "row": content(row(1))}
    )
    story.add("amended", value={"document": "e" * 64}, reason="one more row")
    story.end()
    document = under(story, row(1, must=">= 11 GB/s", low=11.0, where=(("toolchain", ("gcc",)),)), row(2))
    card = score(document, story.record())
    assert card.contract is not None
    assert [item.outcome_words for item in card.contract.rows] == ["not met", "not met, waived"]


@pytest.mark.parametrize("both", [True, False])
def test_a_row_that_one_of_two_components_waived_is_not_waived_as_a_whole(story: Any, both: bool) -> None:
    """The same case runs in two components, and is too slow in both."""
    story.values("a/1", [9.0])
    for name in ("submit_order", "verdict"):
        value = {"component": "other", "repeat": 1, "attempt": 1, "verdict": "passed", "figures": {"triad": 9.0}}
        story.add(name, run="r000009", job="j000009", case="a/1", value=value)
    story.end()
    document = under(story, row(1))
    twin = replace(document.components[0], name="other")
    document = replace(document, components=(*document.components, twin))
    waivers = [waiver("c:1"), *([waiver("c:1", "other")] if both else [])]
    found = score_contract(document, populations(document, story.record()), waivers)
    assert found is not None
    assert found.rows[0].outcome_words == ("not met, waived" if both else "not met")


def test_a_waiver_of_a_row_that_is_gone_is_remarked(story: Any) -> None:
    story.values("a/1", [9.0])
    story.add(
        "waived", value={"what": "row", "component": "main", "name": "c:1", "restriction": "r", "row": content(row(1))}
    )
    story.end()
    card = score(under(story, row(1, must=">= 8 GB/s", low=8.0)), story.record())
    assert card.remarks == (
        "contract row c:1 is waived as it was, and the plan in force has none that asks for the same",
    )


def test_a_waiver_that_is_not_needed_changes_nothing(story: Any) -> None:
    story.values("a/1", [12.0])
    story.end()
    document = under(story, row(1))
    found = score_contract(document, populations(document, story.record()), [waiver("c:1")])
    assert found is not None
    assert (found.rows[0].outcome_words, found.rows[0].waived) == ("met", False)


def test_the_scorecard_has_the_contract(story: Any) -> None:
    story.values("a/1", [12.0])
    story.end()
    card = score(under(story, row(1), row(2, test="z")), story.record())
    assert card.contract is not None
    assert [item.outcome for item in card.contract.rows] == ["met", "unjudged"]
    assert score(story.document(), story.record()).contract is None


@pytest.mark.parametrize(("test", "how"), [("", ", which a criterion allows"), ("b", " and in no criterion")])
def test_an_acceptance_names_the_rows_that_are_not_met_and_says_whether_a_criterion_allows_it(
    story: Any, test: str, how: str
) -> None:
    """Half of the rows must be met and are; of the other half the sentence on the whole speaks all the same."""
    story.values("a/1", [12.0])
    story.values("b/1", [12.0])
    story.must("rows met", ">=", 0.5, test=test)
    story.end()
    rows = (row(1), row(2, must=">= 20 GB/s", low=20.0), row(3, test="b"))
    card = score(under(story, *rows), story.record())
    told = f"accepted with restrictions: the only criterion is met; 1 contract row is not met{how} (c:2)"
    assert (card.outcome, card.summary) == ("accepted with restrictions", told)
    assert [line.partition(":2")[0] for line in card.restrictions] == ["contract row c"]
    assert score(under(story, rows[0], replace(rows[1], basis="vendor"), rows[2]), story.record()).outcome == "accepted"


# ---- one bound from each of two rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "outcomes"),
    [
        ((15.0, 7.0), ("met", "met")),  # 15 in 10..20; 7 in 5..20
        ((15.0, 25.0), ("not met", "met")),  # 25 is above the general row's 20
        ((15.0, 4.0), ("met", "not met")),  # 4 is below the specific row's 5, which the general row does not ask about
        ((9.0, 7.0), ("not met", "met")),  # 9 is below the general row's 10
    ],
)
@pytest.mark.parametrize("statistic", ["each", "mean"])
def test_a_specific_lower_bound_keeps_the_general_upper_bound(
    story: Any, statistic: Any, values: tuple[float, float], outcomes: tuple[str, str]
) -> None:
    """10..20 GB/s, and >= 5 GB/s for a/2. On a mean each bound is held against the cases it is in force for: 20 against both."""
    for case, value in zip(("a/1", "a/2"), values, strict=True):
        story.values(case, [value])
    story.must("rows met", "=", 1.0, name="rows")
    story.end()
    general = row(1, must="10..20 GB/s", low=10.0, high=20.0, statistic=statistic)
    special = row(2, must=">= 5 GB/s", low=5.0, where=(("n", ("2",)),), statistic=statistic)
    document = under(story, general, special)
    cases = (
        replace(document.cases[0], rows=("c:1",)),
        replace(document.cases[1], rows=("c:1", "c:2"), sides=(("c:1", "high"),)),
    )
    card = score(replace(document, cases=cases), story.record())
    assert card.contract is not None
    if statistic == "mean" and values[1] == 25.0:
        outcomes = ("met", "met")  # (15 + 25) / 2 = 20, and 15 alone is at least 10
    assert tuple(item.outcome for item in card.contract.rows) == outcomes
    assert card.outcome == ("accepted" if outcomes == ("met", "met") else "rejected")
    assert card.components[0].criteria[0].measured == outcomes.count("met") / 2


def test_the_value_beyond_the_bound_that_a_case_keeps_is_named(story: Any) -> None:
    story.values("a/1", [15.0])
    story.values("a/2", [25.0])
    story.end()
    general = row(1, must="10..20 GB/s", low=10.0, high=20.0)
    document = under(story, general)
    cases = (document.cases[0], replace(document.cases[1], sides=(("c:1", "high"),)))
    found = score_contract(replace(document, cases=cases), populations(replace(document, cases=cases), story.record()))
    assert found is not None
    (only_row,) = found.rows
    assert (only_row.outside, only_row.measured, only_row.worst_run) == (1, 25.0, "r000002")
