"""A helper process, from the conductor's side: starting it, writing to it without waiting, reading, ending it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable

from shakedown.processes.framed_pipe import FramedPipe
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.slurm.parsing import clean
from shakedown.schedulers.slurm.wire import FromHelper, Setup, ToHelper

_COMMAND = (sys.executable, "-P", "-m", "shakedown.schedulers.slurm.serve")
_dying: list[subprocess.Popen[bytes]] = []  # killed, and not yet collected: they may hang in the kernel


class Helper:
    """One helper process. ``news`` is called in the reactor's wait when messages have arrived, or when the helper has ended."""

    def __init__(self, setup: Setup, reactor: Reactor, news: Callable[[], object]) -> None:
        """Raises OSError where no process can be started."""
        self._news = news
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the helper
        self._child = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C is the conductor's alone
            bufsize=0,
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        orders, answers = os.dup(self._child.stdin.fileno()), os.dup(self._child.stdout.fileno())
        self._child.stdin.close()
        self._child.stdout.close()
        self._pipe: FramedPipe[FromHelper] = FramedPipe(orders, answers, FromHelper, reactor, self._readable)
        self._arrived: deque[FromHelper] = deque()
        self.send(setup)

    @property
    def has_ended(self) -> bool:
        return self._pipe.has_ended

    @property
    def pid(self) -> int:
        return self._child.pid

    def send(self, message: ToHelper) -> None:
        """Send a message. What does not fit into the pipe now follows when there is room."""
        self._pipe.send(message)

    def take(self) -> list[FromHelper]:
        """The messages that have arrived since the last call."""
        arrived = list(self._arrived)
        self._arrived.clear()
        return arrived

    def wait(self, until: float) -> bool:
        """Purpose: wait for messages until a monotonic time. False: none came, or none can come any more."""
        if not self._arrived:
            self._arrived.extend(self._pipe.wait(until))
        return bool(self._arrived)

    def how_it_ended(self) -> str:
        """How the helper ended, in words for people."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)
        self._complaints.seek(0)
        lines = self._complaints.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        return clean(f"exit status {self._child.returncode}; {lines[-1] if lines else 'it said nothing'}")

    def close(self) -> None:
        """End the helper. If it hangs in the kernel, it is left to end when it can."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGKILL)
        self._pipe.close()
        self._complaints.close()
        _dying.append(self._child)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.5)
        _dying[:] = [child for child in _dying if child.poll() is None]

    def _readable(self) -> object:
        self._arrived.extend(self._pipe.receive())
        return self._news()
