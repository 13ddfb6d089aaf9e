"""Which Slurm a cluster runs: the machine's own, or one that scripts/slurm-newer unpacked beside it.

The programs of the latter use libraries of their own, and start the machine's programs as jobs; only slurm.conf and PATH tell it.
"""

from __future__ import annotations

import os
from pathlib import Path

PLACE = Path("/var/lib/shakedown-tests")
NEWER = ("24.11",)  # those that scripts/slurm-newer unpacks


def root(release: str) -> Path:
    return PLACE / f"slurm-{release}"


def is_there(release: str) -> bool:
    """The machine's own Slurm ("") counts as there: what it needs is asked for elsewhere."""
    return not release or root(release).is_dir()


def asked_for() -> str:
    """The release on which all tests run: SHAKEDOWN_TESTS_SLURM, "" without it. ValueError for one that nobody knows."""
    release = os.environ.get("SHAKEDOWN_TESTS_SLURM", "")
    if release not in ("", *NEWER):
        raise ValueError(
            f"SHAKEDOWN_TESTS_SLURM={release}: it can be {' or '.join(NEWER)}, or unset for the machine's own Slurm"
        )
    return release


def programs(release: str) -> Path:
    return root(release) / "programs"


def search_path(release: str, path: str) -> str:
    """The search path for programs on which this Slurm comes first. ``path``: the one without it."""
    return f"{programs(release)}:{path}" if release else path


def plugins(release: str) -> str:
    """A line for slurm.conf and slurmdbd.conf; the machine's own Slurm needs none."""
    return f"PluginDir={root(release)}/plugins\n" if release else ""
