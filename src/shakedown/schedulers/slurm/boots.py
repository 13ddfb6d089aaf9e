"""When nodes were booted, and why they are out of work: one query to a controller for all jobs, at most every five seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shakedown.model.nouns import Cluster
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.nodes import together
from shakedown.schedulers.slurm.parsing import NodeHistory, node_histories
from shakedown.schedulers.slurm.runner import Run

AGAIN_S = 5.0  # between two questions to a controller: so much later is the end of a job on several nodes known


@dataclass(slots=True)
class _Told:
    """The last answer of one controller. ``asked`` and ``answered``: when it was last asked, and last answered (monotonic clock).
    ``wanted``: folded sets of nodes to ask about.
    """

    asked: float = -math.inf
    answered: float = -math.inf
    wanted: set[str] = field(default_factory=set)
    nodes: dict[str, NodeHistory] = field(default_factory=dict)


@dataclass(slots=True)
class Boots:
    """What the controllers know of the nodes of jobs that are over."""

    run: Run
    clusters: Sequence[Cluster]
    command_s: float
    clock: Callable[[], float]
    _told: dict[str, _Told] = field(default_factory=dict)

    def want(self, home: str, nodes: str) -> None:
        """Purpose: include these nodes (a folded set) in the next query. ``home``: their cluster, "" = not known."""
        for cluster in self._at(home):
            self._told.setdefault(cluster.name, _Told()).wanted.add(nodes)

    def ask(self) -> None:
        """Purpose: send one query to each controller whose nodes are wanted, unless it was asked a moment ago."""
        now = self.clock()
        for cluster in self.clusters:
            told = self._told.get(cluster.name)
            if told is None or not told.wanted or now < told.asked + AGAIN_S:
                continue
            told.asked = now
            command = commands.scontrol_nodes(cluster.name, len(self.clusters) > 1, together(told.wanted))
            ran = self.run(command, self.command_s)
            told.wanted = set()
            if ran.status == 0 or ran.output:  # of a node that is no more it complains, and tells of the others
                told.answered, told.nodes = now, {node.name: node for node in node_histories(ran.output)}

    def has_answered(self, home: str, since: float) -> bool:
        """Purpose: whether a controller has answered at ``since`` (monotonic clock) or later."""
        return any(self._told.get(cluster.name, _Told()).answered >= since for cluster in self._at(home))

    def of(self, home: str, nodes: str) -> Mapping[str, NodeHistory]:
        """Purpose: what was last said of these nodes; nodes of which nothing was said are left out."""
        told = (self._told.get(cluster.name, _Told()).nodes for cluster in self._at(home))
        return {name: known[name] for known in told for name in names_in(nodes) if name in known}

    def _at(self, home: str) -> list[Cluster]:
        return [cluster for cluster in self.clusters if home in ("", cluster.name)]
