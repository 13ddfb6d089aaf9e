"""Check names in a rehearsal's file: tests, builds, toolchains, nodes, budgets, targets, clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, Node

from shakedown.model.nouns import Document, System
from shakedown.model.shared_nodes import names_in
from shakedown.plans.schema.amounts import check_dimension
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, near_or_all
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.site import Site
from shakedown.plans.systems import count_nodes

_MOST_LISTED = 30


@dataclass(slots=True)
class Names:
    """What can be named. ``tests`` includes cases; ``made``: builds and toolchains beside tests; ``targets``: budget -> its
    targets.

    ``dimensions``: budget -> what its amounts measure. ``unread``: whether a thing of this kind (a test or another) may be in a
    file that could not be read: then nothing is said of a name that is not known.
    """

    tests: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    targets: dict[str, set[str]] = field(default_factory=dict)
    dimensions: dict[str, str] = field(default_factory=dict)
    unread: Callable[[str], bool] = lambda kind: False


def names_of_site(reading: Site, document: Document | None = None) -> Names:
    """Purpose: everything that the site has, on whichever of its systems, and the document in hand."""
    names = Names(set(reading.tests), set())
    library, whole = reading.library, reading.whole_systems
    names.unread = lambda kind: bool(library.nameless or library.broken) if kind == "test" else not whole
    for machine in reading.machines.values():
        _of_system(names, machine.system)
        names.dimensions |= machine.dimensions
    if document is not None:
        names.tests |= {case.test for case in document.cases} | {case.id for case in document.cases}
        names.made |= {build.name for build in document.builds}
        _of_system(names, document.system)
        for budget, _ in document.system.budgets:
            names.dimensions.setdefault(budget, "")  # a frozen system has amounts without their units
    return names


def _of_system(names: Names, system: System) -> None:
    names.made |= {toolchain.name for toolchain in system.toolchains}
    for partition in system.partitions():
        names.nodes.update(names_in(partition.nodes))
    for budget, targets in system.targeted:
        names.targets.setdefault(budget, set()).update(targets)
    for filesystem in system.filesystems:
        for kind, targets in filesystem.targets:
            names.targets.setdefault(f"{filesystem.name}/{kind}", set()).update(targets)
            names.dimensions.setdefault(f"{filesystem.name}/{kind}", "number")
        names.dimensions.setdefault(f"{filesystem.name}/bandwidth", "bytes/s")


def check_names(root: MappingNode, values: dict[str, Any], names: Names, problems: Problems) -> None:
    """Purpose: report every name that does not exist."""
    look = _Look(root, names, problems)
    look.tests("times", "tests", values.get("times", {}).get("tests", {}))
    look.tests("figures", values.get("figures", {}))
    _check_builds(look, values.get("builds", {}))
    _check_nodes(look, values.get("nodes", {}), values.get("maintenance", ()))
    _check_storage(look, values.get("storage", {}))
    for number, entry in enumerate(values.get("others", ())):
        for budget, amount in entry.get("loads", {}).items():
            look.amount(("others", number, "loads", budget), budget, amount)
    harness = values.get("harness", {})
    look.tests("harness", "in_job", harness.get("in_job", {}))
    for number, hole in enumerate(harness.get("holes", ())):
        for place_in_list, test in enumerate(hole["tests"]):
            look.one(place(root, "harness", "holes", number, "tests", place_in_list), "test", test, names.tests)


def _check_builds(look: _Look, builds: dict[str, Any]) -> None:
    known = look.names.tests | look.names.made
    if not look.names.made:
        return  # a site without toolchains has builds all the same, which only a plan names
    for number, name in enumerate(builds.get("broken", ())):
        look.one(place(look.root, "builds", "broken", number), "build, test or toolchain", name, known)


def _check_nodes(look: _Look, nodes: dict[str, Any], maintenance: Iterable[dict[str, Any]]) -> None:
    if not look.names.nodes:
        return
    for key in ("slow", "bad"):
        for node in nodes.get(key, {}):
            look.one(key_place(look.root, "nodes", key, node), "node", node, look.names.nodes)
    for number, death in enumerate(nodes.get("deaths", ())):
        look.one(place(look.root, "nodes", "deaths", number, "node"), "node", death["node"], look.names.nodes)
    for number, window in enumerate(maintenance):
        at = place(look.root, "maintenance", number, "nodes")
        try:
            count_nodes(window.get("nodes", "n"))
        except InvalidValue as error:
            look.problems.at(at, f"maintenance: {error}", error.hint)
            continue
        for node in names_in(window["nodes"]) if "nodes" in window else ():
            if not look.one(at, "node", node, look.names.nodes):
                break


def _check_storage(look: _Look, storage: dict[str, Any]) -> None:
    for budget, entry in storage.get("metadata", {}).items():
        path = ("storage", "metadata", budget)
        look.budget(key_place(look.root, *path), budget)
        look.tests(*path, "shares", entry.get("shares", {}))
        targets = look.names.targets.get(budget, set())
        if "target" in entry:
            look.one(place(look.root, *path, "target"), "target", entry["target"], targets)
        for number, hang in enumerate(entry.get("hangs", ())):
            if "target" in hang:
                look.one(place(look.root, *path, "hangs", number, "target"), "target", hang["target"], targets)
    for budget, entry in storage.get("bandwidth", {}).items():
        path = ("storage", "bandwidth", budget)
        look.amount((*path, "capacity"), budget, entry["capacity"])
        look.tests(*path, "shares", entry.get("shares", {}))


@dataclass(frozen=True, slots=True)
class _Look:
    root: MappingNode
    names: Names
    problems: Problems

    def one(self, at: Node, what: str, name: str, known: Iterable[str]) -> bool:
        """Whether a name is known; an unknown name is reported at its place."""
        known = set(known)
        if name in known:
            return True
        if self.names.unread(what):
            return False
        hint = (
            near_or_all(name, known) if len(known) <= _MOST_LISTED else near_or_all(name, sorted(known)[:_MOST_LISTED])
        )
        self.problems.at(at, f"there is no {what} '{name}'", hint, f"{what} {name}")
        return False

    def tests(self, *path_and_named: Any) -> None:
        """Tests that are the keys of a map; a case begins with its test's name."""
        *path, named = path_and_named
        for name in named:
            test = name.partition("/")[0].partition("@")[0]
            if name not in self.names.tests and test not in self.names.tests:
                self.one(key_place(self.root, *path, name), "test", name, self.names.tests)

    def budget(self, at: Node, name: str) -> bool:
        return self.one(at, "budget", name, {*self.names.dimensions})

    def amount(self, path: tuple[Any, ...], budget: str, amount: Any) -> None:
        at = place(self.root, *path)
        if not self.budget(at, budget) or not self.names.dimensions[budget]:
            return
        try:
            check_dimension(amount, self.names.dimensions[budget], "the budget")
        except InvalidValue as error:
            self.problems.at(at, f"{budget}: {error}", error.hint)
