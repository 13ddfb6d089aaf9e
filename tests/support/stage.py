"""A stage for campaigns in virtual time: the real engine and loop, the simulated machine, crashes, and the oracle watching."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from oracle import Oracle

from shakedown.conductor.commands.registry import commands_for
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.loop import loop
from shakedown.conductor.driver.startup import begin, fold
from shakedown.engine import Policy, State, index_plan
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.events import Event
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
    Mode,
    NodeType,
    Partition,
    Procedure,
    Retry,
    Shape,
    System,
    Test,
)
from shakedown.model.ports import Command, Ports
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
from shakedown.twin.machine.crashes import Crash, CrashPlan, mortal

IMPATIENT = Policy(grace_s=120.0, lost_after_s=900.0, no_answer_s=7200.0, dead_after_s=60.0)
TROUBLE = Fates(failed=0.1, incorrect=0.05, timeout=0.05, node_fail=0.1, requeued=0.08, build_failed=0.2)
LOCAL_TROUBLE = Fates(failed=0.1, incorrect=0.05, timeout=0.05, build_failed=0.2)
ALL_LIES = Lies(
    refused=0.05,
    timed_out=0.08,
    lost_submit=0.05,
    late_submit=0.05,
    stale_s=15,
    accounting_late_s=40,
    accounting_missing=0.1,
    runaway=0.05,
    purge_s=60,
    alive_after_node_fail=0.5,
    marks_late_s=20,
    marks_lost=0.1,
    unstartable=0.03,
    launch_failure=0.03,
    outage=0.05,
)


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
    amnesia: bool = False  # the state is thrown away after every turn: a snapshot or the log brings it back
    crashes: int = 0
    amended: bool = False

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
        self.next_fold = 0  # how long the log is to be before ``forget`` folds the whole of it again

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
        commands = commands_for(self.documents.__getitem__) | {"waive": waive}
        conductor = Conductor(state, mortal(ports, self.plan), self.oracle.watch, commands, self.documents.__getitem__)
        conductor.reread = self.log.events
        return conductor

    def _drive(self, conductor: Conductor) -> None:
        self.conductor = conductor
        start = {"document": next(iter(self.documents)), "campaign": "toy", "plan": "toy", "seed": self.seed}
        begin(conductor, start, {}, self.document)
        loop(conductor, lambda c: bool(c.state.driver.stopping) and not c.state.jobs and not c.state.runs)

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
        """Throw the live state away; a snapshot or the log brings it back: the log whenever it has grown by a twentieth.

        A whole fold at every other turn is most of the time of a long campaign, and shows nothing new: after every event the oracle
        holds the live state against a fold of its own.
        """
        conductor = self.conductor
        self.log.commit()
        if self.waits % 2 and len(self.log.durable) >= self.next_fold:
            self.next_fold = len(self.log.durable) * 21 // 20
            conductor.state = fold(self.log.events(), self.documents.__getitem__, self.policy)
        else:
            conductor.state = thaw_state(freeze_state(conductor.state), conductor.state.index)

    def state_now(self) -> State:
        return self.conductor.state

    def amend(self, document: Document) -> None:
        """Put a changed document into force."""
        self.amended = True
        name = digest(freeze(document))
        self.documents[name] = document
        self.inbox.post("amend", reason="a change", document=name, by="Ada")

    def ask(self, what: str, **value: Any) -> None:
        """A person leaves a wish, and the conductor notices."""
        self.inbox.post(what, reason="so it was seen", **value)
        self.clock.at(self.clock.now(), lambda: True)

    def _die(self) -> None:
        """Memory is gone; of what was written but not durable, some part may be found again."""
        self.crashes += 1
        self.oracle.before_crash(self.log.bytes())
        self.log.cut(self.world.draw("survivors", self.crashes).randrange(3))
        self.oracle.after_crash(self.log.bytes(), self.log.events())
        self.world.conductor_died()

    def events(self, name: str = "") -> list[Any]:
        return [event for event in self.log.events() if name in ("", event.event)]


def waive(conductor: Conductor, command: Command) -> Event:
    """A person opens a gate, in the shortest form."""
    return Event("waived", value={"what": "gate", **command.value}, reason=command.reason)


def people(campaign: Campaign, wait: int) -> None:
    """They come when nothing goes on without them: they attest what is asked for and waive gates that are not met."""
    state = campaign.conductor.state
    if state.jobs or state.runs or campaign.inbox.waiting or state.phase != "running":
        return
    for number, component in enumerate(state.index.components):
        for procedure in state.unattested(number) if state.tallies[number].over else []:
            met = campaign.world.draw("attest", procedure).random() < 0.5
            campaign.ask("attest", component=component.name, procedure=procedure, met=met, by="Ada")
        outcome = state.gates.outcomes.get(component.name)
        if outcome is not None and outcome.outcome != "met" and component.name not in state.gates.waived:
            campaign.ask("waive", component=component.name)


def moded_document(seed: int, local: bool = False, nodes: int = 4) -> Document:
    """A random plan of modes, a mix, procedures and gates, beside components that want numbers of results."""
    draw = random.Random(seed)
    plain = small_document(nodes=nodes, tests=4, repeats=draw.randint(1, 2), local=local, seed=seed)
    names = tuple(case.id for case in plain.cases if not case.unavailable)
    first, rest = plain.components
    isolated = Mode("isolated", draw.randint(1, 2), draw.randint(0, 2))
    fill = Mode("fill", draw.randint(1, 2), draw.randint(0, 1), draw.choice((0, 0, 2, 9)))
    modes = draw.choice(((isolated,), (fill,), (isolated, fill), (isolated, fill)))
    procedures = (Procedure("check cables"), Procedure("pull a plug"))[: draw.randint(0, 2)]
    inspected = Component("inspected", "vendor", (), procedures=procedures[1:])
    gate = draw.choice(("over", "met"))
    modal = Component("modal", "performance", (*names[:3], "missing"), modes=modes, after=draw.choice(((), ("first",))))
    shares = draw.choice(((), tuple(zip(names, (0.4, 0.3, 0.2, 0.1), strict=True))))
    long = Component("long", "stability", names, duration_s=draw.choice((300.0, 900.0)), mix=shares)
    after = draw.choice((("modal",), ("first", "inspected"), ()))
    structs = msgspec.structs.replace
    components = [
        structs(first, procedures=procedures[:1]),
        inspected,
        structs(rest, after=draw.choice(((), ("first",)))),
        modal,
        structs(long, after=after, gate=gate if after else "over"),
        Component("last", "site", names[:1], after=("rest", "long"), gate=draw.choice(("over", "met"))),
    ]
    return structs(plain, components=tuple(components))


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
