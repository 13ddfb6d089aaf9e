"""Which process, of which user, on which machine: enough to tell later whether it still lives."""

from __future__ import annotations

import os
import pwd
import time
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from shakedown.model.events import MOMENTS


class Identity(msgspec.Struct, frozen=True):
    """A process. ``boot`` is the kernel's boot id, ``start`` the process's start in clock ticks since that boot.

    ``since`` is when it took the lease, in seconds since 1970. ``space`` names the namespace that the pid counts in: two
    containers on one machine each have a process 17.
    """

    host: str
    boot: str
    pid: int
    start: int
    user: str
    since: Annotated[float, MOMENTS]
    space: str = ""

    def same_place(self, other: Identity) -> bool:
        """Whether the two live under one kernel and see each other's pids."""
        return (self.host, self.boot, self.space) == (other.host, other.boot, other.space)


def this_process() -> Identity:
    """Purpose: who we are. Call it in the process that will do the work, after any fork."""
    pid = os.getpid()
    started, _ = _started_and_state(pid)
    return Identity(
        os.uname().nodename, _boot_id(), pid, started or 0, user_name(os.getuid()), time.time(), _pid_space()
    )


def is_alive(identity: Identity) -> bool:
    """Purpose: whether that process still lives; only for one of the same place. What cannot be told counts as alive."""
    try:
        os.kill(identity.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it is someone else's, so it is there
    started, state = _started_and_state(identity.pid)
    if state in ("Z", "X"):
        return False
    return started is None or started == identity.start


def user_name(uid: int) -> str:
    """The name of a user, or ``uid 1234`` where there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@cache
def this_boot() -> str:
    """Purpose: a short name of this machine since it was booted, "" where it has none."""
    return _boot_id().replace("-", "")[:16]


def _pid_space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it names no path
    except OSError:
        return ""


def _started_and_state(pid: int) -> tuple[int | None, str]:
    """Field 22 (start) and 3 (state) of /proc/PID/stat; the name in field 2 may hold anything, brackets too."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[19]), fields[0]
    except (OSError, IndexError, ValueError):
        return None, ""
