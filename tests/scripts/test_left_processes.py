"""A process that a test leaves behind makes the session fail, and is told and ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
LEAVES = """\
import os, subprocess
def test_leaves():
    child = subprocess.Popen(["sleep", "301"], start_new_session=True)
    open("pid", "w").write(str(child.pid))
"""
CLEAN = """\
import subprocess
def test_clean():
    subprocess.run(["true"], check=True)
"""


def run(folder: Path, text: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(text)
    # Without plugins that no session here wants: to import them takes longer than all else.
    plugins = {"PYTHONPATH": str(SUPPORT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist.plugin"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "left_processes", *words],
        cwd=folder,
        env={**os.environ, **plugins, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", [(), ("-n", "1")])
def test_what_is_left_is_told_ended_and_red(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, LEAVES, *words, SHAKEDOWN_TESTS_PATIENCE="0.1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "1 processes outlived the tests" in done.stdout and "sleep 301" in done.stdout
    assert is_dead(int((tmp_path / "pid").read_text()))


def test_it_is_only_told_where_that_is_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, LEAVES, "-o", "left_processes=tell", SHAKEDOWN_TESTS_PATIENCE="0.1")
    assert done.returncode == 0 and "sleep 301" in done.stdout


def test_a_session_that_leaves_nothing_is_green(tmp_path: Path) -> None:
    done = run(tmp_path, CLEAN)
    assert done.returncode == 0 and "outlived" not in done.stdout


def is_dead(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
