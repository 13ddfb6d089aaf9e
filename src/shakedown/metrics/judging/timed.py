"""Components that run for a time and for which an amendment causes other runs: ``timed_otherwise``.

Such a component wants no fixed number of results: it runs its cases until its time is up, each case in the places that the others
leave. A change of which runs start, how many, or how long each may take therefore changes all the other runs too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.judging.fields import TIMED
from shakedown.model.nouns import Case, Component, Document, Partition


def timed_otherwise(old: Document, new: Document) -> frozenset[str]:
    """Purpose: the components that run for a time under either plan and have other runs under the later one, because of their
    cases, unavailable cases, attempts, time limits or nodes. Changes of ``fields.STEERS`` affect any component.
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
