"""A scheduler on a test's bench: its port as a session opens it, jobs whose payloads obey the test, and what can befall them.

A new dialect gets a subclass of ``Bench``; ``scheduler_contract`` says what must hold of it.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from shakedown.model.dialects import Dialect, call, dialects
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Document, Loads, NodeType, Partition, Patience, Shape, System
from shakedown.model.ports import ENDED, JOB_STATES, JobOrder, JobReport, Opened, ReleaseOrder, Scheduler, SubmitAnswer
from shakedown.processes.reactor import Reactor

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/scheduler"
COMMANDS = Path(__file__).with_name("fake_slurm_commands.py")
LIMIT_S = 120.0  # that anything may take on a busy machine


class View(msgspec.Struct):
    """A job as the engine knows it."""

    id: str
    run: str = ""
    scheduler_id: str = ""
    restart: int = 0


class Bench:
    """One campaign at one scheduler. What a dialect cannot do is a False here, and the contract then asks for less."""

    scheduler_name = ""
    outlives = True  # jobs go on without a conductor
    holds = True  # a waiting job can be held
    requeues = True  # somebody may put a running job back into the queue
    forgets = True  # the scheduler may forget a job that is over
    quick_limits = True  # a time limit of a second ends a job soon
    licences = False  # the scheduler itself hands out licences
    nodes = 2  # of the partition; a job takes one

    def __init__(self, root: Path) -> None:
        self.root = root
        self.signs = root / "signs"  # what payloads leave, and wait for
        self.signs.mkdir()
        self.layout = Layout(root / "campaign")
        self.layout.root.mkdir()
        self.layout.lease.mkdir()
        self.reactor = Reactor()
        self.jobs: dict[str, View] = {}
        self.known: set[str] = set()  # every job that was ever asked about
        self.story: list[JobReport] = []
        self.sessions: list[Opened] = []
        self.waiting: set[int] = set()  # jobs whose script waits for our word
        self.change_port: Callable[[Scheduler], Scheduler] = lambda port: port

    # ---- sessions ----

    @property
    def dialect(self) -> Dialect:
        return dialects()[self.scheduler_name]

    def cluster(self) -> Cluster:
        names = f"n[1-{self.nodes}]"
        licences: Loads = (("mds", 8.0),) if self.licences else ()
        return Cluster(
            "c", self.scheduler_name, (Partition("batch", "c", names, self.nodes, "node"),),
            patience=Patience(poll_s=0.2), licences=licences,
        )  # fmt: skip

    def document(self) -> Document:
        return Document("p", System("s", (self.cluster(),), (NodeType("node", cores=self.nodes),)), (), (), ())

    def open(self) -> Scheduler:
        """A session: the port is opened as the conductor opens it."""
        document = self.document()
        opened: Opened = call(self.dialect, "open", self.layout, document, document.system.clusters, self.reactor)
        self.sessions.append(opened)
        self.port = self.change_port(opened.scheduler)
        return self.port

    def kill(self) -> None:
        """The conductor is killed: nothing is closed, and no later word of its session is heard."""
        self.reactor = Reactor()

    def close(self) -> None:
        for opened in self.sessions:
            if opened.end_runs is not None:
                opened.end_runs()
            opened.close()
        for number in self.waiting:  # what a broken port lost sight of ends by itself
            self.go(number)

    # ---- jobs ----

    def order(self, number: int, script: str = "true", limit_s: float = 600.0, **fields: Any) -> JobOrder:
        """A job that runs ``script``; it notes each start of its payload."""
        job = f"j{number:06}"
        text = f"echo $$ >>{shlex.quote(str(self.signs / job))}.began\n{script}"
        case = fields.pop(
            "case", Case(f"case-{number}", "t", "c:batch", script=text, shape=Shape(time_limit_s=limit_s))
        )
        return JobOrder(job, f"r{number:06}", case, **fields)

    def waits(self, number: int) -> str:
        """A script that ends when the test says ``go``, or is over."""
        self.waiting.add(number)
        return f"n=0; while [ ! -e {self.signs}/go.{number} ] && [ $n -lt 1800 ]; do sleep 0.1; n=$((n + 1)); done"

    def go(self, number: int) -> None:
        (self.signs / f"go.{number}").touch()

    def submit(self, *orders: JobOrder) -> Sequence[SubmitAnswer]:
        """Submit; the engine notes what was, or may have been, accepted."""
        answers = self.port.submit(orders)
        for order, answer in zip(orders, answers, strict=False):
            if answer.outcome != "refused":
                self.jobs[order.job] = View(order.job, order.run, answer.scheduler_id)
        return answers

    def starts(self, number: int) -> int:
        """How often the payload of a job began."""
        path = self.signs / f"j{number:06}.began"
        return len(path.read_text().split()) if path.exists() else 0

    def view(self, number: int) -> View:
        return self.jobs[f"j{number:06}"]

    def released(self, number: int) -> ReleaseOrder:
        view = self.view(number)
        return ReleaseOrder(view.id, view.run, self.order(number).case, view.scheduler_id, view.restart)

    def poll(self) -> Sequence[JobReport]:
        """One turn of the loop; what is over is asked about no more, as the engine does it."""
        self.known |= self.jobs.keys()
        reports = self.port.poll(self.jobs)
        self.story += reports
        for report in reports:
            assert report.state in JOB_STATES, report
            view = self.jobs.get(report.job)
            if view is None:
                assert report.job in self.known, f"nobody asked about {report.job}"
                continue
            if report.scheduler_id:
                view.scheduler_id = report.scheduler_id
            if report.state == "requeued":
                view.restart = report.restart
            if report.state in ENDED:
                del self.jobs[report.job]
        return reports

    def wait(self, holds: Callable[[JobReport], bool], what: str) -> JobReport:
        """Poll as the loop does, until there is such a report."""
        end = time.monotonic() + LIMIT_S
        while True:
            for report in self.poll():
                if holds(report):
                    return report
            assert time.monotonic() < end, f"it was never said: {what}; said was {self.story[-8:]}"
            self.reactor.wait(self.reactor.now() + 0.1)

    def wait_state(self, number: int, *states: str) -> JobReport:
        job = f"j{number:06}"
        return self.wait(lambda report: report.job == job and report.state in states, f"{job} is {' or '.join(states)}")

    def until(self, holds: Callable[[], object], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < end, f"it never came about: {what}; said was {self.story[-8:]}"
            self.poll()
            self.reactor.wait(self.reactor.now() + 0.1)

    # ---- what befalls a scheduler ----

    def requeue(self, number: int) -> None:
        """An administrator puts a running job back into the queue."""
        raise NotImplementedError

    def lose_answers(self, lose: bool) -> None:
        """Submissions are accepted from now on, and their answers are lost."""
        raise NotImplementedError

    def go_away(self, away: bool) -> None:
        """The scheduler gives no answer from now on."""
        raise NotImplementedError

    def forget(self, number: int) -> None:
        """The scheduler knows nothing of a job any more, and neither does its accounting."""
        raise NotImplementedError

    def call_it(self, number: int, state: str) -> None:
        """The scheduler says a word for a job's state that nobody knows."""
        raise NotImplementedError

    def taken_licences(self) -> list[str]:
        """What submissions asked the scheduler for, as it would charge it."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """For a ``shakedown`` of its own on this scheduler."""
        return os.environ

    def system_file(self) -> str:
        """A system for plans on this scheduler."""
        partition = "{nodes: here, type: node}" if not self.outlives else f'{{nodes: "n[1-{self.nodes}]", type: node}}'
        patience = "" if not self.outlives else ", patience: {poll: 1s, grace: 5s}"
        return (
            f"system: box\nclusters: {{c: {{scheduler: {self.scheduler_name}, partitions: {{batch: {partition}}}{patience}}}}}\n"
            f"node_types: {{node: {{cores: {self.nodes}}}}}\n"
        )


class LocalBench(Bench):
    """The cores of this machine: jobs are children of the conductor, and nobody else has a say in them."""

    scheduler_name = "local"
    outlives = holds = requeues = forgets = False


class SpoolBench(Bench):
    """The scheduler of ``examples/scheduler``. Its package must be on Python's path, as ``spool_scheduler`` puts it there."""

    scheduler_name = "spool"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.spool_root = root / "spool"
        os.environ["SPOOL"] = str(self.spool_root)
        from spool import Spool

        self.spool = Spool(self.spool_root)
        self._lost = False

    def number(self, number: int) -> str:
        """The spool's number of a job of ours."""
        jobs = self.spool.look()
        return self.number_in(jobs, number)

    def close(self) -> None:
        super().close()
        self.go_away(False)
        if self.spool_root.exists():
            self.spool.cancel(list(self.spool.look()))

    def requeue(self, number: int) -> None:
        self.spool.requeue(self.number(number))

    def lose_answers(self, lose: bool) -> None:
        spool = self.port.spool  # type: ignore[attr-defined]
        vars(spool).pop("submit", None)
        if lose:
            really = spool.submit

            def submit(*words: Any, **more: Any) -> str:
                really(*words, **more)
                raise TimeoutError("the spool did not answer in time")

            spool.submit = submit

    def go_away(self, away: bool) -> None:
        aside = self.root / "spool-aside"
        if away:
            self.spool_root.rename(aside)
            self.spool_root.write_text("not a directory")
        elif aside.exists():
            self.spool_root.unlink()
            aside.rename(self.spool_root)

    def forget(self, number: int) -> None:
        with self.spool.jobs() as jobs:
            jobs[self.number_in(jobs, number)]["name"] = "somebody-else"

    def call_it(self, number: int, state: str) -> None:
        with self.spool.jobs() as jobs:
            jobs[self.number_in(jobs, number)]["state"] = state

    @staticmethod
    def number_in(jobs: Mapping[str, Any], number: int) -> str:
        return next(one for one, job in jobs.items() if job["name"].endswith(f"-j{number:06}"))

    def environment(self) -> Mapping[str, str]:
        paths = os.pathsep.join([str(EXAMPLE), os.environ.get("PYTHONPATH", "")])
        return {**os.environ, "PYTHONPATH": paths, "SPOOL": str(self.spool_root)}


class FakeSlurmBench(SpoolBench):
    """Shakedown's own Slurm port, whose commands are played by a spool: real processes, and nothing of Slurm."""

    scheduler_name = "slurm"
    licences = True
    quick_limits = False  # minutes, and room for the end mark

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        commands = root / "bin"
        commands.mkdir()
        for name in ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo"):
            words = [sys.executable, "-I", "-S", str(COMMANDS), str(self.spool_root), name]
            (commands / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            (commands / name).chmod(0o755)
        os.environ["PATH"] = f"{commands}:{os.environ['PATH']}"
        self.spool_root.mkdir()

    def open(self) -> Scheduler:
        without_hurry(super().open())
        return self.port

    def kill(self) -> None:
        kill_helpers(self.port)
        super().kill()

    def _switch(self, name: str, on: bool) -> None:
        path = self.spool_root / name
        path.touch() if on else path.unlink(missing_ok=True)

    def lose_answers(self, lose: bool) -> None:
        self._switch("lose", lose)

    def go_away(self, away: bool) -> None:
        if self.spool_root.exists():
            self._switch("away", away)

    def taken_licences(self) -> list[str]:
        with self.spool.jobs() as jobs:
            return [job["licences"] for job in jobs.values() if job.get("licences")]

    def forget(self, number: int) -> None:
        with self.spool.jobs() as jobs:
            jobs[self.number_in(jobs, number)]["forgotten"] = True


# Every bench, for the clauses of the contract and for the campaign.
BENCHES: dict[str, type[Bench]] = {"local": LocalBench, "slurm": FakeSlurmBench, "spool": SpoolBench}


def without_hurry(port: Any) -> None:
    """Slurm's port keeps the loop waiting for seconds alone, and gives up what a busy machine had no time for; the engine orders it
    again. A bench orders once: it waits.
    """
    port.patience_s = port.act_s = LIMIT_S


def kill_helpers(port: Any) -> None:
    """The helper processes of Slurm's port die with their conductor."""
    for helper in (port._looking._helper, port._actor):
        if helper is not None:
            os.kill(helper.pid, signal.SIGKILL)
