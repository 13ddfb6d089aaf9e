"""Processes that outlived their parents. This process is their subreaper, so they become its children instead of those of init.

So when the first process of a job ends, reading one file shows at once whether the job left anything behind.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache

from shakedown.processes.spawn import MARKER, started
from shakedown.processes.table import Process, read_marker, read_process

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_USUAL_BYTES, _MOST_BYTES = 2048, 1 << 22  # of the list of children
_SWEEP_S = 2.0  # a zombie that nobody collected for so long is an orphan: whoever started one of ours asks sooner


@cache
def become_subreaper() -> bool:
    """Purpose: have orphaned descendants become children of this process. False where the system cannot do that."""
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        return bool(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


@dataclass(slots=True)
class Orphans:
    """The children of this process that it did not start itself, by their markers.

    Each is looked at once, and again in every sweep, so that a check costs one read even for a thousand jobs a second.
    """

    _descriptor: int = -1
    _words: dict[int, list[str]] = field(default_factory=dict)  # child -> the words of its marker
    _zombies: set[int] = field(default_factory=set)  # unknown zombies of the last sweep
    _next_sweep: float = 0.0

    def __post_init__(self) -> None:
        become_subreaper()
        # What is handed over goes to the first thread, whose id is the process's own.
        with contextlib.suppress(OSError):
            self._descriptor = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY | os.O_CLOEXEC)

    def markers(self, known: Collection[int]) -> set[str]:
        """Purpose: the words in the markers of all living orphans. ``known``: children that need not be looked at."""
        unknown = self._children().difference(known)
        if not unknown:
            return set()
        if time.monotonic() >= self._next_sweep:
            self._sweep(unknown)
        for pid in unknown.difference(self._words):
            self._words[pid] = read_marker(pid, MARKER)
        return {word for pid in unknown if self._words[pid] and _lives(pid) for word in self._words[pid]}

    def nameless(self, known: Collection[int]) -> list[Process]:
        """Purpose: living orphans without any marker: they left their session and cleared their environment. Call ``markers``
        first. Processes of our own session, or started by us, are not orphans.
        """
        found = []
        for pid in self._children().difference(known, started) if self._descriptor >= 0 else ():
            process = read_process(pid) if not self._words.get(pid) else None
            if process is not None and process.alive and process.session != os.getsid(0):
                found.append(process)
        return found

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _children(self) -> set[int]:
        if self._descriptor >= 0:
            listed = os.pread(self._descriptor, _USUAL_BYTES, 0)
            if len(listed) == _USUAL_BYTES:
                listed = os.pread(self._descriptor, _MOST_BYTES, 0)
            return set(map(int, listed.split()))
        # A kernel without the list (CONFIG_PROC_CHILDREN): anyone may be an orphan of ours.
        return {int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()}

    def _sweep(self, unknown: set[int]) -> None:
        """Forget what was read, and collect orphans that have been dead for a whole sweep.

        Younger zombies, and those of our own session, may belong to other code in this process that will ask for their status.
        """
        self._next_sweep = time.monotonic() + _SWEEP_S
        self._words.clear()
        dead = {pid for pid in unknown if (process := read_process(pid)) and _is_foreign_zombie(process)}
        for pid in dead & self._zombies:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        self._zombies = dead - self._zombies


def _is_foreign_zombie(process: Process) -> bool:
    return not process.alive and process.session != os.getsid(0)


def _lives(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.alive
