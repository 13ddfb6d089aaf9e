"""The CSV files: every digit, every verdict, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import pytest

from shakedown.model.nouns import Case, Component
from shakedown.report import write_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

pytestmark = pytest.mark.usefixtures("without_figures")


def rows_of(campaign: Path, name: str) -> list[dict[str, str]]:
    with (campaign / "report/tables" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_numbers_of_the_report_can_be_computed_again_from_the_tables(large: Path) -> None:
    mine = [row for row in rows_of(large, "values.csv") if row["case"] == "stream/threads=128"]
    values = [float(row["value"]) for row in mine if row["figure"] == "triad" and row["counts"] == "yes"]
    (row,) = [
        row for row in rows_of(large, "figures.csv") if row["case"] == "stream/threads=128" and row["figure"] == "triad"
    ]
    assert int(row["n"]) == len(values) == 12
    assert float(row["sd"]) == pytest.approx(float(numpy.std(values, ddof=1)), rel=1e-12)
    assert float(row["median"]) == pytest.approx(float(numpy.median(values)), rel=1e-15)
    runs = [row for row in rows_of(large, "runs.csv") if row["component"] == "stability"]
    (criterion,) = [row for row in rows_of(large, "criteria.csv") if row["criterion"] == "completed"]
    passed = sum(row["verdict"] == "passed" for row in runs)
    assert float(criterion["measured"]) == passed / len(runs) == 197 / 203


def test_every_criterion_says_in_which_unit_its_numbers_are(large: Path) -> None:
    """A share is a fraction in its column, and a percentage in words."""
    units = {(row["component"], row["criterion"]): row["unit"] for row in rows_of(large, "criteria.csv")}
    (completed,) = [row for row in rows_of(large, "criteria.csv") if row["criterion"] == "completed"]
    assert (completed["unit"], "= 97.0%" in completed["arithmetic"]) == ("share", True)
    by_case = rows_of(large, "criteria-by-case.csv")
    assert by_case
    for row in by_case:
        assert row["unit"] == units[row["component"], row["criterion"]] != ""
    said = (large / "report/tables/README.txt").read_text()
    assert "share: 0.95 is 95%" in said


def test_counts_agree_between_tables(large: Path) -> None:
    runs, cases = rows_of(large, "runs.csv"), rows_of(large, "cases.csv")
    components = rows_of(large, "components.csv")
    assert len(runs) == sum(int(row["attempts"]) for row in cases) == sum(int(row["attempts"]) for row in components)
    assert [row["case"] for row in rows_of(large, "unavailable.csv")] == ["hpcc"]
    assert {row["state"] for row in rows_of(large, "builds.csv")} == {"done", "failed"}


def test_names_that_are_formulas_are_defused(new: Callable[..., CampaignBuilder]) -> None:
    name = '=HYPERLINK("http://x","y")'
    builder = new(components=(Component("main", "site", (name,)),), cases=(Case(name, "hello", "local:all"),))
    builder.run(name, "main", "failed", reason="-1+1")
    builder.end()
    (row,) = rows_of(write_report(builder.save()).parent, "runs.csv")
    assert row["case"] == "'" + name and row["reason"] == "'-1+1"


def test_superseded_verdicts_are_rows_too(small: CampaignBuilder) -> None:
    run = small.run("hello", "main", "incorrect")
    old = len(small.events)
    small.add("verdict", run=run, case="hello", value={"verdict": "passed", "supersedes": old})
    first, second = rows_of(write_report(small.save()).parent, "runs.csv")
    assert (first["verdict"], first["superseded_by"]) == ("incorrect", second["event"])
    assert (second["verdict"], second["supersedes"]) == ("passed", first["event"])


def test_where_an_output_is_stands_in_the_table_without_the_sums_of_a_jobs_marks(
    small: CampaignBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"file": "outputs/000/j000001.0.out", "bytes": 7, "crc": "0123abcd", "marks": {"marks.0": "00000000"}}
    monkeypatch.setattr(type(small), "keep", lambda *_: kept)
    small.run("hello", "main", output="Hello\n")
    campaign = small.save()
    write_report(campaign)
    rows = (campaign / "report/tables/runs.csv").read_text()
    assert "file=outputs/000/j000001.0.out bytes=7 crc=0123abcd," in rows and "marks" not in rows
