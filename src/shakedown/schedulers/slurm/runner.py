"""Running Slurm's commands: with a time-out, in a session of its own, and counted."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from shakedown.processes.spawn import base_environment, login_umask
from shakedown.schedulers.slurm.versions import ENVIRONMENT, FOREIGN, FOREIGN_PREFIXES, KEPT

NOT_STARTED = 127
AWAY = re.compile(
    r"connect failure|connection (refused|failure)|no route to host|network is unreachable|in standby|not active controller"
    r"|configuration source|unable to contact slurm controller|authentication (credential|error)|munge|error getting cred"
    r"|process configuration file|unable to (establish|resolve)|host not found|unknown host|can't be reached now",
    re.IGNORECASE,
)  # what a command says that cannot reach the controller
# What sbatch says when the controller refused the job for now, before it sleeps, a second at first, and asks again by itself.
SLEEPS = re.compile(rb"job queue full|temporarily unable to accept job|creation temporarily disabled", re.IGNORECASE)
_PIECE = 65536
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENOEXEC})


class Ran(Struct, frozen=True):
    """The result of a command. ``status``: its exit status, -N for signal N, 127 where it could not be started. ``for_now``: it
    could not be started for lack of memory, processes or the like, so it may well exist.
    """

    status: int
    output: str = ""
    error: str = ""
    timed_out: bool = False
    for_now: bool = False


class Run(Protocol):
    """How commands are run. Tests use their own."""

    def __call__(self, command: Sequence[str], timeout_s: float) -> Ran: ...

    def take_calls(self) -> dict[str, int]: ...


class WhileItAnswers:
    """Runs commands within one look. Once a cluster's controller is away, it is not asked again until the next look.

    Otherwise each query would take as long as the first, and its first answer would be heard that much later. A controller counts
    as away if a command says so, or after two commands reach their time limit; one alone may have another reason, and is not run
    again.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._silent: dict[str, Ran] = {}  # by the word that names a cluster, "" where there is but one
        self._late: dict[tuple[str, str], Ran] = {}  # by that word and the command that came to its time limit

    def begin(self) -> None:
        """A look begins: forget which controllers were away."""
        self._silent.clear()
        self._late.clear()

    def __call__(self, command: Sequence[str], timeout_s: float) -> Ran:
        where = next((word for word in command if word.startswith("--clusters=")), "")
        controller = command[0] != "sacct"  # which asks the database
        before = self._silent.get(where) or self._late.get((where, command[0]))
        if controller and before is not None:
            return before
        ran = self._run(command, timeout_s)
        if controller and ran.timed_out:
            if any(cluster == where for cluster, _ in self._late):
                self._silent[where] = ran
            self._late[where, command[0]] = ran
        elif controller and is_away(ran):
            self._silent[where] = ran
        return ran

    def take_calls(self) -> dict[str, int]:
        return self._run.take_calls()


def is_away(ran: Ran) -> bool:
    """Purpose: whether a command says that it could not reach the controller."""
    return ran.status != 0 and bool(AWAY.search(ran.error))


class Runner:
    """Runs Slurm's commands. May be called from any thread."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._environment = command_environment()
        self._umask = login_umask()

    def __call__(self, command: Sequence[str], timeout_s: float) -> Ran:
        """Purpose: run a command to its end; after ``timeout_s`` seconds kill it with everything it started. Raises nothing.

        An sbatch that was refused for now and sleeps is not waited for: it would keep everybody waiting, and hide what it was told.
        """
        with self._lock:
            self._calls[command[0]] += 1
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
                umask=self._umask,  # sbatch gives its own to the job
                cwd=_directory(),
            )
        except OSError as error:
            return Ran(
                NOT_STARTED,
                error=f"{command[0]} cannot be run: {error.strerror}",
                for_now=error.errno not in _NOT_THERE,
            )
        try:
            if command[0] == "sbatch":
                output, complaint, sleeps = _until_it_sleeps(child, timeout_s)
                if sleeps:
                    _kill(child)
                    return Ran(1, _text(output), _text(complaint))
            else:
                output, complaint = child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill(child)
            return Ran(-signal.SIGKILL, error=f"{command[0]} gave no answer for {timeout_s:g} s", timed_out=True)
        return Ran(child.returncode, _text(output), _text(complaint))

    def take_calls(self) -> dict[str, int]:
        """How often each command was run since the last call of this."""
        with self._lock:
            calls, self._calls = dict(self._calls), Counter()
        return calls


def is_missing(ran: Ran) -> bool:
    """Purpose: whether the program does not exist, rather than that it could not be started just now."""
    return ran.status == NOT_STARTED and not ran.timed_out and not ran.for_now


def command_environment() -> dict[bytes, bytes]:
    """Purpose: the environment for Slurm's commands, which sbatch passes on to the job (``--export=ALL``).

    It is the conductor's own, with our programs first, without variables of the session or job that the conductor runs in. With
    ``--export=NONE``, Slurm would build the user's login environment for every job by ``su``, which is slow and may fail.
    """
    kept = {name: value for name, value in base_environment().items() if _is_ours(os.fsdecode(name))}
    return kept | {name.encode(): value.encode() for name, value in ENVIRONMENT.items()}


def _is_ours(name: str) -> bool:
    return name in KEPT or not (name in FOREIGN or name.startswith(FOREIGN_PREFIXES))


def _directory() -> str | None:
    """Where a command runs: in the current directory, or in "/" where that was removed, since sbatch refuses to run in a removed
    directory.
    """
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return "/"
    return None


def _until_it_sleeps(child: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes, bytes, bool]:
    """What sbatch printed until its end, or until it says that it sleeps, and whether it does. Raises TimeoutExpired."""
    assert child.stdout is not None
    assert child.stderr is not None
    end = time.monotonic() + timeout_s
    heard = {child.stdout: b"", child.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for pipe in heard:
            selector.register(pipe, selectors.EVENT_READ, pipe)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(child.args, timeout_s)
            for key, _ in ready:
                data = os.read(key.fd, _PIECE)
                heard[key.data] += data
                if not data:
                    selector.unregister(key.data)
            if SLEEPS.search(heard[child.stderr]) and b"\n" in heard[child.stderr]:
                return heard[child.stdout], heard[child.stderr], True
    child.wait(max(1.0, end - time.monotonic()))
    child.stdout.close()
    child.stderr.close()
    return heard[child.stdout], heard[child.stderr], False


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the command and collect it, unless it hangs in the kernel."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.communicate(timeout=1.0)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
