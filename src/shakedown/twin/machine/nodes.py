"""The nodes of the simulated machine by their names: which are there, which are down, and what is said of them.

Each partition is a room; rooms that share nodes have one pool, in which each node is once, whatever partition it is asked for by.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from shakedown.model.nouns import Cluster, Partition, System
from shakedown.model.shared_nodes import nodes_of, place_of
from shakedown.twin.machine.allocator import Licences, Pool, bits, numbers

_REMEMBERED = 4096  # looks at a pool's idle nodes that a stale source may still show


@dataclass
class Room:
    """One partition: its allocator and the names of the allocator's nodes, in their order.

    ``mask``: the partition's own nodes, as bits; ``own``: their numbers in the order of the partition. ``idle_before``: (time, idle
    nodes of the pool), oldest first. Rooms that share nodes share the pool, the names and what was idle before.
    """

    name: str
    cluster: str
    local: bool
    pool: Pool
    names: tuple[str, ...]
    number: dict[str, int]
    mask: int
    own: tuple[int, ...]
    idle_before: list[tuple[float, int]] = field(default_factory=list)
    _folded: dict[int, str] = field(default_factory=dict)

    @property
    def idle(self) -> int:
        """The partition's nodes that could be given away now, as bits."""
        return self.pool.idle & self.mask

    @property
    def within(self) -> int:
        """What a job's need says of its partition: 0 where the pool has no other nodes."""
        return 0 if self.mask == self.pool.all else self.mask

    def places(self, nodes: int) -> tuple[int, ...]:
        """Which nodes of the partition these are: numbers from 1 in the partition's order."""
        if self.mask == self.pool.all:
            return tuple(numbers(nodes))
        return tuple(place for place, number in enumerate(self.own, 1) if nodes >> (number - 1) & 1)

    def named(self, nodes: int) -> tuple[str, ...]:
        return tuple(self.names[number - 1] for number in numbers(nodes))

    def folded(self, nodes: int) -> str:
        """Nodes as a scheduler writes them: "n[1-4,7]"; of the machine one stands on nobody writes any."""
        if self.local or not nodes:
            return ""
        if nodes not in self._folded:
            self._folded[nodes] = self._plainly(nodes) or _fold(self.named(nodes))
        return self._folded[nodes]

    @cached_property
    def _numbered(self) -> tuple[str, int, int]:
        """Of nodes that are called n0001, n0002...: "n", 4 digits (0 = as many as it takes), the first number; else ("", 0, 0)."""
        found = re.fullmatch(r"([^\[\],]*[^0-9\[\],-])([0-9]+)", self.names[0])
        if found is None:
            return "", 0, 0
        prefix, first = found[1], int(found[2])
        for width in (0, len(found[2])):
            if all(name == f"{prefix}{first + place:0{width}d}" for place, name in enumerate(self.names)):
                return prefix, width, first
        return "", 0, 0

    def _plainly(self, nodes: int) -> str:
        """Numbered nodes folded, which is a hundred times faster than for names of any kind; "" where they are not numbered."""
        prefix, width, first = self._numbered
        if not prefix:
            return ""
        spans = [(low + first, high + first) for low, high in _spans(nodes)]
        words = [f"{low:0{width}d}" + (f"-{high:0{width}d}" if high > low else "") for low, high in spans]
        return prefix + words[0] if nodes.bit_count() == 1 else f"{prefix}[{','.join(words)}]"

    def noticed(self, now: float) -> None:
        """Remember which nodes are idle from now on, for sources that are behind."""
        self.idle_before.append((now, self.pool.idle))
        if len(self.idle_before) > 2 * _REMEMBERED:
            del self.idle_before[:_REMEMBERED]

    def idle_at(self, when: float) -> int:
        """Which nodes were idle then, as bits."""
        place = bisect_right(self.idle_before, when, key=lambda item: item[0])
        return self.idle_before[place - 1][1] if place else self.pool.idle


def rooms_of(system: System, fifo: bool) -> dict[str, Room]:
    """Purpose: every partition by "cluster:partition"; those that share nodes share their pool.

    Of the machine one stands on the nodes are its cores, in turn.
    """
    capacities = system.capacities()
    rooms = {}
    for cluster in system.clusters:
        local = cluster.embedded
        licences = Licences(dict(cluster.licences))
        of = {place_of(one): _names(one, capacities[place_of(one)], local) for one in cluster.partitions}
        for together in _that_share(of):
            names = of[together[0]] if len(together) == 1 else _in_order(name for one in together for name in of[one])
            pool, history = Pool(len(names), licences, fifo or local), list[tuple[float, int]]()
            number = {node: place for place, node in enumerate(names, 1)}
            for name in together:
                own = tuple(number[node] for node in of[name])
                mask = pool.all if len(own) == len(names) else bits(number, of[name])
                rooms[name] = Room(name, cluster.name, local, pool, names, number, mask, own, history)
            rooms[together[0]].noticed(0.0)
    return {name: rooms[name] for name in capacities}


def one_each(rooms: Mapping[str, Room]) -> list[Room]:
    """Purpose: one room for each set of nodes: the first of those that share them."""
    found: dict[int, Room] = {}
    for room in rooms.values():
        found.setdefault(id(room.pool), room)
    return list(found.values())


def _that_share(of: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """Partitions that have nodes in common, directly or through others, together. ``of``: partition -> its nodes."""
    groups: list[tuple[list[str], set[str]]] = []
    for name, nodes in of.items():
        joined, mine = [name], set(nodes)
        apart = []
        for others, theirs in groups:
            if theirs.isdisjoint(mine):
                apart.append((others, theirs))
            else:
                joined, mine = [*others, *joined], mine | theirs
        groups = [*apart, (joined, mine)]
    return [sorted(names, key=list(of).index) for names, _ in groups]


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return tuple(map(str, NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP)))


def _names(partition: Partition, count: int, local: bool) -> tuple[str, ...]:
    """The partition's nodes by name; made up where its text does not name as many as it counts."""
    names = () if local else tuple(nodes_of(partition))
    return names if len(names) == count else tuple(f"{partition.name}-{number}" for number in range(1, count + 1))


def _spans(nodes: int) -> list[tuple[int, int]]:
    """Runs of neighbours among some bits: (first, last), from 0."""
    found, place = [], 0
    while nodes:
        skipped = (nodes & -nodes).bit_length() - 1
        nodes >>= skipped
        length = (~nodes & (nodes + 1)).bit_length() - 1
        found.append((place + skipped, place + skipped + length - 1))
        nodes >>= length
        place += skipped + length
    return found


def _fold(names: tuple[str, ...]) -> str:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return str(NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP))


def licences_of(
    system: System, cluster: Cluster, loads: tuple[tuple[str, float], ...], targets: dict[str, str]
) -> tuple[tuple[str, float], ...]:
    """Purpose: the licences by which a cluster counts these loads: name -> how many. What it has no licence for is not counted."""
    names, has = dict(system.licence_names), dict(cluster.licences)
    asked: dict[str, float] = {}
    for budget, amount in loads:
        target = targets.get(budget)
        own = names.get(f"{budget}@{target}") if target else None
        licence = own or names.get(budget, budget)
        if licence in has:
            asked[licence] = asked.get(licence, 0.0) + amount
    return tuple(sorted(asked.items()))
