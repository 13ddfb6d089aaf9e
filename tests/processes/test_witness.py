"""The process that watches children beside us, alone: what it says of an end depends on when it looked, not on how fast it is."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from pathlib import Path

import pytest

from shakedown.processes import witness
from shakedown.processes.witness import Witness

PATIENCE_S = 60.0


def child() -> tuple[subprocess.Popen[bytes], int]:
    """A process that lives until it is killed, and its pidfd."""
    process = subprocess.Popen(["sleep", "600"])
    return process, os.pidfd_open(process.pid)


def kill(process: subprocess.Popen[bytes], pidfd: int) -> None:
    """It is dead when this returns, and not reaped."""
    process.kill()
    select.select([pidfd], [], [], PATIENCE_S)


def end_of(watcher: Witness, pid: int) -> tuple[float, float]:
    """Between which times it ended, as soon as the witness says so."""
    until = time.monotonic() + PATIENCE_S
    while (found := watcher.ended(pid, waits=True)) is None:
        assert time.monotonic() < until, "the witness says nothing"
        watcher._watched.setdefault(pid, -1)  # who asks gives up the child, and we ask again
    return found


def waits_for(pid: int) -> int:
    """How many descriptors a process waits for, asleep; 0 while it does something else."""
    infos = []
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):  # it closes what it inherited
            infos.append(path.read_text())
    if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        return 0
    return sum(line.startswith("tfd:") for info in infos for line in info.splitlines())


@pytest.mark.parametrize("dead", [False, True], ids=["alive when it came", "dead when it came"])
def test_the_end_of_a_child_that_was_alive_when_it_came_is_known_within_the_first_tick_too(
    dead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick is longer than the test may take, so that nothing but the arrival of the child makes the witness look."""
    monkeypatch.setattr(witness, "_TICK_S", 1000.0)
    watcher, (process, pidfd) = Witness(), child()
    try:
        if dead:
            kill(process, pidfd)
        watcher.watch(process.pid, pidfd)
        if not dead:
            until = time.monotonic() + PATIENCE_S
            while waits_for(watcher.pid) < 2:  # its parent and the child
                assert time.monotonic() < until, "the witness does not watch the child"
            before = time.monotonic()
            kill(process, pidfd)
            earliest, latest = end_of(watcher, process.pid)
            assert before <= earliest <= latest
        else:
            assert end_of(watcher, process.pid)[0] < 0, "nobody can know since when it is dead"
    finally:
        watcher.close()
        process.kill()
        process.wait()
        os.close(pidfd)
