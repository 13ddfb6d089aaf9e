"""Processes of the emulated site: started detached, found again by a mark in their environment, killed for good."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .site import Trouble

PATIENCE_S = 60.0


def marked(mark: str) -> list[int]:
    """Every living process that was started with this entry in its environment."""
    wanted = mark.encode()
    return [pid for pid in all_pids() if wanted in _environment(pid)]


def all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if entry.name != str(os.getpid())]


def _environment(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return []


def in_namespace_of(pid: int) -> list[int]:
    """The processes in the same process namespace, as this side numbers them."""
    space = _namespace(pid)
    return [other for other in all_pids() if space and _namespace(other) == space]


def _namespace(pid: int) -> str:
    with contextlib.suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    return ""


def program(pid: int) -> str:
    """The short name of the program, empty when the process is gone or only waits to be reaped."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text()
        return state[state.index("(") + 1 : state.rindex(")")] if state[state.rindex(")") + 2] != "Z" else ""
    return ""


def read_pid(path: Path, expected: str) -> int | None:
    """The process in a pid file when it still lives and still is that program."""
    try:
        pid = int(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pid if program(pid) == expected else None


def kill(pids: Iterable[int], how: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


def kill_all(find: Callable[[], Sequence[int]], what: str) -> None:
    """Kill until nothing is found any more. Raises Trouble when something does not die."""

    def gone() -> bool:
        kill(left := find())
        return not left

    if not wait_until(gone):
        raise Trouble(f"{what}: processes {find()} do not die", "see what holds them: ps -o pid,stat,wchan,args -p PID")


def wait_until(condition: Callable[[], bool], limit_s: float = PATIENCE_S, every_s: float = 0.05) -> bool:
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(every_s)
    return True


def launch(
    command: Sequence[str], environment: Mapping[str, str], log: Path, groups: Sequence[Path] = ()
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, its output appended to ``log``, in the given control groups."""

    def join() -> None:
        for group in groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=join,
        )


def say(command: Sequence[str], environment: Mapping[str, str], limit_s: float = PATIENCE_S) -> tuple[int, str]:
    """Exit status and what was printed, both streams; 124 when it took longer than the limit."""
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired as late:
        return 124, str(late)
    return done.returncode, done.stdout


def tail(path: Path, lines: int = 15) -> str:
    with contextlib.suppress(OSError):
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    return f"({path} is not there)"
