"""The port's own orders on a real Slurm: jobs that are held until they are released, and clusters that are named (``-M``)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct
from slurm_cluster import Cluster

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Partition, Patience
from shakedown.model.nouns import Cluster as Described
from shakedown.model.ports import JobOrder, JobReport
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.slurm import SlurmScheduler

pytestmark = pytest.mark.slurm
LIMIT_S = 120.0


class View(Struct):
    """A job as the conductor holds it."""

    id: str
    run: str
    scheduler_id: str = ""
    restart: int = 0
    ordered: float = 0.0


class Port:
    """A port, and what it said last of each job."""

    def __init__(self, campaign: Path, *clusters: Described) -> None:
        campaign.mkdir()
        self.reactor = Reactor()
        self.scheduler = SlurmScheduler(Layout(campaign), self.reactor, clusters, patience_s=60.0)
        self.jobs: dict[str, View] = {}
        self.said: dict[str, JobReport] = {}

    def order(self, cluster: str, number: int, held: bool = False) -> View:
        job, run = f"j{number:06}", f"r{number:06}"
        case = Case(job, "t", f"{cluster}:batch", script=f"echo {run}")
        (answer,) = self.scheduler.submit([JobOrder(job, run, case, held=held)])
        assert answer.outcome == "accepted", answer
        self.jobs[job] = View(job, run, answer.scheduler_id, ordered=time.time())
        return self.jobs[job]

    def wait(self, job: View, state: str) -> JobReport:
        """Poll as the loop does, until this is said of the job."""
        end = time.monotonic() + LIMIT_S
        while job.id not in self.said or self.said[job.id].state != state:
            assert time.monotonic() < end, f"{job.id} is not {state}: {self.said.get(job.id)}"
            self.said |= {report.job: report for report in self.scheduler.poll(self.jobs)}
            self.reactor.wait(self.reactor.now() + 0.5)
        return self.said[job.id]


@contextmanager
def port(campaign: Path, cluster: Cluster, *others: str) -> Iterator[Port]:
    nodes = f"n[001-{cluster.nodes:03d}]"
    described = [
        Described(
            name, "slurm", (Partition("batch", name, nodes, cluster.nodes, "node"),), patience=Patience(poll_s=0.5)
        )
        for name in (cluster.name, *others)
    ]
    opened = Port(campaign, *described)
    try:
        yield opened
    finally:
        opened.scheduler.close()
        opened.reactor.close()


def test_a_held_job_starts_when_it_is_released_and_not_before(any_cluster: Cluster, tmp_path: Path) -> None:
    with port(tmp_path / "c", any_cluster) as opened:
        held, free = opened.order(any_cluster.name, 1, held=True), opened.order(any_cluster.name, 2)
        assert opened.wait(free, "completed").exit_status == 0
        assert opened.wait(held, "queued").message == "JobHeldUser"
        assert opened.scheduler.release([held]) == [held.id]
        assert opened.wait(held, "completed").exit_status == 0
        kept = sorted((tmp_path / "c/outputs").rglob("*.out"))
        assert [path.read_text() for path in kept] == ["r000001\n", "r000002\n"]


def test_clusters_are_named_where_there_are_several_and_one_that_is_not_there_holds_up_no_other(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    name = accounting_cluster.name
    with port(tmp_path / "c", accounting_cluster, "ghost") as opened:
        free, held = opened.order(name, 1), opened.order(name, 2, held=True)
        assert free.scheduler_id.endswith(f";{name}") and held.scheduler_id.endswith(f";{name}")
        assert opened.wait(free, "completed").exit_status == 0
        assert opened.scheduler.release([held]) == [held.id]
        assert opened.wait(held, "completed").exit_status == 0
        waits = opened.order(name, 3, held=True)
        opened.wait(waits, "queued")
        assert opened.scheduler.cancel([waits]) == [waits.id]
        opened.wait(waits, "cancelled")
