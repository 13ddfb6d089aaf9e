"""What /proc says of the processes of this machine at one moment."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass

_ENVIRONMENT_LIMIT = 4 << 20  # bytes of a process's environment that are looked at
_NOT_ITS_FAULT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_LOOKS, _A_MOMENT_S = (
    40,
    0.0005,
)  # at one that becomes another program: on a busy machine that may take some milliseconds
_KERNEL_THREADS = 2  # the parent of them all; they have no environment and cannot be ended


@dataclass(frozen=True, slots=True)
class Process:
    """One line of the table. ``start`` is in clock ticks since boot; (pid, start) is unique on one boot."""

    pid: int
    state: str  # R running, S sleeping, D in the kernel and deaf to signals, T stopped, Z a zombie, X dead
    parent: int
    group: int
    session: int
    start: int

    @property
    def alive(self) -> bool:
        return self.state not in "ZX"


def read_process(pid: int, strict: bool = False) -> Process | None:
    """Purpose: the process that has this id now; None where there is none.

    ``strict``: raise OSError, instead of returning None, where it cannot be told for lack of files or memory.
    """
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError as error:
        if strict and error.errno in _NOT_ITS_FAULT:
            raise
        return None
    try:
        line = os.read(descriptor, 4096)
    except OSError:  # it ended in between
        return None
    finally:
        os.close(descriptor)
    # The name stands in parentheses and may itself hold blanks and parentheses: what counts comes after the last one.
    fields = line.rpartition(b")")[2].split()
    return Process(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def read_table() -> dict[int, Process]:
    """Purpose: every process by its id, except this one and the kernel's threads.

    Raises OSError where it cannot be told (too many open files): a process that cannot be looked at must not count as dead.
    """
    table = {}
    myself = os.getpid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != myself:
            process = read_process(int(entry.name), strict=True)
            if process is not None and process.parent != _KERNEL_THREADS:
                table[process.pid] = process
    return table


def read_marker(pid: int, variable: str, strict: bool = False) -> list[str]:
    """Purpose: the words of an environment variable as it was when the process started; [] where it had none or cannot be read.

    ``strict``: as in ``read_process``. Also, a process that is just becoming another program (``exec``) shows no environment yet,
    and is looked at again until it does.
    """
    environment = _environment(pid, strict)
    for _ in range(_LOOKS if strict and environment == b"" else 0):
        again = _becomes_another(pid)
        environment = _environment(pid, strict)  # it may have become it since the first look
        if environment or not again:
            break
        time.sleep(_A_MOMENT_S)
    if not environment:
        return []
    start = (b"\0" + environment).find(b"\0" + variable.encode() + b"=")
    if start < 0:
        return []
    return os.fsdecode(environment[start:].split(b"\0", 1)[0]).partition("=")[2].split()


def _becomes_another(pid: int) -> bool:
    """Whether a process is just becoming another program: it is alive, and shows no arguments."""
    process = read_process(pid)
    if process is None or not process.alive:
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            return not file.read(1)
    except OSError:
        return False


def _environment(pid: int, strict: bool) -> bytes | None:
    """The environment of a process; None where it cannot be read, since the process belongs to somebody else."""
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY)
    except OSError as error:
        if strict and error.errno in _NOT_ITS_FAULT:
            raise
        return None
    try:
        return _read_all(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_all(descriptor: int) -> bytes:
    parts: list[bytes] = []
    while (part := os.read(descriptor, 1 << 16)) and len(parts) << 16 < _ENVIRONMENT_LIMIT:
        parts.append(part)
    return b"".join(parts)
