"""Partitions by what they share: a node may be in several; it counts once, and whoever runs there has company from all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shakedown.model.nouns import Partition, System

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet


def sharing(system: System, used: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Purpose: each of these partitions, as "cluster:partition" -> it and those of them that have a node in common with it."""
    names = set(used)
    partitions = {place_of(one): one for one in system.partitions() if place_of(one) in names}
    if len(partitions) <= 1:
        return {name: frozenset({name}) for name in partitions}
    nodes = {name: nodes_of(one) for name, one in partitions.items()}

    def meet(one: str, other: str) -> bool:
        return partitions[one].cluster == partitions[other].cluster and bool(nodes[one].intersection(nodes[other]))

    return {one: frozenset(other for other in nodes if other == one or meet(one, other)) for one in nodes}


def different_nodes(partitions: Sequence[Partition]) -> int:
    """Purpose: how many nodes partitions have together. Those of a cluster share nodes as a rule; each counts once."""
    if len(partitions) <= 1:
        return sum(partition.count for partition in partitions)
    together: dict[str, NodeSet] = {}
    for partition in partitions:
        found = together.setdefault(partition.cluster, nodes_of(partition))
        found.update(nodes_of(partition))
    return sum(map(len, together.values()))


def nodes_of(partition: Partition) -> NodeSet:
    """The nodes of a partition. Slow to import, and needed only where there are several partitions."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return NodeSet(partition.nodes, resolver=RESOLVER_NOGROUP)


def place_of(partition: Partition) -> str:
    return f"{partition.cluster}:{partition.name}"


@lru_cache(maxsize=64)
def names_of(nodes: str) -> frozenset[str]:
    """Purpose: the names of a folded node set, for asking whether one is in it; made once, for a machine has twenty thousand."""
    return frozenset(names_in(nodes))


@lru_cache(maxsize=64)
def numbers_in(nodes: str) -> Mapping[str, int]:
    """Purpose: the numbers of a folded node set's names, in its order from 1."""
    return {name: number for number, name in enumerate(names_in(nodes), 1)}


@lru_cache(maxsize=256)
def names_in(nodes: str) -> tuple[str, ...]:
    """Purpose: the names of a folded node set, in its order; none where it is no node set."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    try:
        return tuple(map(str, NodeSet(nodes, resolver=RESOLVER_NOGROUP)))
    except (NodeSetException, ValueError):
        return ()
