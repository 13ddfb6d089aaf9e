"""``shakedown init --example``: the examples come with the package and are copied whole, once."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import warm_commands

ROOT = Path(__file__).parents[2]


def shakedown(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = words
    return warm_commands.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_every_example_is_listed_with_the_heading_of_its_page(tmp_path: Path) -> None:
    told = shakedown("init", "--list", "--json", cwd=tmp_path)
    listed = json.loads(told.stdout)["examples"]

    assert set(listed) == {path.name for path in (ROOT / "examples").iterdir() if path.is_dir()}
    assert listed["c5-rehearsal"] == "Ten days of C5, rehearsed"
    assert "c5-rehearsal    Ten days of C5, rehearsed" in shakedown("init", "--list", cwd=tmp_path).stdout


def test_an_example_is_copied_with_the_rights_of_its_files_and_without_campaigns(tmp_path: Path) -> None:
    told = shakedown("init", "--example", "c5", cwd=tmp_path)

    assert told.returncode == 0, told.stderr
    assert "next: read c5/README.md" in told.stdout
    assert os.access(tmp_path / "c5/tests/model/run.sh", os.X_OK) == os.access(
        ROOT / "examples/c5/tests/model/run.sh", os.X_OK
    )
    tracked = subprocess.run(
        ["git", "ls-files", "."], cwd=ROOT / "examples/c5", capture_output=True, text=True, check=True
    ).stdout.split()
    copied = {str(path.relative_to(tmp_path / "c5")) for path in (tmp_path / "c5").rglob("*") if path.is_file()}
    assert copied == set(tracked) - {".gitignore"}
    assert shakedown("check", cwd=tmp_path / "c5").returncode == 0


def test_a_rehearsal_of_a_copied_example_runs(tmp_path: Path) -> None:
    assert shakedown("init", "--example", "c5-rehearsal", "ten days", cwd=tmp_path).returncode == 0
    done = shakedown("check", cwd=tmp_path / "ten days")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--example", "c5-rehersal"], "there is no example 'c5-rehersal'\nhint: did you mean 'c5-rehearsal'?"),
        (["--example", "laptop", "--local"], "--example and --list go with no other option"),
        (["--example", "laptop", "--list"], "--example and --list go with no other option"),
        (["--example", "laptop", "taken"], "nothing was written, because these are there already: site.yaml"),
        (["--example", "laptop", "file/below"], "cannot write"),
    ],
)
def test_wrong_use_is_told_and_nothing_is_written(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/site.yaml").write_text("mine\n")
    (tmp_path / "file").write_text("mine\n")
    told = shakedown("init", *words, cwd=tmp_path)

    assert told.returncode == 2 and said in told.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "site.yaml", "taken"]
