"""What is done at Slurm: submissions, several at a time, cancelling, releasing, taking claims. It runs in a process of its own.

Threads do the work, each of which may hang with a file system or a command; the one that reads orders never does.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobOrder, SubmitAnswer
from shakedown.schedulers.job_places import JobPlaces, job_label, job_of_label
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.found import Asked
from shakedown.schedulers.slurm.parsing import QueueRow, queue_rows
from shakedown.schedulers.slurm.refusals import sort_answer
from shakedown.schedulers.slurm.runner import Run
from shakedown.schedulers.slurm.wire import (
    Act,
    Acted,
    Answered,
    FromHelper,
    Look,
    Setup,
    Stop,
    Stopped,
    Submit,
    ToHelper,
)
from shakedown.schedulers.workplace import CannotStart

AT_ONCE = 4  # commands of sbatch that run side by side


@dataclass(slots=True)
class Batch:
    """One submission of several orders. ``begun``: those that sbatch was given. ``why_not``: why the others are not asked for."""

    number: int
    begun: set[str] = field(default_factory=set)
    stopped: bool = False
    why_not: str = ""


@dataclass(slots=True)
class Actor:
    """Carries out what the conductor ordered, and says what came of it."""

    layout: Layout
    token: str
    clusters: Sequence[Cluster]
    run: Run
    command_s: float
    say: Callable[[FromHelper], None]
    places: JobPlaces = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _others: ThreadPoolExecutor = field(init=False)
    _batches: dict[int, Batch] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parent: int = field(default_factory=os.getppid)

    def __post_init__(self) -> None:
        self.places = JobPlaces(self.layout)
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._others = ThreadPoolExecutor(AT_ONCE)

    def take(self, message: ToHelper) -> None:
        """Purpose: begin what is ordered; returns at once."""
        match message:
            case Submit(number, orders):
                self._batches = {number: Batch(number)}  # the conductor has been answered for all others
                for order in orders:
                    self._pool.submit(self._submit, self._batches[number], order)
            case Stop(number):
                self.say(Stopped(number, self._stop(number)))
            case Act():
                self._others.submit(self._act, message)
            case Setup() | Look():
                pass

    # ---- submitting ----

    def _submit(self, batch: Batch, order: JobOrder) -> None:
        answer = self._answer(batch, order)
        if answer is not None:
            self.say(Answered(batch.number, answer, self.run.take_calls()))

    def _answer(self, batch: Batch, order: JobOrder) -> SubmitAnswer | None:
        """What came of one order; None where the conductor was told that it is not begun."""
        if batch.stopped:
            return None
        if batch.why_not:
            return SubmitAnswer(order.job, "refused", transient=True, message=batch.why_not)
        try:
            command = self._command(order)
        except CannotStart as error:
            return SubmitAnswer(order.job, "refused", transient=error.transient, message=error.message)
        with self._lock:
            if batch.stopped or os.getppid() != self._parent:
                return None
            batch.begun.add(order.job)
        answer = sort_answer(self.run(command, self.command_s))
        if answer.unreachable:
            batch.why_not = answer.message
        return SubmitAnswer(order.job, answer.outcome, answer.scheduler_id, answer.transient, answer.message)  # type: ignore[arg-type]

    def _command(self, order: JobOrder) -> list[str]:
        """The sbatch of an order, everything that it needs on disk being there. Raises CannotStart."""
        cluster = next(c for c in self.clusters if order.case.partition.startswith(f"{c.name}:"))
        script = self.places.prepare(order)
        return commands.sbatch(
            order.case,
            cluster,
            job_label(self.token, order.job),
            str(script),
            str(self.places.slurm_output(order.job)),
            str(self.places.control(order.job)),
            order.held,
            len(self.clusters) > 1,
        )

    def _stop(self, number: int) -> list[str]:
        with self._lock:
            batch = self._batches.get(number)
            if batch is None:
                return []
            batch.stopped = True
            return sorted(batch.begun)

    # ---- the rest ----

    def _act(self, act: Act) -> None:
        done: list[str] = []
        try:
            if act.what == "claim":
                done = [job.id for job in act.jobs if self._claim(job)]
            else:
                done = self._tell(act)
        finally:
            self.say(Acted(act.number, done, self.run.take_calls()))

    def _claim(self, job: Asked) -> bool:
        try:
            return self.places.take_claim(job.id, job.restart)
        except (CannotStart, OSError):
            return False

    def _tell(self, act: Act) -> list[str]:
        """Cancel or release, by id; and only what bears our name now, whatever had that id before. Returns for whom it worked."""
        wanted = {job.id for job in act.jobs}
        done: list[str] = []
        several = len(self.clusters) > 1
        for cluster in self.clusters:
            rows = [row for row in self._rows(cluster) if job_of_label(self.token, row.name) in wanted]
            ids = sorted({row.id for row in rows})
            if not ids:
                continue
            if act.what == "cancel":
                ran = self.run(commands.scancel(cluster.name, several, ids), self.command_s)
            else:
                ran = self.run(commands.scontrol_release(cluster.name, several, ids), self.command_s)
            if ran.timed_out or re.search("unable to contact|connect", ran.error, re.IGNORECASE):
                continue
            failed = set(re.findall(r"job(?: id)? (\d+\S*?)[:\s]", ran.error)) if ran.status else set()
            named = (job_of_label(self.token, row.name) for row in rows if row.id not in failed)
            done += [job for job in named if job is not None]
        return list(dict.fromkeys(done))

    def _rows(self, cluster: Cluster) -> list[QueueRow]:
        """What waits or runs."""
        several = len(self.clusters) > 1
        ran = self.run(commands.squeue(cluster.name, os.getuid(), several, everything=False), self.command_s)
        return queue_rows(ran.output, cluster.name) if ran.status == 0 else []
