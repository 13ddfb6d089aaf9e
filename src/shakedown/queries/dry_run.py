"""What ``run`` would do with a plan, computed before anything is created: runs and their needs, scripts, builds, node-hours.

``planned`` is the table of contents. The document is the one that ``run`` would freeze.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from shakedown.conductor.driver.ports import clusters_of, refuse_cores_that_are_not_there, refuse_small_limits
from shakedown.events.campaigns import CAMPAIGNS
from shakedown.metrics.node_hours import Nodes
from shakedown.metrics.wanted import wanted_results
from shakedown.model.build_names import names_of_builds
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build, Case, Component, Document
from shakedown.model.shared_nodes import different_nodes
from shakedown.plans.unavailable import Lost, lost_cases, started_with
from shakedown.queries.past_times import PastTime, past_times
from shakedown.queries.run_view import in_one, scripts_of

STAND_IN = "CAMPAIGN"  # for the campaign's directory, in paths and scripts


class CasePlanned(Struct, frozen=True):
    """A case in one component. ``runs``: how many are wanted, including warm-up runs; None where it runs until a time has passed.

    ``ranks`` and ``nodes`` are those of one run; ``units`` is what the scheduler counts: ``cores`` or ``nodes``.
    ``node_hours_at_most`` is for all its runs by the time limit; None where their number is not known. ``expected_s``: for one run,
    from past runs (``expected_from``); None where there are none. ``script``: its text, "" where it was not requested.
    """

    component: str
    case: str
    partition: str
    nodes: int
    ranks: int
    cpus_per_task: int
    units: int
    counted_in: str
    time_limit_s: float
    runs: int | None
    node_hours_at_most: float | None
    expected_s: float | None
    expected_from: str
    script: str
    filler: bool = False


class ComponentPlanned(Struct, frozen=True):
    """``duration_s``: for how long it runs, 0 where it wants a number of results. ``together``: "sweep" or "pack" where one job has
    several runs, else "".
    """

    name: str
    kind: str
    runs: int | None
    duration_s: float
    node_hours_at_most: float
    together: str
    procedures: int


class BuildPlanned(Struct, frozen=True):
    """``where``: on this machine, or in a job on a partition. ``cases``: how many cases need it."""

    name: str
    where: str
    time_limit_s: float
    cases: int
    script: str


class Planned(Struct, frozen=True):
    """The whole result. ``starts``: whether ``run`` would start it; ``refused``: why not, "" where it would.

    ``runs``, ``at_most_s`` (all runs one after the other, by their time limits) and ``expected_s`` (the same from past runs) are
    None where a component runs until a time has passed; ``expected_s`` and ``node_hours_expected`` also where a case has no past
    runs. ``side_by_side_s``: the least time that the expected runs take on an empty machine. None of these includes further
    attempts, builds or waiting in the queue. ``scripts_in``: the directory in which each job of a cluster finds its script; "" on
    this machine, where a script has no file.
    """

    plan: str
    ad_hoc: str
    system: str
    starts: bool
    refused: str
    hint: str
    components: list[ComponentPlanned]
    cases: list[CasePlanned]
    builds: list[BuildPlanned]
    unavailable: list[Lost]
    runs: int | None
    node_hours_at_most: float
    node_hours_expected: float | None
    at_most_s: float | None
    expected_s: float | None
    side_by_side_s: float | None
    scripts_in: str


def planned(document: Document, site: Path, name: str, wish: str | None = None, scripts: bool = False) -> Planned:
    """Purpose: what ``run`` would do. Creates nothing.

    ``name``: the name of the future campaign; ``wish``: what the command line says about cases that cannot run; ``scripts``:
    whether to include the text of the scripts.
    """
    refused, hint = _refused(document, wish)
    nodes, past = Nodes(document), past_times(site, document)
    cases = [
        _case(document, component, case, nodes, past, scripts)
        for component in document.components
        for case in _cases_of(document, component)
    ]
    components = [_component(component, cases, nodes) for component in document.components]
    open_ended = any(case.runs is None for case in cases)
    expected = _expected(cases)
    held = {case.id: nodes.held(case) for case in document.cases}
    names = names_of_builds(document.builds, document.cases)
    return Planned(
        plan=document.plan,
        ad_hoc=document.ad_hoc,
        system=document.system.name,
        starts=not refused,
        refused=refused,
        hint=hint,
        components=components,
        cases=cases,
        builds=[_build(build, names[build.key], document, scripts) for build in document.builds],
        unavailable=lost_cases(document),
        runs=None if open_ended else sum(case.runs or 0 for case in cases),
        node_hours_at_most=math.fsum(component.node_hours_at_most for component in components),
        node_hours_expected=None if expected is None else math.fsum(s * held[c] for c, s in expected) / 3600,
        at_most_s=None if open_ended else math.fsum((case.runs or 0) * case.time_limit_s for case in cases),
        expected_s=None if expected is None else math.fsum(s for _, s in expected),
        side_by_side_s=None if expected is None else _side_by_side(cases, expected, held, nodes),
        scripts_in=str(Layout(site / CAMPAIGNS / name).jobs)
        if any(case.counted_in == "nodes" for case in cases)
        else "",
    )


def _refused(document: Document, wish: str | None) -> tuple[str, str]:
    """Why ``run`` would not start it, and the hint; "" where it would."""
    try:
        document = started_with(document, wish)
        clusters_of(document)
        refuse_cores_that_are_not_there(document)
        refuse_small_limits(document)
    except UsageError as error:
        return error.message.partition("\n")[0].rstrip(":"), error.hint or ""
    return "", ""


# ---- one case --------------------------------------------------------------------------------------------------------------


def _cases_of(document: Document, component: Component) -> Iterable[Case]:
    """The component's cases and fillers that can run."""
    cases = {case.id: case for case in document.cases}
    return [cases[name] for name in dict.fromkeys(component.every_case) if not cases[name].unavailable]


def _case(
    document: Document,
    component: Component,
    case: Case,
    nodes: Nodes,
    past: Mapping[str, PastTime],
    scripts: bool,
) -> CasePlanned:
    shape, runs, known = case.shape, _runs(document, component, case), past.get(case.id)
    local = _is_local(document, case)
    return CasePlanned(
        component=component.name,
        case=case.id,
        partition=case.partition,
        nodes=shape.nodes,
        ranks=shape.ranks,
        cpus_per_task=shape.cpus_per_task,
        units=shape.units,
        counted_in="cores" if local else "nodes",
        time_limit_s=shape.time_limit_s,
        runs=runs,
        node_hours_at_most=None if runs is None else runs * shape.time_limit_s * nodes.held(case) / 3600,
        expected_s=known.mean_s if known else None,
        expected_from=known.source if known else "",
        script=_script(document, case) if scripts else "",
        filler=case.id in component.fillers,
    )


def _runs(document: Document, component: Component, case: Case) -> int | None:
    """How many runs of a case are wanted; None where they repeat until a time has passed."""
    steps = (case.id in component.set_up) + (case.id in component.clean_up)
    if steps and case.id not in component.cases:
        return steps
    if component.duration_s:
        return None
    wanted = sum(count for _, count in wanted_results(component, case, document.system))
    return wanted + sum(mode.warm_up * document.system.copies(mode, case) for mode in component.modes)


def _is_local(document: Document, case: Case) -> bool:
    name = case.partition.partition(":")[0]
    return any(cluster.name == name and cluster.embedded for cluster in document.system.clusters)


def _script(document: Document, case: Case) -> str:
    return in_one(scripts_of(document.system, case, Layout(Path(STAND_IN)), "r000001", "j000001"))


# ---- components, builds, sums ------------------------------------------------------------------------------------------------


def _component(component: Component, cases: Iterable[CasePlanned], nodes: Nodes) -> ComponentPlanned:
    mine = [case for case in cases if case.component == component.name]
    if component.duration_s:
        places = {case.partition for case in mine}
        most = component.duration_s * different_nodes([nodes.partitions[place] for place in sorted(places)]) / 3600
    else:
        most = math.fsum(case.node_hours_at_most or 0.0 for case in mine)
    return ComponentPlanned(
        name=component.name,
        kind=component.kind,
        runs=None if component.duration_s else sum(case.runs or 0 for case in mine),
        duration_s=component.duration_s,
        node_hours_at_most=most,
        together="sweep" if component.sweep else "pack" if component.pack else "",
        procedures=len(component.procedures),
    )


def _build(build: Build, name: str, document: Document, scripts: bool) -> BuildPlanned:
    return BuildPlanned(
        name=name,
        where=f"in a job on {build.partition}" if build.where == "job" else "here",
        time_limit_s=build.time_limit_s,
        cases=sum(case.build == build.key for case in document.cases),
        script=build.script if scripts else "",
    )


def _expected(cases: Iterable[CasePlanned]) -> list[tuple[str, float]] | None:
    """(case, seconds of all its runs); None where a case has no past runs, or the number of its runs is not known."""
    found = []
    for case in cases:
        if case.runs is None or case.expected_s is None:
            return None
        found.append((case.case, case.runs * case.expected_s))
    return found or None


def _side_by_side(
    cases: Iterable[CasePlanned], expected: Iterable[tuple[str, float]], held: Mapping[str, float], nodes: Nodes
) -> float:
    """The least seconds on an empty machine: those of the longest run, or the work of the busiest partition
    divided by its nodes.
    """
    places = {case.case: case.partition for case in cases}
    work: dict[str, float] = {}
    for case, seconds in expected:
        work[places[case]] = work.get(places[case], 0.0) + seconds * held[case]
    shared = [amount / nodes.partitions[place].count for place, amount in work.items()]
    return max([*shared, *(case.expected_s or 0.0 for case in cases)])
