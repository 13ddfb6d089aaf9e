"""Checking a whole site directory: every system, test, case, contract and plan, with everything that is wrong at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.model.baselines import Past
from shakedown.model.errors import Problem, UsageError, did_you_mean
from shakedown.model.nouns import Case
from shakedown.model.printed import Published
from shakedown.plans.binding import tell_unbound
from shakedown.plans.braces import tell_alike, tell_dollars, tell_unfilled, tell_unfilled_in_system, tell_unused
from shakedown.plans.cases.cases import resolve
from shakedown.plans.cases.needs import Joiner
from shakedown.plans.components.bounds_against import tell_rows_against
from shakedown.plans.context import Context
from shakedown.plans.contracts.contract_freezing import tell_ties
from shakedown.plans.contracts.contract_rows import match_rows
from shakedown.plans.contracts.contracts import Known, read_contract
from shakedown.plans.contracts.score_names import tell_unknown_scores
from shakedown.plans.documents import find_shipped_plan, plan_document
from shakedown.plans.files import CATALOGUE, Found, look_up, read_bytes
from shakedown.plans.finding import Here, steady_memory
from shakedown.plans.launch_advice import tell_hidden_status, tell_unlaunched, tell_unstarted
from shakedown.plans.rehearsals.scenarios import check_rehearsals, rehearsal_files
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.site import Site, read_site
from shakedown.plans.systems import Machine
from shakedown.plans.telling_budgets import each_budget_once
from shakedown.plans.unavailable import Lost


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at. ``tests`` and ``cases`` are the site's and the package's; ``cases`` of the system that has most.

    ``warnings``: what a plan without faults may not do as it was meant. ``unavailable``: the cases of plans that cannot run.
    ``beyond``: system -> cases of the site's own tests that it does not allow, each with the reason. ``not_shown``: how many
    faults other files have.
    """

    systems: int
    tests: int
    cases: int
    plans: int
    contracts: int
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()
    unavailable: tuple[Lost, ...] = ()
    beyond: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    not_shown: int = 0


Faults = Callable[[Machine], Iterable[tuple[Published, str, str | None]]]


def check_site(
    site: Path,
    here: Here,
    files: tuple[str, ...] = (),
    kernels: Path | None = None,
    faults: Faults | None = None,
    past: Past | None = None,
) -> Checked:
    """Purpose: read everything, on every system of the site and on this machine. ``files`` narrows the problems to theirs, and
    with a plan among them to those that keep it from starting.

    ``faults``: what is wrong with the numbers that are printed of a machine, each with a message and a way out. ``past``: reads the
    campaigns that plans take as baselines.
    Errors: UsageError where one of ``files`` is no file of the site.
    """
    with steady_memory():
        reading = read_site(site)
        reading.past = past
        names = _names(reading, files)
        machines = [*reading.machines.values(), Machine(here())]
        contexts = [reading.context(machine, kernels) for machine in machines]
        cases = [_cases(reading, context) for context in contexts]
        _read_plans(reading, files, here, kernels)
        _tell_unfilled(reading)
        own = {test.name for test in reading.tests.values() if not test.shipped}
        for context, mine in zip(contexts, cases, strict=True):
            tell_unstarted(reading.library, mine, reading.advice)
            tell_unbound(reading.tests, (case for case in mine if case.test in own), context, reading.advice)
        _check_contracts(reading, contexts, cases)
        check_rehearsals(reading)
        _tell_published(reading, faults)
        every = len(reading.problems.found)
        if files:
            _narrow(reading, files, names)
        return Checked(
            len(reading.machines),
            len(reading.tests),
            max(map(len, cases)),
            len(reading.plans),
            len(reading.contracts),
            each_budget_once(reading.found_problems()),
            tuple(reading.shown(reading.advice)),
            tuple(lost for name, lost in reading.lost if not files or name in names),
            _beyond(reading, contexts, cases, names if files else None),
            every - len(reading.problems.found),
        )


def _read_plans(reading: Site, files: tuple[str, ...], here: Here, kernels: Path | None) -> None:
    """Read every plan of the site, and the package's plans among ``files`` on each cluster of the site or on this machine."""
    for file in reading.plans.values():
        plan_document(reading, file, here, kernels)
    for file in _shipped_plans(files):
        for system in reading.own_clusters or ["here"]:
            plan_document(reading, file, here, kernels, system)


def _narrow(reading: Site, files: tuple[str, ...], names: set[str]) -> None:
    """Keep the problems of the files of these names.

    A plan does not start while a test, a system or a contract is at fault: what is told of a plan is what a start would tell.
    """
    plans = [*reading.plans.values(), *_shipped_plans(files)]
    of_a_plan = any(file.name in names for file in plans)
    reading.problems.found = [p for p in reading.problems.found if p.path in names or (of_a_plan and not _of_plan(p))]
    reading.advice.found = [p for p in reading.advice.found if p.path in names]


def _tell_published(reading: Site, faults: Faults | None) -> None:
    """Report faults in the published numbers of the site's machines."""
    for machine in reading.machines.values():
        for one, message, hint in faults(machine) if faults else ():
            reading.problems.file(machine.file, f"published: {message}", hint, one.line, one.column)


def _of_plan(problem: Problem) -> bool:
    return problem.path.startswith(("plans/", f"{CATALOGUE}plans/"))


def _shipped_plans(files: tuple[str, ...]) -> list[Found]:
    """The plans of the package among these, each ``catalogue:NAME``.

    A test of the package is ``catalogue:FILE.yaml``, as messages name it. Raises UsageError where one of them is no plan.
    """
    return [find_shipped_plan(name) for name in files if name.startswith(CATALOGUE) and not name.endswith(".yaml")]


def _beyond(
    reading: Site, contexts: list[Context], cases: list[list[Case]], names: set[str] | None
) -> dict[str, dict[str, str]]:
    """What each system of the site does not allow, of the site's own tests; ``names``: only of tests in these files.

    A test of another system's partitions or toolchains is not meant for this one. What this machine lacks says ``list cases``.
    """
    own = {
        test.name for test in reading.tests.values() if not test.shipped and (names is None or test.file.name in names)
    }
    found = {
        context.machine.system.name: {
            case.id: case.unavailable for case in mine if case.script and case.unavailable and case.test in own
        }
        for context, mine in zip(contexts, cases, strict=True)
        if context.machine.file
    }
    return {system: lost for system, lost in found.items() if lost}


def _cases(reading: Site, context: Context) -> list[Case]:
    cases: dict[str, tuple[Case, ...]] = {}
    for test in reading.tests.values():
        resolved = resolve(test, context) if test.good and not test.abstract else None
        cases[test.name] = resolved.cases if resolved else ()
    joiner = Joiner(context, lambda test: cases.get(test, ()))
    return [joiner.join(case) for mine in cases.values() for case in mine]


def _tell_unfilled(reading: Site) -> None:
    """Names in braces that stay as they are, in tests and systems, and ranks that nothing starts.

    What is wrong with a file is told by those who read it.
    """
    for test in reading.tests.values():
        if test.good:
            tell_unfilled(test, reading.advice)
            tell_dollars(test, reading.advice)
            tell_alike(test, reading.advice)
            if not test.abstract:
                tell_unused(test, reading.tests, reading.advice)
                tell_unlaunched(test, reading.advice)
                tell_hidden_status(test, reading.advice)
    for machine in reading.machines.values():
        if not machine.file.startswith(CATALOGUE):
            file = look_up(os.path.join(reading.path, machine.file), machine.file)  # noqa: PTH118
            root = read_nodes(read_bytes(file, Problems()) or b"", machine.file, Problems())
            if root is not None:
                tell_unfilled_in_system(root, reading.advice)


def _check_contracts(reading: Site, contexts: list[Context], cases: list[list[Case]]) -> None:
    """Check every contract, used by a plan or not, against the cases of every system."""
    known = Known(contexts[0], lambda: contexts[1:])
    for file in reading.contracts.values():
        read = read_contract(file, known)
        if read is not None:
            tell_rows_against(read, reading.tests, reading.advice)
            tell_unknown_scores(read.contract, read.written, reading)
            for context, mine in zip(contexts, cases, strict=True):
                matching = match_rows([read.contract], mine, context.machine.system.name)
                tell_ties(matching, [read], reading.problems)


def _names(reading: Site, files: tuple[str, ...]) -> set[str]:
    """The files, each a path or the name of a plan, test, system or contract, as problems name them."""
    known = {"site.yaml", *reading.library.directories, *(file.name for file in reading.plans.values())}
    known |= {file.name for file in reading.contracts.values()} | {source.path for source in reading.failure_sources}
    known |= {problem.path for problem in reading.problems.found} | {m.file for m in reading.machines.values()}
    known |= set(rehearsal_files(reading))
    names = {file.name for file in _shipped_plans(files)}
    for file in files:
        if file.startswith(CATALOGUE) and not file.endswith(".yaml"):
            continue
        path = Path(file).resolve()
        name = str(path.relative_to(reading.path)) if path.is_relative_to(reading.path) else str(path)
        named = {one for one in known if Path(one).stem == file}  # a plan or a test by its name
        if name not in known and named:
            names |= named
            continue
        if name not in known:
            folders = "systems/, tests/, contracts/, failures/, rehearsals/ and plans/"
            hint = did_you_mean(name, known) or f"files of a site are site.yaml and those in {folders}"
            raise UsageError(f"{file} is no file of the site {reading.path}", hint)
        names.add(name)
    return names
