"""Ctrl-C while a kernel runs: its status is its own at whatever instant that comes; the second one is final."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from shakedown.kernels import launch


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel under an mpiexec that only starts it."""
    mpiexec, path = tmp_path / "mpiexec", tmp_path / "kernel"
    mpiexec.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    mpiexec.chmod(0o755)
    path.touch(mode=0o755)
    monkeypatch.setattr(launch, "find_mpiexec", lambda: mpiexec)
    return path


@pytest.mark.parametrize("capture", [True, False])
def test_the_status_of_a_kernel_that_crashed_is_not_lost(
    program: Path, monkeypatch: pytest.MonkeyPatch, capture: bool
) -> None:
    """The child was collected, and its status is about to be noted. A shell that started the tests with ``&`` ignores SIGINT."""
    program.write_text("#!/bin/sh\necho said\nexit 3\n")
    before = signal.getsignal(signal.SIGINT)
    real = os.waitpid

    def interrupted(pid: int, options: int) -> Any:
        found = real(pid, options)
        if found[0]:
            os.kill(os.getpid(), signal.SIGINT)
        return found

    monkeypatch.setattr(os, "waitpid", interrupted)
    status, output = launch.launch_kernel(program, 1, (), capture)
    assert (status, output) == (3, "said\n" if capture else "")
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_ctrl_c_ends_a_kernel_that_does_not_stop(program: Path, tmp_path: Path) -> None:
    program.write_text(
        f"#!/bin/sh\ntrap '' INT\necho $$ >{tmp_path}/pid\nkill -INT $PPID; sleep 0.05; kill -INT $PPID\nexec sleep 60\n"
    )
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        launch.launch_kernel(program, 1, (), capture=True)
    assert time.monotonic() - begun < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_kernel_that_stops_at_the_first_one_says_what_it_has(program: Path) -> None:
    program.write_text("#!/bin/sh\ntrap 'echo so far; exit 2' INT\nkill -INT $PPID $$\nsleep 60\n")
    assert launch.launch_kernel(program, 1, (), capture=True) == (2, "so far\n")
