"""Partitions by what they share: a node may be in several; it counts once, and whoever runs there has company from all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shakedown.model.nouns import Partition, System

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet


def sharing(system: System, used: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Purpose: each of these partitions, as "cluster:partition" -> it and those of them that have a node in common with it.

    All partitions of the embedded scheduler have the machine in common that one stands on, whatever nodes they name.
    """
    names = set(used)
    partitions = {place_of(one): one for one in system.partitions() if place_of(one) in names}
    if len(partitions) <= 1:
        return {name: frozenset({name}) for name in partitions}
    nodes = {name: nodes_of(one) for name, one in partitions.items()}
    here = {cluster.name for cluster in system.clusters if cluster.embedded}

    def meet(one: str, other: str) -> bool:
        if partitions[one].cluster in here:
            return partitions[other].cluster in here
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


_PART = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")  # of a node set: a name, or names with numbers in brackets


def has_node(nodes: str, name: str) -> bool:
    """Purpose: whether a node is in a folded node set, found without unfolding it: many sets are asked for one node."""
    return any(_is_in(part, name) for part in _PART.findall(nodes))


def _is_in(part: str, name: str) -> bool:
    before, bracket, rest = part.partition("[")
    if not bracket:
        return part == name
    ranges, _, after = rest.partition("]")
    if "[" in after:  # several numbers in a name: rare, so this may be slow
        return name in names_of(part)
    if not (name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)):
        return False
    number = name[len(before) : len(name) - len(after)]
    return number.isascii() and number.isdigit() and any(_covers(one, number) for one in ranges.split(","))


def _covers(numbers: str, number: str) -> bool:
    """Whether a number, as it is written, is in a range: in 0001-0020 are 0001 and 0020, and 1 is not. Steps: 0-8/2."""
    span, _, step = numbers.partition("/")
    low, _, high = span.partition("-")
    high = high or low
    if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
        return False
    padded = len(low) if low.startswith("0") and len(low) > 1 else 0
    width = max(padded, len(str(int(number))))
    if len(number) != width or not int(low) <= int(number) <= int(high):
        return False
    return not step.isdigit() or int(step) == 0 or (int(number) - int(low)) % int(step) == 0
