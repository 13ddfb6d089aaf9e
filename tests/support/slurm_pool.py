"""The clusters of one test session: started when first asked for, shared by its tests, at most two at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from slurm_cluster import SCRIPT, Cluster

PREFIX = "shakedown-slurm-"
AT_ONCE = 2
QUICK = ("--slurmd-timeout", "10")

# Fixture by fixture: nodes, configuration, options.
KINDS: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "accounting": (16, "accounting", ()),
    "plain": (8, "plain", ()),
    "forgetful": (8, "forgetful", ()),
    "limited": (4, "accounting", ("--max-submit", "20")),
    "gpu": (2, "plain", ("--gpus", "4")),
    "fault_accounting": (8, "accounting", QUICK),
    "fault_plain": (8, "plain", QUICK),
    "fault_forgetful": (8, "forgetful", QUICK),
}

# Kinds in the order in which their tests begin, those that take longest first; how many workers share the tests of a kind, each
# with a cluster of its own. Tests without a cluster have no kind.
SHARED: dict[str, int] = {
    "fault_accounting": 4,
    "accounting": 2,
    "plain": 2,
    "forgetful": 1,
    "fault_forgetful": 1,
    "fault_plain": 1,
    "limited": 1,
    "": 1,
    "gpu": 1,
}


def groups(kinds: Sequence[str]) -> list[str]:
    """The group of each test, given the kind of each. Tests of a group run in one worker; those of a shared kind are dealt out."""
    seen: Counter[str] = Counter()
    found = []
    for kind in kinds:
        found.append(f"{kind or 'none'}-{seen[kind] % SHARED[kind] + 1}")
        seen[kind] += 1
    return found


class Pool:
    """Clusters by kind in one directory. ``current`` is the one that the running test uses."""

    def __init__(self) -> None:
        self.directory: Path | None = None
        self.up: dict[str, Cluster] = {}
        self.notes: list[str] = []
        self.current: Cluster | None = None

    def lend(self, kind: str) -> Cluster:
        """A sound and empty cluster of the kind."""
        if kind not in self.up:
            while len(self.up) >= AT_ONCE:
                self.take_down(next(iter(self.up)))
            self.up[kind] = self._cluster(kind).up()
        self.up[kind] = self.current = self.up.pop(kind)
        self.current.mend()
        return self.current

    def _cluster(self, kind: str) -> Cluster:
        if self.directory is None:
            sweep()
            self.directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir="/tmp"))
            self.directory.chmod(0o755)
        nodes, configuration, options = KINDS[kind]
        return Cluster(self.directory, kind, nodes, configuration, options, self.notes)

    def give_back(self) -> None:
        """After a test: what it left is put right, so that its own report is no longer concerned."""
        cluster, self.current = self.current, None
        if cluster:
            cluster.mend()

    def renew(self) -> None:
        """Everything is thrown away: the next loan starts afresh."""
        self.close()
        self.current = None

    def take_down(self, kind: str) -> None:
        self.up.pop(kind).down()

    def close(self) -> None:
        self.up.clear()
        if self.directory:
            remove(self.directory)
        self.directory = None


def sweep() -> None:
    """End what a killed session left running."""
    for left in Path("/tmp").glob(f"{PREFIX}*"):
        owner = left.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            remove(left)


def remove(directory: Path) -> None:
    subprocess.run(
        [sys.executable, str(SCRIPT), "down", "--all", "--remove", "--dir", str(directory)],
        capture_output=True,
        timeout=300,
    )
