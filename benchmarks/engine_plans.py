"""Campaigns for the engine's benchmark: a full machine whose jobs end one after the other, without loop, scheduler or log."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from shakedown.engine import Policy, State, decide, evolve, index_plan
from shakedown.model.events import Event
from shakedown.model.filling import Fill, Pack, Sweep
from shakedown.model.nouns import Case, Cluster, Component, Document, Limits, NodeType, Partition, Shape, System, Test

SHAPE = Shape(units=1, time_limit_s=3600.0)
LASTS_S = 3600.0  # as long as is expected of what never ran, so that the store stays as it is
MDTS = tuple(f"mdt{number}" for number in range(8))


def repeats(waiting: int, nodes: int, tests: int = 50) -> Document:
    """``tests`` tests of one node each, so many repeats that ``waiting`` results wait behind a full machine."""
    cases = tuple(Case(f"t{n}", f"t{n}", "c:batch", shape=SHAPE, loads=(("fs", 1.0 + n),)) for n in range(tests))
    each = (waiting + 2 * nodes + 64) // tests + 1
    component = Component("stability", "stability", tuple(case.id for case in cases), each)
    return _document(nodes, cases, component, budgets=(("fs", 1e9),))


def mix(nodes: int, tests: int = 20) -> Document:
    """A mix with a filler, of which most tests load a target, held in store behind full targets, with caps and stagger."""
    cases = [
        Case(
            f"t{n}", f"t{n}", "c:batch", shape=SHAPE, loads=(("mdt", 1.0),) if n % 4 else (), targets=(("mdt", "mdt"),)
        )
        for n in range(tests)
    ]
    filler = Case("filler", "filler", "c:batch", shape=SHAPE)
    names = tuple(case.id for case in cases)
    steady = Component(
        "stability", "stability", names, duration_s=864000.0, fillers=("filler",), fill=Fill(queue_ahead_s=360.0)
    )
    limits = Limits(copies=(("t1", nodes // 100), ("t2", nodes // 100)), stagger_s=0.001)
    amount = nodes / 2 / len(MDTS)
    return _document(
        nodes, (*cases, filler), steady, limits=limits, budgets=(("mdt", amount),), targeted=(("mdt", MDTS),)
    )


def sweep(nodes: int, tests: int = 5) -> Document:
    """Tests that see every node, all of a node's in one job."""
    cases = tuple(Case(f"see{n}", f"see{n}", "c:batch", shape=SHAPE) for n in range(tests))
    return _document(nodes, cases, Component("sweep", "functionality", tuple(c.id for c in cases), sweep=Sweep(64)))


def packs(waiting: int, nodes: int) -> Document:
    """Small cases, 250 to an allocation, in forty allocations at a time."""
    cases = tuple(Case(f"s{n}", "small", "c:batch", shape=Shape(units=1, time_limit_s=30.0)) for n in range(waiting))
    pack = Pack(runs=250, at_once=8, allocations=40)
    return _document(nodes, cases, Component("packed", "functionality", tuple(c.id for c in cases), pack=pack))


def _document(
    nodes: int,
    cases: tuple[Case, ...],
    component: Component,
    limits: Limits | None = None,
    budgets: tuple[tuple[str, float], ...] = (),
    targeted: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> Document:
    cluster = Cluster("c", "slurm", (Partition("batch", "c", f"n[1-{nodes}]", nodes, "node"),))
    system = System("big", (cluster,), (NodeType("node", cores=128),), budgets=budgets, targeted=targeted)
    made = tuple(Test(name) for name in dict.fromkeys(case.test for case in cases))
    return Document("big", system, (component,), cases, made, limits=limits or Limits())


@dataclass
class Driven:
    """A campaign at work. ``ready``: jobs that may start, in the order in which they may; ``begun``: how many of the first of them
    have nodes, of ``nodes``; ``told``: how many idle nodes were told.
    """

    document: Document
    state: State = field(init=False)
    ready: deque[str] = field(default_factory=deque)
    begun: int = 0
    nodes: int = 0
    told: int = 0

    def __post_init__(self) -> None:
        self.state = State(plan=index_plan(self.document, Policy()))
        self.nodes = self.document.system.partitions()[0].count
        self.play(Event("campaign_start", value={}))
        self.play(Event("driver_start", value={}))
        self.settle()
        while self._tell_idle():
            self.settle()

    def play(self, event: Event, step_s: float = 0.001) -> None:
        evolve(self.state, msgspec.structs.replace(event, seq=self.state.seq + 1, time=self.state.time + step_s))

    def settle(self) -> None:
        """Everything that is to be ordered is, and taken at once."""
        while orders := decide(self.state, self.state.time).orders:
            for order in orders:
                self.play(order.event)
            for order in orders:
                self._answer(order.kind, order.event)

    def _answer(self, kind: str, event: Event) -> None:
        if kind == "submit":
            self.play(Event("submit_accepted", job=event.job, value={"id": "1"}))
            if not event.value.get("held"):
                self.ready.append(event.job)
                self._begin_next()
        elif kind == "release":
            self.play(Event("released", job=event.job))
            self.ready.append(event.job)
            self._begin_next()

    def _begin_next(self) -> None:
        """The next job begins if a node is idle, and is seen to; jobs of several runs tell of their parts."""
        if self.begun >= min(self.nodes, len(self.ready)):
            return
        job = self.state.jobs[self.ready[self.begun]]
        if not job.bundle:
            self.begun += 1
            self.play(Event("job_report", job=job.id, run=job.run, value={"state": "running", "source": "queue"}))

    def _tell_idle(self) -> bool:
        """Sixty-four more nodes are idle; a sweep's jobs begin as soon as they are there, so that the next may be ordered."""
        number = self.state.index.document.system.partitions()[0].count
        if not self.document.components[0].sweep or self.told >= number:
            return False
        nodes = list(range(self.told + 1, min(self.told + 64, number) + 1))
        self.told += len(nodes)
        self.play(Event("surveyed", value={"idle": {"c:batch": nodes}}))
        self.settle()
        for job in [job for job in self.state.jobs.values() if job.phase == "queued"]:
            self.play(Event("job_report", job=job.id, run=job.run, value={"state": "running", "source": "queue"}))
        return True

    def end_one(self) -> int:
        """The job that may run for the longest time ends, part by part; returns how many runs did."""
        job = self.state.jobs[self.ready.popleft()]
        if not job.bundle:
            self.begun -= 1
            self._report(job.id, job.run, {"state": "completed", "source": "marks", "elapsed_s": LASTS_S})
            self._judge(job.id, job.run)
            self._begin_next()
            return 1
        runs = list(job.parts)
        for run in runs:
            self._report(job.id, run, {"state": "running", "part": True})
            self._report(job.id, run, {"state": "completed", "elapsed_s": 9.0, "part": True})
            self._judge(job.id, run)
        self._report(job.id, runs[0], {"state": "completed", "source": "marks", "elapsed_s": 45.0})
        return len(runs)

    def _report(self, job: str, run: str, value: dict[str, object]) -> None:
        self.play(Event("job_report", job=job, run=run, value=value))
        self.settle()

    def _judge(self, job: str, run: str) -> None:
        found = self.state.runs[run]
        component = self.state.index.components[found.component].name
        value = {
            "verdict": "passed",
            "component": component,
            "repeat": found.repeat,
            "final": True,
            "elapsed_s": LASTS_S,
        }
        self.play(Event("verdict", case=found.case, run=run, job=job, value=value, reason="ok"))
        self.settle()
