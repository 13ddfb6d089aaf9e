"""Machines that are not here: each ``tests/machines/NAME.tree`` unpacked into a directory that can be probed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MACHINES = Path(__file__).parents[1] / "machines"

Unpack = Callable[[str], Path]


@pytest.fixture
def machine(tmp_path: Path) -> Unpack:
    """Unpacks a captured machine and returns its root."""

    def unpack(name: str) -> Path:
        root = tmp_path / name
        for entry in (MACHINES / f"{name}.tree").read_text().split("=== ")[1:]:
            path, _, content = entry.partition("\n")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        return root

    return unpack


@pytest.fixture
def lstopo() -> Path:
    """Where the files of hwloc lie."""
    return MACHINES / "lstopo"
