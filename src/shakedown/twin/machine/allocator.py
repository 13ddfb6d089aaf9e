"""The allocator of one pool of nodes: which jobs start now, and on which nodes (in queue order, with EASY backfill).

Partitions that share nodes form one pool; a job gives the nodes of the pool that belong to its partition.

EASY backfill: the first job that does not fit gets a reservation, computed from the time limits of running jobs. A later job may
start first only if it ends before the reservation or takes none of the reserved nodes. Nodes are bits of an integer, bit 0 for the
first node, so that operations on thousands of nodes are cheap. The allocator knows neither the clock nor the work of jobs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest

from shakedown.twin.machine.queue_order import Closing, Turns


@dataclass(frozen=True, slots=True)
class Need:
    """The request of a job; jobs with equal requests wait in one line. ``limit_s``: time limit. ``node``: number of the required
    node, from 1, 0 = any; ``without``: excluded nodes, as bits. ``licences``: name -> how many. ``within``: the nodes
    of its partition, as bits, 0 = all of the pool.
    """

    units: int
    limit_s: float
    node: int = 0
    without: int = 0
    licences: tuple[tuple[str, float], ...] = ()
    within: int = 0


@dataclass(slots=True)
class Licences:
    """The licences of a cluster, shared by its pools. A licence whose name is missing is not limited."""

    free: dict[str, float] = field(default_factory=dict)

    def fit(self, need: Need) -> bool:
        return all(self.free.get(name, amount) >= amount - 1e-9 for name, amount in need.licences)

    def take(self, need: Need, sign: int = -1) -> None:
        for name, amount in need.licences:
            if name in self.free:
                self.free[name] += sign * amount


@dataclass(slots=True)
class Reservation:
    """The nodes reserved for the first waiting job, from the time ``at`` on."""

    at: float
    nodes: int


Start = Callable[[int, int], None]  # ticket, nodes


@dataclass(slots=True)
class _Cycle:
    """One scheduling cycle. ``backfills``: also look at jobs behind the first one that does not fit."""

    now: float
    backfills: bool
    reserved: list[Reservation] = field(default_factory=list)
    kept: int = 0  # the nodes of all partitions that have a reservation
    shut: int = 0  # nodes for which somebody waits who lets nobody by
    last: tuple[float, int] | None = None  # nobody behind this one is looked at, by rank and ticket


class Pool:
    """The nodes of one partition, or of several that share nodes, with their running jobs, end times, and waiting jobs.

    A job is identified by its ticket, a number; smaller tickets come first. ``fifo``: no backfill.
    """

    def __init__(self, count: int, licences: Licences | None = None, fifo: bool = False) -> None:
        self.count, self.fifo = count, fifo
        self.all = (1 << count) - 1
        self.turns: Turns | None = None  # None: in the order of submission
        self.depth = 0  # so many are looked at from the first one on that does not start, 0 = all
        self.closings: list[Closing] = []  # announced, and those that are on
        self._since: dict[int, float] = {}  # ticket -> since when it waits, where that matters
        self._shut: list[int] = []  # each reason why nodes are given to nobody
        self.licences = licences or Licences()
        self.free = self.all
        self._planned = 0  # nodes that the last cycle kept for what waits
        self.closed = 0  # nodes that are given to nobody: down
        self._lines: dict[Need, deque[int]] = {}
        self._needs: dict[int, Need] = {}  # of what waits
        self._taken: dict[int, tuple[float, int, Need]] = {}  # ticket -> until when at most, nodes, need
        self._ends: list[tuple[float, int]] = []  # (until when at most, ticket), soonest first

    # ---- what comes and goes ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of waiting jobs."""
        return len(self._needs)

    @property
    def idle(self) -> int:
        """The nodes that are free for jobs now, as bits."""
        return self.free & ~self.closed

    def nodes_of(self, ticket: int) -> int:
        return self._taken[ticket][1] if ticket in self._taken else 0

    def queue(self, ticket: int, need: Need, now: float = 0.0) -> None:
        """Add a job to the queue. A ticket is used once; tickets of one line must come in rising order."""
        self._lines.setdefault(need, deque()).append(ticket)
        self._needs[ticket] = need
        if self.turns is not None:
            self._since[ticket] = now

    def kept(self, now: float) -> int:
        """Idle nodes that are kept idle, as bits: reserved for a waiting job, or to be closed before a waiting job would end.

        All idle nodes if a job waits for a licence, because free nodes do not help that job.
        """
        if any(not self.licences.fit(need) for need in self._needs.values()):
            return self.all
        if not self._needs:
            return 0
        longest = max(need.limit_s for need in self._needs.values()) if self.closings else 0.0
        return self._planned | self._closed_within(now, longest)

    def withdraw(self, ticket: int) -> None:
        """Remove a job from the queue. Its entry in the line is skipped later."""
        self._needs.pop(ticket, None)
        self._since.pop(ticket, None)

    def release(self, ticket: int) -> None:
        """Free the nodes and licences of a job that ended."""
        until, nodes, need = self._taken.pop(ticket)
        self.free |= nodes
        self.licences.take(need, +1)
        place = bisect_left(self._ends, (until, ticket))
        del self._ends[place]

    def close(self, nodes: int) -> None:
        """Close these nodes to all jobs for one more reason; a node may have several."""
        self._shut.append(nodes)
        self.closed |= nodes

    def open(self, nodes: int) -> None:
        """Remove one reason for which these nodes are closed."""
        self._shut.remove(nodes)
        self.closed = 0
        for others in self._shut:
            self.closed |= others

    # ---- who starts ------------------------------------------------------------------------------------------------------

    def cycle(self, now: float, start: Start, backfills: bool = True) -> None:
        """Purpose: start the jobs that can start now. Calls ``start(ticket, nodes)`` for each; its nodes are then allocated."""
        if not self._needs or not self.idle:
            return
        look = _Cycle(now, backfills and not self.fifo)
        self._begin_jobs(look, start)
        self._planned = look.shut
        for reserved in look.reserved:
            self._planned |= reserved.nodes

    def _begin_jobs(self, look: _Cycle, start: Start) -> None:
        now = look.now
        heads = [(line[0], need) for need, line in list(self._lines.items()) if self._clean(need, line)]
        order = [(self._rank(ticket, need, now), number) for number, (ticket, need) in enumerate(heads)]
        heapify(order)
        while order and self.idle & ~look.shut:
            rank, number = heappop(order)
            if look.last is not None and rank > look.last:
                return
            ticket, need = rank[1], heads[number][1]
            nodes = self._choose(need, look)
            if nodes:
                line = self._lines[need]
                line.popleft()
                self.withdraw(ticket)
                self._take(ticket, need, nodes, now)
                start(ticket, nodes)
                if self._clean(need, line):
                    heappush(order, (self._rank(line[0], need, now), number))
            else:
                self._passed_over(need, look)
                if self.depth and look.last is None:
                    look.last = self._last_looked_at(rank, now)

    def _rank(self, ticket: int, need: Need, now: float) -> tuple[float, int]:
        if self.turns is None:
            return 0.0, ticket
        return self.turns.rank(ticket, need.units, self.count, now - self._since.get(ticket, now))

    def _last_looked_at(self, first: tuple[float, int], now: float) -> tuple[float, int]:
        """The rank of the last job that a cycle looks at, if ``first`` is the rank of the first job that does not start."""
        ranks = (self._rank(ticket, need, now) for ticket, need in self._needs.items())
        return nsmallest(self.depth, (rank for rank in ranks if rank >= first))[-1]

    def _clean(self, need: Need, line: deque[int]) -> bool:
        """Remove withdrawn jobs from the head of a line; returns whether a job is left."""
        while line and line[0] not in self._needs:
            line.popleft()
        if not line:
            self._lines.pop(need, None)
        return bool(line)

    def _take(self, ticket: int, need: Need, nodes: int, now: float) -> None:
        self.free &= ~nodes
        self.licences.take(need)
        until = now + need.limit_s
        self._taken[ticket] = (until, nodes, need)
        insort(self._ends, (until, ticket))

    def _choose(self, need: Need, look: _Cycle) -> int:
        """The nodes that a job gets now, as bits; 0 if it cannot start."""
        if not self.licences.fit(need):
            return 0
        free = self._allowed(need, self.idle & ~look.shut)
        if self.closings:
            free &= ~self._closed_within(look.now, need.limit_s)
        for reserved in look.reserved:
            if look.now + need.limit_s > reserved.at:
                free &= ~reserved.nodes
        return lowest(free, need.units)

    def _allowed(self, need: Need, nodes: int) -> int:
        """The subset of these nodes that a job may use."""
        nodes &= ~need.without & need.within if need.within else ~need.without
        return nodes & 1 << (need.node - 1) if need.node else nodes

    def _closed_within(self, begin: float, lasts_s: float) -> int:
        """The nodes that announced closings close during the given span."""
        found = 0
        for closing in self.closings:
            if closing.begin < begin + lasts_s and begin < closing.end:
                found |= closing.nodes
        return found

    def _passed_over(self, need: Need, look: _Cycle) -> None:
        """Handle a job that does not start: if it waits for nodes that it can get, no later job may delay it.

        A job that waits for a licence, for one particular node, or for nodes that are down blocks no other job. Jobs of
        partitions without common nodes are not affected.
        """
        own = need.within or self.all
        if self.fifo:
            look.shut |= own
        elif not look.kept & own and not need.node and self.licences.fit(need):
            reserved = self._reserve_around(need, look.now) if self.closings else self._reserve(need, look.now)
            if reserved is not None:
                look.reserved.append(reserved)
                look.kept |= own
                look.shut |= 0 if look.backfills else own

    def _reserve(self, need: Need, now: float) -> Reservation | None:
        """The reservation of a job, if all running jobs use their full time limits. It reserves the nodes that become free last."""
        free = self._allowed(need, self.idle)
        count = free.bit_count()
        later = 0
        for until, ticket in self._ends:
            more = self._allowed(need, self._taken[ticket][1] & ~self.closed)
            count += more.bit_count()
            later |= more
            if count >= need.units:
                missing = need.units - later.bit_count()
                kept = later | (highest(free, missing) if missing > 0 else 0)
                return Reservation(max(until, now), kept)
        return None

    def _reserve_around(self, need: Need, now: float) -> Reservation | None:
        """The reservation if nodes will be closed: the first time at which enough nodes are free for its whole time limit."""
        own = 0
        for closing in self.closings:
            own |= closing.nodes if closing.begin <= now < closing.end else 0
        free, place = self._allowed(need, self.free & ~(self.closed & ~own)), 0
        for at in sorted({now, *(until for until, _ in self._ends), *(closing.end for closing in self.closings)}):
            while place < len(self._ends) and self._ends[place][0] <= at:
                free |= self._allowed(need, self._taken[self._ends[place][1]][1] & ~(self.closed & ~own))
                place += 1
            nodes = highest(free & ~self._closed_within(max(at, now), need.limit_s), need.units)
            if nodes.bit_count() >= need.units:
                return Reservation(max(at, now), nodes)
        return None


def lowest(nodes: int, count: int) -> int:
    """Purpose: the ``count`` lowest nodes of a set, as bits; 0 if the set has fewer."""
    if count <= 0 or nodes.bit_count() < count:
        return 0
    low, high = count, nodes.bit_length()
    while low < high:
        middle = (low + high) // 2
        if (nodes & ((1 << middle) - 1)).bit_count() >= count:
            high = middle
        else:
            low = middle + 1
    return nodes & ((1 << low) - 1)


def highest(nodes: int, count: int) -> int:
    """Purpose: the ``count`` highest nodes of a set, as bits; the whole set if it has fewer."""
    spare = nodes.bit_count() - count
    return nodes if spare <= 0 else nodes & ~lowest(nodes, spare)


def numbers(nodes: int) -> list[int]:
    """Purpose: a set of nodes (bits) as numbers from 1."""
    found = []
    while nodes:
        bit = nodes & -nodes
        found.append(bit.bit_length())
        nodes ^= bit
    return found


def bits(of: Mapping[str, int], names: tuple[str, ...]) -> int:
    """Purpose: the bits of named nodes, from their numbers; unknown names are ignored."""
    found = 0
    for name in names:
        if name in of:
            found |= 1 << (of[name] - 1)
    return found
