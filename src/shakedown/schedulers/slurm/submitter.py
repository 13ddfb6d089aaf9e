"""What is done at Slurm: submitting several jobs at a time, cancelling, releasing, taking claims. It runs in a process of its own.

Threads do the work; each may hang with a file system or a command. The thread that reads orders never does.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Pairs
from shakedown.model.ports import JobOrder, ReleaseOrder, SubmitAnswer
from shakedown.schedulers.claims import CONDUCTOR, CannotStart
from shakedown.schedulers.cluster.job_places import JobPlaces, job_label, job_of_label
from shakedown.schedulers.cluster.marks import Marks, read_marks
from shakedown.schedulers.cluster.targets import Placing, gatherings, placings
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.cross_check import KILLED
from shakedown.schedulers.slurm.dependencies import Chains
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import QueueRow, queue_rows
from shakedown.schedulers.slurm.placing import Targets
from shakedown.schedulers.slurm.refusals import sort_answer
from shakedown.schedulers.slurm.renamed import Owners, found_by_number, is_ours
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

RELEASE_S = 1.5  # that the place of a held job may take; the conductor waits for an answer for 3 s
AT_ONCE = 4  # commands of sbatch that run side by side


@dataclass(slots=True)
class Batch:
    """One submission of several orders. ``begun``: jobs that were given to sbatch. ``why_not``: why the others are
    not submitted.
    """

    number: int
    begun: set[str] = field(default_factory=set)
    stopped: bool = False
    why_not: str = ""


@dataclass(slots=True)
class Actor:
    """Carries out the conductor's orders and reports the results."""

    layout: Layout
    token: str
    clusters: Sequence[Cluster]
    run: Run
    command_s: float
    say: Callable[[FromHelper], None]
    licence_names: Pairs = ()
    targets: Targets = field(default_factory=Targets)
    released: Targets = field(default_factory=lambda: Targets(RELEASE_S))
    places: JobPlaces = field(init=False)
    _owners: Owners = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _others: ThreadPoolExecutor = field(init=False)
    _given: dict[str, str] = field(default_factory=dict)  # the job that Slurm gave a number to last
    _batches: dict[int, Batch] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parent: int = field(default_factory=os.getppid)

    def __post_init__(self) -> None:
        self.places = JobPlaces(self.layout)
        self._owners = Owners(self.token, self.places, self.clusters, self.run, self.command_s, acts=True)
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._others = ThreadPoolExecutor(AT_ONCE)

    def take(self, message: ToHelper) -> None:
        """Purpose: begin to carry out an order; returns at once."""
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
        """Prepare a job in the campaign; then, in threads of its own, place what belongs on a target or takes long; then call
        sbatch.
        """
        if batch.stopped:
            return
        if batch.why_not:
            self._say(batch, SubmitAnswer(order.job, "refused", transient=True, message=batch.why_not))
            return
        try:
            script = str(self.places.prepare(order, gathered=True))
            wanted = self._gatherings(order) + ([] if order.held else self._placings(order))
        except CannotStart as error:
            self._refuse(batch, order, error)
            return
        if not wanted:
            self._hand_over(batch, order, script)
            return

        def then(trouble: CannotStart | None) -> None:
            if trouble is None:
                self._pool.submit(self._hand_over, batch, order, script)
            else:
                self._refuse(batch, order, trouble)

        self.targets.place(order.job, wanted, then)

    def _refuse(self, batch: Batch, order: JobOrder, why: CannotStart) -> None:
        if not batch.stopped:
            self._say(batch, SubmitAnswer(order.job, "refused", transient=why.transient, message=why.message))

    def _say(self, batch: Batch, answer: SubmitAnswer) -> None:
        self.say(Answered(batch.number, answer, self.run.take_calls()))

    def _hand_over(self, batch: Batch, order: JobOrder, script: str) -> None:
        """Everything is in place: call sbatch, unless the conductor was told that the order was not begun."""
        try:
            after = self._chains().number(order, self._cluster(order))
            command = self._command(order, script, after)
        except CannotStart as error:
            self._refuse(batch, order, error)
            return
        with self._lock:
            if batch.stopped or os.getppid() != self._parent:
                return
            batch.begun.add(order.job)
        answer = sort_answer(self.run(command, self.command_s))
        if after and answer.outcome == "refused" and "ependency" in answer.message:
            if self._chains().is_over(order, self._cluster(order), after):
                answer = sort_answer(self.run(self._command(order, script, ""), self.command_s))
            else:
                answer = structs.replace(answer, transient=True)
        if answer.scheduler_id:
            self._given[answer.scheduler_id] = order.job
        if answer.unreachable:
            batch.why_not = answer.message
        outcome: Any = "unknown" if answer.outcome == "refused" and self._may_run(order) else answer.outcome
        self._say(batch, SubmitAnswer(order.job, outcome, answer.scheduler_id, answer.transient, answer.message))

    def _may_run(self, order: JobOrder) -> bool:
        """Whether a job that was refused runs all the same. Another one is to replace it, so its claim is taken: its script ends at
        once should the scheduler have accepted what sbatch, or a wrapper of the site, called refused. Where nobody can tell
        of the claim the answer is believed, for it says in so many words that nothing was accepted.
        """
        try:
            return not self.places.take_claim(order.job, order.restart)
        except (CannotStart, OSError):
            return False

    def _command(self, order: JobOrder, script: str, after: str) -> list[str]:
        """The sbatch command of an order. Raises CannotStart."""
        try:
            return commands.sbatch(
                order,
                self._cluster(order),
                job_label(self.token, order.job),
                script,
                str(self.places.slurm_output(order.job)),
                str(self.places.control(order.job)),
                len(self.clusters) > 1,
                self.licence_names,
                after,
            )
        except IndexError:
            where = order.case.partition
            raise CannotStart(f"run {order.run} cannot be started: {where} has no node number {order.node}") from None

    def _cluster(self, order: JobOrder | ReleaseOrder) -> Cluster:
        return next(c for c in self.clusters if order.case.partition.startswith(f"{c.name}:"))

    def _chains(self) -> Chains:
        return Chains(self.token, self.places, self._rows, self._given)

    def _gatherings(self, order: JobOrder) -> list[Placing]:
        """What takes long to place in the campaign, before the job is submitted, held or not."""
        return gatherings(self.places.layout, self.token, order.job, order.restart, order.run, order.case, order.parts)

    def _placings(self, order: JobOrder | ReleaseOrder) -> list[Placing]:
        """What must be placed outside of the campaign before the job may start. Raises CannotStart."""
        if isinstance(order, JobOrder):
            job, parts = order.job, order.parts
        else:
            job = order.id
            try:
                parts = self.places.kept_parts(job)
            except (OSError, ValueError) as error:
                raise CannotStart(f"job {job} cannot be released: {self.places.order(job)}: {error}", True) from error
        layout, run, case = self.places.layout, order.run, order.case
        return placings(layout, self.token, job, order.restart, run, case, order.targets, parts)

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
        why_not: dict[str, str] = {}
        try:
            if act.what == "claim":
                done = [job.id for job in act.jobs if self._claim(job, why_not)]
            elif act.what == "shut":
                done = [job.id for job in act.jobs if self._shut(job)]
                if left := {job.id for job in act.jobs} - set(done):
                    done += self._tell(structs.replace(act, what="cancel"), left)
            elif act.what == "parts":
                done = [run for job in act.jobs for run in self._parts(job, why_not)]
            else:
                why_not = self._place_released(act.releases)
                wanted = {job.id for job in act.jobs if job.id not in why_not}
                self._keep_from_nodes([order for order in act.releases if order.id in wanted])
                done = self._tell(act, wanted)
        finally:
            self.say(Acted(act.number, done, self.run.take_calls(), why_not))

    def _place_released(self, orders: Sequence[ReleaseOrder]) -> dict[str, str]:
        """Purpose: make the place on its target for each held job that may start. Returns, for those without one (yet), why."""
        why: dict[str, str] = {}
        asked: list[str] = []
        over = threading.Event()

        def then_for(job: str) -> Callable[[CannotStart | None], None]:
            def then(trouble: CannotStart | None) -> None:
                if trouble is not None:
                    why[job] = trouble.message
                asked.remove(job)
                if not asked:
                    over.set()

            return then

        wanted: list[tuple[str, list[Placing]]] = []
        for order in orders:
            try:
                if placing := self._placings(order):
                    wanted.append((order.id, placing))
            except CannotStart as error:
                why[order.id] = error.message
        asked += [job for job, _ in wanted]
        for job, placing in wanted:
            self.released.place(job, placing, then_for(job))
        over.wait(2 * self.released.patience_s if wanted else 0)
        return why | dict.fromkeys(list(asked), "its place is not made yet")

    def _keep_from_nodes(self, orders: Sequence[ReleaseOrder]) -> None:
        """Tell Slurm which nodes released jobs must not get, where the order says so. A job for which this fails is released all
        the same: it only probes whether jobs start again.
        """
        for order in orders:
            if order.exclude is None:
                continue
            cluster = self._cluster(order)
            partition = next(p for p in cluster.partitions if order.case.partition == f"{cluster.name}:{p.name}")
            several, number = len(self.clusters) > 1, order.scheduler_id.partition(";")[0]
            asked = [Asked(order.id, order.scheduler_id)]
            if any(
                row.id == number and job == order.id for job, row in self._owners.sort(self._rows(cluster) or [], asked)
            ):
                words = commands.scontrol_exclude(cluster, partition, several, number, order.exclude)
                self.run(words, self.command_s)

    def _claim(self, job: Asked, why_not: dict[str, str]) -> bool:
        try:
            return self.places.take_claim(job.id, job.restart)
        except (CannotStart, OSError) as error:
            why_not[job.id] = str(error)
            return False

    def _parts(self, job: Asked, why_not: dict[str, str]) -> list[str]:
        try:
            return self.places.take_parts(job.id, job.parts)
        except (CannotStart, OSError) as error:
            why_not[job.id] = str(error)
            return []

    def _shut(self, job: Asked) -> bool:
        """Whether a job that is done with can no longer start: its next claim is taken, also where it came to its own end, since
        any payload can write such an end.
        """
        try:
            newest = read_marks(self.places, job.id)
            if newest is None and not self.places.control(job.id).is_dir():
                return True
            if newest is not None and (newest.holder == CONDUCTOR or newest.void):
                return True
            last = newest.restart if newest is not None else job.restart
            taken = self.places.take_claim(job.id, last + 1)
            return taken and (last <= job.restart or _is_clean(newest))  # of a later one nobody knows: it is ended
        except (CannotStart, OSError):
            return False

    def _tell(self, act: Act, wanted: set[str]) -> list[str]:
        """Cancel, hold or release jobs by id, but only those that have our name now, whatever had that id before. Returns those for
        which it worked.
        """
        done: list[str] = []
        several = len(self.clusters) > 1
        for cluster in self.clusters:
            every = self._rows(cluster) or []
            named = {row.id: job for job, row in self._owners.sort(every, act.jobs) if job in wanted}
            named |= self._renamed(act, wanted - set(named.values()), every)
            ids = sorted(named)
            if not ids:
                continue
            if act.what == "cancel":
                ran = self.run(commands.scancel(cluster.name, several, ids), self.command_s)
            elif act.what == "hold":
                ran = self.run(commands.scontrol_hold(cluster.name, several, ids), self.command_s)
            else:
                ran = self.run(commands.scontrol_release(cluster.name, several, ids), self.command_s)
            if ran.timed_out or re.search("unable to contact|connect", ran.error, re.IGNORECASE):
                continue
            failed = set(re.findall(r"job(?: id)? (\d+\S*?)[:\s]", ran.error)) if ran.status else set()
            done += [job for number, job in named.items() if number not in failed]
        return list(dict.fromkeys(done))

    def _renamed(self, act: Act, wanted: set[str], rows: Sequence[QueueRow]) -> dict[str, str]:
        """Slurm's id -> our job, for jobs that somebody gave another name."""
        others = {row.id: row for row in rows if job_of_label(self.token, row.name) is None}
        found: dict[str, str] = {}
        for job in act.jobs:
            row = found_by_number(job, others) if job.id in wanted else None
            if row and is_ours(self.run, self.clusters, row, self.places.control(job.id), self.command_s):
                found[row.id] = job.id
        return found

    def _rows(self, cluster: Cluster) -> list[QueueRow] | None:
        """The jobs that wait or run; None where the cluster does not answer."""
        several = len(self.clusters) > 1
        ran = self.run(commands.squeue(cluster.name, os.getuid(), several, everything=False), self.command_s)
        return queue_rows(ran.output, cluster.name) if ran.status == 0 else None


def _is_clean(marks: Marks | None) -> bool:
    """Whether it came to its own end, so that its script does nothing when it is started again."""
    return marks is not None and marks.exit_status is not None and marks.exit_status < KILLED
