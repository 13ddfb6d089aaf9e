"""No process outlives the tests: a pytest plugin that looks, at the end of a session, for processes that tests started and left.

Every process of a session has the session's marker in its environment, whatever it is called. What is left is told by its command
line, ended, and makes the session fail; with ``-o left_processes=tell`` it is only told. (A variable of the environment would be
seen by payloads, and by the sessions that tests of this plugin start.)
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

MARKER = "SHAKEDOWN_TESTS_SESSION"
PATIENCE_S = float(os.environ.get("SHAKEDOWN_TESTS_PATIENCE", "10"))  # that processes which were told to end may take
_sessions: list[pytest.Session] = []


def left(session: str) -> dict[int, str]:
    """Purpose: the living processes of a session by id: their command lines. This process is none of them."""
    word = f"{MARKER}={session}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                if word in (folder / "environ").read_bytes().split(b"\0") and not _is_zombie(folder):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").strip()
                    found[int(folder.name)] = line.decode("utf-8", "replace") or "(a process without a command line)"
    return found


def _is_zombie(folder: Path) -> bool:
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "left_processes", "what processes that were left behind do to the session: fail or tell", default="fail"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[MARKER] = f"{os.getpid()}-{time.time_ns()}"  # workers and all that tests start inherit it


def pytest_sessionstart(session: pytest.Session) -> None:
    _sessions.append(session)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: Any) -> None:
    """After the workers ended and every fixture was taken down."""
    if hasattr(config, "workerinput") or not _sessions:
        return
    marker, end = os.environ.get(MARKER, ""), time.monotonic() + PATIENCE_S
    while marker and (processes := left(marker)) and time.monotonic() < end:
        time.sleep(0.1)
    if not marker or not processes:
        return
    print(f"\n{len(processes)} processes outlived the tests that started them; they are ended now:")
    for pid, line in sorted(processes.items()):
        print(f"  {pid}: {line}")
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    session = _sessions[-1]
    if config.getini("left_processes") != "tell" and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
