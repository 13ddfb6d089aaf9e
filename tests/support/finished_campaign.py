"""A small campaign that was really run, once for all tests here; each test works on a copy of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import warm_commands
from once import made_once

PLAN = """plan: p
system: here
contract: deal
components:
  - functionality: {tests: [ok, bad], repeats: 2}
"""
CONTRACT = """contract: deal
title: Supply of <Example> & installation
parties: {vendor: Iron <b>Works</b>, site: The Centre}
columns: [test, where, figure, must, basis]
rows:
  - [ok, {}, elapsed, "<= 60 s", contract]
"""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose campaign ``p-1`` is over: two runs of ``ok`` passed (r000001, r000003), two of ``bad`` failed."""
    return made_once(tmp_path_factory, "finished", lambda place: _finish(place / "site")) / "site"


def _finish(site: Path) -> None:
    for folder in ("tests", "plans", "systems", "campaigns", "contracts"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: story\n")
    (site / "tests/ok.yaml").write_text(
        'test: ok\nrun: {command: "echo fine; echo 7 > answer.txt"}\ncheck:\n  - output contains "fine"\n'
        "  - files match golden: {glob: answer.txt, sums: golden.sha256}\n"
    )
    (site / "tests/golden.sha256").write_text(
        "10159baf262b43a92d95db59dae1f72c645127301661e0a3ce4e38b295a97c58  answer.txt\n"
    )
    (site / "tests/bad.yaml").write_text('test: bad\nrun: {command: "echo no; exit 3"}\n')
    (site / "plans/p.yaml").write_text(PLAN)
    (site / "contracts/deal.yaml").write_text(CONTRACT)
    done = _run(site, "run", "p", "-q")
    assert done.returncode == 1, done.stderr + done.stdout


@pytest.fixture
def site(finished: Path, tmp_path: Path) -> Path:
    """A copy of that site for one test."""
    return Path(shutil.copytree(finished, tmp_path / "site", symlinks=True))


@pytest.fixture
def people() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a site; what it printed, as text."""
    return _run


def _run(site: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return warm_commands.run(
        words,
        cwd=site,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        **options,
    )
