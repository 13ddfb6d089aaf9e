"""A campaign whose tests load a module: the default version changes while it runs, and the plan says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from module_systems import module_system, unpacked, write_module
from stories import MakeSite, Shakedown

TEST = """\
software: {modules: [app]}
build: {run: "app >built"}
run: {exclusive: true, command: "cat {build}/built; app; NEXT"}
check: [file loaded-software.txt recorded]
"""
COMPONENT = """repeats: 2, criteria: {
  same: {measure: identical, files: loaded-software.txt, must: "= 100%"},
  correct: {measure: correct / completed, must: ">= 50%"}}"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Module files of Lmod: app/1.0 is the only version, and 2.0 is about to be installed."""
    if not unpacked():
        pytest.skip("Lmod is not unpacked here (scripts/slurm-packages, as root on Debian)")
    for version in ("1.0", "2.0"):
        program = write_module(tmp_path / version, "app", version, tmp_path) / "app"
        program.write_text(f"#!/bin/sh\necho this is app {version}\n")
        program.chmod(0o755)
    for name, value in module_system("lmod", tmp_path, tmp_path / "1.0").environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_the_version_that_each_run_loaded_is_in_the_record(
    modules: Path, make_site: MakeSite, shakedown: Shakedown
) -> None:
    install = f"cp {modules}/2.0/app/2.0 {modules}/1.0/app/2.0"
    site = make_site({"modular": TEST.replace("NEXT", install)}, COMPONENT)

    run = shakedown("run", "p", "--quiet", "--json", cwd=site)

    assert run.returncode == 1, run.stderr
    [component] = json.loads(run.stdout)["components"]
    same, correct = component["criteria"]
    assert (correct["outcome"], correct["arithmetic"]) == ("met", "2 correct / 2 completed = 100%, must >= 50%")
    assert (same["outcome"], same["measured"]) == ("not met", 0.5)
    assert "in loaded-software.txt" in same["arithmetic"]
    runs = [site / f"campaigns/p-1/work/000/r00000{number}/loaded-software.txt" for number in (1, 2)]
    assert [one.read_text() for one in runs] == ["module app/1.0\n", "module app/2.0\n"]
    [built] = (site / "campaigns/p-1/builds").glob("*/loaded-software.txt")
    assert built.read_text() == "module app/1.0\n"
