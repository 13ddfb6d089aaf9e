"""A machine to submit jobs to: a campaign directory, a reactor, and schedulers that come and go over it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import ENDED, JobOrder, JobReport, SubmitAnswer
from shakedown.model.resources import NOTHING_ASKED, Resources
from shakedown.processes.identity import directory_token
from shakedown.processes.reactor import Reactor
from shakedown.processes.table import read_process
from shakedown.processes.tree import Ending
from shakedown.schedulers.local_host.local import LocalScheduler
from shakedown.schedulers.output_archive import read_output

OVER = ENDED | {"refused"}


@dataclass
class View:
    """What the engine knows of a job."""

    id: str
    run: str
    scheduler_id: str = ""
    restart: int = 0


@dataclass
class Machine:
    """A scheduler, and all that it ever said. ``jobs`` are those that the engine asks after, by id."""

    layout: Layout
    reactor: Reactor = field(default_factory=Reactor)
    options: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, View] = field(default_factory=dict)
    said: list[JobReport] = field(default_factory=list)
    count: int = 0
    scheduler: LocalScheduler = field(init=False)

    def __post_init__(self) -> None:
        self.scheduler = LocalScheduler(self.layout, self.reactor, **{"grace_s": 0.2, **self.options})

    def order(
        self,
        script: str,
        units: int = 1,
        exclusive: bool = False,
        time_limit_s: float = 600.0,
        resources: Resources = NOTHING_ASKED,
        partition: str = "local:all",
        **case: Any,
    ) -> JobOrder:
        self.count += 1
        shape = Shape(units=units, exclusive=exclusive, time_limit_s=time_limit_s, resources=resources)
        name = f"case-{self.count}"
        return JobOrder(
            f"j{self.count:06d}",
            f"r{self.count:06d}",
            Case(name, "test", partition, shape=shape, script=script, **case),
        )

    def know(self, order: JobOrder) -> None:
        """The record says that there is such a job; whether a scheduler heard of it is another matter."""
        self.jobs[order.job] = View(order.job, order.run, "", order.restart)

    def submit(self, *orders: JobOrder) -> list[SubmitAnswer]:
        for order in orders:
            self.know(order)
        return list(self.scheduler.submit(orders))

    def poll(self) -> list[JobReport]:
        reports = list(self.scheduler.poll(self.jobs))
        self.said += reports
        for report in reports:
            if report.state in OVER:
                self.jobs.pop(report.job, None)
            elif report.scheduler_id:
                self.jobs[report.job].scheduler_id = report.scheduler_id
        return reports

    def until(self, condition: Callable[[], object], limit_s: float = 15.0) -> None:
        """Wait as the conductor does until something is so."""
        end = self.reactor.now() + limit_s
        while not condition():
            assert self.reactor.now() < end, f"it did not happen; said: {self.said}; {self.scheduler._standby}"
            self.reactor.wait(self.reactor.now() + 0.02)
            self.poll()

    def last(self, order: JobOrder) -> JobReport | None:
        return next((report for report in reversed(self.said) if report.job == order.job), None)

    def ended(self, order: JobOrder) -> JobReport:
        """Wait for a job's end."""
        self.until(lambda: (report := self.last(order)) is not None and report.state in OVER)
        report = self.last(order)
        assert report is not None
        return report

    def run(self, script: str, **options: Any) -> JobReport:
        """Submit one job and wait for its end."""
        order = self.order(script, **options)
        (answer,) = self.submit(order)
        assert answer.outcome == "accepted", answer.message
        return self.ended(order)

    def output(self, report: JobReport) -> bytes:
        return read_output(self.layout, report.output)

    def work(self, order: JobOrder) -> Path:
        return self.layout.work_directory(order.run)

    def forsake(self) -> Machine:
        """The conductor dies without a word; the next one knows the jobs from the record alone."""
        machine = Machine(self.layout, options=self.options, jobs=self.jobs)
        machine.count = self.count
        return machine

    def end(self) -> None:
        self.scheduler.close()
        self.reactor.close()
        for number in range(1, self.count + 1):
            ending = Ending(f"{directory_token(self.layout.root)}/j{number:06d}", grace_s=0.0)
            while (pause := ending.step()) is not None:
                time.sleep(pause)


def lives(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.alive


@pytest.fixture
def make_machine(tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    """A machine with options of the scheduler's own; ``root`` is the campaign directory."""
    machines: list[Machine] = []

    def make(root: Path = tmp_path / "campaign", **options: Any) -> Machine:
        root.mkdir(exist_ok=True)
        machines.append(Machine(Layout(root), options=options))
        return machines[-1]

    yield make
    for machine in machines:
        machine.end()


@pytest.fixture
def machine(make_machine: Callable[..., Machine]) -> Machine:
    return make_machine()
