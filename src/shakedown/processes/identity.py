"""Naming a process so that no other process ever has the same name: its id, its start time, and the boot of the machine."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from shakedown.processes.table import read_process


@cache
def boot_id() -> str:
    """The kernel's id of this boot; "" where it does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def identity(pid: int) -> str:
    """Purpose: "pid:start:boot" of a process that exists (a zombie too); "" where there is none.

    ``start`` is field 22 of /proc/PID/stat, in clock ticks since boot (proc_pid_stat(5)).
    """
    process = read_process(pid)
    return "" if process is None else f"{pid}:{process.start}:{boot_id()}"


def living_pid(name: str) -> int | None:
    """Purpose: the id of the process with this identity, if it is alive in this boot; else None. A zombie counts as dead."""
    parts = name.split(":")
    if len(parts) != 3 or not parts[0].isdigit() or not parts[1].isdigit() or parts[2] != boot_id():
        return None
    process = read_process(int(parts[0]))
    if process is None or not process.alive or process.start != int(parts[1]):
        return None
    return process.pid


def directory_token(directory: Path) -> str:
    """Purpose: a word that all processes working for one directory share. Renaming the directory keeps it; a copy
    has another one.
    """
    try:
        status = directory.stat()
    except OSError:
        return str(directory)
    return f"{status.st_dev:x}.{status.st_ino:x}"


def is_alive(name: str) -> bool:
    """Whether the process with exactly this identity is alive."""
    return living_pid(name) is not None
