"""How many open files and processes this user may have (``ulimit -n``, ``ulimit -u``), and whether that is enough."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

# As a shell names them. What we start gets these, whatever we made of our own since.
LIMITS = {"n": resource.RLIMIT_NOFILE, "c": resource.RLIMIT_CORE, "s": resource.RLIMIT_STACK}
AT_START = {name: resource.getrlimit(number)[0] for name, number in LIMITS.items()}


def lacking_files(wanted: int) -> str:
    """Purpose: make sure that ``wanted`` more files can be open at once, by raising our own soft limit as far as allowed. Returns
    "" where they can, else a sentence. Processes that we start get the limit that we began with (``spawn.as_at_login``).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _open_now()
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return ""
    if hard != resource.RLIM_INFINITY and hard < needed:
        return f"it needs {needed} open files at once, and this process may have {hard} (ulimit -n)"
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return ""
    return f"it needs {needed} open files at once, and this process may have {soft} (ulimit -n)"


def lacking_processes(wanted: int, proc: Path = Path("/proc")) -> str:
    """Purpose: check that ``wanted`` more processes can be started. Returns "" where they can, else a sentence.

    The kernel counts all threads of the user, and does not limit an administrator. The limit is not raised, since runs would
    inherit it.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() == 0 or soft == resource.RLIM_INFINITY:
        return ""
    there = _threads_of(os.getuid(), proc)
    if soft >= wanted + there:
        return ""
    return f"it needs {wanted} more processes at once, and this user may have {soft} (ulimit -u) and has {there}"


def _open_now() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers are wanted
    except OSError:
        return 16


def _threads_of(user: int, proc: Path) -> int:
    count = 0
    with suppress(OSError), os.scandir(proc) as entries:
        for entry in entries:
            if entry.name.isdigit():
                with suppress(OSError):
                    if entry.stat().st_uid == user:
                        count += len(os.listdir(proc / entry.name / "task"))  # noqa: PTH208 - numbers are wanted
    return count
