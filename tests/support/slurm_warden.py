"""Takes the clusters of a directory down when the tests that made it are over, however they ended: also by SIGKILL.

    python slurm_warden.py DIRECTORY PID

It waits for the process PID, and then removes the directory and all that runs for it, unless that is done already.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from left_processes import MARKER

SCRIPT = Path(__file__).resolve().parent.parent / "slurm" / "cluster"
PATIENCE_S = 60.0  # that killed processes may take to be gone


def start_warden(directory: Path) -> subprocess.Popen[bytes]:
    """Purpose: have the directory removed when this process is over."""
    words = [sys.executable, str(Path(__file__).resolve()), str(directory), str(os.getpid())]
    nothing, environment = (
        subprocess.DEVNULL,
        {k: v for k, v in os.environ.items() if k != MARKER},
    )  # nobody is to end it
    return subprocess.Popen(
        words, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, env=environment
    )


def remove(directory: Path, but: int = 0) -> None:
    """Purpose: end what runs for a directory of clusters, and remove it. AssertionError with what is left.

    The script may be late on a busy machine, and a daemon that is just being started bears no mark yet. So what is left is looked
    for again, in arguments and environments, until there is nothing. ``but``: a process that is left alone.
    """
    said = ""
    if directory.exists():
        words = [sys.executable, str(SCRIPT), "down", "--all", "--remove", "--dir", str(directory)]
        try:
            said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300).stderr
        except subprocess.TimeoutExpired as late:
            said = str(late)
    end = time.monotonic() + PATIENCE_S
    while living := running_for(directory, but):
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert time.monotonic() < end, f"{directory}: these do not end: {living}\n{said}"
        time.sleep(0.05)
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
        assert not directory.exists() or time.monotonic() < end, f"{directory} cannot be removed\n{said}"


def running_for(directory: Path, but: int = 0) -> dict[int, str]:
    """Purpose: the command lines, by process id, of what has a directory of clusters in its arguments or its environment.

    Left out are this process, those that it descends from, and ``but``.
    """
    spared = {but, os.getpid(), *_ancestors()}
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) in spared:
            continue
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes()
            if str(directory).encode() in words + (folder / "environ").read_bytes() and _lives(folder):
                found[int(folder.name)] = words.replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def _lives(folder: Path) -> bool:
    return (folder / "stat").read_text().rpartition(") ")[2][0] not in "ZX"


def _ancestors() -> list[int]:
    found, pid = [], os.getppid()
    while pid > 1:
        found.append(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
        except OSError:
            break
    return found


def wait_for(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        select.select([descriptor], [], [])
        os.close(descriptor)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # what ends the tests may be meant for all that they started
    wait_for(int(sys.argv[2]))
    remove(Path(sys.argv[1]))
