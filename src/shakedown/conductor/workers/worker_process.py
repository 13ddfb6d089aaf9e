"""Worker processes, from the conductor's side: forking them, looking at them through a shared page, ending them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from mmap import PAGESIZE, mmap
from pathlib import Path

from shakedown.checks.judge import signal_name
from shakedown.conductor.workers.run_reader import ReadingLimits
from shakedown.conductor.workers.worker import (
    AT_WORK,
    COUNT,
    SECONDS,
    SINCE,
    SPENT,
    TAKEN_BACK,
    Answer,
    serve,
)
from shakedown.model.failures import FailureClass
from shakedown.model.layout import Layout
from shakedown.model.nouns import Test
from shakedown.model.ports import CollectOrder
from shakedown.processes.framed_pipe import FramedPipe, Watcher

BUSY_S = 0.1  # what a worker that is so long at one run has besides is given to another
LEAVE_MS = 500  # that a killed worker may take to be gone when the conductor leaves


@dataclass(slots=True)
class Task:
    """An order that is not answered yet. ``tries``: how many workers ended while they worked on it."""

    order: CollectOrder
    tries: int = 0


@dataclass(slots=True, eq=False)
class Worker:
    """One worker process, from the conductor's side: its pipe, its page, and its orders."""

    pid: int
    pipe: FramedPipe[Answer]
    page: mmap
    tasks: dict[int, Task] = field(default_factory=dict)
    tests: dict[int, Test] = field(default_factory=dict)  # id -> test that it knows; kept, so that no id is used twice
    failures: tuple[FailureClass, ...] = ()  # the site's classes that it knows
    answered: int = 0
    born: float = field(default_factory=time.monotonic)

    def at_work(self) -> tuple[int, float]:
        """The order that it works on (0 = none), and for how many seconds."""
        number = COUNT.unpack_from(self.page, AT_WORK)[0]
        return number, time.monotonic() - SECONDS.unpack_from(self.page, SINCE)[0]

    def worked(self) -> float | None:
        """How many seconds of processor time it has used for the order that it works on; None where that cannot be told."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None
        ticks = int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK") - float(SECONDS.unpack_from(self.page, SPENT)[0])

    def take_back(self, number: int) -> None:
        """Tell it to skip all orders up to this number that it has not begun."""
        COUNT.pack_into(self.page, TAKEN_BACK, number)

    def is_busy(self) -> bool:
        """Whether it has worked for long on one order."""
        number, seconds = self.at_work()
        return number != 0 and seconds > BUSY_S


def fork_worker(layout: Layout, limits: ReadingLimits, watcher: Watcher, readable: Callable[[int], object]) -> Worker:
    """Purpose: a worker process with its pipe and its page. Raises OSError. ``readable``: called with its process id, in the
    watcher's wait, when it has answered or has ended.
    """
    page = mmap(-1, PAGESIZE)
    pipes: list[int] = []
    try:
        pipes += os.pipe2(os.O_CLOEXEC)
        pipes += os.pipe2(os.O_CLOEXEC)
        read_orders, write_orders, read_answers, write_answers = pipes
        pid = os.fork()
    except OSError:
        for descriptor in pipes:
            os.close(descriptor)
        page.close()
        raise
    if pid == 0:
        status = 1
        try:
            serve(read_orders, write_answers, page, layout, limits)
            status = 0
        finally:
            os._exit(status)  # nothing of the conductor's may run its last words here
    os.close(read_orders)
    os.close(write_answers)
    pipe: FramedPipe[Answer] = FramedPipe(write_orders, read_answers, Answer, watcher, lambda: readable(pid))
    return Worker(pid, pipe, page)


def kill_and_wait(worker: Worker) -> None:
    """End a worker and collect it. If it hangs in the kernel, it is left to whatever collects orphans."""
    os.kill(worker.pid, signal.SIGKILL)
    poll = select.poll()
    poll.register(worker.pipe.answers, 0)  # its end closes the pipe
    if poll.poll(LEAVE_MS):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(worker.pid, 0)


def is_collected(pid: int) -> bool:
    """Collect a child if it is dead. Returns whether it is collected; a process that hangs in the kernel is left for later."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def how_it_ended(pid: int) -> str:
    """How a process ended that has closed its pipe, in words. It is dead in the next instant."""
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        return "how is not known"
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return f"{signal_name(-code)}, perhaps for lack of memory"
    return signal_name(-code) if code < 0 else f"exit status {code}"
