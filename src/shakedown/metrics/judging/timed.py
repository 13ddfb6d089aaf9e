"""Components that run for a time, of which an amendment has other runs come about: ``timed_otherwise``.

Such a component wants no number of results: what it is given to run it runs until its time is up, each case in the places that the
others leave. Whatever changes which runs are started, how many, or how long each may take changes what the rest is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.fields import TIMED
from shakedown.model.nouns import Case, Component, Document, Partition


def timed_otherwise(old: Document, new: Document) -> frozenset[str]:
    """Purpose: the components that run for a time by either plan, and have other runs by the later one: their cases, what cannot
    run here, attempts, time limits, the nodes of their partitions. What ``fields.STEERS`` names steers in any component.
    """
    now = {part.name: part for part in new.components}
    pairs = [(part, now[part.name]) for part in old.components if part.name in now]
    timed = [(one, two) for one, two in pairs if one.duration_s or two.duration_s]
    if not timed:
        return frozenset()
    cases = [{case.id: case for case in document.cases} for document in (old, new)]
    places = [_places(document) for document in (old, new)]
    return frozenset(one.name for one, two in timed if _is_otherwise(one, two, cases, places))


def _is_otherwise(
    old: Component,
    new: Component,
    cases: Sequence[Mapping[str, Case]],
    places: Sequence[Mapping[str, Partition]],
) -> bool:
    times = [{one.verdict: one.times for one in part.retry if one.times} for part in (old, new)]
    if bool(old.duration_s) != bool(new.duration_s) or _differ(old, new) or times[0] != times[1]:
        return True
    for name in (*old.cases, *old.fillers):
        one, two = cases[0].get(name), cases[1].get(name)
        if one is None or two is None:
            continue  # the component has other cases, or fillers, then
        if _differ(one, two) or _differ(one.shape, two.shape):
            return True
        here, there = places[0].get(one.partition), places[1].get(two.partition)
        if here is not None and there is not None and _differ(here, there):
            return True
    return False


def _differ(old: Struct, new: Struct) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in TIMED.get(type(old), ()))


def _places(document: Document) -> dict[str, Partition]:
    return {f"{cluster.name}:{part.name}": part for cluster in document.system.clusters for part in cluster.partitions}
