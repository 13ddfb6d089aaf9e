"""What is made once for all workers of a run: the first that needs it makes it, the others wait and use the same."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Purpose: the directory that ``make`` filled, which was empty before; tests leave it as it is, or work on a copy.

    ``name``: one for each thing that is made. Whatever ``make`` raises is raised; the next that needs it tries again.
    """
    ours = factory.getbasetemp()
    base = ours.parent if os.environ.get("PYTEST_XDIST_WORKER") else ours
    place, made = base / f"once-{name}", base / f"once-{name}.made"
    with (base / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            make(place)
            made.touch()
    return place
