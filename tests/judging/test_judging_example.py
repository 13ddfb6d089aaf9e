"""The example ``examples/c5``: it reads without a fault, says what the paper says, runs here, and its verdict follows by hand."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
import re
import subprocess
from pathlib import Path

import pytest
from c5_in_virtual_time import C5, REPLAYED, TABLE_4, as_on_c5, command, document
from c5_troubles import planted

from shakedown.metrics.judging.criteria import exit_status, score
from shakedown.report.evidence import find_evidence
from shakedown.report.figures.registry import draw_all
from shakedown.report.page.page import render_page
from shakedown.report.reading import read_campaign
from shakedown.report.tables.tables import make_tables

TABLE_3 = {"cm4": 48, "esm4-small": 18, "esm4-large": 26, "spear": 22, "shield": 96, "ufs": 24}
SHRINK = 24
FIGURES_OF_IV = (  # the paper's figures 1 to 9: what each is called here
    *("modes-.*runtime", "runs-by-test-.*stability", "failures-by-test-.*stability"),
    *(f"run-time-.*stability-{test}" for test in TABLE_4),
)


def test_it_reads_without_a_fault() -> None:
    done = command("check", cwd=C5)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("nothing is wrong\n")


def test_the_two_plans_differ_where_they_say() -> None:
    here, there = (C5 / f"plans/{name}.yaml" for name in ("c5-phase2", "c5-phase2-emu"))
    lines = difflib.ndiff(here.read_text().splitlines(), there.read_text().splitlines())
    changed = [line[2:].strip() for line in lines if line[:2] in ("- ", "+ ")]
    begins = ("#", "plan: ", "system: ", "duration: ")
    assert len(changed) == 8 and all(line.startswith(begins) for line in changed), changed


def test_table_3_scaled_by_one_factor() -> None:
    cases = {case.test: case for case in document().cases if "f2=shared" in case.id}
    assert {test: case.shape.nodes for test, case in cases.items()} == {
        test: math.ceil(nodes / SHRINK) for test, nodes in TABLE_3.items()
    }
    assert all(dict(case.parameters)["shrink"] == str(SHRINK) for case in cases.values())
    for test, nodes in TABLE_3.items():
        assert f"Table III: {nodes} nodes" in (C5 / f"tests/{test}.yaml").read_text()


def test_table_4_is_what_runs_draw_from_and_what_rows_rest_on() -> None:
    rows = document().contracts[0].rows
    for test, (mean, sd, _) in TABLE_4.items():
        case = next(case for case in document().cases if case.test == test)
        assert case.script.strip().endswith(f"run.sh {test} {mean} {sd}")
        (vendor,) = [row for row in rows if row.test == test and row.basis == "vendor"]
        assert vendor.low == pytest.approx(mean * 0.98) and vendor.high == pytest.approx(mean * 1.02)
        for row in rows:
            if row.test == test and row.basis == "contract":
                assert row.high == pytest.approx(mean * 1.05, abs=0.06)
    assert all(
        "not given in the paper" in row.clause or "invented" in row.clause or "IV.B" in row.clause for row in rows
    )


def test_the_mix_is_the_share_of_the_node_hours_in_table_4() -> None:
    hours = {test: mean * jobs * TABLE_3[test] / 3600 for test, (mean, _, jobs) in TABLE_4.items()}
    assert sum(hours.values()) == pytest.approx(216_736, abs=1)
    mix = dict(document().components[-1].mix)
    assert sum(mix.values()) == pytest.approx(1)
    for test, share in mix.items():
        assert share == pytest.approx(hours[test] / sum(hours.values()), abs=0.006)


def test_tables_1_and_2_are_replayed_word_for_word() -> None:
    text = (C5 / "tests/replayed/table-1.txt").read_text() + (C5 / "tests/replayed/table-2.txt").read_text()
    for test in ("replayed-delivery", "replayed-gpcnet"):
        for value in REPLAYED[test].values():
            assert re.search(rf"(?<![\d.]){value:g}(?![\d.])", text), value


def test_a_run_draws_the_same_for_the_same_id_and_about_what_table_4_says(tmp_path: Path) -> None:
    def drawn(run: str, f2: str = "quiet") -> str:
        environment = {"SHAKEDOWN_RUN": run, "TIME_SCALE": "100000000", "F2": f2, "PATH": "/usr/bin:/bin"}
        words = ["sh", str(C5 / "tests/model/run.sh"), "cm4", "4148.1", "11.3"]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout + done.stderr

    values = [float(re.findall(r"C5 = ([\d.]+) s", drawn(f"r{number:06d}"))[0]) for number in range(60)]
    mean = sum(values) / len(values)
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    assert mean == pytest.approx(4148.1, abs=5) and sd == pytest.approx(11.3, rel=0.35)
    assert drawn("r000007") == drawn("r000007") != drawn("r000008")
    troubled = "".join(drawn(f"r{number:06d}", "shared") for number in range(60))
    assert "MPI error" in troubled and re.search(r"C5 = 80\d\d", troubled)


# ---- run for real on this machine ----------------------------------------------------------------------------------------------


def test_the_verdict_here_follows_by_hand(example: Path) -> None:
    """README.md derives it: nothing that is random can make a criterion fail."""
    read = read_campaign(example / "campaigns/c5-phase2-1")
    card = score(read.document, read.record)

    assert exit_status(card) == 0
    parts = {part.name: part for part in card.components}
    assert dict(parts["functionality"].verdicts) == {"passed": 9, "build_failed": 6}
    assert parts["functionality"].as_expected == 6
    assert set(dict(parts["performance"].verdicts)) == {"passed"}
    assert not dict(parts["stability"].verdicts).get("incorrect")
    assert [
        run for run in read.record.current() if run.verdict == "performance" and not run.case.startswith("cm4/")
    ] == []
    assert card.contract is not None
    broken = [row.row for row in card.contract.rows if row.outcome == "not met"]
    assert [row.test for row in broken] in ([], ["cm4"])
    told = [f"; 1 contract row is not met and in no criterion ({row.name})" for row in broken]
    assert card.outcome == ("accepted with restrictions" if broken else "accepted")
    assert card.summary == f"{card.outcome}: all 16 criteria are met" + "".join(told)


def test_the_report_here_holds_every_table_and_figure_of_the_results(example: Path) -> None:
    read = read_campaign(example / "campaigns/c5-phase2-1")
    evidence = find_evidence(read.document, read.record, score(read.document, read.record))
    pictures = draw_all(read.layout.root, evidence)
    page = render_page(read, evidence, pictures).decode()
    tables = {name: data.decode("utf-8-sig") for name, data in make_tables(evidence, []).items()}

    files = [drawing.file for drawing in pictures.all]
    wanted = [name for name in FIGURES_OF_IV if "failures" not in name or _some_failed(evidence.rates)]
    assert [name for name in wanted if not any(re.match(name, file) for file in files)] == []
    sizes = {line["test"]: line["nodes"] for line in csv.DictReader(io.StringIO(tables["cases.csv"]))}  # Table III
    assert sizes == dict.fromkeys((*REPLAYED, *TABLE_4), "1"), "on one machine every job takes one core of it"
    for test in (*TABLE_4, *REPLAYED):
        assert test in page and test in tables["figures.csv"]
    for name, value in REPLAYED["replayed-gpcnet"].items():  # Table II
        assert re.search(rf"replayed-gpcnet,.*{name},.*{value:g}", tables["figures.csv"])
    assert "incompatible with the oneAPI stack" in page  # IV.C
    assert "not given in the paper" in page
    assert page.count("Ada Example") >= 3  # the procedures


def _some_failed(rates: tuple) -> bool:  # type: ignore[type-arg]
    return any(one.component == "stability" and one.failed_before.hits for one in rates)


# ---- on the emulated cluster, with the run times of C5 -------------------------------------------------------------------------


def test_on_the_emulated_cluster_tables_3_and_4_are_those_of_the_paper() -> None:
    """Two days in virtual time: sizes scaled, run times as on C5."""
    found = planted()

    sizes = {line["test"]: line["nodes"] for line in found.table("cases") if line["component"] == "stability"}
    assert sizes == {test: str(math.ceil(nodes / SHRINK)) for test, nodes in TABLE_3.items()}
    lines = {line["test"]: line for line in found.table("variation") if line["component"] == "stability"}
    assert list(lines) == list(TABLE_4)
    for test, (mean, sd, _) in TABLE_4.items():
        n = int(lines[test]["n"])
        assert abs(float(lines[test]["mean_s"]) - mean) < 4 * sd / math.sqrt(n), test
        assert 0.3 * sd < float(lines[test]["sd_s"]) < 1.8 * sd, test
    hours = next(line for line in found.table("utilisation") if line["component"] == "stability")
    assert float(hours["share"]) > 0.85, "the example has no outages and no gaps"


def test_it_is_frozen_alike_each_time() -> None:
    plan = as_on_c5(document(), 2.0)
    assert plan == as_on_c5(document(), 2.0)
    assert json.dumps([case.id for case in plan.cases]).count("shrink=24") == len(plan.cases) - len(REPLAYED)
