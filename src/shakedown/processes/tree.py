"""Ending a whole tree of processes, and knowing that it is dead.

A process belongs to the tree in one of four ways, so that none escapes: it is in the process group or session; it has the marker in
its environment, which every descendant inherits (``setsid`` does not remove it); it descends from such a process; or it was seen in
the tree before. A process that clears its environment, leaves its session and loses its parent becomes our child as an orphan
(``orphans``); it is added by ``include``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.processes.reactor import Reactor
from shakedown.processes.spawn import MARKER
from shakedown.processes.table import Process, read_marker, read_table

FIRST_LOOK_S = 0.002  # until the first look after a signal; it doubles each time
SLOWEST_LOOK_S = 0.1


@dataclass(slots=True, eq=False)
class Ending:
    """The ending of one tree, step by step: ask all processes to end (SIGTERM), wait, kill all (SIGKILL), and look again until none
    is left.

    ``group``: the process group, 0 where it is not certain that it is still ours. ``grace_s``: between asking and killing, 0 = kill
    at once. ``found``: how many processes were alive at the first look. ``stuck``: processes that did not die within ``patience_s``
    after they were killed (state D: in the kernel, where signals do not reach them); these are named and no longer waited for.
    """

    marker: str
    group: int = 0
    grace_s: float = 5.0
    patience_s: float = 10.0
    started: float = field(default_factory=time.monotonic)
    found: int = -1
    stuck: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of those that were alive at the first look
    _asked: set[int] = field(default_factory=set)
    _seen: dict[int, int] = field(default_factory=dict)  # pid -> start
    _pause: float = FIRST_LOOK_S

    def include(self, processes: Iterable[Process]) -> None:
        """Purpose: add processes that belong to the tree although nothing about them shows it."""
        self._seen |= {process.pid: process.start for process in processes}

    def step(self) -> float | None:
        """Purpose: look, and signal what is left. Returns the seconds until the next look; None when it is over."""
        age = time.monotonic() - self.started
        try:
            living = self._look()
        except OSError as error:  # too many open files: nobody can tell, and nothing of it passes for dead
            if age <= self.grace_s + self.patience_s:
                return SLOWEST_LOOK_S
            self.stuck = (f"which ones cannot be told: {error.strerror}",)
            return None
        if self.found < 0:
            self.found, self.names = len(living), tuple(name_of(process) for process in living)
        if not living:
            return None
        if age > self.grace_s + self.patience_s:
            self.stuck = tuple(f"{process.pid} (state {process.state})" for process in living)
            return None
        if age >= self.grace_s:
            _signal(living, signal.SIGKILL)
        else:
            self._ask(living)
        self._pause = min(self._pause * 2, SLOWEST_LOOK_S)
        return self._pause if age >= self.grace_s else min(self._pause, max(self.grace_s - age, FIRST_LOOK_S))

    def _ask(self, living: list[Process]) -> None:
        """Ask each process once to end. A stopped process is continued, so that it can."""
        fresh = [process for process in living if process.pid not in self._asked]
        self._asked.update(process.pid for process in fresh)
        _signal(fresh, signal.SIGTERM)
        _signal(fresh, signal.SIGCONT)

    def _look(self) -> list[Process]:
        """The living processes of the tree. Its zombies that became our children are collected; the first process is left to its
        owner.
        """
        table = read_table()
        tree = self._members(table)
        for process in tree:
            if not process.alive and process.parent == os.getpid() and process.pid != self.group:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        living = [process for process in tree if process.alive]
        self._seen = {process.pid: process.start for process in tree}
        if not any(self.group in (process.group, process.session) for process in tree):
            self.group = 0  # the number is free: whoever bears it next is a stranger
        return living

    def _members(self, table: dict[int, Process]) -> list[Process]:
        """The processes of the tree, parents before children, which is the order of signals.

        Otherwise a parent that outlives its child for a moment would go on, or end normally: a shell with its next command.
        """
        tree = {process.pid for process in table.values() if self._is_ours(process)}
        children: dict[int, list[int]] = {}
        for process in table.values():
            children.setdefault(process.parent, []).append(process.pid)
        fresh = list(tree)
        while fresh:
            born = [pid for parent in fresh for pid in children.get(parent, ()) if pid not in tree]
            tree.update(born)
            fresh = born
        ordered = [pid for pid in tree if table[pid].parent not in tree]
        for parent in ordered:
            ordered += [pid for pid in children.get(parent, ()) if pid in tree]
        ordered += tree.difference(
            ordered
        )  # of a table that was read while ids were given anew, whatever it says of parents
        return [table[pid] for pid in ordered]

    def _is_ours(self, process: Process) -> bool:
        if self.group and self.group in (process.group, process.session):
            return True
        if self._seen.get(process.pid) == process.start:
            return True
        return self.marker in read_marker(process.pid, MARKER, strict=True)


def kill_tree(reactor: Reactor, ending: Ending, then: Callable[[], object]) -> object:
    """Purpose: carry out an ending. ``then`` is called when the tree is dead, or its rest cannot be killed.

    Nothing blocks: the first look is taken at once, the others in later waits. Returns what ``then`` returned, or False if it was
    not called yet, as callbacks of the reactor do.
    """

    def look() -> object:
        pause = ending.step()
        if pause is None:
            return then()
        reactor.call_later(pause, look)
        return False

    return look()


def name_of(process: Process) -> str:
    """Purpose: a process by name, as people know it: "sleep (pid 4711)"."""
    try:
        name = Path(f"/proc/{process.pid}/comm").read_text(errors="replace").strip()
    except OSError:
        name = "?"
    return f"{name} (pid {process.pid})"


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)
