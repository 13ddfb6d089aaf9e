"""The clusters of one test session: started when first asked for, shared by its tests, at most two at a time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from left_processes import MARKER
from slurm_cluster import Cluster
from slurm_warden import remove, start_warden

PREFIX = "shakedown-slurm-"
AT_ONCE = 2
PATIENCE_S = 30.0  # that killed processes may take to be gone
QUICK = ("--slurmd-timeout", "10")
QUICK_NEWER = (
    "--slurmd-timeout",
    "15",
)  # with less, a newer Slurm takes nodes for dead that answer, where another one is dead

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
    "fault_plain": 1,
    "fault_forgetful": 1,
    "accounting": 2,
    "plain": 2,
    "forgetful": 1,
    "limited": 1,
    "": 1,
    "gpu": 1,
}
NEWER = (
    "newer-"  # before a kind: tests that run on a newer Slurm beside the others; few, so one worker has all of a kind
)


def groups(kinds: Sequence[str]) -> list[str]:
    """The group of each test, given the kind of each. Tests of a group run in one worker; those of a shared kind are dealt out."""
    seen: Counter[str] = Counter()
    found = []
    for kind in kinds:
        found.append(f"{kind or 'none'}-{seen[kind] % SHARED.get(kind, 1) + 1}")
        seen[kind] += 1
    return found


class Pool:
    """Clusters by kind and release of Slurm, a directory for each release. ``current``: the one that the running test uses."""

    def __init__(self) -> None:
        self.directories: dict[str, Path] = {}
        self.up: dict[tuple[str, str], Cluster] = {}
        self.notes: list[str] = []
        self.current: Cluster | None = None
        self.wardens: dict[str, subprocess.Popen[bytes]] = {}  # by release, as ``directories``

    def lend(self, kind: str, release: str = "") -> Cluster:
        """A sound and empty cluster of the kind. ``release``: of Slurm, "" = the machine's own."""
        key = (kind, release)
        if key not in self.up:
            while len(self.up) >= AT_ONCE:
                self.take_down(next(iter(self.up)))
            self.up[key] = self._cluster(kind, release).up()
        self.up[key] = self.current = self.up.pop(key)
        self.current.mend()
        return self.current

    def _cluster(self, kind: str, release: str) -> Cluster:
        if release not in self.directories:
            sweep()
            made = self.directories[release] = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir="/tmp"))
            made.chmod(0o755)
            self.wardens[release] = start_warden(made)
        nodes, configuration, options = KINDS[kind]
        if release and options == QUICK:
            options = QUICK_NEWER
        return Cluster(self.directories[release], kind, nodes, configuration, options, self.notes, release)

    def give_back(self) -> None:
        """After a test: what it left is put right, so that its own report is no longer concerned."""
        cluster, self.current = self.current, None
        if cluster:
            cluster.mend()
            self.end_left(cluster)

    def end_left(self, cluster: Cluster) -> None:
        """End the processes that a test left: commands of Slurm's that hang, say, whose driver it killed."""
        told = end_left_on(cluster.slurm_conf.parent, os.environ.get(MARKER, ""))
        if told:
            self.notes.append(f"{cluster.name}: ended what a test left: {', '.join(told)}")

    def renew(self) -> None:
        """Everything is thrown away: the next loan starts afresh."""
        self.close()
        self.current = None

    def take_down(self, key: tuple[str, str]) -> None:
        cluster = self.up.pop(key)
        self.end_left(cluster)
        cluster.down()

    def close(self) -> None:
        """Nothing is left, whatever does not end in time."""
        directories, clusters, wardens = self.directories, list(self.up.values()), self.wardens
        self.directories, self.wardens = {}, {}
        self.up.clear()
        try:
            for cluster in clusters:
                self.end_left(cluster)
        finally:
            for release, directory in directories.items():
                warden = wardens.get(release)
                remove(directory, warden.pid if warden else 0)
                if warden:
                    warden.kill()
                    warden.wait()


def left_on(directory: Path, session: str) -> dict[int, str]:
    """The command lines, by process id, of what a session of tests started that speaks to a cluster below this directory.

    The cluster's own daemons are left out. ``session``: the session's marker, "" = any.
    """
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        words = _words(folder / "environ")
        speaks = any(word.startswith(f"SLURM_CONF={directory}/") for word in words)
        ours = any(word == f"{MARKER}={session}" if session else word.startswith(f"{MARKER}=") for word in words)
        daemon = any(word.startswith("EMULATED_CLUSTER=") for word in words)
        if speaks and ours and not daemon and int(folder.name) != os.getpid():
            found[int(folder.name)] = " ".join(_words(folder / "cmdline"))
    return found


def _words(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [word for word in path.read_bytes().decode("utf-8", "replace").split("\0") if word]
    return []


def end_left_on(directory: Path, session: str) -> list[str]:
    """End them; their command lines. AssertionError with what does not end."""
    told: dict[int, str] = {}
    end = time.monotonic() + PATIENCE_S
    while living := left_on(directory, session):
        told |= living
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert time.monotonic() < end, f"{directory}: these do not end: {living}"
        time.sleep(0.05)
    return list(told.values())


def sweep() -> None:
    """End what a killed session left running."""
    for left in Path("/tmp").glob(f"{PREFIX}*"):
        owner = left.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            end_left_on(left, "")
            remove(left)
