"""Plans that keep a machine full, see each of its nodes, or pack many runs into few jobs; and a runner of them in virtual time.

Run times and shares are those of ten days on C5: paper 004 (Tables III and IV), scaled for the small machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from stage import Campaign

from shakedown.engine import Policy
from shakedown.model.events import Event
from shakedown.model.filling import Fill, Pack, Sweep
from shakedown.model.nouns import (
    Case,
    Check,
    Cluster,
    Component,
    Document,
    FileSystem,
    Limits,
    Loads,
    NodeType,
    Partition,
    Shape,
    System,
    Test,
)
from shakedown.model.ports import Ports
from shakedown.twin import Fates, Lies, Others, SimulatedScheduler, World

# Paper 004, Table IV (mean and standard deviation of the run time in s, jobs) and Table III (nodes).
TABLE_4 = {
    "cm4": (4148.1, 11.3, 1050, 48),
    "esm4-small": (6016.8, 8.0, 416, 18),
    "esm4-large": (4565.7, 8.8, 660, 26),
    "spear": (5808.1, 13.2, 647, 22),
    "shield": (4201.2, 7.2, 861, 96),
    "ufs": (6049.5, 4.0, 123, 24),
}
MDTS = ("mdt0", "mdt1", "mdt2", "mdt3")
BUDGET = "f2/mdt"
PATIENT = Policy()


def shares() -> Loads:
    """The share of the node-hours that each test had in those ten days."""
    work = {test: mean * jobs * nodes for test, (mean, _, jobs, nodes) in TABLE_4.items()}
    return tuple((test, had / sum(work.values())) for test, had in work.items())


def machine(nodes: int, targets: bool = True, licences: Loads = (), **fields: Any) -> System:
    """One cluster with four metadata targets, each with the budget's amount (``per_target``)."""
    names = f"n[{1:0{len(str(nodes))}d}-{nodes}]"
    partition = Partition("batch", "c", names, nodes, "rome", fields.pop("time_limit_s", 0.0))
    per_target = fields.pop("per_target", 8.0)
    return System(
        f"c{nodes}",
        (Cluster("c", "slurm", (partition,), licences=licences),),
        (NodeType("rome", cores=fields.pop("cores", 8)),),
        filesystems=(FileSystem("f2", "lustre", "/lustre/f2/{mdt}/acceptance", (("mdt", MDTS),)),) if targets else (),
        budgets=((BUDGET, per_target),) if targets else (),
        targeted=((BUDGET, MDTS),) if targets else (),
        **fields,
    )


def case(name: str, nodes: int, limit_s: float, load: float = 1.0) -> Case:
    shape = Shape(nodes=nodes, units=nodes, exclusive=True, time_limit_s=limit_s)
    if not load:
        return Case(name, name, "c:batch", shape=shape)
    work, targets = "/lustre/f2/{mdt}/acceptance", (("mdt", BUDGET),)
    return Case(name, name, "c:batch", shape=shape, loads=((BUDGET, load),), work=work, targets=targets)


def document(
    system: System, cases: tuple[Case, ...], *components: Component, limits: Limits | None = None, seed: int = 0
) -> Document:
    names = dict.fromkeys(case.test for case in cases)
    tests = tuple(Test(name, checks=(Check("exit", "", "0", "exit status 0"),)) for name in names)
    return Document("fill", system, components, cases, tests, limits=limits or Limits(), seed=seed)


# ---- plans ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    """What of a stability plan differs from the usual."""

    minutes: float = 20.0
    copies: tuple[tuple[str, int], ...] = ()
    stagger_s: float = 0.0
    per_target: float = 4.0
    filler: bool = True
    fill: Fill = field(default_factory=lambda: Fill(queue_ahead_s=120.0, ramp_s=60.0))
    more: dict[str, Any] = field(default_factory=dict)  # of the component


def small_stability(wish: Wish | None = None) -> Document:
    """Sixteen nodes, six tests of 1, 1, 1, 1, 2 and 1 nodes that sleep 30 to 45 s, in the proportions of Table IV."""
    wish = wish or Wish()
    nodes = dict(zip(TABLE_4, (1, 1, 1, 1, 2, 1), strict=True))
    cases = tuple(case(test, nodes[test], 60.0) for test in TABLE_4)
    filler = (case("filler", 1, 60.0, load=0.0),) if wish.filler else ()
    steady = Component(
        "stability",
        "stability",
        tuple(TABLE_4),
        duration_s=wish.minutes * 60,
        mix=shares(),
        fillers=("filler",) if wish.filler else (),
        fill=wish.fill,
        **wish.more,
    )
    limits = Limits(copies=wish.copies, stagger_s=wish.stagger_s)
    return document(machine(16, per_target=wish.per_target), (*cases, *filler), steady, limits=limits)


SMALL_TIMES = dict.fromkeys((*TABLE_4, "filler"), (37.5, 7.5))


def c5_stability(days: float = 10.0, per_target: float = 12.0, filler: bool = False, **more: Any) -> Document:
    """The 1,920 nodes of C5 with the tests, times and proportions of its ten days."""
    cases = tuple(case(test, nodes, 14_500.0) for test, (_, _, _, nodes) in TABLE_4.items())
    extra = (case("filler", 1, 7200.0, load=0.0),) if filler else ()
    steady = Component(
        "stability",
        "stability",
        tuple(TABLE_4),
        duration_s=days * 86400,
        mix=shares(),
        fillers=("filler",) if filler else (),
        fill=more.pop("fill", Fill(queue_ahead_s=3600.0, ramp_s=3600.0)),
        **more,
    )
    return document(machine(1920, per_target=per_target), (*cases, *extra), steady)


# A uniform draw of this spread has the standard deviation of the table.
C5_TIMES = {test: (mean, sd * math.sqrt(3)) for test, (mean, sd, _, _) in TABLE_4.items()} | {"filler": (3600.0, 600.0)}


def sweep_of_five(nodes: int = 16, queued: int = 4, rounds: int = 1, wait_s: float = 86400.0, **more: Any) -> Document:
    """Five tests on every node of a partition, all of a node's tests in one job."""
    names = tuple(f"see{number}" for number in range(1, 6))
    cases = tuple(case(name, 1, 60.0, load=0.0) for name in names)
    seeing = Component("sweep", "functionality", names, sweep=Sweep(queued, rounds, wait_s=wait_s), **more)
    return document(machine(nodes, targets=False), cases, seeing)


BUSY = Others(busy=(("n03", 0.0, 400.0), ("n07", 0.0, 700.0), ("n16", 0.0, 1000.0)))  # three of the sixteen at first


def packed(runs: int = 1000, allocations: int = 4, at_once: int = 8, nodes: int = 16) -> Document:
    """Many small cases in a few allocations."""
    names = tuple(f"small{number:04d}" for number in range(runs))
    cases = tuple(
        Case(name, "small", "c:batch", parameters=(("n", name),), shape=Shape(units=1, time_limit_s=30.0))
        for name in names
    )
    pack = Pack(runs=math.ceil(runs / allocations), at_once=at_once, allocations=allocations)
    return document(machine(nodes, targets=False), cases, Component("packed", "functionality", names, pack=pack))


def wide_and_narrow(nodes: int = 192, hours: float = 12.0, wide: int = 96) -> Document:
    """Jobs of one node and of half the machine, at equal shares of the node-hours."""
    cases = (case("narrow", 1, 900.0, load=0.0), case("wide", wide, 900.0, load=0.0))
    mix = (("narrow", 0.5), ("wide", 0.5))
    steady = Component("stability", "stability", ("narrow", "wide"), duration_s=hours * 3600, mix=mix)
    return document(machine(nodes, targets=False), cases, steady)


# ---- in virtual time -----------------------------------------------------------------------------------------------------


@dataclass
class Filled(Campaign):
    """A campaign on a machine with other people, in virtual time. ``watched``: the oracle looks at every event, which takes time.

    ``quiet``: the scheduler wakes the conductor only where it has something to say, as ``poll_s`` allows.
    """

    others: Others = field(default_factory=Others)
    cycle_s: float = 0.0
    poll_s: float = 5.0
    quiet: bool = True
    watched: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.world = World(
            self.document, self.seed, self.clock, self.fates, self.lies, self.local, self.others, self.cycle_s
        )
        self.oracle._watch_the_machine()
        play, self.change_ports = self.change_ports, self._with_polls
        self._play = play
        if not self.watched:
            self.oracle.watch = _nobody  # type: ignore[method-assign]
            self.oracle.at_rest = lambda state: None  # type: ignore[method-assign]
            self.oracle.at_the_end = lambda state: None  # type: ignore[method-assign]
            del self.world.accept, self.world._start

    def _with_polls(self, ports: Ports) -> Ports:
        ports.scheduler = SimulatedScheduler(self.world, self.poll_s, self.quiet)
        return self._play(ports)


def _nobody(state: Any, event: Event) -> None:
    return None


def play(
    plan: Document,
    times: dict[str, tuple[float, float]] | None = None,
    fates: Fates | None = None,
    lies: Lies | None = None,
    limit: int = 2_000_000,
    **options: Any,
) -> Filled:
    """A plan from its start to its end, through the real loop: the campaign, with its log and its world."""
    fates = fates or Fates(mean_s=37.5, spread_s=7.5)
    if times is not None:
        fates = Fates(**{name: getattr(fates, name) for name in fates.__slots__} | {"tests": times})
    options.setdefault("policy", PATIENT)
    campaign = Filled(plan, fates=fates, lies=lies or Lies(), **options)
    campaign.run(limit)
    return campaign


def played(plan: Document, **options: Any) -> tuple[list[Event], World]:
    """The same: what the log says, and what really happened."""
    campaign = play(plan, **options)
    return campaign.log.events(), campaign.world


def at_times(*acts: tuple[float, str, dict[str, Any]]) -> Callable[[Campaign, int], None]:
    """A person who says things at times, in seconds after the start: (when, command, its values)."""
    left = sorted(acts, key=lambda act: act[0])
    armed: list[bool] = []

    def operator(campaign: Campaign, wait: int) -> None:
        began = campaign.world.began
        if not armed:
            armed.append(True)
            for when, _, _ in left:
                campaign.clock.at(began + when, lambda: True)
        while left and campaign.clock.now() >= began + left[0][0]:
            _, what, value = left.pop(0)
            campaign.ask(what, **value)

    return operator


def with_limits(plan: Document, **limits: Any) -> Document:
    """The same plan under other limits."""
    return msgspec.structs.replace(plan, limits=msgspec.structs.replace(plan.limits, **limits))
