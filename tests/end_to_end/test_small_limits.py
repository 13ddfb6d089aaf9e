"""Limits on open files and processes that are too small for a campaign: refused at the start, with what is needed."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.processes import allowance

SHAKEDOWN = [sys.executable, "-m", "shakedown"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for place in ("tests", "plans", "systems", "campaigns"):
        (tmp_path / place).mkdir()
    (tmp_path / "site.yaml").write_text("site: s\n")
    (tmp_path / "tests/t.yaml").write_text(
        'test: t\nrun: {command: "ulimit -S -n >> $SHAKEDOWN_CAMPAIGN/../../said"}\n'
    )
    (tmp_path / "plans/p.yaml").write_text(
        "plan: p\nsystem: here\ncomponents:\n  - functionality:\n      tests: [t]\n      repeats: 3\n"
        '      criteria:\n        correct: {measure: passed / wanted, must: "= 100%"}\n'
    )
    return tmp_path


def run(site: Path, soft: int, hard: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SHAKEDOWN, *words, "-q"],
        cwd=site,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )


def test_too_few_open_files_are_refused_before_there_is_a_campaign(site: Path) -> None:
    done = run(site, 32, 32, "run", "p")
    assert done.returncode == 2
    assert "plan p cannot be driven here: it needs " in done.stderr
    assert "open files at once, and this process may have 32 (ulimit -n)" in done.stderr
    assert list((site / "campaigns").iterdir()) == []


def test_as_many_open_files_as_are_said_to_be_needed_are_enough(site: Path) -> None:
    """The record has files of its own open once the campaign is made: they are counted before."""
    refused = run(site, 32, 32, "run", "p")
    said = re.search(r"it needs (\d+) open files", refused.stderr)
    assert said is not None, refused.stderr
    needed = int(said[1])
    done = run(site, needed, needed, "run", "p")
    assert (done.returncode, [path.name for path in (site / "campaigns").iterdir()]) == (0, ["p-1"]), done.stderr


def test_a_soft_limit_is_raised_for_us_and_not_for_what_we_start(site: Path) -> None:
    assert run(site, 32, 4096, "run", "p").returncode == 0
    assert (site / "said").read_text().split() == ["32"] * 3


def test_too_few_processes_are_told_with_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path.stat().st_uid
    for pid, threads in ((7, 1), (8, 3)):
        for thread in range(threads):
            (tmp_path / str(pid) / "task" / str(thread)).mkdir(parents=True)
    (tmp_path / "self").mkdir()
    monkeypatch.setattr("shakedown.processes.allowance.os.geteuid", lambda: 1)
    monkeypatch.setattr("shakedown.processes.allowance.os.getuid", lambda: user)
    monkeypatch.setattr("shakedown.processes.allowance.resource.getrlimit", lambda number: (10, 10))
    assert allowance.lacking_processes(6, tmp_path) == ""
    said = allowance.lacking_processes(7, tmp_path)
    assert said == "it needs 7 more processes at once, and this user may have 10 (ulimit -u) and has 4"
    monkeypatch.setattr("shakedown.processes.allowance.os.geteuid", lambda: 0)
    assert allowance.lacking_processes(7, tmp_path) == "", "nobody holds an administrator to it"
