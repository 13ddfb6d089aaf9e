"""The context in which a test's cases are made: the system, the rest of the site, and the machine around."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shakedown.model.nouns import Build, Toolchain
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.library import Library
from shakedown.plans.partition_scopes import Stage, stages_of, toolchain_names
from shakedown.plans.schema.problems import Problems
from shakedown.plans.systems import Machine


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Names that some system of the site has: a test may speak of machines other than this one, but not misspell them."""

    systems: frozenset[str] = frozenset()
    partitions: frozenset[str] = frozenset()
    toolchains: frozenset[str] = frozenset()
    budgets: frozenset[str] = frozenset()
    filesystems: frozenset[str] = frozenset()
    complete: bool = True  # False where a system's file cannot be read: it may have any name

    def may_have(self, name: str, names: frozenset[str]) -> bool:
        return name in names or not self.complete


@dataclass(slots=True)
class Context:
    """One system, and one reading of the site."""

    machine: Machine
    library: Library
    elsewhere: Elsewhere
    kernels: str
    around: Surroundings = field(default_factory=Surroundings)
    problems: Problems = field(default_factory=Problems)
    builds: dict[str, Build] = field(default_factory=dict)
    budgets: dict[str, tuple[float, str]] = field(default_factory=dict)  # name -> how much, of which dimension
    targeted: dict[str, tuple[str, ...]] = field(default_factory=dict)  # budget -> its targets, each with that much
    stages: list[Stage] = field(default_factory=list)
    toolchains: dict[str, tuple[Toolchain, dict[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        system = self.machine.system
        self.stages = stages_of(system)
        self.toolchains = {entry.name: (entry, toolchain_names(entry)) for entry in system.toolchains}
        self.targeted = dict(system.targeted)
        self.budgets = {name: (amount, self.machine.dimensions[name]) for name, amount in system.budgets}


def elsewhere(machines: Iterable[Machine], complete: bool = True) -> Elsewhere:
    """Purpose: the names that any of these systems has; ``complete`` where they are all that the site has."""
    systems = [machine.system for machine in machines]
    partitions = [partition for system in systems for partition in system.partitions()]
    return Elsewhere(
        systems=frozenset({"here", *(system.name for system in systems)}),
        partitions=frozenset(name for p in partitions for name in (p.name, f"{p.cluster}:{p.name}")),
        toolchains=frozenset(entry.name for system in systems for entry in system.toolchains),
        budgets=frozenset(name for system in systems for name, _ in system.budgets),
        filesystems=frozenset(entry.name for system in systems for entry in system.filesystems),
        complete=complete,
    )
