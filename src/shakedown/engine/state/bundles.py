"""Jobs of several runs: a sweep runs all tests of its component on one node, a pack runs many small cases in one allocation.

``bundles`` tells which components use such jobs on which pools; ``whole_job`` what one of these jobs asks for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from shakedown.model.nouns import Case, Component, Document, NodeType, Partition
from shakedown.model.resources import Resources

ROOM_S = 60.0  # in an allocation, beside the time limits of its runs


@dataclass(frozen=True, slots=True)
class Bundle:
    """How the runs of one component on one pool are put together in jobs.

    ``runs``: how many a job holds at most; ``at_once``: how many run side by side, 0 = as many as fit. ``nodes``: how many the pool
    has. ``limit_s``: the longest time limit of a job there, 0 = not known. ``cores`` and ``memory_bytes`` of one node, 0 = not
    known. ``queued``: for a sweep, how many of its jobs may wait at the scheduler. ``allocations``: for a pack, how many jobs at a
    time, 0 = no limit of its own.
    """

    kind: Literal["sweep", "pack"]
    label: str
    nodes: int
    runs: int
    at_once: int
    cores: int
    limit_s: float
    queued: int = 0
    allocations: int = 0
    memory_bytes: float = 0.0


def bundles(document: Document) -> dict[tuple[int, str], Bundle]:
    """Purpose: (number of the component, pool) -> how its runs are put together. On Shakedown's own scheduler each run is a job,
    since a job costs next to nothing there.
    """
    system = document.system
    clusters = {cluster.name for cluster in system.clusters if not cluster.embedded}
    places = {f"{place.cluster}:{place.name}": place for place in system.partitions() if place.cluster in clusters}
    found = {}
    for number, component in enumerate(document.components):
        if component.sweep or component.pack:
            for pool, place in places.items():
                found[number, pool] = _bundle(component, place, system.node_type(place.type))
    return found


def _bundle(component: Component, place: Partition, node: NodeType) -> Bundle:
    cores, memory = node.cores, node.memory_bytes
    label, limit_s = f"{component.name} on {place.name}", place.time_limit_s
    if component.sweep:
        most = len(component.cases)
        return Bundle("sweep", label, place.count, most, 1, cores, limit_s, component.sweep.queued, 0, memory)
    assert component.pack is not None
    word = component.pack
    return Bundle("pack", label, place.count, word.runs, word.at_once, cores, limit_s, 0, word.allocations, memory)


def side_by_side(cases: Sequence[Case], bundle: Bundle) -> int:
    """Purpose: how many of these runs go on at the same time in their job."""
    if bundle.kind == "sweep" or any(case.shape.nodes > 1 or case.shape.resources.gpus_per_node for case in cases):
        return 1  # runs side by side in one job could be given the same GPU
    widest = max(case.shape.tasks_per_node * case.shape.cpus_per_task for case in cases)
    fitting = max(1, bundle.cores // max(1, widest))
    largest = max(_memory(case) for case in cases)
    if largest and bundle.memory_bytes:
        fitting = min(fitting, max(1, int(bundle.memory_bytes // largest)))
        return max(1, min(bundle.at_once or fitting, fitting, len(cases)))
    return max(1, min(bundle.at_once or fitting, len(cases)))


def _memory(case: Case) -> float:
    """Bytes that one run takes of each of its nodes; 0 where its test does not say."""
    return case.shape.resources.memory_of_node(case.shape.tasks_per_node * case.shape.cpus_per_task)


def whole_job(cases: Sequence[Case], bundle: Bundle, lanes: int) -> Case:
    """Purpose: the job that the scheduler is asked for: the nodes of the largest case, whole, for the time that all runs may take,
    and the most of each budget that they load at once. ``lanes``: how many run side by side.
    """
    largest = max(cases, key=lambda case: case.shape.nodes)
    longest = max(case.shape.time_limit_s for case in cases)
    needed = sum(case.shape.time_limit_s for case in cases) / lanes + (longest if lanes > 1 else 0.0) + ROOM_S
    shape = replace(
        largest.shape,
        tasks_per_node=1,
        cpus_per_task=max(1, bundle.cores),
        exclusive=True,
        time_limit_s=math.ceil(needed),
        requeue=False,
        resources=_together(cases, lanes),
    )
    loads: dict[str, float] = {}
    for name, load in (load for case in cases for load in case.loads):
        loads[name] = max(loads.get(name, 0.0), load * lanes)
    name = f"{bundle.kind} of {bundle.label}"
    return Case(name, largest.test, largest.partition, shape=shape, build=largest.build, loads=tuple(loads.items()))


def _together(cases: Sequence[Case], lanes: int) -> Resources:
    """What the job of these cases asks for: the most GPUs and memory of any. In all the rest they agree (``plans`` checks this)."""
    return replace(
        cases[0].shape.resources,
        gpus_per_node=max(case.shape.resources.gpus_per_node for case in cases),
        gpus_per_task=0,
        memory_bytes=lanes * max(map(_memory, cases)),
        memory_per_cpu_bytes=0.0,
    )


def how_many(cases: Sequence[Case], bundle: Bundle, lanes: int) -> int:
    """Purpose: how many of these runs, from the first on, fit into one job within the time limit of the partition. ``lanes``: how
    many run side by side.
    """
    most = min(len(cases), bundle.runs)
    if not bundle.limit_s:
        return most
    longest = max(case.shape.time_limit_s for case in cases[:most])
    room = bundle.limit_s - ROOM_S - (longest if lanes > 1 else 0.0)
    return max(1, min(most, int(room * lanes / longest) if longest else most))
