"""Jobs that lost a node: which node and why, and from when on nothing of the job can be alive.

After NODE_FAIL a job may still run on a node that was only out of reach. slurmd ends what is left of it before the node takes part
again. So the job is dead once all its nodes answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobReport
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.parsing import NodeState, node_states
from shakedown.schedulers.slurm.runner import Run

AGAIN_S = 30.0  # between two questions about nodes that do not answer, and from the loss of a node to the first
BEFORE_S, AFTER_S = (
    3600.0,
    60.0,
)  # of a launch: the longest that a prolog takes, and how long after its end Slurm drains the node
_MOST_NODES = 8  # named in one message
_OUT_OF_REACH = ("down", "fail", "unk", "reboot", "power", "future", "no_respond", "boot", "inval")


@dataclass(slots=True)
class FailedNodes:
    """What sinfo says of the nodes of jobs that lost one. ``since``: job -> when it was first reported (monotonic clock)."""

    run: Run
    clusters: Sequence[Cluster]
    command_s: float
    clock: Callable[[], float]
    since: dict[str, float] = field(default_factory=dict)
    asked: float = 0.0
    failed: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what was told of each job's nodes

    def explain(self, reports: Sequence[JobReport]) -> list[JobReport]:
        """Purpose: the reports; on the first report with more about the lost nodes; later, once it is so, that the job is dead. One
        sinfo for each cluster and look.
        """
        reports = self._requeued_for(reports)
        lost = {r.job: r for r in reports if "node_fail" in (r.state, r.cause) and r.nodes}
        self.since = {job: since for job, since in self.since.items() if job in lost}
        self.failed = {job: names for job, names in self.failed.items() if job in lost}
        now = self.clock()
        new = {job for job in lost if job not in self.since}
        waiting = {job for job, since in self.since.items() if now >= max(since, self.asked) + AGAIN_S}
        if not new and not waiting:
            return [self._named(r) for r in reports]
        self.since |= dict.fromkeys(new, now)
        if waiting:
            self.asked = now
        states = self._states([lost[job] for job in new | waiting])
        for job in new:
            self.failed[job] = _failed(lost[job], states)
        return [self._named(_with_failed_nodes(r, states, r.job in new, r.job in waiting)) for r in reports]

    def _requeued_for(self, reports: Sequence[JobReport]) -> Sequence[JobReport]:
        """All reports; where a job was put back into the queue and no source says why, a node of it that is down counts as the
        cause.
        """
        asked = [r for r in reports if r.state == "requeued" and not r.cause and not r.message and r.nodes]
        states = self._states(asked) if asked else {}
        down = {r.job for r in asked if any(n in states and _is_lost(states[n]) for n in names_in(r.nodes))}
        return [structs.replace(r, cause="node_fail") if r.job in down else r for r in reports]

    def _named(self, report: JobReport) -> JobReport:
        names = self.failed.get(report.job, ())
        return structs.replace(report, failed_nodes=names) if names else report

    def _states(self, reports: Sequence[JobReport]) -> dict[str, NodeState]:
        states: dict[str, NodeState] = {}
        for cluster in self.clusters:
            names = sorted({r.nodes for r in reports if r.scheduler_id.partition(";")[2] in ("", cluster.name)})
            if names:
                ran = self.run(commands.sinfo(cluster.name, len(self.clusters) > 1, ",".join(names)), self.command_s)
                states |= {state.name: state for state in node_states(ran.output)}
        return states


def _with_failed_nodes(report: JobReport, states: dict[str, NodeState], new: bool, waiting: bool) -> JobReport:
    """The report, with the names of the nodes that are not well and why; or as ended, once all nodes answer again."""
    if not new and not waiting:
        return report
    nodes = names_in(report.nodes)
    if (
        waiting
        and report.state == "node_fail"
        and nodes
        and all(node in states and _answers(states[node]) for node in nodes)
    ):
        why = f"all nodes of {report.nodes} answer again; Slurm ends there what was left of it"
        return structs.replace(report, state="interrupted", message=why)
    ill = [states[node] for node in nodes if node in states and _is_ill(states[node], report)][:_MOST_NODES]
    words = [f"{node.name} is {node.state}" + (f" ({node.reason})" if node.reason else "") for node in ill]
    return structs.replace(report, message="; ".join([word for word in (report.message, *words) if word]))


def _failed(report: JobReport, states: dict[str, NodeState]) -> tuple[str, ...]:
    """The nodes that are known to have failed: the job's only one, or those of several that are down or do not answer.

    For a job that could not be launched also nodes with a reason, by Slurm or by a person: nodes are drained where a prolog failed.
    """
    nodes = names_in(report.nodes)
    if len(nodes) == 1:
        return nodes
    if report.launch_failure:
        return tuple(node for node in nodes if node in states and _is_ill(states[node], report))
    return tuple(node for node in nodes if node in states and _is_lost(states[node]))


def _answers(node: NodeState) -> bool:
    """Whether the node answers. Slurm marks nodes that do not with a star, and those being restarted with other signs."""
    return not node.state.endswith(tuple("*~#!%$@^")) and not node.state.startswith(_OUT_OF_REACH)


def _is_lost(node: NodeState) -> bool:
    """Whether Slurm noticed that the node does not answer. A controller that has just started has not heard of any node yet."""
    return not _answers(node) and not node.state.startswith("unk")


def _is_ill(node: NodeState, report: JobReport) -> bool:
    return _is_lost(node) or (bool(node.reason) and _is_of_its_time(node, report))


def _is_of_its_time(node: NodeState, report: JobReport) -> bool:
    """Whether the node got its reason about when the job ended there, and not long before or after for something else."""
    if not report.launch_failure or report.over is None or node.reason_at is None:
        return True
    return -BEFORE_S <= node.reason_at - report.over <= AFTER_S
