"""Shells that stand by: those of the next jobs of the queue, started while others run, and waiting at their gate.

Starting a shell takes longer than most of what a quick test does. Standing by costs nothing, and when cores become free the next
job begins as soon as one line is written. A job that stands by has not begun: it has no claim, and if its gate is closed instead of
opened (because the conductor died) it ends without a trace.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from shakedown.model.ports import JobOrder
from shakedown.processes.reactor import Reactor
from shakedown.processes.spawn import reap
from shakedown.schedulers.claims import CannotStart, Workplace
from shakedown.schedulers.local_host.launch import Launch, Launcher

DEPTH = 3  # jobs that stand by at once


@dataclass(slots=True)
class Standby:
    """The launches that were not released yet. ``pids``: all processes that were started and not yet reaped, which is kept up to
    date.
    """

    launcher: Launcher
    workplace: Workplace
    reactor: Reactor
    pids: set[int]
    _launches: dict[str, Launch] = field(default_factory=dict)
    _dismissed: set[int] = field(default_factory=set)

    def get(self, order: JobOrder) -> Launch:
        """Purpose: the launch of a job; made now if it does not stand by. Raises CannotStart."""
        return self._launches.pop(order.job, None) or self._launch(order)

    def fill(self, orders: Iterable[JobOrder]) -> None:
        """Launch the first jobs of the queue. One that cannot be launched now is tried again, and reported, when it is to start."""
        for order in orders:
            if len(self._launches) >= DEPTH:
                return
            if order.job not in self._launches:
                try:
                    self._launches[order.job] = self._launch(order)
                except CannotStart:
                    return

    def dismiss(self, order: JobOrder, launch: Launch | None = None) -> None:
        """End a job's shell that stands by, if there is one, and remove its traces."""
        launch = launch or self._launches.pop(order.job, None)
        if launch is None:
            return
        launch.close_gate()
        with suppress(ProcessLookupError):
            os.killpg(launch.child.pid, signal.SIGKILL)
        os.close(launch.capture.descriptor)
        self.workplace.tidy(launch.place, order.case.files)
        if launch.script_file:
            self.workplace.remove_script(order.job, order.restart)
        self._dismissed.add(launch.child.pid)
        self.reactor.watch(launch.child.pidfd, lambda: self._gone(launch))

    @property
    def is_waiting(self) -> bool:
        """Whether shells that were ended have still to be reaped."""
        return bool(self._dismissed)

    def _launch(self, order: JobOrder) -> Launch:
        launch = self.launcher.launch(order)
        self.pids.add(launch.child.pid)
        return launch

    def _gone(self, launch: Launch) -> bool:
        self.reactor.close_watched(launch.child.pidfd)
        reap(launch.child)
        self.pids.discard(launch.child.pid)
        self._dismissed.discard(launch.child.pid)
        return False
