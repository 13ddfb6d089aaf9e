"""A site directory: finding it, and reading what is in it."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH100, PTH109, PTH118

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.model.baselines import Past
from shakedown.model.errors import Problem, UsageError, did_you_mean
from shakedown.model.failures import FailureClass
from shakedown.model.nouns import Source, System
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.context import Context, Elsewhere, elsewhere
from shakedown.plans.contracts.contracts import find_contracts
from shakedown.plans.failures import site_failures
from shakedown.plans.files import CATALOGUE, Found, look_up, read_bytes, scan
from shakedown.plans.finding import KERNELS, Here, shipped_systems, test_files
from shakedown.plans.library import Definition, Library, forget_sources, read_library
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.tables import SITE
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.systems import Machine, system_from
from shakedown.plans.unavailable import Lost

_NAMES_A_SYSTEM = re.compile(rb"\bsystem[\"']?\s*:\s*[\"']?([A-Za-z0-9][A-Za-z0-9_.+-]*)")


@dataclass(slots=True)
class Site:
    """A site directory as read. ``machines``, ``plans`` and ``contracts`` by name; ``library`` holds the tests.

    ``machines`` are the site's own, those of the package that its plans name, and those of the package that were asked for.
    """

    path: str
    problems: Problems
    name: str = ""
    about: str = ""
    machines: dict[str, Machine] = field(default_factory=dict)
    library: Library = field(default_factory=Library)
    plans: dict[str, Found] = field(default_factory=dict)
    contracts: dict[str, Found] = field(default_factory=dict)
    advice: Problems = field(default_factory=Problems)  # no faults: what plans may not do as they were meant
    lost: list[tuple[str, Lost]] = field(default_factory=list)  # cases that cannot run, each with the file of its plan
    failures: tuple[FailureClass, ...] = ()
    failure_sources: tuple[Source, ...] = ()
    record_environment: tuple[str, ...] = ()
    past: Past | None = None  # reads what another campaign measured; None where that is not asked for

    @property
    def systems(self) -> tuple[System, ...]:
        return tuple(machine.system for machine in self.machines.values())

    @property
    def tests(self) -> dict[str, Definition]:
        return self.library.tests

    def elsewhere(self) -> Elsewhere:
        return elsewhere(self.machines.values(), self.whole_systems)

    @property
    def whole_systems(self) -> bool:
        """Whether all of the site's own systems could be read: one that could not may have any name."""
        return not any(problem.path.startswith("systems/") for problem in self.problems.found)

    def machine(self, name: str | None, here: Here) -> Machine:
        """A system by name, the site's own before the package's; None and ``here`` are the machine this runs on.

        Errors: UsageError where there is none.
        """
        if name is None or name == "here":
            return Machine(here())
        if name not in self.machines:
            shipped = shipped_machine(name, self.problems) if self.whole_systems else None
            if shipped is None:
                raise UsageError(f"there is no system '{name}'", self._near(name))
            self.machines[name] = shipped
        return self.machines[name]

    def system_meant(self, name: str | None) -> str:
        """Purpose: where something runs that names no system itself: this machine only where the site has no cluster of its own.

        On a cluster's login node nobody wants a benchmark to start there because an option was forgotten. Errors: UsageError.
        """
        clusters = self.own_clusters
        if name is None and clusters:
            raise UsageError(
                f"the site describes {' and '.join(clusters)}: say where the tests run",
                f"--system {clusters[0]} submits them there; --system here runs them on this machine",
            )
        return name or "here"

    @property
    def own_clusters(self) -> list[str]:
        """The systems of the site's own files whose jobs go to a scheduler."""
        own = [machine.system for machine in self.machines.values() if not machine.shipped]
        return [system.name for system in own if not all(cluster.embedded for cluster in system.clusters)]

    def _near(self, name: str) -> str:
        """A known system that may have been meant, else those of the site, and where those of the package are listed."""
        known = ("here", *self.machines)
        listed = "; 'shakedown list systems' has those of the package too" if shipped_systems() else ""
        return did_you_mean(name, (*known, *shipped_systems())) or _there_are(known) + listed

    def context(self, machine: Machine, kernels: Path | None = None, around: Surroundings | None = None) -> Context:
        """The context in which cases on this system are made."""
        return Context(
            machine,
            self.library,
            self.elsewhere(),
            str(kernels or KERNELS),
            around or Surroundings(),
            self.problems,
        )

    def stop(self) -> None:
        """Raise FileProblems where anything is wrong."""
        self.problems.stop(shown_from(self.path))

    def found_problems(self) -> list[Problem]:
        """The site's problems, with file names in the form that people are shown."""
        return self.shown(self.problems)

    def shown(self, problems: Problems) -> list[Problem]:
        """These, each once and in the order of their places, with names as people are shown them."""
        show = shown_from(self.path)
        renamed = {Problem(show(p.path), p.line, p.column, p.message, p.hint) for p in problems.told()}
        return sorted(renamed, key=lambda p: (p.path, p.line, p.column, p.message))


def read_site(site: Path, parts: str = "tests plans") -> Site:
    """Purpose: everything in a site directory; its problems are in it, not raised. ``parts`` may leave out tests or plans."""
    reading = Site(os.path.abspath(site), Problems())
    _read_own_file(reading)
    _read_systems(reading)
    if "tests" in parts:
        reading.library = read_library(test_files(reading.path, reading.problems), reading.problems)
        forget_sources(reading.library, reading.path, reading.problems)
    if "plans" in parts:
        _find_plans(reading)
        reading.contracts = find_contracts(reading.path, reading.problems)
        reading.failures, reading.failure_sources = site_failures(reading.path, reading.problems)
    return reading


def shown_from(site: str) -> Callable[[str], str]:
    """How a file's name is shown: from the current directory where the site lies below it, else from the site."""
    try:
        here = os.path.join(os.getcwd(), "")
    except OSError:
        here = ""
    below = os.path.join(site, "")
    prefix = below[len(here) :] if here and below.startswith(here) else ""
    return lambda name: name if name.startswith((CATALOGUE, "/")) else prefix + name


def read_system_file(path: str, name: str, problems: Problems) -> Machine | None:
    """One system's file; what is wrong goes to ``problems``."""
    try:
        file = look_up(path, name)
    except OSError as error:
        problems.file(name, f"the file cannot be read: {error.strerror}")
        return None
    return _machine(file, problems)


def _read_own_file(reading: Site) -> None:
    try:
        file = look_up(os.path.join(reading.path, "site.yaml"), "site.yaml")
    except OSError as error:
        reading.problems.file("site.yaml", f"the file cannot be read: {error.strerror}")
        return
    data = read_bytes(file, reading.problems)
    root = None if data is None else read_nodes(data, file.name, reading.problems, "site")
    values = None if root is None else SITE.read(root, "", reading.problems)
    values = values or {}
    reading.name, reading.about = values.get("site") or "", values.get("about") or ""
    reading.record_environment = tuple(values.get("record_environment") or ())


def read_allowed_signers(site: Path) -> Path | None:
    """Purpose: the file of allowed signers that a site's own file names, or None. Raises FileProblems."""
    problems = Problems()
    file = look_up(os.path.join(site, "site.yaml"), "site.yaml")
    data = read_bytes(file, problems)
    root = None if data is None else read_nodes(data, file.name, problems, "site")
    values = None if root is None else SITE.read(root, "", problems)
    problems.stop()
    named = (values or {}).get("allowed_signers")
    return Path(site, named) if named else None


def _read_systems(reading: Site) -> None:
    for file in scan(os.path.join(reading.path, "systems"), "systems/", reading.problems):
        machine = _machine(file, reading.problems)
        if machine is None:
            continue
        first = reading.machines.setdefault(machine.system.name, machine)
        if first is not machine:
            name = machine.system.name
            reading.problems.file(file.name, f"there is a system '{name}' already", f"it is in {first.file}")
    _adopt_shipped(reading)


def _adopt_shipped(reading: Site) -> None:
    """The package's systems that the site's plans name are the site's too: its tests may speak of what they have.

    Plans are only searched for the name here; whoever reads one says what is wrong with it.
    """
    shipped = shipped_systems().keys() - reading.machines.keys()
    if not shipped or not reading.whole_systems:
        return
    ignored = Problems()
    for file in scan(os.path.join(reading.path, "plans"), "plans/", ignored):
        data = read_bytes(file, ignored) or b""
        for name in sorted(shipped & {found.decode() for found in _NAMES_A_SYSTEM.findall(data)}):
            machine = shipped_machine(name, reading.problems)
            if machine is not None:
                reading.machines.setdefault(name, machine)


def shipped_machine(name: str, problems: Problems) -> Machine | None:
    """Purpose: a system that comes with the package, or None where it has none of that name."""
    path = shipped_systems().get(name)
    return None if path is None else read_system_file(path, f"{CATALOGUE}systems/{name}.yaml", problems)


def _machine(file: Found, problems: Problems) -> Machine | None:
    data = read_bytes(file, problems)
    root = None if data is None else read_nodes(data, file.name, problems, "system")
    return None if root is None or data is None else system_from(root, data, file.name, problems)


def _find_plans(reading: Site) -> None:
    """Plans by name, or by their file's name where they cannot be read; reading one tells what is wrong with it."""
    for file in scan(os.path.join(reading.path, "plans"), "plans/", reading.problems):
        data = read_bytes(file, Problems())
        root = None if data is None else read_nodes(data, file.name, Problems())
        name = "" if root is None else getattr(place(root, "plan"), "value", "")
        stem = file.name.rpartition("/")[2][:-5]
        name = name if isinstance(name, str) and name else stem
        first = reading.plans.setdefault(name, file)
        if first is not file:
            reading.problems.file(file.name, f"there is a plan '{name}' already", f"it is in {first.name}")


def _there_are(names: tuple[str, ...]) -> str:
    return f"there are: {', '.join(names)}"
