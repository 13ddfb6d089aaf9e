"""A helper process as the conductor sees it: started, written to without waiting, read, ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable

from shakedown.processes.reactor import Reactor
from shakedown.schedulers.slurm.parsing import clean
from shakedown.schedulers.slurm.wire import FromHelper, Setup, ToHelper, Unpacker, packed

_PIECE = 1 << 16
_COMMAND = (sys.executable, "-P", "-m", "shakedown.schedulers.slurm.serve")
_dying: list[subprocess.Popen[bytes]] = []  # killed, and not yet collected: they may hang in the kernel


class Helper:
    """One helper. ``news`` is called in the reactor's wait when messages have arrived, or when it has ended."""

    def __init__(self, setup: Setup, reactor: Reactor, news: Callable[[], object]) -> None:
        """Raises OSError where no process can be started."""
        self._reactor, self._news = reactor, news
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
        self._orders, self._answers = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._orders, False)
        os.set_blocking(self._answers, False)
        self._unsent = bytearray()
        self._unpacker: Unpacker[FromHelper] = Unpacker(FromHelper)
        self._arrived: deque[FromHelper] = deque()
        self.has_ended = False
        reactor.watch(self._answers, self._readable)
        self.send(setup)

    @property
    def pid(self) -> int:
        return self._child.pid

    def send(self, message: ToHelper) -> None:
        """Hand over a message; what does not fit into the pipe now follows when there is room."""
        self._unsent += packed(message)
        self._flush()

    def take(self) -> list[FromHelper]:
        """What has arrived since the last time."""
        arrived = list(self._arrived)
        self._arrived.clear()
        return arrived

    def wait(self, until: float) -> bool:
        """Purpose: wait for messages here and now, until a monotonic time. False: none came, or none will."""
        while not self._arrived and not self.has_ended:
            left = until - time.monotonic()
            if left <= 0:
                return False
            poll = select.poll()
            poll.register(self._answers, select.POLLIN)
            if self._unsent:
                poll.register(self._orders, select.POLLOUT)
            poll.poll(left * 1000)
            self._flush()
            self._read()
        return bool(self._arrived)

    def how_it_ended(self) -> str:
        """What is known of its end, for people."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)
        self._complaints.seek(0)
        lines = self._complaints.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        return clean(f"exit status {self._child.returncode}; {lines[-1] if lines else 'it said nothing'}")

    def close(self) -> None:
        """End it. One that hangs in the kernel is left to end when it can."""
        for descriptor in (self._orders, self._answers):
            self._reactor.unwatch(descriptor)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGKILL)
        for stream in (self._child.stdin, self._child.stdout, self._complaints):
            if stream is not None:
                stream.close()
        _dying.append(self._child)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.5)
        _dying[:] = [child for child in _dying if child.poll() is None]

    def _flush(self) -> bool:
        blocked = False
        try:
            while self._unsent and not blocked:
                sent = os.write(self._orders, self._unsent[:_PIECE])
                del self._unsent[:sent]
        except BlockingIOError:
            blocked = True
        except BrokenPipeError:
            self._unsent.clear()  # it has ended, which its other pipe tells
        self._reactor.unwatch(self._orders)
        if blocked:
            self._reactor.watch(self._orders, self._flush, writable=True)
        return False

    def _readable(self) -> object:
        self._read()
        return self._news()

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._answers, _PIECE):
                self._arrived.extend(self._unpacker.feed(data))
            self.has_ended = True
            self._reactor.unwatch(self._answers)
