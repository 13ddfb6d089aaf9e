"""Advice on plans without faults that may not work as intended, before a machine is reserved for ten days."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import ceil, floor, inf
from typing import cast

from msgspec.structs import replace
from yaml.nodes import MappingNode

from shakedown.model.nouns import Case, Cluster, Component, Document, System
from shakedown.model.settings_in_words import THE_SYSTEM, setting
from shakedown.model.units import show_duration
from shakedown.plans.components.budgets import licence_of
from shakedown.plans.components.criteria_advice import criteria_advice
from shakedown.plans.components.ladders import of_one_size
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.schema.week import WEEK_S
from shakedown.plans.unavailable import some


def advise(root: MappingNode, document: Document, told: Problems) -> None:
    """Purpose: give advice on the components of a plan without faults. ``root``: the plan's file."""
    for number, component in enumerate(document.components):
        node = place(root, "components", number, component.kind)
        own, written = _cases(document, component), {key.value for key, _ in node.value}
        for keys, message, hint in _of_component(document, component, own, written):
            told.at(key_place(node, *keys), f"{component.name}: {message}", hint)


def _of_component(
    document: Document, component: Component, cases: list[Case], written: set[str]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The advice on one component, each as (keys that lead to the place, message, hint)."""
    system, fill = document.system, component.fill
    if component.duration_s:
        if "fill" in written:
            yield from _room(document, component, cases)
        yield from _too_long(component, cases)
    if fill.survive_s:
        yield from _chains(document, component, cases)
    if _closed_all_week(component):
        yield ("windows",), "its windows are closed the whole week: nothing of it is ever ordered", "leave a time open"
    if component.ladder:
        yield from of_one_size(component.ladder, [case for case in cases if case.id in component.cases])
    if component.pack:
        yield from _no_packs(system, component, cases)
        yield from _long_packs(system, component, cases)
    yield from _too_many_copies(system, component, cases)
    yield from criteria_advice(document, component, [case for case in cases if case.id in component.cases])


def _cases(document: Document, component: Component) -> list[Case]:
    """The component's cases and fillers that can run."""
    names = {*component.cases, *component.fillers}
    return [case for case in document.cases if case.id in names and not case.unavailable]


# ---- room ------------------------------------------------------------------------------------------------------------


def _room(document: Document, component: Component, cases: list[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Advice where caps and budgets keep less of a partition busy than ``fill.target``."""
    capacities, target = document.system.capacities(), component.fill.target
    for pool in dict.fromkeys(case.partition for case in cases):
        own = [case for case in cases if case.partition == pool]
        share = most_busy(document, component, own) / capacities[pool] if capacities.get(pool) else 1.0
        if share < target - 1e-9:
            said = (
                f"caps and budgets leave at most {100 * share:.0f}% of {pool} busy, and the target is {100 * target:g}%"
            )
            yield ("fill", "target"), said, "raise limits, add a filler that they do not bind, or lower fill.target"


def most_busy(document: Document, component: Component, cases: list[Case]) -> float:
    """Purpose: the most units (nodes, on a cluster) that runs of these cases of one partition can take together.

    An upper bound: each budget alone, given first to the cases that load the least of it for each unit.
    """
    caps = _caps(document, component)
    budgets = _budgets(document, component)
    widest = {case.test: max(c.shape.units for c in cases if c.test == case.test) for case in cases}
    bounds = [sum(caps.get(test, inf) * units for test, units in widest.items())]
    for name, amount in budgets.items():
        bounds.append(_within(amount, name, cases, caps))
    return min(bounds)


def _caps(document: Document, component: Component) -> dict[str, float]:
    """The most copies of each test, by the limits of the plan and of the component."""
    caps: dict[str, float] = {}
    for name, most in (*document.limits.copies, *component.limits.copies):
        caps[name] = min(caps.get(name, inf), most)
    return caps


def _budgets(document: Document, component: Component) -> dict[str, float]:
    """The amount of each budget for this component, on all its targets together."""
    budgets, targets = dict(document.system.budgets), dict(document.system.targeted)
    for name, most in (*document.limits.budgets, *component.limits.budgets):
        budgets[name] = min(budgets[name], most)
    return {name: amount * len(targets.get(name, "1")) for name, amount in budgets.items()}


def _within(amount: float, budget: str, cases: list[Case], caps: dict[str, float]) -> float:
    """The most units within one budget; tests with the least load for each unit go first, up to their caps."""
    rest, units = amount, 0.0
    best: dict[str, tuple[float, float]] = {}  # test -> (load a unit, units a run), of its case that loads the least
    for case in cases:
        ratio = dict(case.loads).get(budget, 0.0) / case.shape.units
        best[case.test] = min(best.get(case.test, (inf, 0.0)), (ratio, case.shape.units))
    widest = {case.test: max(c.shape.units for c in cases if c.test == case.test) for case in cases}
    for test, (ratio, _) in sorted(best.items(), key=lambda entry: entry[1]):
        wanted = caps.get(test, inf) * widest[test]
        taken = wanted if not ratio else min(wanted, rest / ratio)
        units, rest = units + taken, rest - (taken * ratio if ratio else 0.0)
    return units


def _too_long(component: Component, cases: list[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Advice on runs whose time limit is too long for the component: run times are unknown until one run ends."""
    longest = min([component.duration_s, *(phase.duration_s for phase in component.phases)])
    late: dict[float, list[str]] = defaultdict(list)
    for case in cases if component.fill.drain else ():
        if case.shape.time_limit_s >= longest:
            late[case.shape.time_limit_s].append(case.id)
    for limit_s, names in late.items():
        limit, time = show_duration(limit_s), show_duration(longest)
        said = f"a run of {some(names)} may take {limit}, and there are only {time}: the first ones may end late"
        yield (("phases",) if component.phases else ("duration",)), said, "a shorter time limit, or a longer time"


def _too_many_copies(
    system: System, component: Component, cases: list[Case]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Advice on copies in fill mode that can never run at once, so that no figure of such a run counts."""
    capacities = system.capacities()
    for mode in component.modes:
        wide = [case for case in cases if mode.copies * case.shape.units > capacities.get(case.partition, 0)]
        if mode.name == "fill" and mode.copies and wide:
            fit = system.copies(replace(mode, copies=0), wide[0])
            said = (
                f"{mode.copies} copies of {wide[0].id} never run at once, {fit} fit: no figure of its fill runs counts"
            )
            yield ("modes", "fill", "copies"), said, "fewer; or leave it out: as many as fill the machine"


# ---- without a conductor ---------------------------------------------------------------------------------------------


def _chains(document: Document, component: Component, cases: list[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Advice on budgets without a licence: jobs queued ahead wait in chains, each for the one before."""
    survive_s = component.fill.survive_s
    for (name, cluster), own in _loaded(
        document.system, [case for case in cases if case.id in component.cases]
    ).items():
        why, way = _not_charged(document, name, cluster)
        if not why:
            continue
        shortest = min(own, key=lambda case: case.shape.time_limit_s)
        deep = max(1, ceil(survive_s / shortest.shape.time_limit_s))
        said = (
            f"{why}: for {show_duration(survive_s)} without a conductor its runs wait in chains of at least {deep} jobs,"
            f" by the time limit of {shortest.id}, {show_duration(shortest.shape.time_limit_s)}"
        )
        yield ("fill", "survive"), said, f"with licences they need no chains: {way}"


def _loaded(system: System, cases: list[Case]) -> dict[tuple[str, Cluster], list[Case]]:
    """(budget, cluster) -> the cases that load this budget on this cluster."""
    clusters = {cluster.name: cluster for cluster in system.clusters if not cluster.embedded}
    loaded: dict[tuple[str, Cluster], list[Case]] = defaultdict(list)
    for case in cases:
        cluster = clusters.get(case.partition.partition(":")[0])
        for name, _ in case.loads if cluster else ():
            loaded[name, cast(Cluster, cluster)].append(case)
    return loaded


def _not_charged(document: Document, name: str, cluster: Cluster) -> tuple[str, str]:
    """Why a cluster does not enforce a budget by a licence, and a hint; ("", "") where it does."""
    system = document.system
    targets = dict(system.targeted).get(name, ())
    licence = licence_of(system.licence_names, name, targets)
    amount = {**dict(system.budgets), **dict(document.limits.budgets)}[name]
    total = dict(cluster.licences).get(licence, 0.0)
    if not total:
        called = '"NAME_{target}"' if targets else "NAME"
        written = setting(
            THE_SYSTEM, ("budgets", name), f"{{amount: {system.amount(name, amount)}, licence: {called}}}"
        )
        return f"{name} is no licence of cluster {cluster.name}", f"{written}, with the name of the licence"
    if total > amount:
        why = f"cluster {cluster.name} hands out {total:g} of licence {licence}, and {name} is {amount:g}"
        return why, f"leave {name} as wide as its licence"
    return "", ""


# ---- time ------------------------------------------------------------------------------------------------------------


def _closed_all_week(component: Component) -> bool:
    """Whether closed windows of a single time zone cover the whole week."""
    zones = {window.zone for window in component.windows}
    return any(
        covers_week((w.from_s, w.to_s) for w in component.windows if w.closed and w.zone == zone) for zone in zones
    )


def covers_week(spans: Iterable[tuple[float, float]]) -> bool:
    """Purpose: whether spans of seconds of the week cover all of it; a span with end <= begin goes over the week's end."""
    pieces = []
    for begin, end in spans:
        pieces += [(begin, end)] if end > begin else [(begin, WEEK_S), (0.0, end)]
    reached = 0.0
    for begin, end in sorted(pieces):
        if begin > reached:
            return False
        reached = max(reached, end)
    return reached >= WEEK_S


def _no_packs(system: System, component: Component, cases: list[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """On the machine that the driver runs on nothing is packed: each run is a process of its own, and cores say how many run."""
    places = {
        f"{one.cluster}:{one.name}" for cluster in system.clusters if cluster.embedded for one in cluster.partitions
    }
    here = sorted({case.partition for case in cases if case.id in component.cases} & places)
    if here:
        said = (
            f"pack has no effect on {some(here)}: on this machine each run starts by itself as soon as it has its cores"
        )
        yield ("pack",), said, "limit how many run at once with limits: copies, or run the component on a cluster"


def _long_packs(system: System, component: Component, cases: list[Case]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Advice on packs whose time limits add up to more than the scheduler allows for a job."""
    for partition in system.partitions():
        limit, pack = partition.time_limit_s, component.pack
        own = [case for case in cases if case.partition == f"{partition.cluster}:{partition.name}"]
        if pack is None or not limit or not own:
            continue
        cores = max(case.shape.tasks_per_node * case.shape.cpus_per_task for case in own)
        at_once = pack.at_once or max(1, floor(system.node_type(partition.type).cores / cores))
        runs = min(pack.runs, len(own) * component.repeats)
        together = _longest(runs, own, component.repeats) / min(at_once, runs)
        if together > limit:
            said = f"{runs} runs of a pack may take {show_duration(together)} together: an allocation will have fewer"
            yield (
                ("pack",),
                said,
                f"partition {partition.name} gives a job {show_duration(limit)}; shorter time limits let it have more",
            )


def _longest(runs: int, cases: list[Case], repeats: int) -> float:
    """The sum of the time limits of ``runs`` runs, the longest first; each case has ``repeats`` runs."""
    together, left = 0.0, runs
    for case in sorted(cases, key=lambda case: -case.shape.time_limit_s):
        taken = min(left, repeats)
        together, left = together + taken * case.shape.time_limit_s, left - taken
    return together
