"""Wrong contracts, and the exact words they are answered with: where, what, and the way out."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

TEST = """\
test: a
parameters: {n: [1, 2], toolchain: [gcc]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s}, plain: {json: b}, sypd: {json: c, unit: years/day}}
"""
BASE = "test: base\nabstract: true\nrun: {command: x}\n"
SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8}}
toolchains: {gcc: {cc: gcc}}
"""
CONTRACT = """\
contract: c
columns: [test, where, figure, must, basis, statistic, verdict]
rows:
  - [a, {n: 1}, triad, ">= 10 GB/s", contract, "", ""]
"""
SITE = {"tests/a.yaml": TEST, "tests/base.yaml": BASE, "systems/c5.yaml": SYSTEM}
YAML = [
    ("[a, {n: 1}", "[b, {n: 1}", "4:6: test: there is no test 'b'\nhint: 'shakedown list tests' has them"),
    ("[a, {n: 1}", "[bas, {n: 1}", "4:6: test: there is no test 'bas'\nhint: did you mean 'base'?"),
    ("[a, {n: 1}", "[base, {n: 1}", "4:6: test: test 'base' is abstract and has no cases\nhint: name a test that extends it"),
    ("triad", "triads", "4:17: figure: test 'a' has no figure 'triads'\nhint: did you mean 'triad'?"),
    ("triad", "iops", "4:17: figure: test 'a' has no figure 'iops'\nhint: there are: elapsed, plain, sypd, triad"),
    ("{n: 1}", "{m: 1}", "4:10: where: test 'a' has no parameter 'm'\nhint: there are: n, partition, system, toolchain"),
    ("{n: 1}", "{n: 3}", "4:13: where: no case of test 'a' has n=3, on any system\nhint: there are: 1, 2"),
    ("{n: 1}", "{n: [1, 3]}", "4:13: where: no case of test 'a' has n=3, on any system\nhint: there are: 1, 2"),
    ("{n: 1}", "{n: []}", "4:13: where.n is empty\nhint: it is a list"),
    ("{n: 1}", "{toolchain: gc}", "4:21: where: no case of test 'a' has toolchain=gc, on any system\nhint: did you mean 'gcc'?"),
    ("{n: 1}", "{system: c6}", "4:18: where: there is no system 'c6'\nhint: there are: c5, here"),
    ("{n: 1}", "{partition: bach}", "4:21: where: there is no partition 'bach'\nhint: did you mean 'batch'?"),
    ("{n: 1}", "n", "4:9: where: 'n' is no parameter with its value\nhint: write name=value, several as a=1|2; b=x"),
    ("{n: 1}", '"n=1; n=2"', "4:9: where: 'n' is written twice\nhint: several values are one list: a=1|2"),
    (">= 10 GB/s", ">= 10 GBs", "4:24: must: '10 GBs': there is no unit 'GBs' that is known, and triad is in GB/s\nhint: did you mean 'GB/s'?"),
    (">= 10 GB/s", ">= 10", "4:24: must: '10' has no unit, and triad is in GB/s\nhint: write '10 GB/s' where that is meant"),
    (">= 10 GB/s", ">= 10 GB/s, <= 20 GB/s", "4:24: must: '>= 10 GB/s, <= 20 GB/s' has two bounds\nhint: write both as one, such as '10..20 GB/s'"),
    (">= 10 GB/s", "10 GB/s", "4:24: must: '10 GB/s' is not a bound\nhint: write '<= 4355 s', '>= 12 GB/s', '= 4', '10..20 GB/s', '4148 s +-2%', '4148 s +2%' or '12 GB/s -5%'"),
    (">= 10 GB/s", "20..10 GB/s", "4:24: must: '20..10 GB/s' can never be met: 20 is more than 10\nhint: the least comes first"),
    (">= 10 GB/s", "10 GB/s +-5 s", "4:24: must: '5 s' and triad, which is in GB/s, do not measure the same thing\nhint: write it in GB/s"),
    (">= 10 GB/s", ">= 1e999 GB/s", "4:24: must: '1e999 GB/s' is too large a number"),
    ('triad, ">= 10 GB/s"', "plain, '>= 10 GB/s'", "4:24: must: '10 GB/s' and plain, which is a plain number, do not measure the same thing\nhint: write a plain number"),
    ('triad, ">= 10 GB/s"', "elapsed, '< 0 s'", "4:26: must: '< 0 s' can never be met: elapsed is never below 0"),
    ('triad, ">= 10 GB/s"', "elapsed, '<= 12:30'", "4:26: must: '12:30' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    ('triad, ">= 10 GB/s"', 'sypd, ">= 9 years"', "4:23: must: '9 years': there is no unit 'years' that is known, and sypd is in years/day\nhint: did you mean 'years/day'?"),
    ('"", ""]', 'sd, ""]\n  - [a, {}, triad, "<= -1 GB/s", site, sd, ""]', "5:20: must: '<= -1 GB/s' can never be met: sd of triad is never below 0"),
    ('">= 10 GB/s"', '""', "4:24: must: the cell is empty\nhint: every row says test, figure, must and basis"),
    (", contract,", ", contrat,", "4:38: basis: 'contrat' is not one of contract, vendor, site, history\nhint: did you mean 'contract'?"),
    ('"", ""]', 'mean, yes]', "4:54: verdict: the mean of several runs is no verdict on one of them\nhint: only a row on each run can judge one; leave 'verdict' empty"),
    ('"", ""]', '"", perhaps]', "4:52: verdict: 'perhaps' is neither true nor false"),
    ('"", ""]', '""]', "4:5: the row has 6 cells, and there are 7 columns\nhint: the columns are test, where, figure, must, basis, statistic, verdict; write \"\" for a cell that says nothing"),
    ("[test, where", "[test, were", "2:17: columns: 'were' is not one of test, where, figure, must, basis, clause, text, statistic, mode, verdict, about\nhint: did you mean 'where'?"),
    ("[test, where, figure", "[test, test, figure", "2:10: the column 'test' is there 2 times\nhint: keep one"),
    ("[test, where, figure, must, basis", "[test, where, figure, must, clause", "2:10: the column 'basis' is missing\nhint: it holds who says so: contract, vendor, site, history"),
    ("contract: c\n", "contract: c\nfrom: x\n", "2:1: unknown key 'from'\nhint: known here: contract, title, about, parties, columns, rows"),
    ('- [a, {n: 1}, triad, ">= 10 GB/s", contract, "", ""]', "- a", "4:5: rows: a row is a list of cells, one for each column, not 'a'\nhint: write - [cell, cell, ...]"),
    ("triad", "[triad]", "4:17: figure: a cell is text\nhint: put it in quotes where YAML takes it for something else"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "answer"), YAML)
def test_a_wrong_contract(told: Any, old: str, new: str, answer: str) -> None:
    assert told(SITE | {"contracts/c.yaml": CONTRACT}) == ""
    assert old in CONTRACT
    assert told(SITE | {"contracts/c.yaml": CONTRACT.replace(old, new)}) == f"error: contracts/c.yaml:{answer}"


CSV = "test,where,figure,must,basis\na,n=1,triad,>= 10 GB/s,contract\n"
SHEETS = [
    ("n=1", "n:1", "2:1: where: 'n:1' is no parameter with its value\nhint: write name=value, several as a=1|2; b=x"),
    ("n=1", "n=1|3", "2:1: where: no case of test 'a' has n=3, on any system\nhint: there are: 1, 2"),
    ("n=1", '"{n: [1, 3]}"', "2:1: where: no case of test 'a' has n=3, on any system\nhint: there are: 1, 2"),
    ("n=1", '"{n: 1"', "2:1: where: the map in {...} is not closed before here\nhint: write a ',' or a '}'; text that begins with '{' is put in quotes"),
    ("triad", "triads", "2:1: figure: test 'a' has no figure 'triads'\nhint: did you mean 'triad'?"),
    (",contract", ",contract,x", "2:1: the row has 6 cells, and there are 5 columns\nhint: the columns are test, where, figure, must, basis; write \"\" for a cell that says nothing"),
    ("figure", "Figure", "1:1: there is no column 'Figure'\nhint: did you mean 'figure'?"),
    ("triad", '"tri"ad', "2:1: the line is no CSV: ',' expected after '\"'\nhint: double a quote inside quotes"),
    ("\na,n=1,triad,>= 10 GB/s,contract", "", "1:1: the contract has no rows\nhint: each line below the columns is one"),
    ("a,n=1", "# a comment\n\n\"a\",\"n=7\"", "4:1: where: no case of test 'a' has n=7, on any system\nhint: there are: 1, 2"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "answer"), SHEETS)
def test_a_wrong_sheet(told: Any, old: str, new: str, answer: str) -> None:
    assert told(SITE | {"contracts/c.csv": CSV}) == ""
    assert old in CSV
    said = told(SITE | {"contracts/c.csv": CSV.replace(old, new, 1)})
    assert answer in said.split("error: contracts/c.csv:"), said


def test_everything_that_is_wrong_is_told_at_once(told: Any) -> None:
    rows = '  - [b, {}, x, ">= 1", vendor, "", ""]\n  - [a, {}, tria, ">= 1", vendr, "", ""]\n'
    said = told(SITE | {"contracts/c.yaml": CONTRACT + rows, "contracts/d.csv": CSV.replace("triad", "x")})
    assert [line.split(": ")[1:3] for line in said.splitlines() if line.startswith("error")] == [
        ["contracts/c.yaml:5:6", "test"],
        ["contracts/c.yaml:6:27", "basis"],
        ["contracts/d.csv:2:1", "figure"],
    ]


TIES = [
    ('[a, {n: 1}, triad, ">= 11 GB/s", contract, "", ""]', "rows c:1 and c:2 both bound triad of a/n=1,toolchain=gcc, and neither is more specific\nhint: the other is in contracts/c.yaml:4; name more in the 'where' of one, or keep one"),
    ('[a, {toolchain: gcc}, triad, "10 GB/s +-5%", contract, "", ""]', "rows c:1 and c:2 both bound triad of a/n=1,toolchain=gcc, and neither is more specific\nhint: the other is in contracts/c.yaml:4; name more in the 'where' of one, or keep one"),
    ('[a, {n: 1}, triad, "<= 9 GB/s", contract, "", ""]', "nothing can meet '>= 10 GB/s' (c:1) and '<= 9 GB/s' (c:2) for triad of a/n=1,toolchain=gcc\nhint: the other is in contracts/c.yaml:4"),
    ('[a, {n: 1}, triad, "< 10 GB/s", contract, "", ""]', "nothing can meet '>= 10 GB/s' (c:1) and '< 10 GB/s' (c:2) for triad of a/n=1,toolchain=gcc\nhint: the other is in contracts/c.yaml:4"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "answer"), TIES)
def test_rows_that_cannot_stand_beside_each_other_name_both_places(told: Any, row: str, answer: str) -> None:
    said = told(SITE | {"contracts/c.yaml": f"{CONTRACT}  - {row}\n"})
    assert said == f"error: contracts/c.yaml:5:5: {answer}"


@pytest.mark.parametrize(
    "row",
    [
        '[a, {n: 1}, triad, "<= 10 GB/s", contract, "", ""]',  # the other side: together they are = 10
        '[a, {n: 1}, triad, ">= 11 GB/s", vendor, "", ""]',  # another basis
        '[a, {n: 1}, triad, ">= 11 GB/s", contract, mean, ""]',  # another statistic
        '[a, {n: 2}, triad, ">= 11 GB/s", contract, "", ""]',  # other cases
        '[a, {n: 1, toolchain: gcc}, triad, ">= 11 GB/s", contract, "", ""]',  # more specific
    ],
)
def test_rows_that_can(told: Any, row: str) -> None:
    assert told(SITE | {"contracts/c.yaml": f"{CONTRACT}  - {row}\n"}) == ""


def test_two_contracts_of_one_name(told: Any) -> None:
    said = told(SITE | {"contracts/c.yaml": CONTRACT, "contracts/d/c.csv": CSV})
    assert said == "error: contracts/d/c.csv: there is a contract 'c' already\nhint: it is in contracts/c.yaml"


def test_a_contract_whose_name_no_file_can_give(told: Any) -> None:
    said = told(SITE | {"contracts/phase 2.csv": CSV})
    assert said == (
        "error: contracts/phase 2.csv: the contract is called as its file: 'phase 2' cannot be a contract's name\n"
        "hint: use letters, digits, '_', '-', '.' and '+', a letter or digit first"
    )


PLAN = "plan: p\nsystem: here\ncontract: c\ncomponents: [{site: {tests: [a]}}]\n"


@pytest.mark.parametrize(
    ("named", "answer"),
    [
        ("d", "3:11: there is no contract 'd'\nhint: there are: c"),
        ("[c, c]", "3:15: contract 'c' is named twice\nhint: once is enough"),
        ("[]", "3:11: contract is empty\nhint: it is a list of contracts"),
    ],
)
def test_a_plan_that_names_a_wrong_contract(told: Any, named: str, answer: str) -> None:
    files = SITE | {"contracts/c.yaml": CONTRACT}
    assert told(files | {"plans/p.yaml": PLAN}) == ""
    said = told(files | {"plans/p.yaml": PLAN.replace("contract: c", f"contract: {named}")})
    assert said == f"error: plans/p.yaml:{answer}"
