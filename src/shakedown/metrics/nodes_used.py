"""How long the campaign's runs held each node: the least used node shows what the campaign has not tested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from shakedown.metrics.clock import Clock, Hours
from shakedown.metrics.node_hours import Nodes, never_ran
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.nouns import Partition
from shakedown.model.shared_nodes import names_in, nodes_of

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet

Node = tuple[str, str]  # cluster, name


class NodeTimes(Struct, frozen=True):
    """``seconds``: node -> how much of the clock's time a run of the campaign held it, 0 if none did. ``unknown``: the number of
    runs that do not count because their time or place is unknown.
    """

    seconds: dict[Node, float]
    unknown: int

    @property
    def worst(self) -> Node | None:
        """The node that was held least; the first of several."""
        return min(self.seconds, key=lambda node: (self.seconds[node], node), default=None)

    def least(self, count: int) -> list[tuple[Node, float]]:
        return sorted(self.seconds.items(), key=lambda pair: (pair[1], pair[0]))[:count]


def node_times(rows: Iterable[RunRow], nodes: Nodes, places: set[str], clock: Clock) -> NodeTimes:
    """Purpose: the times of every node of these partitions. Time in which several runs held a node counts once.

    ``rows``: all runs of the campaign, whatever their verdict, including fillers and warm-ups.
    """
    partitions = {place: nodes.partitions[place] for place in places if place in nodes.partitions}
    alone = {place: _only(partition) for place, partition in partitions.items()}
    clusters = {one.cluster for one in partitions.values()}
    seconds = dict.fromkeys(_in_order(partitions.values()), 0.0)
    until = dict.fromkeys(seconds, float("-inf"))
    unfolded: dict[tuple[str, str], list[Node]] = {}
    hours, unknown = Hours(clock.spans), 0
    for row in sorted(rows, key=_begin):
        case, span = nodes.cases.get(row.case), span_of(row)
        cluster = case.partition.partition(":")[0] if case else ""
        if span is None or case is None or cluster not in clusters:
            unknown += span is None and not never_ran(row) and (case is None or cluster in clusters)
            continue
        held = unfolded.get((cluster, row.nodes))
        if held is None:
            held = [(cluster, name) for name in names_in(row.nodes) if (cluster, name) in seconds]
            unfolded[cluster, row.nodes] = held
        held = held or alone.get(case.partition, [])
        unknown += not held and case.partition in partitions
        _hold(seconds, until, held, span, hours)
    return NodeTimes(seconds, unknown)


def _in_order(partitions: Iterable[Partition]) -> Iterator[Node]:
    """Every node once, by cluster and number, independent of the partitions' order, so that all reports agree."""
    together: dict[str, NodeSet] = {}
    for partition in partitions:
        together.setdefault(partition.cluster, nodes_of(partition)).update(nodes_of(partition))
    for cluster in sorted(together):
        yield from ((cluster, str(name)) for name in together[cluster])


def _hold(seconds: dict[Node, float], until: dict[Node, float], held: list[Node], span: Span, hours: Hours) -> None:
    """Add a run's time to its nodes, without the time that an earlier run already covers."""
    begin, end = span
    whole = hours.inside(span)
    for node in held:
        covered = until[node]
        if covered <= begin:
            seconds[node] += whole
            until[node] = end
        elif covered < end:
            seconds[node] += hours.inside((covered, end))
            until[node] = end


def _begin(row: RunRow) -> float:
    span = span_of(row)
    return span[0] if span else row.time


def _only(partition: Partition) -> list[Node]:
    """The node of a partition with a single node: a run there was on it, whatever the run's row says."""
    return [(partition.cluster, str(name)) for name in nodes_of(partition)] if partition.count == 1 else []
