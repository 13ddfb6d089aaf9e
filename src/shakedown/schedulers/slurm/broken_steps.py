"""Jobs on several nodes that ended because of one of them, although Slurm does not say so.

Slurm runs a prolog on the other nodes of a job when a step starts there. Where it fails, Slurm cancels the job as user 0 and
drains the node. A node other than the first that loses power and is back before SlurmdTimeout is not missed at all: srun waits for
its tasks, gives the step up, and may even end with status 0. What tells is what srun wrote, and when a node was booted or
drained. A node registers its boot only when its slurmd is up again, perhaps after the job's end: where a step was given up and
no node explains it, the controller is asked again for a while before anything is said.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobReport
from shakedown.model.shared_nodes import names_in
from shakedown.model.steps import Step, broken_step
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.evidence import SETTLE_S
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.parsing import NodeHistory, clean, key_values, node_histories, seconds
from shakedown.schedulers.slurm.runner import Run

_TAIL_BYTES = 16384  # of an output, where srun's last words are
_SLACK_S = 5.0  # between the clock of the controller and ours
_AFTER_S = 60.0  # how long after a job's end Slurm may drain a node because of it
_DOUBTFUL_S = (
    60.0  # how long a step that was given up in a job that ended with 0 is asked about: else the run would pass
)
_PROLOG = re.compile(r"prolog", re.IGNORECASE)
_ENDED_BY_SLURM = frozenset({"cancelled", "timeout", "failed", "completed", "interrupted"})


@dataclass(slots=True)
class BrokenSteps:
    """``asked``: what the controller said of the nodes of each job, and how old the doubt was then. ``by``: who cancelled jobs."""

    places: JobPlaces
    run: Run
    clusters: Sequence[Cluster]
    command_s: float
    asked: dict[str, tuple[float, Mapping[str, NodeHistory]]] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)

    def explain(self, reports: Sequence[JobReport], found: Mapping[str, Found]) -> list[JobReport]:
        """Purpose: where a node other than the first ended a job, say so; all other reports as they are."""
        self.asked = {job: told for job, told in self.asked.items() if job in found}
        self.by = {job: by for job, f in found.items() if (by := _canceller(f) or self.by.get(job, ""))}
        explained = (self._explain(report, found.get(report.job)) for report in reports)
        return [report for report in explained if report is not None]

    def _explain(self, report: JobReport, found: Found | None) -> JobReport | None:
        """None: nothing is said yet, for the controller does not answer or may know more in a moment."""
        if found is None or found.job.parts or report.run or report.launch_failure:
            return report
        if report.state == "requeued" and not report.cause and found.never_began:
            return self._taken_back(report, found)
        if not _is_on_several(report):
            return report
        if report.state == "node_fail":
            began = report.began if report.began is not None else found.job.since
            names = [
                node.name
                for node in self._nodes(report, found.doubt_s).values()
                if _was_booted(node, began, report.over)
            ]
            return structs.replace(report, failed_nodes=tuple(names)) if names else report
        if report.state != "requeued" and report.state not in _ENDED_BY_SLURM:
            return report
        step = broken_step(tail(self.places.output(report.job, found.job.restart)))
        if report.state in ("failed", "completed") and step is None:
            return report  # it came to its own end, and nothing speaks of a node
        if report.state == "requeued" and report.cause:
            return report
        if report.state == "cancelled" and self.by.get(report.job, "0") != "0":
            return report
        began = report.began if report.began is not None else found.job.since
        nodes = self._nodes(report, found.doubt_s)
        if not nodes and found.doubt_s < SETTLE_S:
            return None
        drained = [node for node in nodes.values() if _is_drained(node, began, report.over)]
        named = [name for name in (step.nodes if step else ()) if name in names_in(report.nodes)]
        if drained or (named and step is not None and _PROLOG.search(step.words)):
            return _launch_failure(report, drained, named, step)
        booted = [node for node in nodes.values() if _was_booted(node, began, report.over)]
        if booted and report.state in ("failed", "completed", "timeout", "cancelled"):
            return _lost_nodes(report, [node.name for node in booted], step, "was booted while the job ran")
        if step is not None and report.state != "requeued":
            if found.doubt_s < (_DOUBTFUL_S if report.state == "completed" else SETTLE_S):
                return None
            silent = [node.name for node in nodes.values() if node.silent]
            if silent:
                return _lost_nodes(report, silent, step, "has not answered since a step of the job was given up")
        if named and report.state == "failed":
            return _lost_nodes(report, named, step, "did not start its part of a step")
        return report

    def _taken_back(self, report: JobReport, found: Found) -> JobReport:
        """A start that never took its claim, where no accounting says what ended it: slurmd wrote of its prolog into its output.

        The controller drained the node in the moment in which it queued the job again.
        """
        last = clean(tail(self.places.slurm_output(report.job)).strip().rpartition("\n")[2])
        if not _PROLOG.search(last):
            return report
        nodes: list[NodeHistory] = []
        number, _, home = report.scheduler_id.partition(";")
        for cluster in self.clusters:
            if home not in ("", cluster.name):
                continue
            several = len(self.clusters) > 1
            job = key_values(self.run(commands.scontrol_job(cluster.name, several, number), self.command_s).output)
            queued_again, wanted = seconds(job.get("SubmitTime", "")), names_in(job.get("ReqNodeList", ""))
            if queued_again is None:
                continue
            told = self.run(commands.scontrol_nodes(cluster.name, several, ""), self.command_s).output
            nodes += [
                node
                for node in node_histories(told)
                if _is_drained(node, queued_again, queued_again) and (node.name in wanted or not _names_nodes(wanted))
            ]
        named = [node for node in nodes if node.reason_at is not None]
        return _launch_failure(report, named if len(named) == 1 else (), (), None, last)

    def _nodes(self, report: JobReport, doubt_s: float) -> Mapping[str, NodeHistory]:
        """What the controller knows of a job's nodes: one scontrol for each job that ended so, and again as it settles."""
        asked_at, known = self.asked.get(report.job, (-math.inf, {}))
        if doubt_s - asked_at >= SETTLE_S:
            home = report.scheduler_id.partition(";")[2]
            told: dict[str, NodeHistory] = {}
            for cluster in self.clusters:
                if home in ("", cluster.name):
                    command = commands.scontrol_nodes(cluster.name, len(self.clusters) > 1, report.nodes)
                    told |= {node.name: node for node in node_histories(self.run(command, self.command_s).output)}
            if not told:
                return told  # it is asked again at the next look
            self.asked[report.job] = (doubt_s, told)
            return told
        return known


def tail(path: Path) -> str:
    """Purpose: the end of an output, "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _is_on_several(report: JobReport) -> bool:
    return len(names_in(report.nodes)) > 1 if report.nodes else False


def _canceller(found: Found) -> str:
    records = found.records
    record = records[found.job.restart] if len(records) > found.job.restart else found.finished
    return record.by if record is not None else ""


def _is_drained(node: NodeHistory, began: float, over: float | None) -> bool:
    """Whether Slurm took it out of work because of a prolog, in the time of the job."""
    if node.reason_at is None or not _PROLOG.search(node.reason):
        return False
    return began - _SLACK_S <= node.reason_at <= (node.reason_at if over is None else over + _AFTER_S)


def _was_booted(node: NodeHistory, began: float, over: float | None) -> bool:
    """Slurm tells it in whole seconds. No job begins on a node in the second in which it is booted."""
    if node.booted is None:
        return False
    return math.floor(began) < node.booted <= (node.booted if over is None else over + _SLACK_S)


def _names_nodes(wanted: Sequence[str]) -> bool:
    return bool(wanted) and tuple(wanted) != ("(null)",)


def _launch_failure(
    report: JobReport, drained: Sequence[NodeHistory], named: Sequence[str], step: Step | None, said: str = ""
) -> JobReport:
    names = tuple(node.name for node in drained) or tuple(named)
    why = drained[0].reason if drained else ""
    where = ", ".join(names) or "a node that no source names"
    what = "Slurm took it back before it took its claim" if said else "Slurm could not start the job's part there"
    words = [f"launch failure on {where}: {what}", said, why, step.words if step else ""]
    state, cause = ("requeued", "node_fail") if report.state == "requeued" else ("node_fail", report.cause)
    return structs.replace(
        report,
        nodes=report.nodes or ",".join(names),
        state=state,
        cause=cause,
        failed_nodes=names,
        launch_failure=True,
        message="; ".join(filter(None, words)),
    )


def _lost_nodes(report: JobReport, names: Sequence[str], step: Step | None, what: str) -> JobReport:
    words = [f"{', '.join(names)} {what}", *([step.words] if step else [])]
    return structs.replace(
        report, state="node_fail", failed_nodes=tuple(names), dead=True, exit_status=None, message="; ".join(words)
    )
