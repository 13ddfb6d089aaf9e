"""The Slurm port by itself on an emulated cluster: orders, and what is said of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, structs
from slurm_cluster import Cluster

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Pairs, Partition, Patience
from shakedown.model.nouns import Cluster as Described
from shakedown.model.ports import JobOrder, JobReport, Part, ReleaseOrder, Survey, Wanted
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.slurm import SlurmScheduler

LIMIT_S = 120.0


class View(Struct):
    """A job as the conductor holds it."""

    id: str
    run: str
    scheduler_id: str = ""
    restart: int = 0
    ordered: float = 0.0
    parts: dict[str, str] = {}


class Port:
    """A port, what it said last of each job, and all that it said of their parts in order."""

    def __init__(self, campaign: Path, *clusters: Described, licence_names: Pairs = ()) -> None:
        campaign.mkdir(exist_ok=True)
        self.reactor = Reactor()
        self.layout = Layout(campaign)
        self.scheduler = SlurmScheduler(
            self.layout, self.reactor, clusters, patience_s=60.0, act_s=60.0, licence_names=licence_names
        )
        self.jobs: dict[str, View] = {}
        self.cases: dict[str, Case] = {}
        self.said: dict[str, JobReport] = {}
        self.story: list[tuple[str, str, str]] = []  # (job, part, state)

    def order(self, cluster: str, number: int, held: bool = False, script: str = "", **fields: Any) -> View:
        job, run = f"j{number:06}", f"r{number:06}"
        case = Case(job, "t", f"{cluster}:batch", script=script or f"echo {run}")
        return self.submit(JobOrder(job, run, case, held=held), **fields)

    def submit(self, order: JobOrder, **fields: Any) -> View:
        (answer,) = self.scheduler.submit([structs.replace(order, **fields)])
        assert answer.outcome == "accepted", answer
        parts = {part.run: "" for part in order.parts}
        self.cases[order.job] = order.case
        self.jobs[order.job] = View(order.job, order.run, answer.scheduler_id, ordered=time.time(), parts=parts)
        return self.jobs[order.job]

    def pack(self, cluster: str, number: int, scripts: Sequence[str], at_once: int = 1, **fields: Any) -> View:
        """A job with a part for each script."""
        cases = [Case(f"c{number}-{n}", "t", f"{cluster}:batch", script=text) for n, text in enumerate(scripts)]
        limits = fields.pop("limits", {})
        cases = [
            structs.replace(case, shape=structs.replace(case.shape, time_limit_s=limits.get(n, 600.0)))
            for n, case in enumerate(cases)
        ]
        parts = tuple(Part(f"r{number:03}{n:03}", case) for n, case in enumerate(cases))
        whole = Case(f"pack{number}", "t", f"{cluster}:batch")
        whole = structs.replace(whole, shape=structs.replace(whole.shape, nodes=fields.pop("nodes", 1)))
        return self.submit(JobOrder(f"j{number:06}", parts[0].run, whole, parts=parts, at_once=at_once, **fields))

    def release(self, *jobs: View, exclude: tuple[str, ...] | None = None) -> list[str]:
        """Let held jobs start that work in the campaign, on any nodes but these."""
        orders = [ReleaseOrder(job.id, job.run, self.cases[job.id], job.scheduler_id) for job in jobs]
        return list(self.scheduler.release([structs.replace(order, exclude=exclude) for order in orders]))

    def poll(self) -> None:
        for report in self.scheduler.poll(self.jobs):
            self.story.append((report.job, report.run, report.state))
            self.said[f"{report.job}/{report.run}" if report.run else report.job] = report
            if report.run and report.state != "running":
                self.jobs[report.job].parts.pop(report.run, None)
        self.reactor.wait(self.reactor.now() + 0.5)

    def wait_until(self, holds: Callable[[], object], what: str) -> None:
        """Poll as the loop does."""
        end = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < end, f"not {what}: {self.said}"
            self.poll()

    def wait(self, job: View, state: str, part: str = "") -> JobReport:
        """Until this is said of a job, or of a part of it."""
        key = f"{job.id}/{part}" if part else job.id
        self.wait_until(lambda: key in self.said and self.said[key].state == state, f"{key} is {state}")
        return self.said[key]

    def survey(self, wanted: Wanted) -> Survey:
        """The first one that is found from now on."""
        end = time.monotonic() + LIMIT_S
        self.scheduler.survey(wanted)
        while (found := self.scheduler.survey(wanted)) is None:
            assert time.monotonic() < end, "nothing was found"
            self.poll()
        return found


@contextmanager
def port(campaign: Path, cluster: Cluster, *others: str, licence_names: Pairs = ()) -> Iterator[Port]:
    nodes = f"n[001-{cluster.nodes:03d}]"
    described = [
        Described(
            name,
            "slurm",
            (Partition("batch", name, nodes, cluster.nodes, "node"),),
            patience=Patience(poll_s=0.5),
            licences=(("scratch", 4.0), ("mds", 8.0)),
        )
        for name in (cluster.name, *others)
    ]
    opened = Port(campaign, *described, licence_names=licence_names)
    try:
        yield opened
    finally:
        opened.scheduler.close()
        opened.reactor.close()
