"""Files that come and go while a site directory is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from shakedown.plans import files
from shakedown.plans.schema.problems import Problems


def test_a_file_that_is_taken_away_while_its_directory_is_read_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        (tmp_path / name).touch()
    really, seen = files._look_at, list[str]()

    def looking(entry: os.DirEntry[str], *more: Any) -> None:
        seen.append(entry.name)
        for other in tmp_path.glob("*.yaml"):
            if other.name != seen[0]:
                other.unlink()
        really(entry, *more)

    monkeypatch.setattr(files, "_look_at", looking)
    problems = Problems()
    found = files.scan(str(tmp_path), "tests/", problems)
    assert len(seen) == 3 and [file.name for file in found] == [f"tests/{seen[0]}"]
    assert problems.found == []


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("nothing")
    problems = Problems()
    assert files.scan(str(tmp_path), "tests/", problems) == []
    assert [(one.path, one.message) for one in problems.found] == [
        ("tests/a.yaml", "the file cannot be read: No such file or directory")
    ]
