"""What is looked up besides our jobs: idle nodes, and how many jobs of others wait."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.model.nouns import Cluster, Partition
from shakedown.model.ports import Survey, Wanted
from shakedown.schedulers.cluster.job_places import job_label
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.nodes import numbers_of
from shakedown.schedulers.slurm.parsing import clean, out_of_work, states_of_nodes
from shakedown.schedulers.slurm.runner import Ran, Run

# A job may start on these at once, or as soon as they have been switched on for it. Not those that are kept for somebody
# (reserved, maint, planned), on their way out (idle% is being switched off, drained) or that do not answer (idle*).
IDLE = frozenset({"idle", "idle~", "idle#"})
_NOT_HEARD_OF = frozenset({"unknown", "unk"})


def survey(wanted: Wanted, clusters: Sequence[Cluster], token: str, run: Run, command_s: float) -> Survey:
    """Purpose: what is wanted, by one sinfo for each cluster whose nodes are wanted, and one squeue for each whose queue is."""
    found = Survey()
    several = len(clusters) > 1
    for cluster in clusters:
        asked = (*wanted.idle, *wanted.unused, *wanted.silent)
        pools = [p for p in cluster.partitions if f"{cluster.name}:{p.name}" in asked]
        if pools:
            _idle(found, wanted, cluster, pools, run(commands.sinfo_out(cluster.name, several), command_s))
    for pool in (*wanted.idle, *wanted.unused, *wanted.silent):
        if all(pool not in told for told in (found.idle, found.unused, found.silent, found.trouble)):
            found.trouble[pool] = "there is no such partition here"
    for name in wanted.pending:
        own = not several and any(cluster.name == name for cluster in clusters)
        ran = run(commands.squeue_waiting(name, not own), command_s)
        if ran.status == 0:
            found.pending[name] = _foreign_jobs(ran.output, job_label(token, ""))
        else:
            found.trouble[name] = f"squeue: {_complaint(ran)}"
    return found


def _idle(found: Survey, wanted: Wanted, cluster: Cluster, pools: Sequence[Partition], ran: Ran) -> None:
    for partition in pools:
        pool = f"{cluster.name}:{partition.name}"
        if ran.status == 0:
            idle = [nodes for state, nodes in states_of_nodes(ran.output) if state in IDLE]
            numbers = numbers_of(partition.nodes, idle)
            found.idle.update({pool: numbers} if pool in wanted.idle else {})
            found.unused.update({pool: numbers} if pool in wanted.unused else {})
            found.out.update({pool: _nodes_out(partition, ran.output)} if pool in wanted.idle else {})
            found.silent.update({pool: _silent(partition, ran.output)} if pool in wanted.silent else {})
        else:
            found.trouble[pool] = f"sinfo: {_complaint(ran)}"


def _nodes_out(partition: Partition, text: str) -> dict[str, tuple[int, ...]]:
    """Reason -> the numbers of the partition's nodes that are down, drained or about to be. The reason is Slurm's state and its
    text.

    Of a node that Slurm has not heard of since its controller began nothing is known: it calls it down if that lasts.
    """
    found: dict[str, tuple[int, ...]] = {}
    for state, _, why, nodes in out_of_work(text):
        word = state.rstrip("*~#!%$@^-")
        if word in _NOT_HEARD_OF:
            continue
        said = f"{word}: {why}" if why else state
        numbers = numbers_of(partition.nodes, [nodes])
        if numbers:
            found[said[:200]] = tuple(sorted({*found.get(said[:200], ()), *numbers}))
    return found


def _silent(partition: Partition, text: str) -> tuple[int, ...]:
    """The numbers of the partition's nodes that do not answer the controller, or that it has given up."""
    silent = [nodes for state, nodes in states_of_nodes(text) if state.endswith("*") or state.startswith("down")]
    return numbers_of(partition.nodes, silent)


def _foreign_jobs(text: str, ours: str) -> int:
    """How many lines are of jobs without our names; there is a line for each task of an array."""
    return sum(bool(line.strip()) and not line.startswith((ours, "CLUSTER: ")) for line in text.split("\n"))


def _complaint(ran: Ran) -> str:
    return clean(ran.error) or f"it ended with exit status {ran.status}"
