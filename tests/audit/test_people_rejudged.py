"""Judging again is an act: who, why and how many stand wherever the verdicts stand."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
SAID = ("--by", "Ada <Example>", "--because", "exit 3 is <right>")


def test_the_act_stands_in_the_report_the_table_why_log_and_runs(site: Path, people: Run) -> None:
    """Two runs of ``bad`` end with status 3; by the amended plan that is right."""
    (site / "tests/bad.yaml").write_text(
        'test: bad\nrun: {command: "echo no; exit 3"}\ncheck:\n  - exit is 3\n  - output contains "no"\n'
    )
    assert people(site, "amend", "p", "--by", "Bo", "--because", "3 is right").returncode == 0
    before = json.loads(people(site, "report", "--json", "--no-pdf").stdout)
    span = (site / "campaigns/p-1/report/tables/clocks.csv").read_bytes()
    done = people(site, "rejudge", *SAID)
    assert done.returncode == 0, done.stderr
    assert "4 verdicts looked at: 2 replaced, 2 stand" in done.stdout

    after = json.loads(people(site, "report", "--json", "--no-pdf").stdout)
    told = "judged again by Ada <Example>, because exit 3 is <right>: 4 verdicts looked at, 2 replaced, 2 stand"
    assert told in after["remarks"] and told not in before["remarks"]
    page = (site / "campaigns/p-1/report.html").read_text()
    assert "Judged again" in page and "Ada &lt;Example&gt;" in page and "exit 3 is &lt;right&gt;" in page
    assert (site / "campaigns/p-1/report/tables/clocks.csv").read_bytes() == span
    with (site / "campaigns/p-1/report/tables/rejudged.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["by"], row["because"]) == ("Ada <Example>", "exit 3 is <right>")
    assert [row[name] for name in ("examined", "replaced", "kept", "not_judged")] == ["4", "2", "2", "0"]
    with (site / "campaigns/p-1/report/tables/runs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["supersedes"]]
    assert [(row["judged_by"], row["judged_because"]) for row in rows] == [("Ada <Example>", "exit 3 is <right>")] * 2

    assert "judged again by Ada <Example>: exit 3 is <right>" in people(site, "why", "r000002").stdout
    assert "judged again by Ada <Example>: exit 3 is <right>" in people(site, "why", "bad").stdout
    logged = people(site, "log", "--event", "rejudged").stdout
    assert "Ada <Example>" in logged and "exit 3 is <right>" in logged
    runs = people(site, "runs").stdout
    assert "judged again by" in runs.splitlines()[0] and runs.count("Ada <Example>") == 2


def test_who_and_why_are_asked_for(site: Path, people: Run) -> None:
    for words in ((), SAID[:2], SAID[2:]):
        done = people(site, "rejudge", *words)
        assert done.returncode == 2 and ("Missing option" in done.stderr or "is empty" in done.stderr)
