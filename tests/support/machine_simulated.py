"""A small simulated machine with laws, and a driver who looks at what he ordered; whole campaigns on such a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from stability_plan import PATIENT, Filled, case, document, machine

from shakedown.model.nouns import Case, Component, Document, System
from shakedown.model.ports import JobOrder, JobReport, Ports
from shakedown.model.scenario import RunTime, Scenario
from shakedown.twin.machine.machine import Machine, simulate

HOUR, DAY = 3600.0, 86_400.0


def plan_of(cases: Sequence[Case], system: System | None = None, **fields: Any) -> Document:
    """A plan that is nothing but these cases."""
    plan = document(system or machine(8), tuple(cases), Component("c", "site", tuple(one.id for one in cases)))
    return msgspec.structs.replace(plan, **fields)


def taking(seconds: float, *tests: str, **more: Any) -> Scenario:
    """A machine on which runs of these tests take so long."""
    return Scenario(times=tuple((test, RunTime(seconds)) for test in tests or ("t",)), **more)


class Rig:
    """A machine by ``simulate``, its scheduler, and jobs that are ordered by hand. Times are seconds after the begin."""

    def __init__(self, scenario: Scenario, cases: Sequence[Case] = (), seed: int = 1, **fields: Any) -> None:
        self.cases = {one.id: one for one in cases or (case("t", 1, 1000.0),)}
        self.plan = plan_of(tuple(self.cases.values()), fields.pop("system", None), **fields)
        self.machine: Machine = simulate(self.plan, scenario, seed)
        self.world, self.clock = self.machine.world, self.machine.clock
        self.began = self.clock.now()
        self.views: dict[str, Any] = {}

    @property
    def now(self) -> float:
        return self.clock.now() - self.began

    def order(self, name: str, of: str = "t", target: str = "", **fields: Any) -> None:
        targets = (("f2/mdt", target),) if target else ()
        order = JobOrder(name, f"r-{name}", self.cases[of], targets=targets, **fields)
        (answer,) = self.machine.scheduler.submit([order])
        self.views[name] = msgspec.structs.replace(order)
        assert answer.outcome == "accepted"

    def until(self, seconds: float) -> None:
        while self.clock.now() < self.began + seconds:
            self.clock.wait(self.began + seconds)

    def job(self, name: str) -> Any:
        return self.world.jobs[name][0]

    def state(self, name: str) -> str:
        return str(self.job(name).state)

    def span(self, name: str) -> tuple[float, float]:
        """When a job's payload began and ended, after the begin."""
        (one,) = [execution for execution in self.world.executions if execution.job == name]
        assert one.end is not None, f"{name} still runs"
        return one.start - self.began, one.end - self.began

    def lasted(self, name: str) -> float:
        begin, end = self.span(name)
        return end - begin

    def report(self, name: str) -> JobReport:
        """What is said of a job, by a driver to whom everything is news."""
        from shakedown.twin import SimulatedScheduler

        view = self.views[name]

        class View:
            id, run, scheduler_id, restart = name, view.run, self.job(name).id, self.job(name).restart

        return SimulatedScheduler(self.world).poll({name: View()})[-1]


def rehearse(plan: Document, scenario: Scenario, seed: int = 1, poll_s: float = 30.0, **options: Any) -> Filled:
    """A whole campaign of the real engine, through the real loop, on the machine that the scenario describes."""
    campaign = Filled(plan, watched=False, seed=seed, policy=PATIENT, **options)
    found = simulate(plan, scenario, seed, poll_s)
    campaign.world, campaign.clock = found.world, found.clock

    def ports(given: Ports) -> Ports:
        given.scheduler, given.builder, given.collector = found.scheduler, found.builder, found.collector
        return given

    campaign.change_ports = ports
    campaign.run(2_000_000)
    return campaign
