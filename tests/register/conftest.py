"""A site with two campaigns of one plan that were really run, once for all tests here; each test works on a copy of its own."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import warm_commands

from shakedown.cli.main import main

PLAN = """plan: p
system: here
parties: {site: [Ada], vendor: [Bo]}
components:
  - functionality: {tests: [TEST]}
"""


@pytest.fixture(scope="session")
def two_campaigns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``p-1`` is rejected, and sealed by Ada; ``p-2`` is accepted, and under no seal."""
    site = tmp_path_factory.mktemp("register") / "site"
    for folder in ("tests", "plans", "systems", "campaigns"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: story\n")
    (site / "tests/ok.yaml").write_text('test: ok\nrun: {command: "echo fine"}\ncheck: [output contains "fine"]\n')
    (site / "tests/bad.yaml").write_text('test: bad\nrun: {command: "exit 3"}\n')
    (site / "plans/p.yaml").write_text(PLAN.replace("TEST", "bad"))
    assert _run(site, "run", "p", "-q").returncode == 1
    assert _give(site, "seal", "p-1", "--by", "Ada").returncode == 0
    (site / "plans/p.yaml").write_text(PLAN.replace("TEST", "ok"))
    done = _run(site, "run", "p", "-q")
    assert done.returncode == 0, done.stderr + done.stdout
    return site


@pytest.fixture
def site(two_campaigns: Path, tmp_path: Path) -> Path:
    """A copy of that site for one test."""
    return Path(shutil.copytree(two_campaigns, tmp_path / "site", symlinks=True))


@pytest.fixture
def people() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Give a command in a site, in this process; its status and what it printed."""
    return _give


@pytest.fixture
def drive() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same as a process of its own, for a command that drives a campaign."""
    return _run


def _give(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    out, told, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["shakedown", *words]
    try:
        with contextlib.chdir(site), contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    finally:
        sys.argv = before
    return subprocess.CompletedProcess(words, status, out.getvalue(), told.getvalue())


def _run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_commands.run(
        words,
        cwd=site,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
