"""Rehearsals' files (``SITE/rehearsals/*.yaml``), on top of what a system's file says under ``twin``, into the frozen scenario."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, ScalarNode

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.nouns import Document
from shakedown.model.scenario import Scenario
from shakedown.plans.extends import merged
from shakedown.plans.files import CATALOGUE, Found, look_up, read_bytes, scan
from shakedown.plans.finding import shipped_systems, steady_memory
from shakedown.plans.rehearsals.scenario_names import Names, check_names, names_of_site
from shakedown.plans.rehearsals.scenario_parts import scenario_from
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.rehearsal import REHEARSAL
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.site import Site, read_site, shipped_machine

FOLDER = "rehearsals"


@dataclass(frozen=True, slots=True)
class Written:
    """A rehearsal's file as it was found."""

    name: str
    file: Found
    root: MappingNode


def read_scenario(site: Path, document: Document, name: str | None = None) -> Scenario:
    """Purpose: the machine of a rehearsal: what the document's system says under ``twin``, and on top of it the rehearsal ``name``.

    None: the system's word alone. Errors: FileProblems with everything that is wrong; UsageError where there is no such rehearsal.
    """
    with steady_memory():
        reading = read_site(site, "tests")
        reading.problems.found = []  # whoever read the document has told them
        _adopt(reading, document.system.name)
        written = find_rehearsals(reading)
        if name is not None and name not in written:
            there = ", ".join(sorted(written)) or f"none; they are in {FOLDER}/"
            raise UsageError(f"there is no rehearsal '{name}'", did_you_mean(name, written) or f"there are: {there}")
        reading.problems.found = [] if name is None else _own(reading.problems, written[name].file.name)
        below = _of_system(reading, document.system.name)
        root = below if name is None else _whole(written[name], written, reading.problems, below)
        scenario = (
            _scenario(root, reading.problems, names_of_site(reading, document)) if root is not None else Scenario()
        )
        reading.stop()
        return scenario or Scenario()


def check_rehearsals(reading: Site) -> int:
    """Purpose: every rehearsal of a site, and every ``twin`` of its systems; how many files there are. Faults go to its
    problems."""
    written = find_rehearsals(reading)
    systems = [root for name in reading.machines if (root := _of_system(reading, name)) is not None]
    names = names_of_site(reading) if written or systems else Names()
    for one in written.values():
        before = len(reading.problems)
        REHEARSAL.read(one.root, "", reading.problems)
        root = _whole(one, written, reading.problems, None) if len(reading.problems) == before else None
        if root is not None:
            _scenario(root, reading.problems, names)
    for root in systems:
        _scenario(root, reading.problems, names)
    return len(written)


def find_rehearsals(reading: Site) -> dict[str, Written]:
    """Purpose: the files by the rehearsal's name, or by the file's where none can be read; what is wrong goes to the site's
    problems."""
    found: dict[str, Written] = {}
    for file in scan(os.path.join(reading.path, FOLDER), f"{FOLDER}/", reading.problems):
        root = _read(file, reading.problems)
        if root is None:
            continue
        name = getattr(place(root, "rehearsal"), "value", "")
        stem = file.name.rpartition("/")[2][:-5]
        name = name if isinstance(name, str) and name else stem
        first = found.setdefault(name, Written(name, file, root))
        if first.file is not file:
            reading.problems.file(file.name, f"there is a rehearsal '{name}' already", f"it is in {first.file.name}")
    return found


def _read(file: Found, problems: Problems) -> MappingNode | None:
    data = read_bytes(file, problems)
    return None if data is None else read_nodes(data, file.name, problems)


def _own(problems: Problems, file: str) -> list[Any]:
    return [problem for problem in problems.found if problem.path == file]


def _whole(
    one: Written, written: dict[str, Written], problems: Problems, below: MappingNode | None
) -> MappingNode | None:
    """A rehearsal on top of those that it extends, and of the system's word."""
    roots, seen, at = [one.root], {one.name}, one
    while (base := _extended(at)) is not None:
        if _own(problems, f"{FOLDER}/{base.value}.yaml") and base.value not in written:
            return None  # why its file cannot be read is told at its own place
        if base.value not in written or base.value in seen:
            fault = (
                f"there is no rehearsal '{base.value}'"
                if base.value not in written
                else f"'{base.value}' extends itself"
            )
            hint = did_you_mean(base.value, set(written) - seen)
            problems.at(base, f"extends: {fault}", hint, f"rehearsal {base.value}")
            return None
        at = written[base.value]
        seen.add(at.name)
        roots.append(at.root)
    roots += [below] if below is not None else []
    whole = roots[-1]
    for root in reversed(roots[:-1]):
        whole = merged(root, _without(whole, "rehearsal", "about"))
    return whole


def _extended(one: Written) -> ScalarNode | None:
    node = next((value for key, value in one.root.value if key.value == "extends"), None)
    return node if isinstance(node, ScalarNode) else None


def _without(root: MappingNode, *names: str) -> MappingNode:
    return MappingNode("", [(key, value) for key, value in root.value if key.value not in names], root.start_mark)


def _adopt(reading: Site, system: str) -> None:
    """A system of the package that no plan of the site names, and that this document is for."""
    machine = None if system in reading.machines else shipped_machine(system, Problems())
    if machine is not None:
        reading.machines[system] = machine


def _of_system(reading: Site, system: str) -> MappingNode | None:
    """What a system's file says under ``twin``, as a rehearsal of the system's name; None where it says nothing."""
    machine = reading.machines.get(system)
    if machine is None or not machine.file:
        return None
    shipped = machine.file.startswith(CATALOGUE)
    path = shipped_systems().get(system, "") if shipped else os.path.join(reading.path, machine.file)
    try:
        file = look_up(path, machine.file)
    except OSError:
        return None
    root = _read(file, Problems())
    twin = None if root is None else next((value for key, value in root.value if key.value == "twin"), None)
    if not isinstance(twin, MappingNode):
        return None
    key = ScalarNode("", "rehearsal", twin.start_mark, twin.end_mark)
    name = ScalarNode("", system, twin.start_mark, twin.end_mark)
    return MappingNode("", [(key, name), *twin.value], twin.start_mark)


def _scenario(root: MappingNode, problems: Problems, names: Names) -> Scenario | None:
    before = len(problems)
    values = REHEARSAL.read(root, "", problems)
    if values is None or len(problems) > before:
        return None
    check_names(root, values, names, problems)
    return scenario_from(root, values, problems) if len(problems) == before else None


def rehearsal_files(reading: Site) -> Iterable[str]:
    """The names of the files, for who looks up one of them."""
    return (file.name for file in scan(os.path.join(reading.path, FOLDER), f"{FOLDER}/", Problems()))
