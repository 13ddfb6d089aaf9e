"""A stage for campaigns in virtual time: the real engine and loop, the simulated machine, crashes, and the oracle watching."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oracle import Oracle

from shakedown.conductor.driving import begin, fold
from shakedown.conductor.loop import Conductor, loop
from shakedown.conductor.operators import commands_for
from shakedown.engine import Policy, State, index_plan
from shakedown.engine.snapshot import freeze_state, thaw_state
from shakedown.model.frozen import digest, freeze
from shakedown.model.nouns import (
    Build,
    Case,
    Check,
    Cluster,
    Component,
    Document,
    FigureSpec,
    Limits,
    NodeType,
    Partition,
    Retry,
    Shape,
    System,
    Test,
)
from shakedown.model.ports import Ports
from shakedown.twin import (
    Fates,
    Lies,
    MemoryInbox,
    MemoryLog,
    SimulatedBuilder,
    SimulatedCollector,
    SimulatedScheduler,
    VirtualClock,
    World,
)
from shakedown.twin.crashes import Crash, CrashPlan, mortal

IMPATIENT = Policy(grace_s=120.0, lost_after_s=900.0, no_answer_s=7200.0, dead_after_s=60.0)


def small_document(
    nodes: int = 4,
    tests: int = 3,
    repeats: int = 3,
    budgets: dict[str, float] | None = None,
    local: bool = False,
    seed: int = 0,
    retry: tuple[Retry, ...] = (),
) -> Document:
    """A plan with builds, budgets, a gate, an unavailable case and wide runs."""
    budgets = {"fs/mdt": 2.0} if budgets is None else budgets
    scheduler = "local" if local else "slurm"
    partition = Partition("batch", "c", f"n[1-{nodes}]" if not local else "host", 1 if local else nodes, "node")
    system = System(
        "toy",
        (Cluster("c", scheduler, (partition,)),),
        (NodeType("node", cores=nodes if local else 8),),
        budgets=tuple(budgets.items()),
    )
    cases = [_case(number, nodes, budgets) for number in range(tests)]
    missing = Case("missing", "missing", "c:batch", unavailable="program xyz is not here; apt-get install xyz")
    names = tuple(case.id for case in cases)
    return Document(
        plan="toy",
        system=system,
        components=(
            Component("first", "functionality", names[:1], 1),
            Component("rest", "performance", (*names, "missing"), repeats, after=("first",), retry=retry),
        ),
        cases=(*cases, missing),
        tests=tuple(_test(name) for name in (*names, "missing")),
        builds=(Build("b" * 64, "tool", "", "make"),),
        limits=Limits(copies=(("t1", 2),) if tests > 1 else (), builds=1),
        seed=seed,
    )


def _case(number: int, nodes: int, budgets: dict[str, float]) -> Case:
    load = tuple((name, 1.0) for name in budgets) if number % 2 == 0 else ()
    return Case(
        f"t{number}",
        f"t{number}",
        "c:batch",
        shape=Shape(nodes=1, units=nodes if number == 2 else 1, exclusive=number == 2, time_limit_s=300.0),
        build="b" * 64 if number == 1 else "",
        loads=load,
    )


def _test(name: str) -> Test:
    return Test(
        name, checks=(Check("contains", "output", "ok", 'output contains "ok"'),), figures=(FigureSpec("rate"),)
    )


@dataclass
class Campaign:
    """One campaign from its start to its end, over as many conductors as its crashes make necessary."""

    document: Document
    seed: int = 0
    fates: Fates = field(default_factory=Fates)
    lies: Lies = field(default_factory=Lies)
    local: bool = False
    policy: Policy | None = None
    dies: Callable[[str, int], bool] = lambda name, count: False
    script: Callable[[Campaign, int], None] | None = None  # the operator: called at every wait
    change_ports: Callable[[Ports], Ports] = lambda ports: ports
    amnesia: bool = False  # the state is thrown away and folded again after every turn
    crashes: int = 0

    def __post_init__(self) -> None:
        self.clock = VirtualClock()
        self.world = World(self.document, self.seed, self.clock, self.fates, self.lies, self.local)
        self.log = MemoryLog()
        self.inbox = MemoryInbox()
        self.documents = {digest(freeze(self.document)): self.document}
        self.policy = self.policy or (None if self.local else IMPATIENT)
        self.oracle = Oracle(self)
        self.plan = CrashPlan(self.dies)
        self.state = State()
        self.waits = 0

    def run(self, limit: int = 20000) -> Campaign:
        """To the end, whatever it takes; ``limit`` waits at most."""
        while True:
            conductor = self._conductor(limit)
            try:
                self._drive(conductor)
                break
            except Crash:
                self._die()
        self.state = conductor.state
        self.oracle.at_the_end(conductor.state)
        return self

    def _conductor(self, limit: int) -> Conductor:
        ports = self.change_ports(
            Ports(
                self._clock(limit),
                SimulatedScheduler(self.world),
                SimulatedBuilder(self.world),
                SimulatedCollector(self.world),
                self.log,
                self.inbox,
            )
        )
        state = fold(self.log.events(), self.documents.__getitem__, self.policy)
        if state.plan is None:
            state.plan = index_plan(self.document, self.policy)
        return Conductor(state, mortal(ports, self.plan), self.oracle.watch, commands_for(self.documents.__getitem__))

    def _drive(self, conductor: Conductor) -> None:
        self.conductor = conductor
        start = {"document": next(iter(self.documents)), "campaign": "toy", "plan": "toy", "seed": self.seed}
        begin(conductor, start, {}, self.document)
        loop(conductor, lambda c: bool(c.state.stopping) and not c.state.jobs and not c.state.runs)

    def _clock(self, limit: int) -> Any:
        campaign = self

        class Clock:
            def now(self) -> float:
                return campaign.clock.now()

            def wait(self, until: float | None) -> None:
                campaign.waits += 1
                assert campaign.waits < limit, "the campaign does not end"
                if campaign.script is not None:
                    campaign.script(campaign, campaign.waits)
                campaign.oracle.at_rest(campaign.conductor.state)
                if campaign.amnesia:
                    campaign.forget()
                campaign.clock.wait(until)

        return Clock()

    def forget(self) -> None:
        """Throw the live state away; a snapshot or the log, turn by turn, brings it back."""
        conductor = self.conductor
        self.log.commit()
        if self.waits % 2:
            conductor.state = fold(self.log.events(), self.documents.__getitem__, self.policy)
        else:
            conductor.state = thaw_state(freeze_state(conductor.state), conductor.state.index)

    def _die(self) -> None:
        """Memory is gone; of what was written but not durable, some part may be found again."""
        self.crashes += 1
        self.oracle.before_crash(self.log.bytes())
        self.log.cut(self.world.draw("survivors", self.crashes).randrange(3))
        self.oracle.after_crash(self.log.bytes(), self.log.events())
        self.world.conductor_died()

    def events(self, name: str = "") -> list[Any]:
        return [event for event in self.log.events() if name in ("", event.event)]


def random_deaths(seed: int, share: float = 0.01, most: int = 25) -> Callable[[str, int], bool]:
    """Die at random port calls, ``most`` times at most."""
    generator = random.Random(seed)
    left = most

    def dies(name: str, count: int) -> bool:
        nonlocal left
        if left and generator.random() < share:
            left -= 1
            return True
        return False

    return dies
