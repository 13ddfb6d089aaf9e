"""What the process table says of a process that becomes another program at that moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from shakedown.processes import table
from shakedown.processes.spawn import MARKER, Child, reap, spawn_shell
from shakedown.processes.table import Process, read_marker


@pytest.fixture
def children() -> Iterator[list[Child]]:
    started: list[Child] = []
    yield started
    for child in started:
        os.kill(child.pid, signal.SIGKILL)
        reap(child)
        os.close(child.pidfd)


def test_a_process_just_started_bears_its_marker(children: list[Child]) -> None:
    """It is there before it has arguments and an environment to be seen: of hundreds some are looked at just then."""
    null = os.open(os.devnull, os.O_RDWR)
    environment = {MARKER.encode(): b"t/new", b"PATH": b"/usr/bin:/bin"}
    for _ in range(100):
        children.append(spawn_shell(["-c", "exec sleep 30"], environment, null))
        assert all("t/new" in read_marker(children[-1].pid, MARKER, strict=True) for _ in range(20))
    os.close(null)


def test_one_without_an_environment_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arguments are there, so it is no more between two programs."""
    looks: list[int] = []

    def bare(pid: int, strict: bool) -> bytes:
        looks.append(pid)
        return b""

    monkeypatch.setattr(table, "_environment", bare)
    assert read_marker(os.getpid(), MARKER, strict=True) == []
    assert len(looks) == 2


def test_a_dead_one_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def bare(pid: int, strict: bool) -> bytes:
        seen.append(pid)
        return b""

    monkeypatch.setattr(table, "_environment", bare)
    monkeypatch.setattr(table, "read_process", lambda pid: Process(pid, "Z", 1, pid, pid, 1))
    assert read_marker(999_999_999, MARKER, strict=True) == []
    assert len(seen) == 2
