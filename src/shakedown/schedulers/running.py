"""One job of this machine while it lives: its process, its output, and what is done to end it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from shakedown.model.ports import JobOrder
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import reap
from shakedown.processes.tree import Ending, kill_tree
from shakedown.schedulers.launch import Launch


@dataclass(slots=True, eq=False)
class Running:
    """A job whose first process was started. ``why``: the state it is being brought to, "" while it goes its own way.

    ``over`` is called once, inside a ``wait``, when the whole tree is known to be dead (or given up as stuck).
    """

    order: JobOrder
    slots: tuple[int, ...]
    launch: Launch
    reactor: Reactor
    over: Callable[[Running], object]
    timer: Timer | None = None
    why: str = ""
    message: str = ""
    exit_status: int | None = None
    elapsed_s: float | None = None
    ending: Ending | None = None
    told: bool = False  # it was reported as running
    listens: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether the first process was seen to end; how it ended may not be known."""
        return self.elapsed_s is not None

    def watch(self) -> None:
        """From now on its end is seen."""
        self.reactor.watch(self.launch.child.pidfd, self._ended)

    def listen(self) -> None:
        """From now on its output is read as it comes. Before that the pipe holds 64 KiB of it, and a short job is not slowed
        down by our waking up for each of its lines.
        """
        if not self.listens:
            self.listens = True
            self.reactor.watch(self.launch.capture.descriptor, self._wrote)

    def end(self, why: str, message: str, grace_s: float, patience_s: float) -> object:
        """Bring the whole tree to its end. The first reason stands."""
        if self.ending is not None:
            return False
        self.why, self.message = why, message
        self.ending = Ending(self.launch.marker, self.launch.child.pid, grace_s, patience_s)
        return kill_tree(self.reactor, self.ending, self._tree_is_dead)

    def sweep(self, then: Callable[[], object], group: int = 0) -> object:
        """Kill what is left after the first process ended; ``then`` is called when that is done.

        ``group``: the process group, 0 once it is empty and its number free for others.
        """
        self.ending = Ending(self.launch.marker, group, grace_s=0.0)
        return kill_tree(self.reactor, self.ending, then)

    def _wrote(self) -> bool:
        if self.launch.capture.read_some() is False:
            self.reactor.unwatch(self.launch.capture.descriptor)
        return False

    def _ended(self) -> object:
        """The first process ended. What it left in its process group goes with it."""
        self.exit_status = reap(self.launch.child)
        self.elapsed_s = time.monotonic() - self.launch.child.started
        self.reactor.close_watched(self.launch.child.pidfd)
        if self.timer is not None:
            self.timer.cancel()
        if self.ending is not None:
            return False  # whoever ends it looks again
        if not self._group_is_empty():  # and as long as it is not, its number cannot be another's
            return self.sweep(self._tree_is_dead, self.launch.child.pid)
        if not self.launch.capture.drain():
            return self.sweep(self._tree_is_dead)
        return self.over(self)

    def _group_is_empty(self) -> bool:
        try:
            os.killpg(self.launch.child.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False

    def _tree_is_dead(self) -> object:
        """Nothing lives any more, or what lives is deaf. The first process is reaped here if its end was not seen yet."""
        assert self.ending is not None
        if not self.has_ended and not self.ending.stuck:
            self._ended()
        elif not self.has_ended:
            self.reactor.close_watched(self.launch.child.pidfd)
        self.launch.capture.drain()
        return self.over(self)
