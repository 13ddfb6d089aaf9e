"""Nodes that get no work now: since when, and why, in Slurm's own words. One sinfo for each cluster."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from shakedown.model.nouns import Cluster
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.parsing import clean, out_of_work
from shakedown.schedulers.slurm.runner import Run, Runner


class NodesOut(Struct, frozen=True):
    """Nodes of one cluster that are out for the same reason. ``since``: seconds since 1970; None where Slurm does not say."""

    cluster: str
    nodes: str
    count: int
    state: str
    since: float | None = None
    why: str = ""


def nodes_out(clusters: Sequence[Cluster], run: Run, command_s: float) -> tuple[list[NodesOut], str]:
    """Purpose: the nodes of the system's partitions that are down or drained; and why a cluster could not be asked, "" if all
    answered.
    """
    found: list[NodesOut] = []
    trouble = ""
    for cluster in clusters:
        ran = run(commands.sinfo_out(cluster.name, len(clusters) > 1), command_s)
        if ran.status != 0:
            trouble = trouble or f"{cluster.name}: {clean(ran.error) or f'sinfo ended with exit status {ran.status}'}"
            continue
        ours = {name for partition in cluster.partitions for name in names_in(partition.nodes)}
        told: set[str] = set()
        for state, since, why, nodes in out_of_work(ran.output):
            names = [name for name in names_in(nodes) if name in ours and name not in told]
            told.update(names)  # a node of several partitions may stand on several lines
            if names:
                shown = nodes if len(names) == len(names_in(nodes)) else ",".join(names)
                found.append(NodesOut(cluster.name, shown, len(names), state, since, why))
    return found, trouble


def nodes_out_now(clusters: Sequence[Cluster], command_s: float) -> tuple[list[NodesOut], str]:
    """Purpose: the same, asked now. Each command may take ``command_s`` seconds."""
    return nodes_out(clusters, Runner(), command_s)
