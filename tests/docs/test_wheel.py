"""The wheel: the package's data and the examples are in it; byte code and what a run leaves are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Files of the wheel, built from a copy of what git tracks in which somebody has run things."""
    clone = tmp_path_factory.mktemp("clone")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in tracked:
        if name.startswith(("src/", "examples/")) or name in (
            "pyproject.toml",
            "setup.py",
            "MANIFEST.in",
            "README.md",
            "LICENSE",
        ):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    for left in (
        "examples/laptop/campaigns/laptop-1/log/000001.jsonl",
        "examples/site-parts/__pycache__/site_checks.cpython-311.pyc",
        "src/shakedown/report/__pycache__/page.cpython-311.pyc",
        "src/shakedown/catalogue/__pycache__/examples.cpython-311.pyc",
    ):
        (clone / left).parent.mkdir(parents=True, exist_ok=True)
        (clone / left).write_bytes(b"left")
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(clone / "dist"), "."]
    env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    done = subprocess.run(words, cwd=clone, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (clone / "dist").glob("shakedown-*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_examples_kernels_and_templates_are_in_it(names: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "examples"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    wanted = {f"shakedown/{name}" for name in tracked if not name.endswith(".gitignore")}
    assert wanted - names == set() and len(wanted) > 50
    assert {"shakedown/kernels/c/stream.c", "shakedown/catalogue/tests/stream.yaml", "shakedown/py.typed"} <= names


def test_byte_code_campaigns_and_tests_are_not(names: set[str]) -> None:
    assert [name for name in names if name.endswith(".pyc") or "__pycache__" in name] == []
    assert [name for name in names if "/campaigns/" in name] == []
    assert {name.split("/")[0].split("-")[0] for name in names} == {"shakedown"}
