"""A plan's file into the frozen document: everything that a campaign needs, resolved on one system."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH100, PTH113, PTH118

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from yaml.nodes import MappingNode

from shakedown.model.baselines import Past
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.judging import SEVERITIES
from shakedown.model.nouns import Case, Component, Document, Limits, Source
from shakedown.plans.binding import tell_unbound
from shakedown.plans.braces import tell_unfilled_in_plan
from shakedown.plans.components.baselines import frozen_baselines, read_baselines
from shakedown.plans.components.components import Selector, read_components
from shakedown.plans.components.lints import advise
from shakedown.plans.components.needs_in_plan import join_needs
from shakedown.plans.components.scores import read_scores
from shakedown.plans.context import Context
from shakedown.plans.contracts.contract_freezing import Frozen, freeze_contracts
from shakedown.plans.files import CATALOGUE, Found, look_up, read_bytes
from shakedown.plans.finding import Here, shipped_plans, steady_memory
from shakedown.plans.limits import check_limits, read_limits
from shakedown.plans.observed_commands import tell_commands_not_found
from shakedown.plans.parties import read_parties
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.plans.site import Site, read_site
from shakedown.plans.telling_lost import tell_lost


def read_plan(
    site: Path,
    plan: str,
    here: Here,
    kernels: Path | None = None,
    system: str | None = None,
    past: Past | None = None,
) -> Document:
    """Purpose: the document of a plan, named or given as a path; on another system than its own where one is named. A plan of the
    package needs that where the site has a cluster. ``past``: reads
    the campaigns that it takes as baselines; without it these stay empty, which is enough to look at a plan.

    Errors: FileProblems with everything that is wrong in the plan, its system and the site's tests; UsageError where
    there is no such plan.
    """
    with steady_memory():
        reading = read_site(site)
        reading.past = past
        file = find_plan(reading, plan)
        system = reading.system_meant(system) if file.name.startswith(CATALOGUE) else system
        reading.problems.found = [p for p in reading.problems.found if not p.path.startswith("plans/")]
        document = plan_document(reading, file, here, kernels, system)
        reading.stop()
        if document is None:
            raise AssertionError("a plan without problems makes a document")
        return document


def find_plan(reading: Site, plan: str) -> Found:
    """The file of a plan: by its name, its file's name, or a path from here or from the site; of the package by ``catalogue:NAME``.

    Raises UsageError.
    """
    if plan in reading.plans:
        return reading.plans[plan]
    if plan.startswith(CATALOGUE):
        return find_shipped_plan(plan)
    known = {file.name: file for file in reading.plans.values()}
    if f"plans/{plan}.yaml" in known:
        return known[f"plans/{plan}.yaml"]
    for path in (os.path.abspath(plan), os.path.join(reading.path, plan)):
        name = os.path.relpath(path, reading.path)
        if name in known:
            return known[name]
        if ("/" in plan or plan.endswith(".yaml")) and os.path.isfile(path):
            return look_up(path, name if not name.startswith("..") else path)
    hint = did_you_mean(plan, (*reading.plans, *known)) or _there_are(reading)
    raise UsageError(f"there is no plan '{plan}'", hint)


def find_shipped_plan(plan: str) -> Found:
    """The file of a plan of the package, ``catalogue:NAME``. Raises UsageError."""
    shipped = shipped_plans()
    if plan not in shipped:
        hint = did_you_mean(plan, shipped) or f"the package has: {', '.join(shipped)}"
        raise UsageError(f"there is no plan '{plan}'", hint)
    return look_up(shipped[plan], f"{CATALOGUE}plans/{plan.removeprefix(CATALOGUE)}.yaml")


def plan_document(
    reading: Site, file: Found, here: Here, kernels: Path | None = None, system: str | None = None
) -> Document | None:
    """Purpose: the document of a plan's file, or None where it has faults, which go to the site's problems."""
    data = read_bytes(file, reading.problems)
    if data is None:
        return None
    source = Source(file.name, hashlib.sha256(data).hexdigest())
    return document_of(reading, data, file.name, here, kernels, system, (source,))


def document_of(
    reading: Site,
    data: bytes,
    name: str,
    here: Here,
    kernels: Path | None = None,
    system: str | None = None,
    sources: tuple[Source, ...] = (),
) -> Document | None:
    """Purpose: the document of a plan's text, or None where the site's problems have grown.

    ``name``: what messages call the text; ``sources``: the files that it was made from.
    """
    problems = reading.problems
    before = len(problems)
    root, values = _values(reading, data, name)
    if root is None or values is None:
        return None
    if system is not None:
        values = values | {"system": reading.machine(system, here).system.name if system != "here" else system}
    context = _context(reading, root, values, here, kernels)
    if context is None:
        return None
    at = place(root, "limits")
    limits = read_limits(at, values.get("limits", {}), context)
    selector = Selector(context)
    parties = read_parties(root, values, problems)
    selector.baselines = read_baselines(root, values.get("baselines") or {}, reading.past, problems)
    components = read_components(root, values["components"], selector, values.get("zone", "UTC"))
    baselines = frozen_baselines(root, selector.baselines, components, selector, reading.advice)
    scores, settled = read_scores(root, values.get("scores") or {}, components, selector)
    check_limits(at, "plan", limits, selector.asked, selector.cases.values(), context)
    whole = len(problems) == before
    cases = join_needs(root, components, _cases_of(components, selector), selector) if whole else None
    if cases is None:
        return None
    contracts = freeze_contracts(root, values.get("contract", ()), reading, context, here, cases, scores)
    if contracts is None:
        return None
    every = (*sources, *_sources(reading, context, selector), *contracts.sources, *reading.failure_sources)
    document = replace(
        _document(values, context, limits, components, selector, contracts, every),
        failures=reading.failures,
        record_environment=reading.record_environment,
        parties=parties,
        baselines=baselines,
    )
    _warn(reading, root, document, context)
    reading.lost += tell_lost(root, document, name, reading.advice)
    return replace(document, scores=scores, components=(*components, *settled))


def _values(reading: Site, data: bytes, name: str) -> tuple[MappingNode | None, dict[str, Any] | None]:
    """A plan's text as nodes and as values; (None, None) where the text has faults."""
    before = len(reading.problems)
    root = read_nodes(data, name, reading.problems, "plan")
    values = None if root is None else PLAN.read(root, "", reading.problems)
    return (None, None) if len(reading.problems) > before else (root, values)


def _warn(reading: Site, root: MappingNode, document: Document, context: Context) -> None:
    """Add warnings on a plan without faults that may not work as intended."""
    advise(root, document, reading.advice)
    tell_unfilled_in_plan(root, reading.advice)
    tell_commands_not_found(root, document, reading.path, reading.advice)
    tell_unbound(reading.tests, document.cases, context, reading.advice)


def _cases_of(components: tuple[Component, ...], selector: Selector) -> list[Case]:
    """Cases in the order in which components first name them."""
    names = dict.fromkeys(name for component in components for name in component.every_case)
    return [selector.cases[name] for name in names]


def _context(
    reading: Site, root: MappingNode, values: dict[str, Any], here: Here, kernels: Path | None
) -> Context | None:
    name, at = values["system"], place(root, "system")
    try:
        return reading.context(reading.machine(name, here), kernels)
    except UsageError as error:
        if not any(problem.path.startswith("systems/") for problem in reading.problems.found):
            reading.problems.at(at, error.message, error.hint, f"system {name}")
        return None


def _document(
    values: dict[str, Any],
    context: Context,
    limits: Limits,
    components: tuple[Component, ...],
    selector: Selector,
    contracts: Frozen,
    sources: tuple[Source, ...],
) -> Document:
    """Cases and tests in the order in which components first name them; no build that no case needs."""
    builds = dict.fromkeys(case.build for case in contracts.cases if case.build)
    tests = dict.fromkeys(case.test for case in contracts.cases)
    return Document(
        plan=values["plan"],
        system=context.machine.system,
        components=components,
        cases=contracts.cases,
        tests=tuple(selector.tests[name] for name in tests),
        builds=tuple(context.builds[key] for key in builds),
        limits=limits,
        about=values.get("about", ""),
        seed=values.get("seed", 0),
        sources=sources,
        contracts=contracts.contracts,
        unavailable=values.get("unavailable", "refuse"),
        consent=tuple(dict.fromkeys(values.get("consent") or ())),
        issues=tuple(word for word in SEVERITIES if word in (values.get("issues") or {}).get("restrict", ())),
    )


def _sources(reading: Site, context: Context, selector: Selector) -> list[Source]:
    """The files that the document was made from: the system's, each test's with what it extends, golden sums."""
    machine = context.machine
    sources = [Source(machine.file, machine.sha256)] if machine.file else []
    chains = [definition for name in selector.tests for definition in reading.library.tests[name].chain()]
    seen = {definition.file.name: definition.data for definition in chains}
    sources += [Source(name, hashlib.sha256(data).hexdigest()) for name, data in sorted(seen.items())]
    for path, digest in sorted(context.around.contents.items()):
        name = os.path.relpath(path, reading.path)
        sources.append(Source(path if name.startswith("..") else name, digest))
    return sources


def _there_are(reading: Site) -> str:
    return f"there are: {', '.join(sorted(reading.plans))}" if reading.plans else "plans/ holds none yet"


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The facts on a plan that a list shows."""

    name: str
    system: str
    components: tuple[str, ...]
    about: str
    file: str


def plan_summaries(reading: Site) -> list[PlanSummary]:
    """Purpose: every plan of a site, then those of the package, for any system. Raises FileProblems where one cannot be read."""
    summaries = []
    for file in (*reading.plans.values(), *map(find_shipped_plan, shipped_plans())):
        data = read_bytes(file, reading.problems)
        root = None if data is None else read_nodes(data, file.name, reading.problems)
        before = len(reading.problems)
        values = None if root is None else PLAN.read(root, "", reading.problems)
        if values is not None and len(reading.problems) == before:
            names = tuple(entry.get("name", kind) for kind, entry in values["components"])
            shipped = file.name.startswith(CATALOGUE)
            name, system = (f"{CATALOGUE}{values['plan']}", "any") if shipped else (values["plan"], values["system"])
            summaries.append(PlanSummary(name, system, names, values.get("about", ""), file.name))
    reading.stop()
    return summaries
