"""Steps that the job's own script ended although srun reports their tasks as killed, such as a server for a measurement.

srun does not say which step it was. Accounting knows each step and how it ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobReport
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.broken_steps import tail
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.job_questions import SETTLE_S
from shakedown.schedulers.slurm.parsing import Record, babble, step_records
from shakedown.schedulers.slurm.runner import Run

_KILLED = re.compile(r"^srun: error: \S+: tasks? [\d,\[\]-]+: Killed", re.MULTILINE)
_SAME_START_S = 2.0  # between the start of a job and that of a step, both in whole seconds
_MOST_ASKED = 100  # jobs at one look, each of which may have thousands of steps


@dataclass(slots=True)
class EndedSteps:
    """Asks accounting for the steps of jobs that ended with 0 and in whose output srun reports killed tasks."""

    places: JobPlaces
    clusters: Sequence[Cluster]
    run: Run
    command_s: float

    def explain(self, reports: Sequence[JobReport], found: Mapping[str, Found]) -> list[JobReport]:
        """Purpose: the reports; where a job's script itself ended the steps that were killed, the output has ``ended_steps``.
        Reports on jobs of which accounting may soon tell more are left out.
        """
        asked = [report for report in reports if self._is_strange(report, found.get(report.job))][:_MOST_ASKED]
        told = {report.job: self._explain(report, steps, found[report.job]) for report, steps in self._ask(asked)}
        explained = (told.get(report.job, report) if not report.run else report for report in reports)
        return [report for report in explained if report is not None]

    def _is_strange(self, report: JobReport, found: Found | None) -> bool:
        if found is None or report.run or report.state != "completed" or report.exit_status != 0 or found.job.parts:
            return False
        return bool(_number(report) and _KILLED.search(tail(self.places.output(report.job, report.restart))))

    def _ask(self, reports: Sequence[JobReport]) -> list[tuple[JobReport, list[Record]]]:
        """Each report with the steps of its job, by number. Where accounting does not answer, the report is left out."""
        answers = []
        for cluster in self.clusters:
            here = [report for report in reports if report.scheduler_id.partition(";")[2] in ("", cluster.name)]
            if not here:
                continue
            ids = sorted({_number(report) for report in here})
            ran = self.run(commands.sacct_steps(cluster.name, len(self.clusters) > 1, ids), self.command_s)
            if ran.status == 0 and not babble(ran.output):
                steps = step_records(ran.output)
                answers += [(report, [step for step in steps if step.id == _number(report)]) for report in here]
        return answers

    def _explain(self, report: JobReport, steps: Sequence[Record], found: Found) -> JobReport | None:
        began = found.row.start if found.row is not None else None
        mine = [step for step in steps if began is None or step.start is None or step.start >= began - _SAME_START_S]
        if found.doubt_s < SETTLE_S and (not mine or any(step.end is None for step in mine)):
            return None
        ended = by_their_script(mine)
        return structs.replace(report, output=report.output | {"ended_steps": ended}) if ended else report


def by_their_script(steps: Sequence[Record]) -> list[str]:
    """Purpose: the numbers of the steps that were killed, if the job's script ended each of them itself; else [].

    It did if the job's own user cancelled the step, or if a later step began and ended well while the killed one still lived: that
    one served it. A step that lost tasks by itself ends before the next one.
    """
    killed = [step for step in steps if step.state == "CANCELLED" or step.exit == -9]
    return [step.name for step in killed] if all(_is_ended_on_purpose(step, steps) for step in killed) else []


def _is_ended_on_purpose(step: Record, steps: Sequence[Record]) -> bool:
    if step.state == "CANCELLED" and step.by:  # without a name it is one whose task a signal ended
        return step.by == str(os.getuid())
    return step.state in ("CANCELLED", "FAILED") and any(_served(step, other) for other in steps)


def _served(server: Record, other: Record) -> bool:
    if other.state != "COMPLETED" or other.exit != 0 or None in (server.start, server.end, other.start, other.end):
        return False
    return server.start < other.start and other.end <= server.end  # type: ignore[operator]


def _number(report: JobReport) -> str:
    return report.scheduler_id.partition(";")[0]
