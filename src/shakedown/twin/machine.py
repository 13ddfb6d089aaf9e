"""The simulated machine of a rehearsal, whole: from a plan's document and a scenario to the ports of the conductor's loop."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.model.nouns import Document
from shakedown.model.scenario import Scenario
from shakedown.twin.clock import VirtualClock
from shakedown.twin.fates import Fates
from shakedown.twin.ports import SimulatedBuilder, SimulatedCollector
from shakedown.twin.scheduler import SimulatedScheduler
from shakedown.twin.world import World


@dataclass(frozen=True, slots=True)
class Machine:
    """The ports that the machine supplies; the log and the inbox are the campaign's."""

    world: World
    clock: VirtualClock
    scheduler: SimulatedScheduler
    builder: SimulatedBuilder
    collector: SimulatedCollector


def simulate(document: Document, scenario: Scenario, seed: int, poll_s: float = 5.0) -> Machine:
    """Purpose: the machine that a plan is rehearsed on. The same arguments give the same machine, and the same lives of its jobs.

    ``poll_s``: how often the scheduler is asked, in virtual seconds.
    """
    clock = VirtualClock()
    times = {name: (time.mean_s, time.spread_s) for name, time in scenario.times}
    world = World(document, seed, clock, Fates(tests=times))
    scheduler = SimulatedScheduler(world, poll_s, quiet=True)
    return Machine(world, clock, scheduler, SimulatedBuilder(world), SimulatedCollector(world))
