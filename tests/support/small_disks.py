"""Small file systems, which tests fill."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[Path]:
    """Purpose: a file system of its own at a place, with options of tmpfs such as its size. Where none can be made, the test is
    skipped.
    """
    if os.geteuid() != 0:
        pytest.skip("a full or read-only disk is made by mounting a small one, which takes root")
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"tmpfs cannot be mounted here: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, name: str = "ballast") -> Path:
    """Purpose: a file that leaves no room."""
    ballast = disk / name
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    return ballast
