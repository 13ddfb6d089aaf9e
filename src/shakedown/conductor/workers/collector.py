"""The Collector port of the real world: worker processes turn outputs into evidence, and the conductor only passes messages.

``start`` hands orders out, ``poll`` returns what came back; neither waits. A worker that is late or has ended is replaced: the
evidence of the run that it was working on says so, and its other orders are given to workers again. The conductor itself never
reads an output and never runs a regular expression.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from shakedown.conductor.workers.run_reader import ReadingLimits
from shakedown.conductor.workers.worker import Answer, Order, no_evidence
from shakedown.conductor.workers.worker_process import (
    BUSY_S,
    Task,
    Worker,
    fork_worker,
    how_it_ended,
    is_collected,
    kill_and_wait,
)
from shakedown.model.errors import ShakedownError
from shakedown.model.failures import FailureClass
from shakedown.model.layout import Layout
from shakedown.model.ports import CollectOrder, Evidence
from shakedown.processes.framed_pipe import Watcher

HANDFUL = 16  # orders that are handed out at once
GATHER_S = 0.005  # how long fewer than that wait for company
IN_FLIGHT = 16  # orders that one worker has at once: enough to be busy, few enough to be ordered again
TRIES = 2  # a worker may be ended by something that has nothing to do with the run: once is no evidence
CROWD = 256  # orders that wait, from which on a second worker helps
AGAIN_S = 1.0  # when no process can be started


class Waker(Watcher, Protocol):
    """What the collector needs of the reactor."""

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> object: ...


class WorkerCollector:
    """The Collector port. It has one worker from the start, and a second one when the first works long on something."""

    def __init__(
        self,
        layout: Layout,
        reactor: Waker,
        workers: int = 2,
        limits: ReadingLimits | None = None,
        failures: Callable[[], tuple[FailureClass, ...]] = tuple,
    ) -> None:
        """The first worker is forked here, while the conductor is small. Raises ShakedownError where that fails. ``failures``:
        gives the site's own classes of failures that are in force; ``self.failures`` may be set later.
        """
        self.failures = failures
        self._layout = Layout(layout.root.absolute())
        self._reactor = reactor
        self._most = max(1, workers)
        self._limits = limits or ReadingLimits()
        self._workers: list[Worker] = []
        self._waiting: deque[Task] = deque()
        self._arrived: list[Evidence] = []
        self._dying: list[int] = []  # processes that were killed and not yet collected
        self._next_number = 1
        self._early_deaths = 0  # in a row, of workers that had not begun
        self._timer = False
        self._gathering = False
        self._closed = False
        trouble = self._hire()
        if trouble:
            raise ShakedownError(f"no worker process can be started to check outputs: {trouble}")

    def start(self, orders: Sequence[CollectOrder]) -> None:
        """Hand orders to workers, several at a time; returns at once. Each hand-over wakes a worker, which takes a core from a run
        on a machine that is full of them.
        """
        self._waiting.extend(map(Task, orders))
        if len(self._waiting) >= HANDFUL:
            self._hand_out()
        elif self._waiting and not self._gathering:
            self._gathering = True
            self._reactor.call_later(GATHER_S, self._gathered)

    def _gathered(self) -> bool:
        self._gathering = False
        if not self._closed:
            self._hand_out()
        return False

    def poll(self) -> Sequence[Evidence]:
        """The evidence that has come back since the last call; returns at once."""
        for worker in list(self._workers):
            if worker.tasks:
                self._receive(worker)
        arrived, self._arrived = self._arrived, []
        return arrived

    def pids(self) -> list[int]:
        """The worker processes, for tests and for people."""
        return [worker.pid for worker in self._workers]

    def close(self) -> None:
        """End the workers. What they were working on is left to the next conductor."""
        self._closed = True
        for worker in list(self._workers):
            kill_and_wait(worker)
            self._forget(worker)
        self._dying = [pid for pid in self._dying if not is_collected(pid)]

    # ---- handing out ----

    def _hand_out(self) -> None:
        """Give waiting orders to workers that have room, with one write for each worker; fork another worker where all are busy."""
        touched: dict[int, Worker] = {}
        while self._waiting:
            worker = self._choose()
            if worker is None:
                break
            self._enlist(worker, self._waiting.popleft())
            touched[worker.pid] = worker
        for worker in touched.values():
            worker.pipe.flush()
        self._watch_time()

    def _choose(self) -> Worker | None:
        """Of the workers that are not working long on one order, the one with the fewest orders; None where none has room."""
        at_hand = [worker for worker in self._workers if not worker.is_busy()]
        if (not at_hand or len(self._waiting) > CROWD) and self._may_hire() and not self._hire():
            at_hand.append(self._workers[-1])
        free = [worker for worker in at_hand if len(worker.tasks) < IN_FLIGHT]
        return min(free, key=lambda worker: len(worker.tasks), default=None)

    def _may_hire(self) -> bool:
        return len(self._workers) < self._most

    def _enlist(self, worker: Worker, task: Task) -> None:
        """Write one order for a worker. The test is sent along only the first time."""
        order, number, test_number = task.order, self._next_number, id(task.order.test)
        self._next_number += 1
        new = None if test_number in worker.tests else order.test
        worker.tests[test_number] = order.test
        worker.tasks[number] = task
        classes = self.failures()
        told = None if worker.failures == classes else classes
        worker.failures = classes
        worker.pipe.add(Order(number, order.run, test_number, order.output, order.case.files, new, told, order.handing))

    # ---- receiving ----

    def _receive(self, worker: Worker) -> bool:
        """Take what a worker sent. Returns True where there is evidence to poll."""
        before = len(self._arrived)
        for answer in worker.pipe.receive():
            self._take(worker, answer)
        if worker.pipe.has_ended:
            self._bury(worker)
        if self._waiting:
            self._hand_out()
        return len(self._arrived) > before

    def _take(self, worker: Worker, answer: Answer) -> None:
        if worker.tasks.pop(answer.number, None) is not None:
            worker.answered += 1
            self._arrived.append(answer.evidence)

    # ---- workers that are late or gone ----

    def _watch_time(self) -> None:
        """Look at the workers again soon, as long as they have orders."""
        if self._timer or self._closed or not (self._waiting or any(worker.tasks for worker in self._workers)):
            return
        self._timer = True
        self._reactor.call_later(BUSY_S if self._workers else AGAIN_S, self._look_after)

    def _look_after(self) -> bool:
        """End workers that are late, collect dead ones, and give stalled orders to others. Returns True where there is evidence."""
        self._timer = False
        if self._closed:
            return False
        before = len(self._arrived)
        self._dying = [pid for pid in self._dying if not is_collected(pid)]
        for worker in list(self._workers):
            number, seconds = worker.at_work()
            late = self._too_late(worker, seconds) if number else ""
            if late:
                os.kill(worker.pid, signal.SIGKILL)
                self._dying.append(worker.pid)
                self._replace(worker, late, 1, trouble=seconds > self._limits.wall)
            elif worker.is_busy() and len(worker.tasks) > 1:
                self._take_back(worker, number)
        if not self._workers:
            self._hire()
        self._hand_out()
        return len(self._arrived) > before

    def _too_late(self, worker: Worker, seconds: float) -> str:
        """Why a worker is ended that has worked for so long on one run; "" where it may go on.

        If it used the processor all the time and does not react to signals, the test asks for too much. If it was stopped, or waits
        for a disk or for memory, that says nothing about the run.
        """
        most = self._limits.seconds + self._limits.excerpt + self._limits.classify + self._limits.grace
        task = worker.tasks.get(worker.at_work()[0])
        if task is not None and task.order.handing:
            most += self._limits.handing
        if seconds > self._limits.wall:
            return f"the worker that read it gave no answer for {seconds:.0f} s and was ended"
        worked = worker.worked() if seconds > most else None
        if worked is not None and worked > most:
            return f"reading it took more than {most:g} s of processor time without an end, and was ended"
        return ""

    def _take_back(self, worker: Worker, number: int) -> None:
        """Give the orders that a busy worker has not begun to others, if there are any. The worker sees that in its shared page."""
        if not self._may_hire() and all(other.is_busy() for other in self._workers):
            return
        worker.take_back(self._next_number - 1)
        current = worker.tasks.pop(number, None)
        self._waiting.extendleft(reversed(worker.tasks.values()))
        worker.tasks = {} if current is None else {number: current}

    def _bury(self, worker: Worker) -> None:
        """Handle a worker that ended by itself, or was ended by something else."""
        how = how_it_ended(worker.pid)
        early = not worker.at_work()[0] and not worker.answered and time.monotonic() - worker.born < AGAIN_S
        self._early_deaths = self._early_deaths + 1 if early else 0
        self._replace(worker, f"the worker that read it ended unexpectedly ({how})", TRIES)
        if (
            self._early_deaths > TRIES
        ):  # that says nothing about any run: something is wrong with this machine, or with us
            raise ShakedownError(
                f"the processes that check outputs end before they begin ({how})",
                hint="nothing is lost; 'shakedown resume' goes on once they can run (memory, process limits)",
            )

    def _replace(self, worker: Worker, why: str, tries: int, trouble: bool = True) -> None:
        """Fork another worker and order again what this one had; the run that it was working on only if that was tried fewer than
        ``tries`` times.
        """
        number, _ = worker.at_work()
        culprit = worker.tasks.get(number)
        tasks = list(worker.tasks.values())
        self._forget(worker)
        if culprit is not None:
            culprit.tries += 1
            if culprit.tries >= tries:
                tasks.remove(culprit)
                self._arrived.append(no_evidence(culprit.order.run, culprit.order.test, why, trouble))
        self._waiting.extendleft(reversed(tasks))
        self._hire()

    def _hire(self) -> str:
        """Fork a worker. Returns why that was not possible, or ""."""
        try:
            worker = fork_worker(self._layout, self._limits, self._reactor, self._readable)
        except OSError as error:
            return error.strerror or str(error)
        self._workers.append(worker)
        return ""

    def _readable(self, pid: int) -> bool:
        return self._receive(next(worker for worker in self._workers if worker.pid == pid))

    def _forget(self, worker: Worker) -> None:
        """Remove a worker that is dead or being killed."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.page.close()
