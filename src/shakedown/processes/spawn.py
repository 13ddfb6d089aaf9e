"""Starting one process: in a session of its own, with its output in one place and nothing to read.

``os.posix_spawn`` instead of ``subprocess``: a third of the cost, and no thread of ours is ever forked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

MARKER = "SHAKEDOWN_JOB"  # the environment variable by which the processes of a job or build are found again
_SHELL = "/bin/sh"
# What Python or whoever started us made deaf would stay deaf in the child: these get their usual meaning back.
_USUAL = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGPIPE", "SIGXFSZ", "SIGCHLD", "SIGUSR1", "SIGUSR2")
)


@dataclass(slots=True, eq=False)
class Child:
    """A process that we started. Its id is also its session and process group. ``started``: monotonic seconds."""

    pid: int
    pidfd: int
    started: float


def base_environment() -> dict[bytes, bytes]:
    """Purpose: our environment with the programs of our own installation (mpicc, mpiexec, python) found first.

    Bytes, because the operating system wants bytes: converting it once instead of for each process.
    """
    environment = dict(os.environb)
    programs = os.fsencode(os.path.join(sys.prefix, "bin"))  # noqa: PTH118 - bytes are wanted
    environment[b"PATH"] = programs + b":" + environment.get(b"PATH", os.defpath.encode())
    return environment


def marked(environment: Mapping[bytes, bytes], marker: str) -> bytes:
    """The value of ``MARKER`` for a child: a campaign inside a job of another campaign belongs to both."""
    outer = environment.get(MARKER.encode(), b"")
    return b"%b %b" % (outer, os.fsencode(marker)) if outer else os.fsencode(marker)


def spawn_shell(
    arguments: list[str], environment: Mapping[bytes, bytes], output: int, standard_input: int = -1
) -> Child:
    """Purpose: start ``sh`` with these arguments; standard output and error both go to the descriptor ``output``.

    ``standard_input``: a descriptor to read; -1 gives it nothing to read. Raises OSError.
    """
    actions = [
        (os.POSIX_SPAWN_DUP2, _nothing() if standard_input < 0 else standard_input, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
    ]
    started = time.monotonic()
    pid = os.posix_spawn(
        _SHELL,
        ["sh", *arguments],
        environment,
        file_actions=actions,
        setsid=True,
        setsigmask=(),
        setsigdef=_USUAL,
    )
    try:
        return Child(pid, os.pidfd_open(pid), started)
    except OSError:  # a process that cannot be watched is not left running
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def reap(child: Child) -> int | None:
    """Purpose: collect a child that ended; its exit status, -N where signal N ended it, None where somebody else took it."""
    try:
        _, status = os.waitpid(child.pid, 0)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status)


@cache
def _nothing() -> int:
    """/dev/null, opened once.

    By the way: whoever started us may have had the kernel collect our children unasked; their statuses would be lost.
    """
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
