"""Read the keys by which a component keeps the machine busy (fill, filler, phases, clock), sweeps every node, or packs runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from yaml.nodes import Node

from shakedown.model.errors import did_you_mean
from shakedown.model.filling import CAUSES, ClockTerms, Fill, Pack, Phase, Sweep
from shakedown.model.nouns import Case, Drill
from shakedown.model.units import show_duration
from shakedown.plans.context import Context
from shakedown.plans.partition_scopes import Stage
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.source_positions import key_place, place


def read_phases(node: Node, entry: dict[str, Any], problems: Problems) -> tuple[tuple[Phase, ...], float]:
    """Purpose: the phases of a component and its duration in seconds, which is the sum of the phases where there are some."""
    phases: dict[str, Phase] = {}
    for number, written in enumerate(entry.get("phases", ())):
        name = written["name"]
        if name in phases:
            at = place(node, "phases", number, "name")
            problems.at(at, f"there is a phase '{name}' already", "give it a name of its own")
        phases[name] = Phase(name, written["duration"])
    together = sum(phase.duration_s for phase in phases.values())
    duration = entry.get("duration", together)
    if phases and abs(duration - together) > 1e-6 * duration:
        shown = f"the phases come to {show_duration(together)}, and the duration is {show_duration(duration)}"
        problems.at(place(node, "duration"), shown, "leave the duration out: it is theirs together")
    return tuple(phases.values()), float(duration)


def read_drill(written: dict[str, Any], case: str) -> Drill:
    """Purpose: a drill as it was written; ``case``: the id of the case that does it, "" where a person does it."""
    expect = written["expect"]
    bounds = {name: expect[name] for name in ("hole", "back") if name in expect}
    return Drill(
        name=written["name"],
        at_s=written["at"],
        about=written.get("about", ""),
        who=written.get("who", ""),
        case=case,
        evidence=written.get("evidence", 0),
        settle_s=written.get("settle", 600.0),
        lost=expect.get("lost"),
        hole_s=bounds["hole"][0] if "hole" in bounds else None,
        back_s=bounds["back"][0] if "back" in bounds else None,
        clause=written.get("clause", ""),
        written=tuple((name, text) for name, (_, text) in bounds.items()),
    )


def read_fill(node: Node, written: dict[str, Any], duration_s: float, problems: Problems) -> Fill:
    """Purpose: the terms of filling: how full the component keeps the machine."""
    fill = Fill(
        target=written.get("target", 1.0),
        queue_ahead_s=written.get("queue_ahead", 0.0),
        survive_s=written.get("survive", 0.0),
        ramp_s=written.get("ramp", 0.0),
        drain=written.get("drain", True),
    )
    if duration_s and fill.ramp_s >= duration_s:
        shown = f"fill.ramp: {show_duration(fill.ramp_s)} is all of the duration, {show_duration(duration_s)}"
        problems.at(place(node, "ramp"), shown, "the machine would never be full")
    return fill


def read_clock(node: Node, written: dict[str, Any], problems: Problems) -> ClockTerms:
    """Purpose: the terms of a component's clock."""
    causes = written.get("causes", {})
    for cause in causes:
        if cause not in CAUSES:
            near = did_you_mean(cause, CAUSES) or f"causes are: {', '.join(CAUSES)}"
            problems.at(key_place(node, "causes", cause), f"clock.causes: there is no cause '{cause}'", near)
    return ClockTerms(
        start=written.get("start", "first order"),
        causes=tuple(causes.items()),
        ramp=written.get("ramp", "counts") == "counts",
        drain=written.get("drain", "counts") == "counts",
    )


def check_filler(node: Node, fillers: Iterable[str], tests: Sequence[str], problems: Problems) -> None:
    """Purpose: check that no filler also has a share in the mix. ``fillers`` and ``tests``: names of tests."""
    for name in fillers:
        if name in tests:
            message = f"filler: '{name}' is one of the tests of the component"
            problems.at(node, message, "a filler is no work of the contract: name it in one of them")


# ---- jobs of several runs --------------------------------------------------------------------------------------------


def read_sweep(node: Node, entry: dict[str, Any], cases: Sequence[Case], context: Context) -> Sweep | None:
    """Purpose: the sweep of a component with these cases; None where it has none. ``node``: the component's."""
    written = entry.get("sweep")
    if not written:
        return None
    at, problems = key_place(node, "sweep"), context.problems
    _check_alone(at, "sweep", "what its node has done would be done again", cases, problems)
    _check_alike(at, "sweep", cases, context)
    for case in _one_a_test(case for case in cases if case.shape.nodes > 1):
        message = f"sweep: {case.id} takes {case.shape.nodes} nodes"
        problems.at(at, message, "a sweep runs tests of one node; give the others a component of their own")
    _check_times(at, cases, context)
    values = cast(dict[str, Any], written) if isinstance(written, dict) else {}
    if "rounds" in values and ("duration" in entry or "phases" in entry):
        problems.at(
            key_place(node, "sweep", "rounds"),
            "'rounds' has no meaning with duration",
            "it goes round until that is over",
        )
    if "wait" in values and ("duration" in entry or "phases" in entry):
        problems.at(
            key_place(node, "sweep", "wait"), "'wait' has no meaning with duration", "it ends when that is over"
        )
    return Sweep(**{"wait_s" if key == "wait" else key: value for key, value in values.items()})


def _check_times(at: Node, cases: Sequence[Case], context: Context) -> None:
    """Check that one job may run for the sum of all tests' time limits, and that the nodes are known: a sweep is a job per node."""
    for stage in context.stages:
        own = [case for case in cases if case.partition == stage.id and not case.unavailable]
        limit, together = stage.partition.time_limit_s, sum(case.shape.time_limit_s for case in own)
        if limit and together > limit:
            message = f"sweep: the time limits of its tests come to {show_duration(together)} on a node"
            hint = f"partition {stage.partition.name} gives a job {show_duration(limit)}; sweep fewer tests at a time"
            context.problems.at(at, message, hint)
        if own and not stage.local and not stage.partition.nodes:
            context.problems.at(at, f"sweep: the nodes of partition {stage.partition.name} are not known")


def read_pack(node: Node, entry: dict[str, Any], cases: Sequence[Case], context: Context) -> Pack | None:
    """Purpose: how runs share allocations; None where they do not. ``node``: the component's."""
    written = entry.get("pack")
    if not written:
        return None
    pack = Pack(**cast(dict[str, Any], written)) if isinstance(written, dict) else Pack()
    at, problems = key_place(node, "pack"), context.problems
    _check_alone(at, "pack", "what the others of its allocation have done would be done again", cases, problems)
    _check_alike(at, "pack", cases, context)
    if pack.at_once > 1:
        for stage in context.stages:
            _check_room(place(node, "pack", "at_once"), pack.at_once, cases, stage, problems)
    return pack


def _check_room(at: Node, at_once: int, cases: Sequence[Case], stage: Stage, problems: Problems) -> None:
    """Check that ``at_once`` runs fit side by side on one node."""
    own = [case for case in cases if case.partition == stage.id and not case.unavailable]
    for case in [case for case in own if case.shape.resources.gpus_per_node][:1]:
        message = f"pack.at_once: {case.id} asks for GPUs"
        problems.at(at, message, "runs side by side could be given the same one; leave at_once out")
    for case in _one_a_test(own):
        cores = case.shape.tasks_per_node * case.shape.cpus_per_task
        if case.shape.nodes > 1:
            message = f"pack.at_once: {case.id} takes {case.shape.nodes} nodes"
            problems.at(at, message, "only tests of one node run side by side; leave at_once out, or pack them apart")
        elif at_once * cores > stage.node.cores:
            message = f"pack.at_once: {at_once} of {case.id} take {at_once * cores} cores"
            problems.at(at, message, f"a node of partition {stage.partition.name} has {stage.node.cores}")


def _check_alone(at: Node, key: str, why: str, cases: Iterable[Case], problems: Problems) -> None:
    """Check that no case asks for requeue, because a job of several runs must not start again by itself."""
    for case in _one_a_test(case for case in cases if case.shape.requeue):
        problems.at(at, f"{key}: {case.id} asks for requeue", f"{why}; take run.requeue out of the test")


def _check_alike(at: Node, key: str, cases: Iterable[Case], context: Context) -> None:
    """One job has one constraint and one reservation, and one head of its script. Our own scheduler knows nothing of them."""
    first: dict[str, Case] = {}
    places, problems = {stage.id for stage in context.stages if not stage.local}, context.problems
    for case in cases:
        if case.unavailable or case.partition not in places:
            continue
        other = first.setdefault(case.partition, case)
        for name, ours, others in _differences(case, other):
            message = f"{key}: {case.id} and {other.id} ask for another {name}: {ours or 'none'} and {others or 'none'}"
            problems.at(at, message, "runs of one job agree in it; put such tests into a component of their own")
            return


def _differences(case: Case, other: Case) -> Iterator[tuple[str, str, str]]:
    """The keys in which two cases that share a job would have to agree, with the values of both."""
    ours, others = dict(case.shape.resources.words()), dict(other.shape.resources.words())
    for name in ("constraint", "reservation", "licences", "options", "directives"):
        if ours.get(name, "") != others.get(name, ""):
            yield name, ours.get(name, ""), others.get(name, "")


def _one_a_test(cases: Iterable[Case]) -> list[Case]:
    """The largest case of each test, the first one of equal cases."""
    chosen: dict[str, Case] = {}
    for case in cases:
        known = chosen.get(case.test)
        if known is None or _size(case) > _size(known):
            chosen[case.test] = case
    return list(chosen.values())


def _size(case: Case) -> tuple[int, int]:
    return case.shape.nodes, case.shape.tasks_per_node * case.shape.cpus_per_task
