"""Builds the simulated machine of a rehearsal: from document and scenario to the ports of the conductor loop."""

from __future__ import annotations

import random
from dataclasses import dataclass

from shakedown.model.nouns import Document
from shakedown.model.scenario import Nodes, RunTime, Scenario
from shakedown.model.windows import next_time
from shakedown.twin.machine.clock import START, VirtualClock
from shakedown.twin.machine.nodes import rooms_of
from shakedown.twin.machine.physics import fates_of
from shakedown.twin.machine.ports import SimulatedBuilder, SimulatedCollector
from shakedown.twin.machine.scheduler import SimulatedScheduler
from shakedown.twin.machine.world import World


@dataclass(frozen=True, slots=True)
class Machine:
    """The ports that the machine supplies; the log and the inbox are the campaign's. ``times``: case -> its run time, with the
    source."""

    world: World
    clock: VirtualClock
    scheduler: SimulatedScheduler
    builder: SimulatedBuilder
    collector: SimulatedCollector
    times: dict[str, RunTime]


def simulate(document: Document, scenario: Scenario, seed: int, poll_s: float = 5.0) -> Machine:
    """Purpose: the simulated machine for a plan. The same arguments give the same machine and the same fates of its jobs.

    ``poll_s``: how often the scheduler is asked, in virtual seconds.
    """
    clock = VirtualClock(START if scenario.begins_s is None else next_time(START, scenario.begins_s, scenario.zone))
    local = all(cluster.embedded for cluster in document.system.clusters)
    queue, fates = scenario.queue, fates_of(scenario, slow_nodes(document, scenario.nodes, seed))
    world = World(document, seed, clock, fates, None, local, None, queue.cycle_s, queue.fifo, scenario)
    scheduler = SimulatedScheduler(world, poll_s, quiet=True)
    times = world.physics.times if world.physics is not None else {}
    return Machine(world, clock, scheduler, SimulatedBuilder(world), SimulatedCollector(world), times)


def slow_nodes(document: Document, nodes: Nodes, seed: int) -> dict[str, float]:
    """Purpose: slow node -> factor on run times: the named nodes, and a share of the other nodes, drawn by name."""
    slow = dict(nodes.slow)
    if nodes.slow_share > 0 and nodes.slow_factor != 1.0:
        for room in rooms_of(document.system, fifo=False).values():
            for name in room.names:
                if name not in slow and random.Random(f"{seed}:slow:{name}").random() < nodes.slow_share:
                    slow[name] = nodes.slow_factor
    return slow
