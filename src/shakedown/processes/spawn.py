"""Starting one process: in a session of its own, with its output in one place and nothing to read.

``os.posix_spawn`` is used instead of ``subprocess``: it takes a third of the time, and never forks our threads.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shakedown.processes.allowance import AT_START, LIMITS

MARKER = "SHAKEDOWN_JOB"  # the environment variable by which the processes of a job or build are found again
_SHELL = "/bin/sh"
# Whoever started us may have made us deaf (nohup, "&" in a script), and so did Python: a child hears every signal again.
_USUAL = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
# What make tells its own children: a payload is none of them, and its descriptors are not open there.
_OF_MAKE = (b"MAKEFLAGS", b"MFLAGS", b"MAKELEVEL", b"GNUMAKEFLAGS")
_LOGIN_UMASK = re.compile(r"^\s*UMASK\s+(0?[0-7]{3})\b", re.MULTILINE)

started: set[int] = set()  # processes that were started here and not collected yet


@dataclass(slots=True, eq=False)
class Child:
    """A process that we started. Its id is also the id of its session and process group. ``started``: seconds on the monotonic
    clock.
    """

    pid: int
    pidfd: int
    started: float


def base_environment() -> dict[bytes, bytes]:
    """Purpose: our environment, with the programs of our own installation (mpicc, mpiexec, python) found first.

    It is in bytes, as the operating system wants it, so that it is converted once and not for each process.
    """
    environment = {name: value for name, value in os.environb.items() if name not in _OF_MAKE}
    programs = os.fsencode(os.path.join(sys.prefix, "bin"))  # noqa: PTH118 - bytes are wanted
    environment[b"PATH"] = programs + b":" + environment.get(b"PATH", os.defpath.encode())
    return environment


def marked(environment: Mapping[bytes, bytes], marker: str) -> bytes:
    """The value of ``MARKER`` for a child. A campaign inside a job of another campaign belongs to both, so it keeps the outer
    marker.
    """
    outer = environment.get(MARKER.encode(), b"")
    return b"%b %b" % (outer, os.fsencode(marker)) if outer else os.fsencode(marker)


def login_umask(login: Path = Path("/etc/login.defs")) -> int:
    """Purpose: the file mode mask that a login has on this machine."""
    try:
        found = _LOGIN_UMASK.search(login.read_text(errors="replace"))
    except OSError:
        found = None
    return int(found[1], 8) if found else 0o022


def as_at_login(login: Path = Path("/etc/login.defs")) -> str:
    """Purpose: lines for ``sh`` that give it the file mode mask and limits of a fresh login.

    Whoever started the conductor (cron, a service, a script) may have had another mask. The limits are those that the conductor
    began with, not those that it has set since.
    """
    lines = [f"umask {login_umask(login):03o}\n"]
    for name, number in LIMITS.items():
        soft, now = AT_START[name], resource.getrlimit(number)[0]
        if soft != now:
            lines.append(
                f"ulimit -S -{name} {'unlimited' if soft == resource.RLIM_INFINITY else _amount(name, soft)}\n"
            )
    return "".join(lines)


def _amount(name: str, limit: int) -> int:
    """The limit in the unit of the shell's ``ulimit``: files, blocks of 512 bytes, or kilobytes."""
    return limit // {"n": 1, "c": 512, "s": 1024}[name]


def keep_to_ourselves() -> None:
    """Purpose: make sure that no child inherits descriptors that our own parent left open, such as those of make's job server."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers are wanted
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the one that lists them is closed by now
                os.set_inheritable(int(name), False)


def spawn_shell(
    arguments: list[str], environment: Mapping[bytes, bytes], output: int, standard_input: int = -1, errors: int = -1
) -> Child:
    """Purpose: start ``sh`` with these arguments; its standard output and error both go to the descriptor ``output``.

    ``standard_input``: a descriptor to read from; -1 = nothing to read. ``errors``: another descriptor for standard error. Raises
    OSError.
    """
    actions = [
        (os.POSIX_SPAWN_DUP2, _null_device() if standard_input < 0 else standard_input, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output if errors < 0 else errors, 2),
    ]
    begun = time.monotonic()
    pid = os.posix_spawn(
        _SHELL,
        ["sh", *arguments],
        environment,
        file_actions=actions,
        setsid=True,
        setsigmask=(),
        setsigdef=_USUAL,
    )
    started.add(pid)
    try:
        return Child(pid, os.pidfd_open(pid), begun)
    except OSError:  # a process that cannot be watched is not left running
        started.discard(pid)
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def ended_as_shell(child: Child) -> bool:
    """Purpose: whether a child that is not collected yet was ended by a signal while it was still the shell, and not a program that
    replaced it.
    """
    try:
        seen = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None or seen.si_code not in (os.CLD_KILLED, os.CLD_DUMPED):
            return False
        return Path(f"/proc/{child.pid}/comm").read_text(errors="replace").strip() == Path(_SHELL).name
    except OSError:
        return False  # somebody else collected it


def reap(child: Child) -> int | None:
    """Purpose: collect a child that ended. Returns its exit status, -N where signal N ended it, None where somebody else collected
    it.
    """
    started.discard(child.pid)
    try:
        _, status = os.waitpid(child.pid, 0)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status)


@cache
def _null_device() -> int:
    """A descriptor for /dev/null, opened once.

    It also restores the usual handling of ended children, if our parent had set the kernel to collect them: their status would be
    lost.
    """
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
