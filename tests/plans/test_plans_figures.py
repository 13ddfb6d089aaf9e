"""Figures of tables and formulas from the files of a site to a contract's rows, criteria and the scorecard."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shakedown.checks.figures import take
from shakedown.checks.text import decode
from shakedown.model.figures import Table, measured_as, misnamed, with_rows
from shakedown.model.nouns import Case, FigureSpec, Test
from shakedown.plans.components.score_figures import _spec
from shakedown.plans.schema.problems import Problems

TEST = """\
test: osu
parameters: {n: [2, 4]}
run:
  command: |
    printf '# Size  Latency\\n1  1.5\\nUCX  WARN  {n}\\n8  %s.5\\n1024  3.5\\n' {n}
    printf 'name,GF\\n"a",12.5\\n"b",14.5\\n' > result-{n}.csv
figures:
  lat: {table: {after: '^# Size', rows: '^(?:1|8|1024|no-{n}) ', columns: [size, lat]}, unit: us, better: lower}
  small: {table: {after: '^# Size', rows: '^\\d', columns: [size, small], where: {size: 8}}, unit: us, better: lower}
  gf: {from: 'result-*.csv', table: {separator: comma, column: GF, by: []}, pick: sum, unit: GFLOP/s, better: higher}
  per_core: {formula: gf / node.cores, unit: GFLOP/s, better: higher}
  nth: {formula: number(small) - n}
"""
CONTRACT = """\
contract: osu
columns: [test, where, figure, must, basis]
rows:
  - [osu, {n: 2}, "lat[size=8]", "<= 0.003 ms", contract]
  - [osu, {n: 4}, "lat[size=8]", "<= 3 us", contract]
  - [osu, {}, gf, ">= 0.02 TFLOP/s", contract]
"""
PLAN = """\
plan: osu
system: here
contract: osu
components:
  - performance:
      tests: [osu]
      repeats: 2
      criteria:
        big: {measure: value, of: "lat[size=1024]", must: "<= 4 us"}
        gone: {measure: value, of: "lat[size=4096]", must: "<= 4 us"}
        nth: {measure: value, of: nth, must: "= 0.5"}
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose campaign ran once, for all that is asked of it here."""
    site = tmp_path_factory.mktemp("figures") / "site"
    _shakedown(site.parent, "init", "site")
    for name, text in (("tests/osu", TEST), ("contracts/osu", CONTRACT), ("plans/osu", PLAN)):
        path = site / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    _shakedown(site, "run", "osu", "--json")
    return site


def _shakedown(where: Path, *words: str) -> str:
    program = shutil.which("shakedown", path=str(Path(sys.executable).parent)) or "shakedown"
    return subprocess.run([program, *words], cwd=where, text=True, capture_output=True, timeout=120, check=False).stdout


def _json(site: Path, *words: str) -> Any:
    import json

    return json.loads(_shakedown(site, *words, "--json"))


def test_rows_and_criteria_ask_about_rows_of_tables_each_in_its_unit(campaign: Path) -> None:
    runs = {(row["case"], row["verdict"]): row["figures"] for row in _json(campaign, "runs", "osu-1")["judged"]}
    assert set(runs) == {("osu/n=2", "passed"), ("osu/n=4", "performance")}
    figures = runs["osu/n=2", "passed"]
    assert figures["lat[size=1]"] == 1.5
    assert figures["lat[size=1024]"] == 3.5
    assert (figures["small"], figures["gf"], figures["nth"]) == (2.5, 27.0, 0.5)


def test_a_row_that_no_run_printed_leaves_its_criterion_without_a_value(campaign: Path) -> None:
    card = _shakedown(campaign, "report", "osu-1", "--no-pdf")
    assert "big: median of 4 values of lat[size=1024] = 3.5 us, must <= 4 us" in " ".join(card.split())
    gone = next(line for line in card.splitlines() if " gone: " in line)
    assert not gone.strip().startswith("met")


def test_figures_that_no_row_asks_about_are_named_row_by_row(campaign: Path) -> None:
    told = _shakedown(campaign, "report", "osu-1", "--no-pdf", "--json")
    table = next((campaign / "campaigns/osu-1").rglob("values.csv")).read_text()
    assert ",lat[size=8]," in table
    assert table.count("us,") >= 3 * 4
    assert "lat[size=1] of osu" in told or "lat[size=1]" in table


def test_a_row_is_measured_as_its_table_and_a_plain_figure_has_no_rows() -> None:
    table = FigureSpec("lat", "us", table=Table(by=("size",)))
    plain = FigureSpec("bw", "GB/s", regex="x")
    found = measured_as("lat[size=8]", [plain, table])
    assert found is not None and (found.name, found.unit) == ("lat[size=8]", "us")
    assert measured_as("lat", [plain, table]) is None
    assert measured_as("bw[size=8]", [plain, table]) is None
    assert [spec.name for spec in with_rows([table, plain], ["lat[size=8]", "bw[size=1]", "lat[size=4]"])] == [
        "lat[size=8]",
        "lat[size=4]",
        "bw",
    ]


def test_a_formula_has_the_values_of_its_case(site: Any) -> None:
    site.test(TEST)
    cases: tuple[Case, ...] = site.cases()
    given = {case.id: {spec.name: spec.given for spec in case.figures} for case in cases}
    assert given["osu/n=4"]["nth"] == (("n", 4.0, ""),)
    assert given["osu/n=2"]["per_core"] == (("node.cores", 4.0, ""),)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("lat", "'lat' has a number for each row of its table"),
        ("'gf[size=8]'", "no test of the component has a figure 'gf[size=8]'"),
        ("'lta[size=8]'", "no test of the component has a figure 'lta[size=8]'"),
    ],
)
def test_a_criterion_names_one_row(campaign: Path, tmp_path: Path, of: str, said: str) -> None:
    site = tmp_path / "copy"
    shutil.copytree(campaign, site, ignore=shutil.ignore_patterns("campaigns"))
    (site / "plans/osu.yaml").write_text(PLAN.replace('"lat[size=1024]"', of))
    program = str(Path(sys.executable).parent / "shakedown")
    told = subprocess.run([program, "check"], cwd=site, text=True, capture_output=True, timeout=60, check=False)
    assert told.returncode == 2
    assert said in told.stderr


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("t[op=bcast,ranks=4]", None),
        ("t[op=a, b,ranks=4]", None),
        ("t[op=bcast,rank=4]", ("the rows of 't' are not told apart by 'rank'", "did you mean 'ranks'?")),
        ("t[op=bcast,size=4]", ("the rows of 't' are not told apart by 'size'", "write t[op=bcast,ranks=...]")),
        ("t[op=bcast]", ("'t[op=bcast]' does not say 'ranks', and the rows of 't' are told apart by it",
                         "write t[op=bcast,ranks=...]")),
        ("t[ranks=4,op=bcast]", ("'t[ranks=4,op=bcast]' has the columns in another order than the table",
                                 "write t[op=bcast,ranks=4]")),
    ],
)  # fmt: skip
def test_a_row_is_named_by_the_columns_that_tell_rows_apart(name: str, wrong: tuple[str, str] | None) -> None:
    assert misnamed(name, ("op", "ranks")) == wrong


def test_a_misspelt_column_of_a_row_is_told_in_contracts_criteria_and_scores(campaign: Path, tmp_path: Path) -> None:
    says = "the rows of 'lat' are not told apart by 'sise'"
    program = str(Path(sys.executable).parent / "shakedown")
    site = tmp_path / "copy"
    shutil.copytree(campaign, site, ignore=shutil.ignore_patterns("campaigns"))
    (site / "plans/osu.yaml").write_text(PLAN.replace("lat[size=1024]", "lat[sise=1024]"))
    (site / "contracts/osu.yaml").write_text(CONTRACT.replace("lat[size=8]", "lat[sise=8]", 1))
    done = subprocess.run([program, "check"], cwd=site, text=True, capture_output=True, timeout=60, check=False)
    for file in ("plans/osu.yaml", "contracts/osu.yaml"):
        assert re.search(rf"{file}:[^\n]*{re.escape(says)}\n *hint: did you mean 'size'\?", done.stderr), done.stderr
    node, problems = yaml.ScalarNode("", "lat", yaml.Mark("osu.yaml", 0, 0, 0, None, 0)), Problems()
    lat = FigureSpec("lat", unit="us", table=Table(by=("size",)))
    assert _spec(node, "lat[sise=8]", Test("osu", figures=(lat,)), problems) is None
    assert [problem.message for problem in problems.found] == [says]


def test_a_case_that_needs_a_peak_which_nobody_wrote_down_is_unavailable(site: Any) -> None:
    figures = "figures:\n  share: {formula: elapsed * node.peak / 1, unit: FLOP}\n"
    site.test(f"test: a\nrun: {{command: 'true'}}\n{figures}")
    assert "needs node.peak, which the system's node type does not say" in site.case().unavailable


GUIDE = Path(__file__).parents[2] / "docs/guides/figures-of-merit.md"
READ = {  # what the guide's examples take from the texts that stand before them
    "latency": {"latency[size=1]": 1.53, "latency[size=1024]": 2.75, "latency[size=1048576]": 105.31},
    "rate": {"rate[Function=Copy]": 94231.5, "rate[Function=Triad]": 91234.9},
    "triad": {"triad": 91234.9},
    "bcast": {"bcast[size=8]": 1.5, "bcast[size=16]": 1.75},
}


def test_the_guide_takes_what_it_says_from_what_it_shows(site: Any) -> None:
    page = GUIDE.read_text()
    blocks = re.findall(r"```(text|yaml)\n(.*?)```", page, re.DOTALL)
    shown, found, names = "", dict[str, dict[str, float | None]](), set[str]()
    for number, (kind, content) in enumerate(blocks):
        if kind == "text":
            shown = content
            continue
        inputs = "".join(
            f"  {name}: {{regex: '{name} (?P<value>.*)', unit: {unit}}}\n" for name, unit in INPUTS.items()
        )
        used = content if "formula" not in content else content.replace("figures:\n", f"figures:\n{inputs}")
        site.test(f"test: t{number}\nrun: {{command: 'true'}}\n{used}", f"tests/t{number}.yaml")
        for spec in next(test for test in site.listing().tests if test.name == f"t{number}").figures:
            names.add(spec.name)
            if spec.table is not None and spec.source == "output":
                taken = take(spec, decode("output", shown.encode()))
                found[spec.name] = {one.name: one.value for one in taken}
    assert found == READ
    assert {"efficiency", "rating", "gflops", "worst", "slowest"} <= names


INPUTS = {"sypd": "years/day", "rate": "years/day", "gflops": "GFLOP/s", "bandwidth": "GB/s", "iops": "kIOPS"}
