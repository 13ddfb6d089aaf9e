"""Node sets of partitions: from a node's number to its name and back. Nodes are numbered from 1 in the order of the set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from shakedown.model.shared_nodes import names_in


@lru_cache(maxsize=64)
def _numbers(nodes: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names_in(nodes), 1)}


def numbers_of(nodes: str, folded: Iterable[str]) -> tuple[int, ...]:
    """Purpose: the numbers of those nodes of a partition that are in any of these folded sets."""
    known = _numbers(nodes)
    return tuple(sorted({known[name] for each in folded for name in names_in(each) if name in known}))


def folded(names: Sequence[str], within: str) -> str:
    """Purpose: the names as one folded set. Names that are not in the node set ``within`` are left out, since Slurm may not know
    them.
    """
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    known = _numbers(within)
    return str(NodeSet.fromlist([name for name in names if name in known], resolver=RESOLVER_NOGROUP))


def together(sets: Iterable[str]) -> str:
    """Purpose: several folded sets of nodes as one."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return str(NodeSet.fromlist(sorted(sets), resolver=RESOLVER_NOGROUP))
