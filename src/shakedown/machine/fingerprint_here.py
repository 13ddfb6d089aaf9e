"""Who runs the fingerprint's script on which nodes. ``Probe`` is the port; ``LocalProbe`` asks the machine that we stand on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from msgspec import Struct

from shakedown.machine.here import host_name
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import Child, base_environment, reap, spawn_shell

LIMIT_S = 30.0  # a site's own command may hang
OUTPUT_LIMIT = 4 << 20  # bytes of one node's output that are read


class Answers(Struct, frozen=True):
    """What came back: node -> the script's output, and node -> why there is none."""

    texts: Mapping[str, str] = {}
    silent: Mapping[str, str] = {}
    calls: Mapping[str, int] = {}  # how often each command of a scheduler was run for it


class Probe(Protocol):
    """Runs a script on nodes. It never waits: ``told`` is called once, inside a wait of the clock, with what came back.

    ``patience_s``: how long the first order waits for it.
    """

    @property
    def patience_s(self) -> float: ...

    def start(self, script: str, told: Callable[[Answers], object]) -> None: ...

    def hurry(self) -> None: ...  # what there is is told soon

    def close(self) -> None: ...  # ends what is under way; nobody is told any more


def probe_here(layout: Layout, reactor: Reactor, clusters: Sequence[Cluster], used: Iterable[str]) -> LocalProbe:
    """Purpose: the probe of this machine, which is the only machine of the embedded scheduler."""
    return LocalProbe(reactor)


class LocalProbe:
    """The Probe port for the machine we stand on: one child process, ended after ``limit_s``."""

    patience_s = 2.0  # a probe beside the first runs would disturb them

    def __init__(self, reactor: Reactor, limit_s: float = LIMIT_S) -> None:
        self._reactor, self._limit_s = reactor, limit_s
        self._child: Child | None = None
        self._output = -1
        self._timer: Timer | None = None
        self._late = False
        self.node = host_name(os.uname().nodename)

    def start(self, script: str, told: Callable[[Answers], object]) -> None:
        """Start the script. A failed start is also reported as an answer, before this method returns."""
        try:
            self._output = os.memfd_create("fingerprint", os.MFD_CLOEXEC)
            self._child = spawn_shell(["-c", f"exec 2>/dev/null\n{script}"], base_environment(), self._output)
        except (OSError, ValueError) as error:
            self._forget()
            told(Answers(silent={self.node: f"the script cannot be started: {error}"}))
            return
        self._late = False
        self._timer = self._reactor.call_later(self._limit_s, self._time_is_up)
        self._reactor.watch(self._child.pidfd, partial(self._ended, told))

    def hurry(self) -> None:
        """Do nothing: there is no answer before the end of the script."""

    def close(self) -> None:
        """End the script without a report."""
        if self._child is not None:
            self._kill()
            self._reactor.close_watched(self._child.pidfd)
            reap(self._child)
        self._forget()

    def _ended(self, told: Callable[[Answers], object]) -> object:
        assert self._child is not None
        self._kill()  # what a site's command left in the background; before its id can be another's
        self._reactor.close_watched(self._child.pidfd)
        reap(self._child)
        text = os.pread(self._output, OUTPUT_LIMIT, 0).decode("utf-8", "replace")
        late = self._late
        self._forget()
        if late:
            return told(Answers(silent={self.node: f"the script did not end within {self._limit_s:g} s"}))
        return told(Answers({self.node: text}))

    def _time_is_up(self) -> bool:
        self._late = True
        self._kill()
        return False

    def _kill(self) -> None:
        if self._child is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._output >= 0:
            os.close(self._output)
        self._child, self._timer, self._output = None, None, -1
