"""Jobs on several nodes that ended because of one node, although Slurm does not say so.

Slurm runs a prolog on the other nodes of a job when a step starts there. If it fails, Slurm cancels the job as user 0 and drains
the node. And if a node other than the first loses power and is back before SlurmdTimeout, Slurm does not notice at all: the step,
or the program that started its tasks there in another way, is given up, and the job may even end with status 0. Evidence is when a
node was booted or drained, and what srun wrote, if that is in the output. So for every such job the controller is asked about its
nodes, in one query for all of them.

A node registers its boot only when its slurmd is up again, perhaps after the job's end. Slurm calls a job COMPLETING until all its
nodes have answered since, so nothing is reported before that. If a step was given up and no node explains it, the controller is
asked again for a while.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from shakedown.events.plain_files import open_plain
from shakedown.model.ports import ENDED, JobReport
from shakedown.model.shared_nodes import names_in
from shakedown.model.steps import Step, broken_step
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.boots import Boots
from shakedown.schedulers.slurm.job_evidence import Found, listed
from shakedown.schedulers.slurm.job_questions import SETTLE_S
from shakedown.schedulers.slurm.parsing import NodeHistory, clean, key_values, node_histories, seconds

_TAIL_BYTES = 16384  # of an output, where srun's last words are
_SLACK_S = 5.0  # between the clock of the controller and ours
_AFTER_S = 60.0  # how long after a job's end Slurm may drain a node because of it
DOUBTFUL_S = 60.0  # how long a job that ended with 0 is asked about where something is open: else the run would pass
UNREACHABLE_S = 600.0  # and how long where the controller does not answer at all
BOOTED = "was booted while the job ran"
_PROLOG = re.compile(r"prolog", re.IGNORECASE)
_ENDED_BY_SLURM = frozenset({"cancelled", "timeout", "failed", "completed", "interrupted"})


@dataclass(slots=True)
class BrokenSteps:
    """``settled``: job -> since when it is over on all its nodes (monotonic clock). ``by``: job -> who cancelled it."""

    places: JobPlaces
    boots: Boots
    settled: dict[str, float] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)

    def look_at(self, reports: Sequence[JobReport], found: Mapping[str, Found]) -> None:
        """Purpose: note which nodes ``explain`` needs to know about, so that one query can ask for all of them."""
        now = self.boots.clock()
        self.by = {job: by for job, f in found.items() if (by := _canceller(f) or self.by.get(job, ""))}
        self.settled = {job: since for job, since in self.settled.items() if job in found}
        for report in reports:
            f = found.get(report.job)
            if f is None or not _may_have_lost_one(report):
                continue
            if report.state in ENDED and not _completes(f):
                self.settled.setdefault(report.job, now)
            if _wants_to_know(report, f):
                self.boots.want(_home(report), report.nodes)

    def explain(self, reports: Sequence[JobReport], found: Mapping[str, Found]) -> list[JobReport]:
        """Purpose: the reports; where a node other than the first ended a job, its report says so. Reports that must wait are left
        out.
        """
        explained = (self._explain(report, found.get(report.job)) for report in reports)
        return [report for report in explained if report is not None]

    def _explain(self, report: JobReport, found: Found | None) -> JobReport | None:
        """The report on one job; None where nothing is to be said yet, since the controller does not answer or may
        soon know more.
        """
        if found is None or report.run or report.launch_failure:
            return report
        if report.state == "requeued" and not report.cause and found.never_began and not found.job.parts:
            return self._taken_back(report, found)
        if not _may_have_lost_one(report) or not _wants_to_know(report, found):
            return report
        began, over = _span(report, found)
        if not is_on_several(report.nodes):
            booted = self._booted(self._nodes(report), began, over, slack_s=0.0)
            return lost_nodes(report, booted, None, BOOTED) if booted else report
        if report.state == "node_fail":
            booted = self._booted(self._nodes(report), began, over)
            return structs.replace(report, failed_nodes=booted) if booted else report
        if report.state == "cancelled" and self.by.get(report.job, "0") != "0":
            return report
        step = broken_step(tail(self.places.output(report.job, found.job.restart)))
        if report.state in ("failed", "completed") and step is None:
            return self._quiet(report, found, began, over)
        nodes = self._nodes(report)
        if not nodes and found.doubt_s < SETTLE_S:
            return None
        drained = [node for node in nodes.values() if _is_drained(node, began, over)]
        named = [name for name in (step.nodes if step else ()) if name in names_in(report.nodes)]
        if drained or (named and step is not None and _PROLOG.search(step.words)):
            return _launch_failure(report, drained, named, step, parts=bool(found.job.parts))
        booted = self._booted(nodes, began, over)
        if booted and report.state in ("failed", "completed", "timeout", "cancelled"):
            return lost_nodes(report, booted, step, BOOTED)
        if step is not None and report.state != "requeued":
            if found.doubt_s < (DOUBTFUL_S if report.state == "completed" else SETTLE_S):
                return None
            silent = [node.name for node in nodes.values() if node.silent]
            if silent:
                return lost_nodes(report, silent, step, "has not answered since a step of the job was given up")
        if named and report.state == "failed":
            return lost_nodes(report, named, step, "did not start its part of a step")
        return report

    def _quiet(self, report: JobReport, found: Found, began: float, over: float | None) -> JobReport | None:
        """A job that came to its own end, with an output that mentions no node: only the nodes themselves can tell."""
        nodes = self._nodes(report)
        first = found.marks.node if found.marks is not None else ""  # it wrote the end mark: it was there until the end
        if booted := self._booted({k: v for k, v in nodes.items() if k != first}, began, over, slack_s=0.0):
            return lost_nodes(report, booted, None, BOOTED)
        if self.boots.has_answered(_home(report), self.settled.get(report.job, math.inf)):
            return report
        if found.doubt_s < (UNREACHABLE_S if found.queue == "silent" else DOUBTFUL_S):
            return None
        silent = [node.name for node in nodes.values() if node.silent] if _completes(found) else []
        return lost_nodes(report, silent, None, "has not answered since the job ended") if silent else report

    def _booted(
        self, nodes: Mapping[str, NodeHistory], began: float, over: float | None, slack_s: float = _SLACK_S
    ) -> tuple[str, ...]:
        return tuple(node.name for node in nodes.values() if was_booted(node, began, over, slack_s))

    def _taken_back(self, report: JobReport, found: Found) -> JobReport:
        """A start that never took its claim, where nothing says what ended it.

        The controller drained the node in the moment in which it queued the job again, but it tells that only for the last time.
        slurmd of some releases writes about its prolog into the job's output; where it does not, only that moment tells.
        """
        last = clean(tail(self.places.slurm_output(report.job)).strip().rpartition("\n")[2])
        said = last if _PROLOG.search(last) else ""
        nodes: list[NodeHistory] = []
        number, _, home = report.scheduler_id.partition(";")
        for cluster in self.boots.clusters:
            if home not in ("", cluster.name):
                continue
            several = len(self.boots.clusters) > 1
            job = key_values(
                self.boots.run(commands.scontrol_job(cluster.name, several, number), self.boots.command_s).output
            )
            queued_again, wanted = seconds(job.get("SubmitTime", "")), names_in(job.get("ReqNodeList", ""))
            if queued_again is None or report.restart > found.job.restart + 1:
                continue
            told = self.boots.run(commands.scontrol_nodes(cluster.name, several, ""), self.boots.command_s).output
            nodes += _drained_at(
                queued_again,
                [node for node in node_histories(told) if node.name in wanted or not _names_nodes(wanted)],
                _AFTER_S if said else _SLACK_S,
            )
        if not said and not nodes:
            return report
        return _launch_failure(report, nodes if len(nodes) == 1 else (), (), None, said, began=False)

    def _nodes(self, report: JobReport) -> Mapping[str, NodeHistory]:
        return self.boots.of(_home(report), report.nodes)


def tail(path: Path) -> str:
    """Purpose: the end of an output as text; "" where it cannot be read."""
    try:
        with open_plain(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _may_have_lost_one(report: JobReport) -> bool:
    """Whether a node may have ended the job unnoticed. For a job on one node Slurm itself says so, unless the controller was away
    too: then it waits for the job until its time limit.
    """
    return is_on_several(report.nodes) or (report.state == "timeout" and bool(report.nodes))


def is_on_several(nodes: str) -> bool:
    """Purpose: whether a folded set of nodes has more than one node."""
    return len(names_in(nodes)) > 1 if nodes else False


def _wants_to_know(report: JobReport, found: Found) -> bool:
    """Whether the nodes of a job may explain its end. In a job of several runs, each run has an end of its own."""
    if report.run or report.launch_failure or (report.state == "requeued" and report.cause):
        return False
    if found.job.parts and report.state in ("failed", "completed"):
        return False
    return report.state in ("requeued", "node_fail") or report.state in _ENDED_BY_SLURM


def _completes(found: Found) -> bool:
    """Whether Slurm still waits for an answer from one of its nodes, or cannot be asked."""
    return found.queue == "silent" or (found.row is not None and found.row.state == "COMPLETING")


def _home(report: JobReport) -> str:
    return report.scheduler_id.partition(";")[2]


def _span(report: JobReport, found: Found) -> tuple[float, float | None]:
    """When the job began and ended: by the controller's clock, which also gives the times of boots, where that is known; else by
    ours.
    """
    restart, row = found.job.restart, found.row
    record = found.records[restart] if len(found.records) > restart else None
    times = row if row is not None and row.restart == restart and row.start else record
    began = report.began if report.began is not None else found.job.since
    over = report.over
    if times is not None and times.start is not None:
        began = max(began, times.start) if over is None or began <= over else times.start
    if over is None and report.began is not None and report.elapsed_s is not None:
        over = report.began + report.elapsed_s
    return began, over


def _canceller(found: Found) -> str:
    records = found.records
    record = records[found.job.restart] if len(records) > found.job.restart else listed(found, found.job.restart)
    return record.by if record is not None else ""


def _is_drained(node: NodeHistory, began: float, over: float | None, after_s: float = _AFTER_S) -> bool:
    """Whether Slurm drained the node because of a prolog, during the job or up to ``after_s`` seconds later."""
    if node.reason_at is None or not _PROLOG.search(node.reason):
        return False
    return began - _SLACK_S <= node.reason_at <= (node.reason_at if over is None else over + after_s)


def _drained_at(when: float, nodes: Sequence[NodeHistory], after_s: float) -> list[NodeHistory]:
    """Of these nodes, those that were drained because of a prolog at the moment nearest to ``when``; others may have been drained
    soon after.
    """
    apart = {node.name: abs(node.reason_at - when) for node in nodes if node.reason_at is not None}
    drained = [node for node in nodes if _is_drained(node, when, when, after_s)]
    nearest = min((apart[node.name] for node in drained), default=0.0)
    return [node for node in drained if apart[node.name] <= nearest]


def was_booted(node: NodeHistory, began: float, over: float | None, slack_s: float = _SLACK_S) -> bool:
    """Purpose: whether a node was booted between two times. Slurm gives whole seconds. No job begins on a node in the second of its
    boot. ``slack_s``: how long after the end a boot still counts, where something else points to the node.
    """
    if node.booted is None:
        return False
    return math.floor(began) < node.booted <= (node.booted if over is None else over + slack_s)


def _names_nodes(wanted: Sequence[str]) -> bool:
    return bool(wanted) and tuple(wanted) != ("(null)",)


def _launch_failure(
    report: JobReport,
    drained: Sequence[NodeHistory],
    named: Sequence[str],
    step: Step | None,
    said: str = "",
    parts: bool = False,
    began: bool = True,
) -> JobReport:
    """The report as a launch failure. ``parts``: it is a job of several runs, some of which may have begun: it was launched, and
    lost a node. ``began``: it took its claim.
    """
    names = tuple(node.name for node in drained) or tuple(named)
    why = drained[0].reason if drained else ""
    where = ", ".join(names) or "a node that no source names"
    what = "Slurm could not start the job's part there" if began else "Slurm took it back before it took its claim"
    words = [f"launch failure on {where}: {what}", said, why, step.words if step else ""]
    state, cause = ("requeued", "node_fail") if report.state == "requeued" else ("node_fail", report.cause)
    return structs.replace(
        report,
        nodes=report.nodes or ",".join(names),
        state=state,
        cause=cause,
        failed_nodes=names,
        launch_failure=not parts,
        dead=parts,
        message="; ".join(filter(None, words)),
    )


def lost_nodes(report: JobReport, names: Sequence[str], step: Step | None, what: str) -> JobReport:
    """Purpose: the report, changed to say that these nodes of the job failed, although it came to some end."""
    words = [f"{', '.join(names)} {what}", *([step.words] if step else [])]
    return structs.replace(
        report, state="node_fail", failed_nodes=tuple(names), dead=True, exit_status=None, message="; ".join(words)
    )
