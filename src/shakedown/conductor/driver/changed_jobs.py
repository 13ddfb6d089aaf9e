"""Jobs that ran on another number of nodes than their case asks for: what they measured is not what was asked."""

from __future__ import annotations

from msgspec import structs

from shakedown.engine.state.state import State
from shakedown.model.ports import SEEN_HERE, JobReport
from shakedown.model.shared_nodes import names_in


def as_ordered(state: State, report: JobReport) -> JobReport:
    """Purpose: the report as it is, or "interrupted" where somebody changed the job's number of nodes at the scheduler.

    The embedded scheduler is nobody else's, and hands out cores.
    """
    job = state.jobs.get(report.job)
    if (
        job is None
        or job.bundle
        or report.run
        or report.source == SEEN_HERE
        or report.state not in ("completed", "failed")
    ):
        return report
    case = state.index.cases[job.case]
    if any(
        one.embedded for one in state.index.document.system.clusters if one.name == case.partition.partition(":")[0]
    ):
        return report
    wanted, nodes = case.shape.units, len(names_in(report.nodes)) if report.nodes else 0
    if nodes in (0, wanted):
        return report
    words = f"it ran on {_count(nodes)} ({report.nodes}) and asks for {wanted}: somebody changed it at the scheduler"
    return structs.replace(report, state="interrupted", message=words)


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"
