"""One job of this machine while it lives: its process, its output, and how it is ended."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from shakedown.model.ports import AT_LIMIT, JobOrder
from shakedown.model.units import show_duration
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import ended_as_shell, reap
from shakedown.processes.table import Process
from shakedown.processes.tree import Ending, kill_tree
from shakedown.processes.witness import Witness
from shakedown.schedulers.local_host.launch import Launch

_UNSEEN_S = 1.0  # a run time that is not known to better than this is not known
_LATE_S = 2.0  # a time limit that is enforced so much later was not enforced in time
_SETTLE_S = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")  # in which /proc counts when a process was started


@dataclass(slots=True, eq=False)
class Running:
    """A job whose first process was started. ``why``: the state that it is being ended with, "" while it runs by itself. ``over``
    is called once, inside a ``wait``, when all of its processes are known to be dead, or cannot be killed.
    """

    order: JobOrder
    slots: tuple[int, ...]
    gpus: tuple[int, ...]
    launch: Launch
    reactor: Reactor
    over: Callable[[Running], object]
    witness: Witness = field(default_factory=Witness)
    timer: Timer | None = None
    why: str = ""
    message: str = ""
    exit_status: int | None = None
    shell_killed: bool = False  # a signal ended the shell of its script, and not only what the script had started
    over_within: tuple[float, float] | None = None  # seconds from its start; None while it was not seen to end
    ending: Ending | None = None
    forgiven_s: float = 0.0  # for how long the machine stood still, and its time limit with it
    strays: tuple[str, ...] = ()  # processes that cleared their environment and left, by name
    waited: bool = False  # its time limit was seen to have passed long ago: what else is to be seen was given a moment
    told: bool = False  # it was reported as running
    listens: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether the first process was seen to end. How it ended may not be known."""
        return self.over_within is not None

    @property
    def elapsed_s(self) -> float | None:
        """How long it ran, in seconds; None where it has not ended, or nobody saw when."""
        return self.over_within[1] if self.over_within is not None and not self.unseen_s else None

    @property
    def unseen_s(self) -> tuple[float, float] | None:
        """The earliest and latest time of its end, in seconds from its start, where nobody looked for so long that nothing more
        exact is known; else None.
        """
        within = self.over_within
        return within if within is not None and within[1] - within[0] > _UNSEEN_S else None

    def watch(self) -> None:
        """Begin to watch for its end."""
        self.reactor.watch(self.launch.child.pidfd, self._ended)
        self.witness.watch(self.launch.child.pid, self.launch.child.pidfd)

    def time_left(self) -> float:
        """Purpose: how many seconds it may still run although its time limit seems to be over; 0 where it is to be ended now.

        Time in which the whole machine stood still does not count. Time in which only this process stood still does.
        """
        limit, child = self.order.case.shape.time_limit_s, self.launch.child
        still = self.witness.stood_still_s(child.started)
        late = time.monotonic() - child.started - limit - still
        more, self.forgiven_s = still - self.forgiven_s, still
        if more > 0:
            return more
        if late > _LATE_S and not self.waited:  # what woke us may be about to tell the witness too
            self.waited = True
            return _SETTLE_S
        return 0.0

    def limit_in_words(self) -> str:
        """Purpose: that the job is ended at its time limit, and how long it ran if that could not be done in time."""
        limit = self.order.case.shape.time_limit_s
        said = f"{AT_LIMIT} of {show_duration(limit)}"
        had = time.monotonic() - self.launch.child.started
        if had - limit - self.witness.stood_still_s(self.launch.child.started) <= _LATE_S:
            return said
        return f"{said}, but only after {show_duration(had)}: the conductor stood still, or was busy, and could not end it before"

    def overran_s(self) -> float:
        """Purpose: how many seconds beyond its time limit a job ended by itself while nobody could end it; else 0."""
        limit = self.order.case.shape.time_limit_s
        if self.why or limit <= 0 or self.over_within is None:
            return 0.0
        beyond = self.over_within[0] - limit - self.witness.stood_still_s(self.launch.child.started)
        return beyond if beyond > _LATE_S else 0.0

    def listen(self) -> None:
        """Begin to read its output as it comes. Until then the pipe holds 64 KiB of it, and a short job is not slowed down by a
        wake-up for each of its lines.
        """
        if not self.listens:
            self.listens = True
            self.reactor.watch(self.launch.capture.descriptor, self._wrote)

    def end(self, why: str, message: str, grace_s: float, patience_s: float) -> object:
        """End all of its processes. If it is being ended already, the first reason stays."""
        if self.ending is not None:
            return False
        self.why, self.message = why, message
        self.ending = Ending(self.launch.marker, self.launch.child.pid, grace_s, patience_s)
        return kill_tree(self.reactor, self.ending, self._tree_is_dead)

    def sweep(self, then: Callable[[], object], group: int = 0, strays: Sequence[Process] = ()) -> object:
        """Kill what is left after the first process ended; ``then`` is called when that is done.

        ``group``: the process group, or 0 if it is empty and its number may be reused. ``strays``: processes of the job that are
        linked to it only by their cores and their time of birth.
        """
        self.ending = Ending(self.launch.marker, group, grace_s=0.0)
        self.ending.include(strays)
        return kill_tree(self.reactor, self.ending, then)

    def strays_among(self, orphans: Sequence[Process], cpus: Collection[int]) -> list[Process]:
        """Purpose: the orphans without a marker that this job left: started while it ran, and bound to its cores."""
        begun = self.launch.child.started - time.monotonic() + time.clock_gettime(time.CLOCK_BOOTTIME)
        found = []
        for process in orphans:
            with contextlib.suppress(OSError):  # it is gone
                if process.start / _TICKS >= begun - 0.02 and os.sched_getaffinity(process.pid) <= set(cpus):
                    found.append(process)
        return found

    def _wrote(self) -> bool:
        if self.launch.capture.read_some() is False:
            self.reactor.unwatch(self.launch.capture.descriptor)
        return False

    def _ended(self) -> object:
        """The first process ended. What it left in its process group is ended too."""
        noticed = time.monotonic()
        lived = min(self.reactor.seen_until, noticed)
        first, last = self.witness.ended(self.launch.child.pid, waits=noticed - lived > _UNSEEN_S) or (lived, noticed)
        last = min(last, noticed)
        self.shell_killed = ended_as_shell(self.launch.child)
        self.exit_status = reap(self.launch.child)
        started = self.launch.child.started
        self.over_within = (max(0.0, min(max(first, lived), last) - started), last - started)
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
        """All processes are dead, or cannot be killed. The first process is reaped here if its end was not seen before."""
        assert self.ending is not None
        if not self.has_ended and not self.ending.stuck:
            self._ended()
        elif not self.has_ended:
            self.reactor.close_watched(self.launch.child.pidfd)
        self.launch.capture.drain()
        return self.over(self)
