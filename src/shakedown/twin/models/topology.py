"""Networks as shapes: how far nodes are apart, what crosses their middle, and what is left of a node's rate when all talk to all.

Hops count links between switches; nodes on one switch are 0 hops apart. Bandwidths are bytes/s in one direction. Nodes are taken to
be placed at random over the whole machine: the average over all pairs. Formulas: Dally and Towles, 'Principles and Practices of
Interconnection Networks' (2004), chapters 3 and 5; Kim, Dally, Scott and Abts (2008) for the dragonfly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from shakedown.model.errors import UsageError

NODES_LIMIT = 10**9


class Topology(Protocol):
    """What a model asks of a network's shape. ``link``: bytes/s of one link in one direction."""

    @property
    def nodes(self) -> int: ...

    @property
    def mean_hops(self) -> float:
        """Over all pairs of different nodes; 0 where there is only one."""

    def bisection(self, link: float) -> float:
        """Bytes/s in one direction between two halves of the machine, cut where it is thinnest."""

    def alltoall_ceiling(self, injection: float, link: float) -> float:
        """Bytes/s that each node can send while all send evenly to all others: its own rate, or the network's most loaded link."""

    def words(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Torus:
    """A torus of routers. ``per_router`` nodes on each; ``widths``: links side by side in each dimension (1 where not given).

    A dimension of two has two links between its two routers, as cabled in the machines; one of one has none.
    """

    lengths: tuple[int, ...]
    per_router: int = 1
    widths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _check("torus", (*self.lengths, self.per_router))
        if not self.lengths or (self.widths and len(self.widths) != len(self.lengths)):
            raise UsageError("a torus has lengths, and one width for each where widths are given", "torus:18x12x24")

    @property
    def routers(self) -> int:
        return math.prod(self.lengths)

    @property
    def nodes(self) -> int:
        return self.routers * self.per_router

    @property
    def mean_hops(self) -> float:
        return sum(map(_ring_hops, self.lengths)) * _of_others(self.nodes)

    def cut_links(self) -> float:
        """Links, in one direction, between two halves: the thinnest of the cuts across one dimension, 2 x routers / length.

        Of an odd length one half has a plane of routers more.
        """
        return min(
            (2 * self.routers / length * width for length, width in self._dimensions() if length > 1), default=math.inf
        )

    def bisection(self, link: float) -> float:
        return self.cut_links() * link

    def alltoall_ceiling(self, injection: float, link: float) -> float:
        """Dimension-order routing, shortest way, ties split evenly: every link of a dimension carries the same."""
        rates = [injection]
        for length, width in self._dimensions():
            if length > 1:
                load = (
                    self.per_router * _ring_hops(length) * _of_others(self.nodes) / 2
                )  # two links a router and dimension
                rates.append(width * link / load)
        return min(rates)

    def _dimensions(self) -> list[tuple[int, float]]:
        return list(zip(self.lengths, self.widths or (1.0,) * len(self.lengths), strict=True))

    def words(self) -> str:
        return f"torus {_crossed(self.lengths)}, {self.per_router} node{'s' * (self.per_router > 1)} a router"


@dataclass(frozen=True, slots=True)
class FatTree:
    """A tree of switches: ``arities`` children of a switch, from the nodes up; ``taper``: share of full capacity at the top."""

    arities: tuple[int, ...]
    taper: float = 1.0

    def __post_init__(self) -> None:
        _check("fat tree", self.arities)
        if not self.arities or not 0 < self.taper <= 1:
            raise UsageError("a fat tree has levels, and a taper above 0% and up to 100%", "fat-tree:4x4x4x4x4x2:25%")

    @property
    def nodes(self) -> int:
        return math.prod(self.arities)

    @property
    def mean_hops(self) -> float:
        """Up and down again: nodes whose paths meet at level l are 2 (l-1) links between switches apart."""
        below, total = self.arities[0], 0.0
        for level, arity in enumerate(self.arities[1:], 2):
            total += 2 * (level - 1) * below * (arity - 1)
            below *= arity
        return total / max(self.nodes - 1, 1)

    def bisection(self, link: float) -> float:
        """``link``: one node's share of a full tree. Whole branches of the top on each side; the smaller side's links count."""
        top = self.arities[-1]
        return top // 2 * (self.nodes // top) * link * self.taper if top > 1 else math.inf

    def alltoall_ceiling(self, injection: float, link: float) -> float:
        """Below the top the tree is full: the links of a whole branch into the top carry the most for their width, if tapered."""
        branch = self.nodes // self.arities[-1]
        outside = (self.nodes - branch) / max(self.nodes - 1, 1)
        return min(injection, link * self.taper / outside if outside else math.inf, link)

    def words(self) -> str:
        return f"fat tree {_crossed(self.arities)}, {self.taper:.0%} at the top"


@dataclass(frozen=True, slots=True)
class Dragonfly:
    """Groups of routers: all routers of a group linked with each other, all groups linked with each other.

    ``global_links``: of each router, to other groups, spread evenly over the pairs. Raises UsageError where they do not reach.
    """

    groups: int
    routers: int
    per_router: int
    global_links: int

    def __post_init__(self) -> None:
        _check("dragonfly", (self.groups, self.routers, self.per_router, max(self.global_links, 1)))
        if self.routers * self.global_links < self.groups - 1:
            raise UsageError(
                f"{self.routers} routers with {self.global_links} global links each do not reach {self.groups - 1} other groups",
                f"give at least {-(-(self.groups - 1) // self.routers)} global links a router",
            )

    @property
    def nodes(self) -> int:
        return self.groups * self.routers * self.per_router

    @property
    def links_a_pair(self) -> float:
        """Global links between two groups."""
        return self.routers * self.global_links / (self.groups - 1) if self.groups > 1 else 0.0

    @property
    def mean_hops(self) -> float:
        """The shortest way of at most local, global, local; never through a third group."""
        inside = self.routers**2 * (1 - 1 / self.routers)  # summed over pairs of routers of one group
        pairs = self.groups * inside + self.groups * (self.groups - 1) * self._hops_between()
        return pairs / (self.groups * self.routers) ** 2 * _of_others(self.nodes)

    @property
    def valiant_hops(self) -> float:
        """Valiant: between groups through a third one at random. Two global links, and a local one at the ends and in the middle.

        With links of one pair of groups on different routers: exact where there is one link a pair. NaN with fewer than 3 groups.
        """
        if self.groups < 3:
            return math.nan
        gates = min(self.links_a_pair, self.routers)
        same = min((self.global_links - 1) / (self.routers * self.global_links - gates), 1.0)
        return 2 + 2 * (1 - gates / self.routers) + (1 - same)

    def bisection(self, link: float) -> float:
        """Halves of whole groups, one group more on one side where their number is odd."""
        half = self.groups // 2
        return half * (self.groups - half) * self.links_a_pair * link if half else math.inf

    def alltoall_ceiling(self, injection: float, link: float) -> float:
        """Shortest ways: the links out of a group carry what its nodes send to other groups; its own links what is left."""
        node_count, group = self.nodes, self.routers * self.per_router
        others = max(node_count - 1, 1)
        outside = group * (node_count - group) / others
        rates = [injection, self.routers * self.global_links * link / outside if outside else math.inf]
        local = self.routers * (self.routers - 1)
        if local:
            pairs = self.routers**2 * (1 - 1 / self.routers) + (self.groups - 1) * (
                self._hops_between() - self.routers**2
            )
            rates.append(local * link / (pairs * self.per_router**2 / others))
        return min(rates)

    def valiant_ceiling(self, injection: float, link: float) -> float:
        """Every message crosses two global links instead of one: half, for evenly spread traffic as for any other.

        The links inside of the groups are taken to be enough.
        """
        group, others = self.routers * self.per_router, max(self.nodes - 1, 1)
        outside = group * (self.nodes - group) / others
        return min(injection, self.routers * self.global_links * link / (2 * outside) if outside else math.inf)

    def _hops_between(self) -> float:
        """Summed over the pairs of routers of two groups, at the mean of the whole numbers of links between groups."""
        low = math.floor(self.links_a_pair)
        share = self.links_a_pair - low
        return (1 - share) * self._hops_at(low) + share * self._hops_at(low + 1)

    def _hops_at(self, links: int) -> float:
        """``links`` between two groups, on different routers as long as there are some: 1 hop, 2 by one gateway, else 3."""
        size, gates = self.routers, min(links, self.routers)
        direct = min(links, size**2)
        neither = (size - gates) ** 2
        return direct + 2 * (size**2 - neither - direct) + 3 * neither

    def words(self) -> str:
        return (
            f"dragonfly of {self.groups} groups of {self.routers} routers, {self.per_router} nodes and "
            f"{self.global_links} global links each"
        )


def _ring_hops(length: int) -> float:
    """Of a ring, over all pairs, oneself included: k/4, or (k - 1/k)/4 for an odd length."""
    return length / 4 if length % 2 == 0 else (length - 1 / length) / 4


def _of_others(nodes: int) -> float:
    """From a mean over all nodes to one over all but oneself."""
    return nodes / (nodes - 1) if nodes > 1 else 0.0


def _crossed(numbers: tuple[int, ...]) -> str:
    """The lengths as people write them: 18x12x24."""
    return "x".join(map(str, numbers))


def _check(what: str, numbers: tuple[int, ...]) -> None:
    if any(number < 1 for number in numbers) or math.prod(numbers) > NODES_LIMIT:
        raise UsageError(
            f"a {what} of {_crossed(numbers)} cannot be", f"whole numbers from 1 on, of up to {NODES_LIMIT:,} in all"
        )
