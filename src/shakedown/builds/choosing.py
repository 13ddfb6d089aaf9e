"""One builder for both kinds of builds: on the login node, or in a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.builds.job_builder import JobBuilder
from shakedown.builds.sharing import SharedScheduler
from shakedown.model.dialects import dialect_named
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build, Cluster, System
from shakedown.model.ports import Builder, BuildReport, Clock, Scheduler


def with_builds_in_jobs(
    layout: Layout, system: System, on_login_node: Builder, scheduler: Scheduler, clock: Clock
) -> tuple[Builder, Scheduler]:
    """Purpose: the Builder and Scheduler ports for a campaign on a cluster, where both use the same scheduler."""
    shared = SharedScheduler(scheduler)
    return Builders(system, on_login_node, JobBuilder(layout, system, shared, clock)), shared


@dataclass(slots=True)
class Builders:
    """Sends each build to its own builder: on the login node, or in jobs. On a local machine there are no jobs for builds."""

    system: System
    on_login_node: Builder
    in_jobs: Builder

    def start(self, builds: Sequence[Build]) -> None:
        """Start each build where it is to be built."""
        able = {cluster.name for cluster in self.system.clusters if _builds_in_jobs(cluster)}
        apart = [build for build in builds if build.where == "job" and build.partition.partition(":")[0] in able]
        here = [build for build in builds if build not in apart]
        if apart:
            self.in_jobs.start(apart)
        if here:
            self.on_login_node.start(here)

    def poll(self) -> Sequence[BuildReport]:
        return [*self.on_login_node.poll(), *self.in_jobs.poll()]


def _builds_in_jobs(cluster: Cluster) -> bool:
    dialect = dialect_named(cluster.scheduler)
    return dialect is not None and dialect.builds_in_jobs
