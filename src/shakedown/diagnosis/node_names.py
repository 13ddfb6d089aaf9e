"""Unfolds node sets as schedulers write them into names, and folds names into node sets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

NODES_LIMIT = 1_000_000  # of one node set: more are no machine but a damaged text
_SET = re.compile(r"[A-Za-z0-9_.,:\[\]-]+")
_RANGES = re.compile(r"\[([^\[\]]*)\]")


@lru_cache(maxsize=65536)
def unfold(text: str) -> tuple[str, ...] | None:
    """Purpose: the names in a node set, c5n[0001-0003] -> c5n0001..., without duplicates; None if it cannot be parsed."""
    if not _SET.fullmatch(text):
        return None
    if "[" not in text and "]" not in text:
        return tuple(dict.fromkeys(name for name in text.split(",") if name)) or None
    if _at_most(text) > NODES_LIMIT:
        return None
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    from ClusterShell.RangeSet import RangeSetException

    try:
        return tuple(NodeSet(text, resolver=RESOLVER_NOGROUP)) or None
    except (NodeSetException, RangeSetException, ValueError):
        return None


def fold(names: Iterable[str]) -> str:
    """Purpose: names as one node set; names that cannot be folded are separated by commas."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    every = list(names)
    if len(every) == 1:
        return every[0]
    try:
        return str(NodeSet.fromlist(every, resolver=RESOLVER_NOGROUP))
    except (NodeSetException, ValueError):
        return ",".join(every)


def in_order(names: Iterable[str]) -> list[str]:
    """Names sorted by their numbers: n2 before n10."""
    return sorted(
        names, key=lambda name: [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _parts(name)]
    )


def _parts(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^0-9]+", name)


def _at_most(text: str) -> int:
    """An upper bound on the number of names in a node set, computed without unfolding it."""
    bound = 1
    for ranges in _RANGES.findall(text):
        inside = 0
        for part in ranges.split(","):
            low, _, high = part.partition("-")
            inside += (
                max(1, int(high) - int(low) + 1)
                if low.isdigit() and high.isdigit() and len(high) < 12
                else len(high) or 1
            )
            if len(high) >= 12:
                return NODES_LIMIT + 1
        bound *= max(1, inside)
    return bound + text.count(",")
