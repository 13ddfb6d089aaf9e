"""What the laws of the simulated machine cost: ten days of C5, 8,000 jobs on 1,920 nodes, on a crowded file system, without any
engine. The bar: less than 1 s of CPU time beyond what the same machine takes without laws.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from stability_plan import C5_TIMES, MDTS, TABLE_4, c5_stability

from shakedown.model.nouns import Test
from shakedown.model.ports import CollectOrder, JobOrder
from shakedown.model.scenario import Bandwidth, Metadata, Neighbour, Nodes, RunTime, Scenario
from shakedown.twin import Fates, SimulatedCollector, SimulatedScheduler, VirtualClock, World
from shakedown.twin.machine.machine import Machine, simulate

MORE_S, JOBS, QUEUED, ROUNDS = 1.0, 8_000, 20, 3
DAY = 86_400.0
LAWS = Scenario(
    times=tuple((test, RunTime(mean, sd, 0.02, 1.9)) for test, (mean, sd, _, _) in TABLE_4.items()),
    metadata=(Metadata("f2/mdt", healthy=4.0, share=0.05),),  # so low that each begin and end changes every pace
    bandwidth=(Bandwidth("f2/bandwidth", 40e9),),
    nodes=Nodes(mtbf_s=1800 * DAY),
    others=(Neighbour("c3", 9 * 3600.0, 17 * 3600.0, (("f2/mdt", 2.0),)),),
)


def lawless() -> Machine:
    plan, clock = c5_stability(10.0), VirtualClock()
    world = World(plan, 1, clock, Fates(tests=C5_TIMES))
    return Machine(world, clock, SimulatedScheduler(world), None, SimulatedCollector(world), {})  # type: ignore[arg-type]


def lawful() -> Machine:
    return simulate(c5_stability(10.0), LAWS, 1)


def play(machine: Machine) -> float:
    """CPU time in which so many jobs go through the machine, each collected; the queue behind it is kept as long."""
    world, clock = machine.world, machine.clock
    cases = deque(world.document.cases)
    told = world.noticed
    ended: list[tuple[str, str]] = []

    def noticed(job: object) -> None:
        told(job)  # type: ignore[arg-type]
        if getattr(job, "state", "queued") not in ("queued", "running"):
            ended.append((job.name, job.case.id))  # type: ignore[attr-defined]

    world.noticed = noticed
    gc.disable()
    start = time.process_time()
    sent = done = 0
    while done < JOBS:
        while sent < JOBS and sent - done < QUEUED + 44:
            sent += 1
            targets = (("f2/mdt", MDTS[sent % 4]),)
            machine.scheduler.submit([JobOrder(f"j{sent}", f"r{sent}", cases[0], targets=targets)])
            cases.rotate(-1)
        clock.wait(clock.now() + 600.0)
        for name, case in ended:
            done += 1
            order = world.jobs[name][0].order
            machine.collector.start([CollectOrder(order.run, order.case, _test(world, case), {})])
        ended.clear()
        machine.collector.poll()
    seconds = time.process_time() - start
    gc.enable()
    return seconds


def _test(world: World, case: str) -> Test:
    return next(test for test in world.document.tests if test.name == case)


def main() -> int:
    without = min(play(lawless()) for _ in range(ROUNDS))
    with_laws = min(play(lawful()) for _ in range(ROUNDS))
    more = with_laws - without
    print(
        f"{JOBS} jobs on 1,920 nodes: {without:.2f} s without laws, {with_laws:.2f} s with them: {more:.2f} s more, limit {MORE_S}"
    )
    return 0 if more <= MORE_S else 1


if __name__ == "__main__":
    sys.exit(main())
