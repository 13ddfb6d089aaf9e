"""show contract: which rows are in force for which cases, which win and why, and what nothing asks about."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from click.testing import CliRunner

from shakedown import machine
from shakedown.cli.main import cli
from shakedown.model.errors import UsageError

TEST = """\
test: a
parameters: {n: [1, 2, 3]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s, better: higher}}
"""
CONTRACT = """\
contract: c
title: Phase 2
parties: {vendor: V, site: S}
columns: [test, where, figure, must, basis, clause, mode]
rows:
  - [a, {}, triad, ">= 1 GB/s", contract, SOW 4.2.1, ""]
  - [a, {n: [1, 2]}, triad, ">= 2 GB/s", contract, SOW 4.2.2, ""]
  - [a, {n: 1}, triad, "3 GB/s +-5%", contract, SOW 4.2.3, ""]
  - [b, {}, elapsed, "<= 1h", vendor, page 12 of a report with a title that is long enough for two lines, fill]
"""
SHOWN = """\
contract c: Phase 2 (vendor: V, site: S)
on system here, against 3 cases of plan p

a, 3 cases
  c:1  triad >= 1 GB/s
    contract; SOW 4.2.1; a run outside is judged performance
    in force for 1 of the 3 cases it matches
      c:2 wins for 1 case: it names 1 key, the other no key
      c:3 wins for 1 case: it names 1 key, the other no key
  c:2  triad >= 2 GB/s where n=1|2
    contract; SOW 4.2.2; a run outside is judged performance
    in force for 1 of the 2 cases it matches
      c:3 wins for 1 case: it names single values for 1 key, the other for no
      key
  c:3  triad 3 GB/s +-5% where n=1
    contract; SOW 4.2.3; a run outside is judged performance
    in force for 1 case

unjudged, rows that match no case:
  c:4  b: elapsed <= 1h in mode fill (vendor; page 12 of a report with a title
    that is long enough for two lines), contracts/c.yaml:9

unjudged, figures that no row asks about:
  a: elapsed
"""
PLAN = "plan: p\nsystem: here\ncontract: c\ncomponents: [{performance: {tests: [a]}}]\n"


@pytest.fixture
def room(site: Any, here: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A site with a plan, a contract, and a test that the plan does not run; we are inside it."""
    monkeypatch.setattr(machine, "this_system", lambda: here)
    site.test(TEST).test("test: b\nrun: {command: x}\n", "tests/b.yaml")
    site.write("contracts/c.yaml", CONTRACT)
    site.write("plans/p.yaml", PLAN)
    monkeypatch.chdir(site.path)
    return site


def shown(*words: str) -> str:
    result = CliRunner().invoke(cli, ["show", *words], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert isinstance(result.output, str)
    return result.output


def test_rows_are_shown_by_test_with_the_one_that_wins_and_why(room: Any) -> None:
    assert shown("contract", "p") == SHOWN
    assert shown("contract", "c") == shown("contract") == SHOWN
    assert max(map(len, SHOWN.splitlines())) <= 80


def test_without_a_plan_a_contract_is_held_against_all_cases_of_its_tests(room: Any) -> None:
    text = shown("contract", "c", "--system", "here")
    assert "on system here, against 4 cases of its tests" in text
    assert "  c:4  elapsed <= 1h in mode fill\n" in text
    assert "rows that match no case" not in text
    (room.path / "plans/p.yaml").unlink()
    assert shown("contract") == text


def test_json_has_every_row_with_its_cases(room: Any) -> None:
    data = json.loads(shown("contract", "--json"))
    assert [(row["row"]["name"], row["matches"], row["in_force"]) for row in data["rows"]] == [
        ("c:1", ["a/n=1", "a/n=2", "a/n=3"], ["a/n=3"]),
        ("c:2", ["a/n=1", "a/n=2"], ["a/n=2"]),
        ("c:3", ["a/n=1"], ["a/n=1"]),
        ("c:4", [], []),
    ]
    assert data["unjudged"] == {
        "rows": ["c:4"],
        "figures": [{"test": "a", "figure": "elapsed", "cases": ["a/n=1", "a/n=2", "a/n=3"]}],
    }
    lost = data["rows"][1]["beaten_by"]
    assert [(item["row"], item["cases"]) for item in lost] == [("c:3", ["a/n=1"])]


def test_csv_has_a_line_for_each_row(room: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(shown("contract", "--csv"))))
    assert [(row["row"], row["where"], row["must"], row["verdict"]) for row in rows] == [
        ("c:1", "", ">= 1 GB/s", "yes"),
        ("c:2", "n=1|2", ">= 2 GB/s", "yes"),
        ("c:3", "n=1", "3 GB/s +-5%", "yes"),
        ("c:4", "", "<= 1h", "no"),
    ]
    assert [(row["matches"], row["in force"]) for row in rows] == [("3", "1"), ("2", "1"), ("1", "1"), ("0", "0")]


def test_a_plan_says_which_contracts_it_is_judged_by(room: Any) -> None:
    assert "contract      c, 4 rows\n" in shown("plan", "p")


def test_names_that_could_mean_several_things_are_asked_back(room: Any) -> None:
    room.write("plans/q.yaml", PLAN.replace("plan: p", "plan: q"))
    room.write("plans/r.yaml", PLAN.replace("plan: p", "plan: r").replace("contract: c\n", ""))
    for words, message in (
        ((), "contract 'c' is used by 2 plans: p, q\nhint: name one of them, or a system: shakedown show contract p"),
        (
            ("c",),
            "contract 'c' is used by 2 plans: p, q\nhint: name one of them, or a system: shakedown show contract p",
        ),
        (("d",), "there is no contract 'd', and no plan\nhint: there are: c, p, q"),
        (("r",), "plan 'r' names no contract\nhint: in the plan's file: contract: NAME"),
    ):
        with pytest.raises(UsageError) as caught:
            shown("contract", *words)
        assert str(caught.value) == message
    room.write("contracts/d.csv", "test,figure,must,basis\na,elapsed,<= 1h,site\n")
    with pytest.raises(UsageError, match="which contract is to be shown"):
        shown("contract")
    with pytest.raises(UsageError, match="--csv is for a contract"):
        shown("plan", "p", "--csv")


def test_a_system_beside_a_plan_is_not_overlooked(room: Any) -> None:
    """The plan says which it is for: another would be left out of what is shown without a word."""
    for words in (["p", "--system", "nowhere"], ["p", "--system", "here"]):
        with pytest.raises(UsageError) as caught:
            shown("contract", *words)
        assert caught.value.message == "plan 'p' says itself which system it is for"
        assert caught.value.hint == "leave --system out, or name a contract: c"


def test_a_site_without_contracts_says_how_to_come_by_one(room: Any) -> None:
    (room.path / "contracts/c.yaml").unlink()
    room.write("plans/p.yaml", PLAN.replace("contract: c\n", ""))
    with pytest.raises(UsageError, match="there is no contract in contracts/"):
        shown("contract")
