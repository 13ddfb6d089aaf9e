"""What becomes of runs on a machine with laws: how long each takes on these nodes, beside these others, on this file system.

Without it a world has only the fates that a test gives it. Every draw comes from (seed, what is drawn for).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shakedown.model.nouns import Case
from shakedown.model.scenario import RunTime, Scenario
from shakedown.twin.machine.builds import BuildTimes, LoginSlots
from shakedown.twin.machine.calendar import arrange_calendar
from shakedown.twin.machine.harness import HarnessInFront
from shakedown.twin.machine.outcomes import Fate, Fates, fate_of
from shakedown.twin.machine.queue_order import Turns
from shakedown.twin.machine.run_times import drawn, times_of
from shakedown.twin.machine.storage import Storage

if TYPE_CHECKING:
    from shakedown.twin.machine.jobs import SimulatedJob
    from shakedown.twin.machine.laws import SimulatedMachine


class Physics:
    """The laws of one world. ``times``: case -> its run time on a healthy machine."""

    def __init__(self, world: SimulatedMachine, scenario: Scenario) -> None:
        self.world, self.scenario = world, scenario
        self.times: dict[str, RunTime] = times_of(world.document, scenario)
        self.figures = {(name, figure): law for name, figure, law in scenario.figures}
        self.storage = Storage(world.document.system, scenario, world.clock, world.local)
        self.slots = LoginSlots(world.clock, scenario.builds.slots, world.local)
        self.build_times = BuildTimes(world.document, scenario.builds)
        self.harness = HarnessInFront(world, scenario.harness, self.slots, self.build_times)
        self._set_queue()

    def begin(self) -> None:
        """The world is there: let the calendar run."""
        arrange_calendar(self.world, self.scenario, self.storage)

    def _set_queue(self) -> None:
        terms = self.scenario.queue
        for room in self.world.rooms.values():
            room.pool.depth = terms.depth
            room.pool.turns = Turns(terms.size, terms.age) if terms.size or terms.age else None

    # ---- runs ------------------------------------------------------------------------------------------------------------

    def fate(self, case: Case, key: tuple[object, ...], nodes: Sequence[str], again: bool) -> Fate:
        """Purpose: what becomes of a run beside nobody: its times are seconds of work. ``again``: it is not put back once more."""
        seconds = drawn(self.times[case.id], self.world.draw("time", *key))
        return fate_of(self.world.fates, self.world.draw, case, key, nodes, again, seconds)

    def begins(self, job: SimulatedJob, run: str, case: Case, fate: Fate, finish: Callable[[], bool]) -> float | None:
        """Purpose: a run begins, and loads what it loads. After how many seconds its fate comes, or None: ``finish`` is called
        then.

        What lasts to its time limit whatever happens only loads what it loads.
        """
        key = (job.name, job.restart, run)
        if fate.state == "timeout":
            self.storage.begin(key, case, job.targets, None, finish)
            return fate.after_s
        seconds = fate.after_s + self.harness.in_job_s(job, case.test)
        return None if self.storage.begin(key, case, job.targets, seconds, finish) else seconds

    def over(self, job: SimulatedJob, restart: int, run: str) -> None:
        self.storage.end((job.name, restart, run))


def fates_of(scenario: Scenario, slow: dict[str, float]) -> Fates:
    """Purpose: what of a scenario strikes runs one by one: shares that end badly, bad nodes, planned deaths.

    ``slow``: node -> factor, of all that are slow.
    """
    nodes, faults = scenario.nodes, scenario.faults
    return Fates(
        failed=faults.failed,
        incorrect=faults.incorrect,
        timeout=faults.timeout,
        node_fail=faults.node_fail,
        requeued=faults.requeued,
        slow_nodes=slow,
        bad_nodes=dict(nodes.bad),
        bad_as=nodes.bad_as,
        deaths=nodes.deaths,
        repair_s=nodes.repair_s,
        early=True,
    )
