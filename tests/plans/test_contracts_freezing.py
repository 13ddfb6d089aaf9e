"""Contracts from their files into the frozen document: rows, the cases they are in force for, the digests of the files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shakedown.conductor.record.differences import differences, shortened
from shakedown.model.contracts import rows_of
from shakedown.model.errors import FileProblems
from shakedown.model.frozen import freeze, thaw
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Document, Source
from shakedown.plans.schema.contract import COLUMNS as ALL_COLUMNS

TEST = """\
test: a
parameters: {n: [1, 2, 3], m: [x, y]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s, better: higher}, plain: {json: b}}
"""
PLAN = "plan: p\nsystem: here\ncontract: c\ncomponents: [{performance: {tests: [a]}}]\n"
HEAD = "contract: c\ncolumns: [test, where, figure, must, basis]\nrows:\n"


def in_force(site: Any, *rows: str, head: str = HEAD) -> dict[str, tuple[str, ...]]:
    """Case -> rows, of a plan whose contract has these rows."""
    site.test(TEST).write("contracts/c.yaml", head + "".join(f"  - {row}\n" for row in rows))
    return {case.id.removeprefix("a/"): case.rows for case in site.plan(PLAN).cases}


def test_a_more_specific_row_that_bounds_one_side_keeps_the_other_side_of_the_general_row(site: Any) -> None:
    """10..20 GB/s, and at least 5 where n is 2: there 5..20. A third row takes the upper bound away where n is 3 and m is y."""
    rows = ['[a, {}, triad, "10..20 GB/s", contract]', '[a, {n: 2}, triad, ">= 5 GB/s", contract]',
            '[a, {n: 3, m: y}, triad, "<= 40 GB/s", contract]', '[a, {n: 1}, triad, "4..30 GB/s", contract]']  # fmt: skip
    in_force(site, *rows)
    document = site.plan(PLAN)
    found = {case.id: [(row.name, row.low, row.high) for row in rows_of(document, case)] for case in document.cases}
    assert found["a/n=2,m=x"] == found["a/n=2,m=y"] == [("c:1", None, 20.0), ("c:2", 5.0, None)]
    assert found["a/n=3,m=x"] == [("c:1", 10.0, 20.0)]
    assert found["a/n=3,m=y"] == [("c:1", 10.0, None), ("c:3", None, 40.0)]
    assert found["a/n=1,m=x"] == [("c:4", 4.0, 30.0)]
    assert thaw(freeze(document)) == document


def test_a_specific_bound_beyond_the_general_one_of_the_other_side_is_told(site: Any) -> None:
    with pytest.raises(FileProblems) as caught:
        in_force(site, '[a, {}, triad, "10..20 GB/s", contract]', '[a, {n: 2}, triad, ">= 30 GB/s", contract]')
    (problem,) = caught.value.problems
    assert "nothing can meet '10..20 GB/s' (c:1) and '>= 30 GB/s' (c:2) for triad of a/" in problem.message
    assert problem.hint is not None and "replaces only the bounds that it names: let it name both" in problem.hint


def test_two_rows_that_both_bound_a_figure_are_told_once_whether_a_value_can_meet_both_or_not(site: Any) -> None:
    with pytest.raises(FileProblems) as caught:
        in_force(site, '[a, {}, triad, "10..20 GB/s", contract]', '[a, {}, triad, "30..40 GB/s", contract]')
    (problem,) = caught.value.problems
    assert "rows c:1 and c:2 both bound triad of a" in problem.message


def test_a_contract_is_frozen_with_the_plan(example: Any) -> None:
    document = example.read()
    phase2, history = document.contracts
    assert phase2.parties == (("vendor", "A vendor"), ("site", "A site"))
    assert (phase2.name, phase2.title, phase2.about) == ("phase2", "Phase 2, as ordered", "what the machine must do")
    assert phase2.rows[0] == ContractRow(
        name="phase2:1",
        contract="phase2",
        test="cm4",
        figure="elapsed",
        must="<= 4355 s",
        basis="contract",
        where=(("toolchain", ("intel-classic",)),),
        high=4355.0,
        unit="s",
        verdict=True,
        clause="SOW 4.2.1",
        place="contracts/phase2.yaml:7",
    )
    assert phase2.rows[1].where == (("toolchain", ("intel-classic", "intel-oneapi")), ("threads", ("2",)))
    assert (phase2.rows[2].statistic, phase2.rows[2].mode, phase2.rows[2].about) == (
        "mean",
        "fill",
        "as in the year before",
    )
    assert history == Contract(
        "history",
        (
            ContractRow(
                name="history:1",
                contract="history",
                test="cm4",
                figure="sypd",
                must="9 years/day -5%",
                basis="history",
                where=(("threads", ("2",)),),
                low=8.55,
                value=9.0,
                unit="years/day",
                about="one machine, once",
                place="contracts/history.csv:3",
            ),
        ),
    )
    assert thaw(freeze(document)) == document


def test_every_case_knows_the_rows_in_force_for_it(example: Any) -> None:
    document = example.read()
    assert {case.id: case.rows for case in document.cases} == {
        "stream": (),
        "cm4/threads=1,toolchain=intel-classic": ("phase2:1", "phase2:3"),
        "cm4/threads=2,toolchain=intel-classic": ("phase2:1", "phase2:2", "phase2:3", "history:1"),
        "cm4/threads=2,toolchain=intel-oneapi": ("phase2:2", "phase2:3", "history:1"),
        "minisweep": (),
    }
    (case,) = [case for case in document.cases if case.id == "cm4/threads=2,toolchain=intel-oneapi"]
    assert [row.name for row in rows_of(document, case)] == ["phase2:2", "phase2:3", "history:1"]


def test_the_document_keeps_the_digest_of_every_contract(example: Any) -> None:
    sources = example.read().sources
    for name in ("contracts/phase2.yaml", "contracts/history.csv"):
        assert Source(name, hashlib.sha256((example.path / name).read_bytes()).hexdigest()) in sources


def test_a_plan_without_a_contract_has_no_rows_and_the_same_digest_whatever_contracts_there_are(site: Any) -> None:
    site.test(TEST)
    before = site.plan(PLAN.replace("contract: c\n", ""))
    site.write("contracts/c.yaml", HEAD + '  - [a, {}, triad, ">= 1 GB/s", contract]\n')
    assert site.plan(PLAN.replace("contract: c\n", "")) == before
    assert before.contracts == ()


def test_a_fault_in_another_contract_stops_no_plan(site: Any) -> None:
    site.write("contracts/broken.yaml", "contract: broken\nrows: 7\n")
    assert in_force(site, '[a, {}, triad, ">= 1 GB/s", contract]')["n=1,m=x"] == ("c:1",)


AMENDED = """\
plan: p
system: here
contract: c
limits: {queued: 9}
components:
  - performance:
      tests: [a]
      repeats: 4
      criteria:
        rate: {measure: value, of: triad, must: ">= 9 GB/s", enough: 3}
        new: {measure: correct / completed, must: "= 100%"}
"""


def test_an_amendment_says_which_rows_changed_from_what_to_what(site: Any) -> None:
    """Two parties sign the change of a bound: that a contract "is changed" tells them nothing."""
    rows = ['[a, {n: 1}, triad, ">= 1 GB/s", contract]', '[a, {}, triad, ">= 1 GB/s", vendor]']
    site.test(TEST).write("contracts/c.yaml", HEAD + "".join(f"  - {row}\n" for row in rows))
    before = site.plan(PLAN)
    rows = ['[a, {n: 2}, elapsed, "<= 1h", site]', rows[0].replace(">= 1", ">= 2")]
    site.write("contracts/c.yaml", HEAD + "".join(f"  - {row}\n" for row in rows))

    lines = [line for line in differences(before, site.plan(PLAN)) if line.startswith("contract")]

    note = " (a run outside is judged performance)"
    assert lines == [
        "contract c is changed: no longer vendor's a: triad >= 1 GB/s",
        "contract c is changed: now site's a: elapsed where n=2 <= 1h",
        f"contract c is changed: contract's a: triad where n=1 >= 1 GB/s{note} -> >= 2 GB/s{note}",
    ]


def test_an_amendment_says_what_else_changed(site: Any) -> None:
    site.test(TEST).write("contracts/c.yaml", HEAD + '  - [a, {n: 1}, triad, ">= 1 GB/s", contract]\n')
    before = site.plan(AMENDED.replace("9 GB/s", "8 GB/s").replace("repeats: 4", "repeats: 2").replace("new:", "old:"))
    after = site.plan(AMENDED.replace("queued: 9", "queued: 5"))

    assert differences(before, after) == [
        "component performance is changed: repeats 2 -> 4",
        "component performance is changed: criterion old is removed",
        "component performance is changed: criterion new is added",
        "component performance is changed: criterion rate is changed: must >= 8 GB/s -> >= 9 GB/s",
        "limits are changed: queued 9 -> 5",
    ]
    assert differences(after, after) == []


def test_rows_that_bound_both_sides_are_told_apart_and_moved_ones_are_no_change(site: Any) -> None:
    rows = ['[a, {}, triad, ">= 1 GB/s", contract]', '[a, {}, triad, "<= 9 GB/s", contract]']
    plans = []
    for written in (rows, rows[::-1], [rows[0], rows[1].replace("9", "8")]):
        site.test(TEST).write("contracts/c.yaml", HEAD + "".join(f"  - {row}\n" for row in written))
        plans.append(site.plan(PLAN))
    assert [line for line in differences(*plans[:2]) if line.startswith("contract")] == [
        "contract c is changed: what it asks is as it was"
    ]
    note = " (a run outside is judged performance)"
    assert differences(plans[0], plans[2]) == [
        f"contract c is changed: contract's a: triad <= 9 GB/s{note} -> <= 8 GB/s{note}"
    ]


def test_an_amendment_fits_into_an_event() -> None:
    assert shortened(["a", "b"]) == ["a", "b"]
    assert shortened([str(number) for number in range(30)])[-2:] == ["19", "and 10 more"]
    assert shortened(["x" * 200] * 12) == ["x" * 200] * 10 + ["and 2 more"]


# ---- precedence ------------------------------------------------------------------------------------------------------


def test_the_row_that_names_more_wins(site: Any) -> None:
    general = '[a, {}, triad, ">= 1 GB/s", contract]'
    one, both = '[a, {n: 1}, triad, ">= 2 GB/s", contract]', '[a, {n: 1, m: x}, triad, ">= 3 GB/s", contract]'
    assert in_force(site, general, one, both) == {
        "n=1,m=x": ("c:3",),
        "n=1,m=y": ("c:2",),
        "n=2,m=x": ("c:1",),
        "n=2,m=y": ("c:1",),
        "n=3,m=x": ("c:1",),
        "n=3,m=y": ("c:1",),
    }


def test_a_single_value_wins_over_a_list(site: Any) -> None:
    listed, single = '[a, {n: [1, 2]}, triad, ">= 1 GB/s", contract]', '[a, {n: 1}, triad, ">= 2 GB/s", contract]'
    found = in_force(site, listed, single)
    assert (found["n=1,m=x"], found["n=2,m=x"], found["n=3,m=x"]) == (("c:2",), ("c:1",), ())


def test_bases_figures_statistics_and_modes_stand_side_by_side(site: Any) -> None:
    rows = [
        '[a, {}, triad, ">= 1 GB/s", contract, "", ""]',
        '[a, {n: 1}, triad, ">= 2 GB/s", vendor, "", ""]',
        '[a, {n: 1}, plain, ">= 2", contract, "", ""]',
        '[a, {n: 1}, triad, ">= 2 GB/s", contract, mean, ""]',
        '[a, {n: 1}, triad, ">= 2 GB/s", contract, "", fill]',
    ]
    head = HEAD.replace("basis]", "basis, statistic, mode]")
    assert in_force(site, *rows, head=head)["n=1,m=x"] == ("c:1", "c:2", "c:3", "c:4", "c:5")


def test_equally_specific_rows_that_bound_different_sides_are_both_in_force(site: Any) -> None:
    found = in_force(site, '[a, {n: 1}, plain, ">= 1", site]', '[a, {n: 1}, plain, "<= 2", site]')
    assert found["n=1,m=x"] == ("c:1", "c:2")


def test_rows_of_several_contracts_all_count(site: Any) -> None:
    site.write("contracts/d.csv", "test,where,figure,must,basis\na,n=1,triad,>= 5 GB/s,contract\n")
    site.test(TEST).write("contracts/c.yaml", HEAD + '  - [a, {}, triad, ">= 1 GB/s", contract]\n')
    document = site.plan(PLAN.replace("contract: c", "contract: [c, d]"))
    assert {case.rows for case in document.cases if "n=1" in case.id} == {("c:1", "d:1")}


def test_a_row_for_another_system_matches_nothing_and_stays_in_the_document(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    found = in_force(site, '[a, {system: c5}, triad, ">= 1 GB/s", vendor]')
    assert set(found.values()) == {()}
    assert [row.name for row in site.plan(PLAN).contracts[0].rows] == ["c:1"]


def test_a_value_that_only_another_system_has_is_no_fault(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test("test: b\nparameters: {n: ['{node.cores}']}\nrun: {command: x}\n", "tests/b.yaml")
    assert in_force(site, '[b, {n: 128}, elapsed, "<= 1h", vendor]')["n=1,m=x"] == ()
    with pytest.raises(FileProblems, match=r"no case of test 'b' has n=129, on any system"):
        in_force(site, '[b, {n: 129}, elapsed, "<= 1h", vendor]')


# ---- properties ------------------------------------------------------------------------------------------------------

VALUES = {"n": ("1", "2", "3"), "m": ("x", "y"), "system": ("here",), "partition": ("all", "local:all")}
WHERE = st.dictionaries(st.sampled_from(list(VALUES)), st.none(), max_size=3).flatmap(
    lambda keys: st.fixed_dictionaries(
        {key: st.lists(st.sampled_from(VALUES[key]), min_size=1, max_size=3, unique=True) for key in keys}
    )
)
MUST = {"triad": (">= 1 GB/s", "10 GB/s +-5%", "<= 2 TB/s"), "elapsed": ("<= 1h", "10 s..20 s", "90 s +2%")}
ROW = st.sampled_from(list(MUST)).flatmap(
    lambda figure: st.fixed_dictionaries(
        {
            "test": st.just("a"),
            "where": WHERE,
            "figure": st.just(figure),
            "must": st.sampled_from(MUST[figure]),
            "basis": st.sampled_from(["contract", "vendor", "site"]),
            "clause": st.sampled_from(["", "SOW 4.2.1", 'a "quoted", clause', "p. 12; or so"]),
            "statistic": st.sampled_from(["", "each", "mean"]),
            "mode": st.sampled_from(["", "fill"]),
        }
    )
)
ROWS = st.lists(ROW, min_size=1, max_size=5)
SLOW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
COLUMNS = ["test", "where", "figure", "must", "basis", "clause", "statistic", "mode"]


def as_yaml(rows: list[dict[str, Any]]) -> str:
    lines = [json.dumps([row[column] for column in COLUMNS]) for row in rows]
    return f"contract: c\ncolumns: [{', '.join(COLUMNS)}]\nrows:\n" + "".join(f"  - {line}\n" for line in lines)


def as_csv(rows: list[dict[str, Any]], delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(COLUMNS)
    for row in rows:
        where = "; ".join(f"{key}={'|'.join(values)}" for key, values in row["where"].items())
        writer.writerow([where if column == "where" else row[column] for column in COLUMNS])
    return text.getvalue()


def frozen(site: Any, name: str, text: str) -> Document | list[str]:
    """The document of a site with this one contract; or what is wrong, without the places."""
    for old in (site.path / "contracts").glob("*") if (site.path / "contracts").is_dir() else ():
        old.unlink()
    site.test(TEST).write(f"contracts/{name}", text)
    try:
        document = site.plan(PLAN)
    except FileProblems as error:
        return sorted(problem.message for problem in error.problems)
    assert isinstance(document, Document)
    return document


def without_places(document: Document | list[str]) -> Any:
    if isinstance(document, list):
        return document
    from msgspec.structs import replace

    rows = [replace(row, place="") for contract in document.contracts for row in contract.rows]
    return rows, {case.id: case.rows for case in document.cases}


@SLOW
@given(rows=ROWS, delimiter=st.sampled_from([",", ";", "\t"]))
def test_the_same_rows_freeze_to_the_same_rows_from_yaml_and_csv(site: Any, rows: Any, delimiter: str) -> None:
    by_yaml = without_places(frozen(site, "c.yaml", as_yaml(rows)))
    assert by_yaml == without_places(frozen(site, "c.csv", as_csv(rows, delimiter)))


def test_a_sheet_as_spreadsheets_save_it(site: Any) -> None:
    """A byte order mark, Windows line ends, padding, a cell of two lines, a comment."""
    lines = [
        "\ufefftest;where;figure;must;basis;clause",
        "# what the vendor sent",
        'a;n=1|2;triad;>= 1 GB/s;vendor;"p. 12\r\nand \u2028""13"""',
        ";;;;;",
        "a;;plain;1..2;site;",
        "",
    ]
    site.test(TEST).write("contracts/c.csv", "\r\n".join(lines))
    rows = site.plan(PLAN).contracts[0].rows
    assert [(row.name, row.where, row.clause, row.place) for row in rows] == [
        ("c:1", (("n", ("1", "2")),), 'p. 12 and "13"', "contracts/c.csv:3"),
        ("c:2", (), "", "contracts/c.csv:6"),
    ]


@SLOW
@given(text=st.text('test,where figure must;basis\t\n"#=|{}a123<>+-%', max_size=80))
def test_whatever_a_sheet_holds_is_read_or_told(site: Any, text: str) -> None:
    found = frozen(site, "c.csv", "test,where,figure,must,basis\n" + text)
    assert isinstance(found, Document) or found


def test_the_reference_names_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/files.md").read_text()
    (table,) = re.findall(r"^\| column \| what stands in it \|\n\|---\|---\|\n((?:\|.*\n)+)", page, flags=re.MULTILINE)
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", table, flags=re.MULTILINE)
    assert rows == list(ALL_COLUMNS.items())
