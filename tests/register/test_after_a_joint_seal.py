"""A report has one "as of": what comes after a seal that every party agreed to stands in a part of its own, and nowhere else."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.audit.page_check import check_page
from shakedown.conductor.workers.settling import settled
from shakedown.events.reader import read_events
from shakedown.model.layout import Layout
from shakedown.report.page.page_text import lines_of_page
from shakedown.report.writing import make_report

Run = Callable[..., subprocess.CompletedProcess[str]]
Files = dict[str, bytes]
CAME = "1 run and 2 acts of people"


def made(site: Path) -> Files:
    """The tables, the figures and the JUnit file of p-1's report, by name."""
    root = site / "campaigns/p-1"
    make_report(root, junit=site / "junit.xml")
    files = [*root.glob("report/tables/*"), *root.glob("report/figures/*.svg"), site / "junit.xml"]
    return {file.name: file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def story(two_campaigns: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(two_campaigns, tmp_path_factory.mktemp("joint") / "site", symlinks=True))


def test_nothing_after_a_joint_seal_is_in_any_table_figure_or_count(story: Path, people: Run, drive: Run) -> None:
    """Bo agrees to the seal of a rejected campaign. Then Ada alone exchanges its test, has it run again, and rules the failure."""
    root = story / "campaigns/p-1"
    seal = next(event.seq for event in read_events(root / "log") if event.event == "sealed")
    assert people(story, "agree", "p-1", str(seal), "--by", "Bo", "--because", "so it is").returncode == 0
    before = made(story)
    shutil.copy(root / "report.html", story / "first.html")
    word = ("--campaign", "p-1", "--by", "Ada", "--because", "a disk")
    assert people(story, "amend", "p", *word).returncode == 0
    assert drive(story, "resume", "p-1", "-q").returncode == 1
    assert people(story, "rule", "r000001", "--as", "site", *word).returncode == 0
    (story / "templates").mkdir()  # the block in front of a page that a site lays out says the same
    (story / "templates/report.html").write_text('{% extends "shakedown/report.html" %}')
    after = made(story)
    assert [name for name in sorted(after) if after[name] != before.get(name)] == ["after-seal.csv"]
    assert before.keys() == after.keys() and len(before) > 40
    lines = list(csv.DictReader(after["after-seal.csv"].decode().splitlines()))
    assert [(one["what"], one["by"], one["run"], one["verdict"]) for one in lines] == [
        ("act", "Ada", "", ""), ("run", "", "r000002", "passed"), ("act", "Ada", "", ""),
    ]  # fmt: skip
    told = [line for _, line in lines_of_page((root / "report.html").read_text())]
    said = f"After the seal (event {seal}) that every party agreed to came {CAME}; they do not count unless"
    assert sum(line.startswith(said) for line in told) == 2  # in the block, and in the part of its own
    assert any(line.startswith(f"This page shows events 1 to {seal}, and in a part of its own") for line in told)
    assert any(line == f"Every party agreed to this seal. What came after it does not count: {CAME}." for line in told)
    assert check_page(Layout(root), root / "report.html").differs == []
    again = settled(Layout(root)).after_seal
    assert again is not None and (again.runs, again.acts, again.findings, again.through) == (1, 2, 0, 24)
    assert people(story, "seal", "p-1", "--by", "Ada", "--open").returncode == 0  # a seal of one side, of later
    checked = people(story, "verify", "p-1", "--page", "campaigns/p-1/report.html")
    assert f"events 1 to {seal}: an older seal, to which every party agreed\n" in checked.stdout
    held = people(story, "verify", "p-1", "--page", "first.html").stdout
    assert "a newer seal stands: outcome rejected" in held
    assert f"; it has no effect, for every party agreed to the seal (event {seal})" in held


def test_a_page_of_a_joint_seal_holds_though_one_side_seals_anew(site: Path, people: Run) -> None:
    """The holder of the page that both signed is told of the later seal, and the status is 0."""
    root = site / "campaigns/p-1"
    seal = next(event.seq for event in read_events(root / "log") if event.event == "sealed")
    shutil.copy(root / "signature.html", site / "signed.html")
    digest = next((root / "seals").glob("*.json")).stem
    shutil.copy(site / "plans/p.yaml", site / "p-2.yaml")
    (site / "plans/p.yaml").write_text((site / "plans/p.yaml").read_text().replace("ok", "bad"))  # as p-1 began
    for word in ("agree", "waive", "seal"):
        if word == "seal":
            done = people(site, "seal", "p-1", "--by", "Ada")
        elif word == "agree":
            done = people(site, "agree", "p-1", str(seal), "--by", "Bo", "--because", "so it is")
        else:
            restricts = ("--restriction", "no test", "--by", "Ada", "--because", "it is")
            done = people(site, "waive", "p-1", "functionality", "passed", *restricts)
        assert done.returncode == 0, done.stderr
    for given in (("--page", "signed.html"), ("--digest", digest)):
        done = people(site, "verify", "p-1", *given)
        assert done.returncode == 0, done.stdout
        assert done.stdout.startswith("p-1 is whole")
        assert "not checked: a newer seal stands: outcome rejected" in done.stdout
        assert f"; it has no effect, for every party agreed to the seal (event {seal})" in done.stdout
