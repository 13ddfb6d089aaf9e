"""Partitions by what they share: one node may be in several, and whoever runs there has company from all of them."""

from __future__ import annotations

from collections.abc import Mapping

from shakedown.model.nouns import Partition, System


def sharing(system: System) -> Mapping[str, frozenset[str]]:
    """Purpose: each partition's name, "cluster:partition" -> it and those that have a node in common with it."""
    partitions = system.partitions()
    if len(partitions) <= 1:
        return {place_of(one): frozenset({place_of(one)}) for one in partitions}
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # only where there are several partitions

    nodes = {place_of(one): NodeSet(one.nodes, resolver=RESOLVER_NOGROUP) for one in partitions}
    clusters = {place_of(one): one.cluster for one in partitions}
    return {
        name: frozenset(
            other
            for other in nodes
            if other == name or (clusters[other] == clusters[name] and nodes[name].intersection(nodes[other]))
        )
        for name in nodes
    }


def place_of(partition: Partition) -> str:
    return f"{partition.cluster}:{partition.name}"
