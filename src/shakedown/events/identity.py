"""Identify a process by host, boot, pid and user, well enough to tell later whether it is still alive."""

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
    """A process. ``boot`` is the kernel's boot id, ``start`` the start of the process in clock ticks since that boot.

    ``since`` is when it took the lease, in seconds since 1970. ``space`` names the pid namespace: two containers on one machine can
    each have a process 17.
    """

    host: str
    boot: str
    pid: int
    start: int
    user: str
    since: Annotated[float, MOMENTS]
    space: str = ""

    def same_place(self, other: Identity) -> bool:
        """Whether both processes run under one kernel and see each other's pids."""
        return (self.host, self.boot, self.space) == (other.host, other.boot, other.space)


def this_process() -> Identity:
    """Purpose: the identity of this process. Call it in the process that will do the work, after any fork."""
    pid = os.getpid()
    started, _ = _started_and_state(pid)
    return Identity(
        os.uname().nodename, _boot_id(), pid, started or 0, user_name(os.getuid()), time.time(), _pid_space()
    )


def is_alive(identity: Identity) -> bool:
    """Purpose: whether that process is still alive; valid only for an identity of the same place. Unknown counts as alive."""
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
    """The name of a user, or ``uid 1234`` where the user has no name."""
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
    """Purpose: a short name for this machine and its current boot, "" where none is known."""
    return _boot_id().replace("-", "")[:16]


def _pid_space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it names no path
    except OSError:
        return ""


def _started_and_state(pid: int) -> tuple[int | None, str]:
    """Field 22 (start) and field 3 (state) of /proc/PID/stat; the name in field 2 may contain any character, also brackets."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[19]), fields[0]
    except (OSError, IndexError, ValueError):
        return None, ""
