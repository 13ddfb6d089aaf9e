"""Checking a whole site directory: every system, test, case and plan, with everything that is wrong at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shakedown.model.errors import Problem, UsageError, did_you_mean
from shakedown.plans.cases import resolve
from shakedown.plans.documents import plan_document
from shakedown.plans.finding import Here, steady_memory
from shakedown.plans.site import Site, read_site
from shakedown.plans.systems import Machine


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at. ``tests`` and ``cases`` are the site's and the package's; ``cases`` of the system that has most."""

    systems: int
    tests: int
    cases: int
    plans: int
    problems: tuple[Problem, ...]


def check_site(site: Path, here: Here, files: tuple[str, ...] = (), kernels: Path | None = None) -> Checked:
    """Purpose: read everything, on every system of the site and on this machine. ``files`` narrows the problems to theirs.

    Errors: UsageError where one of ``files`` is no file of the site.
    """
    with steady_memory():
        reading = read_site(site)
        names = _names(reading, files)
        machines = [*reading.machines.values(), Machine(here())]
        cases = max(_count_cases(reading, machine, kernels) for machine in machines)
        for file in reading.plans.values():
            plan_document(reading, file, here, kernels)
        problems = [p for p in reading.problems.found if not files or p.path in names]
        reading.problems.found = problems
        return Checked(
            len(reading.machines), len(reading.tests), cases, len(reading.plans), tuple(reading.found_problems())
        )


def _count_cases(reading: Site, machine: Machine, kernels: Path | None) -> int:
    context = reading.context(machine, kernels)
    count = 0
    for test in reading.tests.values():
        resolved = resolve(test, context) if test.good and not test.abstract else None
        count += len(resolved.cases) if resolved else 0
    return count


def _names(reading: Site, files: tuple[str, ...]) -> set[str]:
    """The files as problems name them."""
    known = {"site.yaml", *reading.library.directories, *(file.name for file in reading.plans.values())}
    known |= {problem.path for problem in reading.problems.found} | {m.file for m in reading.machines.values()}
    names = set()
    for file in files:
        path = Path(file).resolve()
        name = str(path.relative_to(reading.path)) if path.is_relative_to(reading.path) else str(path)
        if name not in known:
            hint = did_you_mean(name, known) or "files of a site are site.yaml and those in systems/, tests/ and plans/"
            raise UsageError(f"{file} is no file of the site {reading.path}", hint)
        names.add(name)
    return names
