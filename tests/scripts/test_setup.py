"""The script that installs: what it refuses before it touches anything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_clone_below_a_path_with_a_space_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    clone = tmp_path / "my machine"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/setup", clone / "scripts/setup")

    done = subprocess.run(["scripts/setup", ".venv", ".[mpi]"], cwd=clone, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"error: the path '{clone}' has a space in it: MPICH's mpicc, which is installed there, cannot compile from such a path",
        "hint: clone Shakedown into a folder whose whole path has no space; sites, campaigns and HOME may have spaces",
    ]
    assert not (clone / ".venv").exists()
