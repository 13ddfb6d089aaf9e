"""A job of one run on a cluster, and what its scheduler says of it, told second by second by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace
from stage import Campaign, small_document

from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import log_reports
from shakedown.engine import decide
from shakedown.model.events import Event
from shakedown.model.nouns import Document, NodeType, Partition
from shakedown.model.ports import JobReport

SUSPENDED = "it is suspended"
NOTHING: Mapping[str, Any] = MappingProxyType({})


def one_run(figures: bool, shape: Mapping[str, Any] = NOTHING, repeats: int = 1) -> Document:
    """One result of one case on one node, or more of them, beside a partition of another type."""
    document = small_document(tests=1, repeats=1, nodes=4 * repeats)
    if repeats > 1:
        (first, *_) = document.components
        cases = tuple(replace(case, loads=()) for case in document.cases)
        document = replace(document, components=(replace(first, repeats=repeats),), cases=cases)
    tests = tuple(replace(test, figures=test.figures if figures else ()) for test in document.tests)
    (cluster,) = document.system.clusters
    cluster = replace(cluster, partitions=(*cluster.partitions, Partition("gpu", "c", "g[1-2]", 2, "fat")))
    system = replace(
        document.system, clusters=(cluster,), node_types=(*document.system.node_types, NodeType("fat", cores=8))
    )
    cases = tuple(replace(case, shape=replace(case.shape, **shape)) for case in document.cases)
    return replace(document, tests=tests, cases=cases, system=system)


class Story:
    """A job of one run that a cluster has begun, told second by second; ``first``: what is said of it before that.

    ``asked``: the terms that it was ordered with; ``more``: by number of a job, what it asks for besides or instead. ``jobs``: how
    many are ordered; only the first has begun.
    """

    def __init__(
        self,
        figures: bool = False,
        shape: Mapping[str, Any] = NOTHING,
        first: Mapping[str, Any] = NOTHING,
        asked: Mapping[str, Any] = NOTHING,
        jobs: int = 1,
        begun: bool = True,
        more: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        self.campaign = Campaign(one_run(figures, shape, jobs))
        self.conductor: Conductor = self.campaign._conductor(100)
        self.conductor.watch = None
        self.conductor.log("campaign_start", value={"campaign": "toy"})
        self.conductor.log("driver_start")
        for order in decide(self.conductor.state, self.conductor.state.time).orders:
            self.conductor.log(order.event)
        for number in range(jobs):
            words = {**asked, **more.get(number + 1, {})}
            value = {"id": f"{7 + number}"} | ({"asked": words} if words else {})
            self.conductor.log("submit_accepted", job=f"j{number + 1:06d}", value=value)
        self.begin = self.campaign.clock.now()
        if first:
            self.said("queued", 0.0, **first)
        if begun:
            self.said("running", 0.0, **first)

    def said(self, state: str, at: float, **more: Any) -> None:
        self.hear(JobReport("j000001", state, "queue", "7", **more), at)

    def hear(self, report: JobReport, at: float) -> None:
        """A report, so many seconds after the beginning."""
        self.look([report], at)

    def look(self, reports: Sequence[JobReport], at: float) -> None:
        """What one look says of several jobs."""
        self.campaign.clock._now = self.begin + at
        log_reports(self.conductor, reports)

    def wait(self, at: float) -> None:
        """Nobody says anything until then."""
        self.campaign.clock._now = self.begin + at
        self.conductor.log("asked", value={"squeue": 1})

    def events(self, name: str) -> list[Event]:
        self.conductor.commit()
        return [event for event in self.campaign.log.events() if event.event == name]

    def halts(self) -> list[tuple[str, Any]]:
        told = [event.value for event in self.events("finding")]
        return [(value["kind"], value.get("halted_s", value.get("state"))) for value in told]

    def end(self) -> Event:
        return self.events("job_report")[-1]

    def loads(self) -> dict[str, float]:
        return dict(self.conductor.state.jobs["j000001"].loads)

    def verdicts(self) -> list[Event]:
        """Those that are due now."""
        orders = [order.event for order in decide(self.conductor.state, self.conductor.state.time).orders]
        return [event for event in orders if event.event == "verdict"]
