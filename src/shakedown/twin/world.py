"""The simulated machine: nodes that run jobs, and the ground truth of what really happened.

It outlives conductors, as a real machine does. What it tells them is another matter: see ``scheduler.py``.
Every draw comes from (seed, what is drawn for), never from the order of calls, so that the same seed gives the same world.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from shakedown.model.nouns import Case, Document
from shakedown.model.ports import JobOrder
from shakedown.twin.clock import VirtualClock


@dataclass(frozen=True, slots=True)
class Fates:
    """What becomes of runs. Shares of one; the rest end well. ``mean_s`` and ``spread_s`` of the run time, uniform."""

    mean_s: float = 60.0
    spread_s: float = 20.0
    failed: float = 0.0
    incorrect: float = 0.0
    timeout: float = 0.0
    node_fail: float = 0.0
    requeued: float = 0.0
    build_s: float = 30.0
    build_failed: float = 0.0
    collect_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Lies:
    """How the scheduler misleads, one switch each; shares of one unless named ``_s`` (seconds).

    ``refused``: a submission is refused for now. ``timed_out``: it times out although it was accepted.
    ``lost_submit``: it times out and was not accepted. ``late_submit``: it times out and is accepted only ``late_s`` later.
    ``stale_s``: the queue shows what was true that long ago. ``accounting_late_s``: accounting learns of an end so much
    later. ``accounting_missing``: it never learns of the job. ``runaway``: it says "running" for ever. ``purge_s``: how long
    the queue remembers an ended job. ``alive_after_node_fail``: the processes go on after NODE_FAIL.
    ``marks_late_s``: marks become visible so much later. ``marks_lost``: no end mark is ever written.
    ``unstartable``: it takes the job and then cannot start it. ``outage``: share of the minutes in which no source answers.
    """

    refused: float = 0.0
    timed_out: float = 0.0
    lost_submit: float = 0.0
    late_submit: float = 0.0
    late_s: float = 90.0
    stale_s: float = 0.0
    accounting_late_s: float = 0.0
    accounting_missing: float = 0.0
    runaway: float = 0.0
    purge_s: float = 300.0
    alive_after_node_fail: float = 0.0
    marks_late_s: float = 0.0
    marks_lost: float = 0.0
    unstartable: float = 0.0
    outage: float = 0.0


@dataclass(slots=True)
class Execution:
    """Ground truth: a job's payload really ran. ``end`` None while it does."""

    job: str
    restart: int
    run: str  # as the job was ordered; a restarted job's later runs are known to the log alone
    case: str
    start: float
    end: float | None = None


@dataclass(slots=True)
class SimulatedJob:
    """A job as the machine knows it. ``history``: (time, state, restart), oldest first: what the queue would show."""

    id: str
    order: JobOrder
    submitted: float
    restart: int = 0
    state: str = "queued"
    started: float = 0.0
    exit_status: int | None = None
    history: list[tuple[float, str, int]] = field(default_factory=list)
    end_mark: tuple[float, int, float] | None = None  # when it was written, exit status, elapsed
    void: bool = False
    incarnation: int = 0  # what was scheduled for an earlier life of the job is out of date

    def becomes(self, state: str, now: float) -> None:
        self.state = state
        self.history.append((now, state, self.restart))


class World:
    """The machine. ``local``: jobs die with the conductor, as on the machine one stands on."""

    def __init__(
        self,
        document: Document,
        seed: int,
        clock: VirtualClock,
        fates: Fates | None = None,
        lies: Lies | None = None,
        local: bool = False,
    ) -> None:
        self.document, self.seed, self.clock, self.local = document, seed, clock, local
        self.fates, self.lies = fates or Fates(), lies or Lies()
        self.free = document.system.capacities()
        self.capacity = dict(self.free)
        self.waiting: list[SimulatedJob] = []
        self.jobs: dict[str, list[SimulatedJob]] = {}  # our name -> jobs of that name, whatever their number
        self.claims: set[tuple[str, int]] = set()
        self.executions: list[Execution] = []
        self.next_id = 1

    def draw(self, *what: object) -> random.Random:
        """A generator of its own for each thing that is drawn."""
        return random.Random(":".join(map(str, (self.seed, *what))))

    def accept(self, order: JobOrder) -> SimulatedJob:
        """The scheduler takes a job into its queue."""
        job = SimulatedJob(str(self.next_id), order, self.clock.now())
        self.next_id += 1
        job.becomes("queued", self.clock.now())
        self.jobs.setdefault(order.job, []).append(job)
        self.waiting.append(job)
        self.schedule()
        return job

    def schedule(self) -> bool:
        """Start what fits, first come first served."""
        while self.waiting and self.free[_pool(self.waiting[0])] >= _units(self.waiting[0]):
            job = self.waiting.pop(0)
            self.free[_pool(job)] -= _units(job)
            self._start(job)
        return self.local

    def _start(self, job: SimulatedJob) -> None:
        now = self.clock.now()
        if self.draw("start", job.order.job, job.restart).random() < self.lies.unstartable:
            job.becomes("refused", now)
            self.free[_pool(job)] += _units(job)
            return
        job.started = now
        job.becomes("running", now)
        claim = (job.order.job, job.restart)
        if claim in self.claims:  # the script finds its claim taken and ends: nothing runs
            job.void = True
            self._end(job, "failed", 97)
            return
        self.claims.add(claim)
        self.executions.append(Execution(job.order.job, job.restart, job.order.run, job.order.case.id, now))
        self._live_on(job)

    def _live_on(self, job: SimulatedJob) -> None:
        """Draw what becomes of a job that runs, and when."""
        draw = self.draw("fate", job.order.job, job.restart)
        fates, limit = self.fates, job.order.case.shape.time_limit_s
        lasts = min(max(0.1, fates.mean_s + fates.spread_s * (2 * draw.random() - 1)), limit * 0.99)
        lot = draw.random()
        part = lasts * draw.random()
        for share, state, status, after in (
            (fates.failed, "failed", 1, lasts),
            (fates.timeout, "timeout", None, limit),
            (fates.node_fail, "node_fail", None, part),
            (fates.requeued if job.restart == 0 else 0.0, "requeued", None, part),
        ):
            if lot < share:
                self._later(job, after, state, status, lasts)
                return
            lot -= share
        self._later(job, lasts, "completed", 0, lasts)

    def _later(self, job: SimulatedJob, after: float, state: str, status: int | None, lasts: float) -> None:
        life = job.incarnation

        def happen() -> bool:
            if job.incarnation != life or job.state != "running":
                return False
            if state == "requeued":
                self._requeue(job)
            elif state == "node_fail":
                self._lose_node(job, lasts - after)
            else:
                self._end(job, state, status)
            return self.local

        self.clock.at(self.clock.now() + after, happen)

    def _end(self, job: SimulatedJob, state: str, status: int | None) -> None:
        now = self.clock.now()
        if not job.void:
            self._stop_executing(job)
        if state in ("completed", "failed") and not self._marks_lost(job):
            job.end_mark = (now, status or 0, now - job.started)
        job.exit_status = status
        job.becomes(state, now)
        job.incarnation += 1
        self.free[_pool(job)] += _units(job)
        self.schedule()

    def _marks_lost(self, job: SimulatedJob) -> bool:
        return self.draw("marks", job.order.job, job.restart).random() < self.lies.marks_lost

    def _stop_executing(self, job: SimulatedJob) -> None:
        for execution in reversed(self.executions):
            if execution.job == job.order.job and execution.restart == job.restart and execution.end is None:
                execution.end = self.clock.now()
                return

    def _requeue(self, job: SimulatedJob) -> None:
        self._stop_executing(job)
        job.restart += 1
        job.incarnation += 1
        job.end_mark = None
        job.becomes("queued", self.clock.now())
        self.free[_pool(job)] += _units(job)
        self.waiting.append(job)
        self.schedule()

    def _lose_node(self, job: SimulatedJob, left_s: float) -> None:
        """NODE_FAIL: the scheduler gives the job up at once; its processes may go on and write their mark at the end."""
        alive = self.draw("alive", job.order.job, job.restart).random() < self.lies.alive_after_node_fail
        job.becomes("node_fail", self.clock.now())
        job.incarnation += 1
        self.free[_pool(job)] += _units(job)
        if not alive:
            self._stop_executing(job)
        else:
            started, restart = job.started, job.restart

            def finish() -> bool:
                self._stop_executing(job)
                job.end_mark = (self.clock.now(), 0, self.clock.now() - started)
                assert job.restart == restart
                return False

            self.clock.at(self.clock.now() + left_s, finish)
        self.schedule()

    def cancel(self, name: str) -> None:
        """Someone ends every job of this name."""
        for job in self.jobs.get(name, []):
            if job.state == "queued":
                self.waiting.remove(job)
                job.becomes("cancelled", self.clock.now())
            elif job.state == "running":
                self._end(job, "cancelled", None)

    def conductor_died(self) -> None:
        """Locally nothing outlives the conductor: queued jobs are forgotten, running ones are ended."""
        if not self.local:
            return
        for jobs in self.jobs.values():
            for job in jobs:
                if job.state == "running":
                    self._stop_executing(job)
                    self.free[_pool(job)] += _units(job)
                    job.becomes("interrupted", self.clock.now())
                    job.incarnation += 1
                elif job.state == "queued":
                    job.void = True
                    job.becomes("gone", self.clock.now())
        self.waiting.clear()


def _pool(job: SimulatedJob) -> str:
    case: Case = job.order.case
    return case.partition


def _units(job: SimulatedJob) -> int:
    return job.order.case.shape.units
