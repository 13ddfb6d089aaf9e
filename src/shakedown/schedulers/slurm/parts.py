"""News of the parts of jobs with several runs: each start and each end is reported once. A part known to be over is not looked at
again.

On a job with several nodes, the end of a part is kept back until the controller was asked about these nodes: one of them may have
been booted while the part ran, whatever the part itself says.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from shakedown.model.ports import ENDED, JobReport
from shakedown.model.steps import broken_step
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import NO_ROOM, Marks
from shakedown.schedulers.cluster.part_ends import Stage, Words, held_against, keeps_ends, read_ends
from shakedown.schedulers.cluster.part_marks import PartMark, Start, claimed_parts, read_part, read_start
from shakedown.schedulers.slurm.boots import Boots
from shakedown.schedulers.slurm.broken_steps import (
    DOUBTFUL_S,
    UNREACHABLE_S,
    is_on_several,
    lost_nodes,
    tail,
    was_booted,
)
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.job_questions import SETTLE_S

# A file system may show what is in a directory late (NFS: up to a minute). A job that came to its own end counted its parts.
_DIRECTORY_SETTLES_S = 60.0
_MISSED_S = 600.0  # how long Slurm may not miss a node that is gone
_MOST_NAMED = 8  # runs in a sentence
_CLOCKS_S = 5.0  # by which the controller's clock and the file system's may differ


@dataclass(slots=True)
class Kept:
    """The end of a part that is not reported yet. ``since``: when it was seen (monotonic clock). ``gave_up``: its output mentions a
    step that was given up.
    """

    report: JobReport
    since: float
    gave_up: bool


@dataclass(slots=True)
class Told:
    """What was reported of one job's parts.

    ``parts``: run -> state. ``kept``: ends that are kept back. ``starts``: the job's starts, by number. ``cut_off``: parts whose
    output was reported because their job is over. ``ends``: what its script saw of their ends; ``keeps_ends``: whether it writes
    that down.
    """

    parts: dict[str, str] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    starts: dict[int, Start] = field(default_factory=dict)
    cut_off: set[str] = field(default_factory=set)
    unclaimed: int = 0  # of the open ones, at the last look
    ends: dict[int, tuple[tuple[int, int, int], dict[str, Words]]] = field(
        default_factory=dict
    )  # by restart, as the file was
    keeps_ends: bool = False


@dataclass(slots=True)
class Parts:
    """The memory of one helper process. A new helper reports everything again."""

    places: JobPlaces
    boots: Boots
    _told: dict[str, Told] = field(default_factory=dict)

    def news(self, job: Asked, stage: Stage = "alive") -> list[JobReport]:
        """Purpose: what was not reported yet of a job's parts. Raises OSError where its marks cannot be read."""
        if not job.parts:
            return []
        told = self._told.setdefault(job.id, Told())
        claimed = claimed_parts(self.places, job.id)
        told.unclaimed = sum(run not in claimed for run in job.parts)
        told.keeps_ends = told.keeps_ends or keeps_ends(self.places, job.id)
        ends = self._ends(job.id, job.restart, told)
        reports = []
        for run in job.parts:
            if (run in claimed or run in ends) and told.parts.get(run, "running") == "running":
                reports += self._look_at(job, run, told, stage)
        return reports

    def _ends(self, job: str, restart: int, told: Told) -> dict[str, Words]:
        """What the script of one start of a job saw of its parts. It is read again only when the file has changed.
        Raises OSError.
        """
        if not told.keeps_ends or (now := _as_it_is(self.places.layout.part_ends(job, restart))) is None:
            return {}
        if restart not in told.ends or told.ends[restart][0] != now:
            told.ends[restart] = now, read_ends(self.places, job, restart)
        return told.ends[restart][1]

    def are_complete(self, job: Asked, marks: Marks | None, doubt_s: float) -> bool:
        """Purpose: whether ``news`` has given everything there will be on a job that is over. News that come too late are not
        waited for.
        """
        if not job.parts:
            return True
        if self.keeps(job.id):
            return False
        if marks is None or marks.left is None:
            return doubt_s >= SETTLE_S
        told = self._told.get(job.id)
        return told is None or told.unclaimed <= marks.left or doubt_s >= _DIRECTORY_SETTLES_S

    def keeps(self, job: str) -> bool:
        """Purpose: whether the end of a part of this job is known and not reported yet."""
        return job in self._told and bool(self._told[job].kept)

    def want(self) -> None:
        """Purpose: include the nodes of all ends that are kept back in the next query to the controller."""
        for told in self._told.values():
            for kept in told.kept.values():
                self.boots.want(kept.report.scheduler_id.partition(";")[2], kept.report.nodes)

    def ready(self, over: Mapping[str, float], lost: Mapping[str, JobReport], unreachable: bool) -> list[JobReport]:
        """Purpose: the ends that were kept back and can be reported now.

        ``over``: job -> since when it is over on all its nodes (monotonic clock). ``lost``: job -> its report, where it lost a
        node.
        """
        ready: list[JobReport] = []
        for job, told in self._told.items():
            for run, kept in list(told.kept.items()):
                report = self._explained(kept, over.get(job, math.inf), lost.get(job), unreachable)
                if report is not None:
                    ready.append(report)
                    del told.kept[run]
        return ready

    def _explained(self, kept: Kept, over: float, lost: JobReport | None, unreachable: bool) -> JobReport | None:
        """The report on an end that was kept back; None: nothing yet."""
        report, home = kept.report, kept.report.scheduler_id.partition(";")[2]
        end = None if report.began is None or report.elapsed_s is None else report.began + report.elapsed_s
        nodes = self.boots.of(home, report.nodes)
        began = report.began if report.began is not None else math.inf
        booted = [
            node.name for node in nodes.values() if was_booted(node, began, end, _CLOCKS_S if kept.gave_up else 0)
        ]
        if booted:
            return lost_nodes(report, booted, None, "was booted while it ran")
        if lost is not None and not _ended_long_before(end, lost):
            names = lost.failed_nodes or ("a node of its job",)
            said = lost_nodes(report, names, None, "failed while it ran, or soon after")
            return structs.replace(said, failed_nodes=lost.failed_nodes)
        age_s = self.boots.clock() - kept.since
        if not kept.gave_up and self.boots.has_answered(home, over):
            return report
        silent = [node.name for node in nodes.values() if node.silent]
        if age_s >= (UNREACHABLE_S if unreachable else DOUBTFUL_S):
            return lost_nodes(report, silent, None, "has not answered since it ended") if silent else report
        if silent or kept.gave_up:
            return None
        return report if self.boots.has_answered(home, kept.since + SETTLE_S) else None

    def cut_off(self, job: Asked) -> list[JobReport]:
        """Purpose: for each part of a job that is over which began and has no end: when it began, and where its output and
        directory are. Each is reported once. If both reports on a part arrive together only the last is kept, so this one repeats
        what the first one said.
        """
        told, reports = self._told.get(job.id, Told()), list[JobReport]()
        for run in job.parts:
            if told.parts.get(run) == "running" and run not in told.cut_off and (output := self._output(job.id, run)):
                told.cut_off.add(run)
                began, nodes = self._beginning(job.id, run, told)
                known = JobReport(job.id, "running", "marks", job.scheduler_id, job.restart, output=output, run=run)
                reports.append(structs.replace(known, began=began, nodes=nodes))
        return reports

    def _beginning(self, job: str, run: str, told: Told) -> tuple[float | None, str]:
        """When a part began, and on which nodes; (None, "") where that cannot be read."""
        with contextlib.suppress(OSError):
            mark = read_part(self.places, job, run)
            if mark is not None and not mark.taken:
                start = self._start(job, mark, told)
                return start.time_of(mark.began_uptime_s), start.nodes
        return None, ""

    def in_doubt(self, job: Asked, stage: Stage) -> dict[str, str]:
        """Purpose: run -> why its marks are not believed, for a job that is over. Marks that cannot be read are left out."""
        found, told = dict[str, str](), self._told.get(job.id, Told())
        with contextlib.suppress(OSError):
            told.keeps_ends = told.keeps_ends or keeps_ends(self.places, job.id)
            for run in sorted(claimed_parts(self.places, job.id) | self._ends(job.id, job.restart, told).keys()):
                mark = self._mark(job.id, job.restart, run, told, stage)
                said = told.parts.get(run, "")
                if mark is not None and mark.doubt:
                    found[run] = mark.doubt
                elif mark is not None and said in ENDED and said != mark.state:
                    found[run] = f"by its marks it was {said}, and is {mark.state} by its job's script"
        return found

    def forget(self, jobs: Sequence[Asked]) -> None:
        """Forget all jobs but these."""
        wanted = {job.id for job in jobs}
        self._told = {job: told for job, told in self._told.items() if job in wanted}

    def _mark(self, job: str, restart: int, run: str, told: Told, stage: Stage) -> PartMark | None:
        """A part's mark, compared with what its job's script saw of its end. Raises OSError."""
        mark = read_part(self.places, job, run)
        if not told.keeps_ends:
            return mark
        start = mark.restart if mark is not None and not mark.taken else restart
        ends = self._ends(job, start, told)
        if start > 0 and start not in told.ends:
            return mark  # its script makes the file of a later start itself, and a file system may show that late
        return held_against(run, mark, ends.get(run), stage)

    def _look_at(self, job: Asked, run: str, told: Told, stage: Stage) -> list[JobReport]:
        mark = self._mark(job.id, job.restart, run, told, stage)
        if mark is None or (mark.empty and stage == "alive"):
            return []
        state = "taken" if mark.taken else mark.state
        if told.parts.get(run) == state:
            return []
        told.parts[run] = state
        if mark.taken:
            return []
        report = self._report(job, mark, self._start(job.id, mark, told))
        if state not in ENDED or not is_on_several(report.nodes):
            return [report]
        gave_up = broken_step(tail(self.places.layout.part_output(job.id, run))) is not None
        told.kept[run] = Kept(report, self.boots.clock(), gave_up)
        return []

    def _start(self, job: str, mark: PartMark, told: Told) -> Start:
        if mark.restart not in told.starts:
            told.starts[mark.restart] = read_start(self.places, job, mark.restart)
        return told.starts[mark.restart]

    def _report(self, job: Asked, mark: PartMark, start: Start) -> JobReport:
        over, doubt = mark.state != "running", {"doubt": mark.doubt} if mark.doubt else {}
        return JobReport(
            job.id,
            mark.state,
            "marks",
            scheduler_id=job.scheduler_id or start.scheduler_id,
            restart=job.restart,
            exit_status=mark.exit_status,
            elapsed_s=mark.elapsed_s,
            nodes=start.nodes,
            message=mark.message,
            output=(self._output(job.id, mark.run, mark.full, made=mark.state != "refused") | doubt) if over else {},
            began=start.time_of(mark.began_uptime_s),
            run=mark.run,
            doubt=mark.doubt,
        )

    def _output(self, job: str, run: str, full: bool = False, made: bool = False) -> dict[str, Any]:
        """Where the part's output is, as paths inside the campaign. ``full``: its script found no room. ``made``: its script made
        that file; if it is missing, it was removed, and the pointer is given all the same so that this is noticed when the run is
        judged.
        """
        layout = self.places.layout
        file, place = layout.part_output(job, run), layout.part_work(job, run)
        size = 0
        try:
            size = file.lstat().st_size
        except OSError:
            if not made:
                return {}
        return {
            "file": str(file.relative_to(layout.root)),
            "bytes": size,
            "directory": str(place.relative_to(layout.root)),
        } | ({"no_room": NO_ROOM} if full else {})


def _as_it_is(path: Path) -> tuple[int, int, int] | None:
    """What tells one content of a file from another; None where there is no file. The file is opened, since NFS may answer
    questions about a mere name for up to a minute from what it knew before. Raises OSError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _ended_long_before(end: float | None, lost: JobReport) -> bool:
    """Whether a part ended before the job's node can have failed."""
    return end is not None and lost.over is not None and end < lost.over - _MISSED_S


def stage_of(report: JobReport, marks: Marks | None) -> Stage:
    """Purpose: how far a job of several runs is. A job that came to its own end has counted its parts."""
    if report.state not in (*ENDED, "requeued"):
        return "alive"
    own = marks is not None and marks.restart == report.restart and marks.left is not None and not marks.told
    return "counted" if own else "over"


def naming(report: JobReport, doubted: Mapping[str, str]) -> JobReport:
    """Purpose: the report on a job of several runs, with the runs whose marks are not believed, and why."""
    if not doubted:
        return report
    more = f" and {len(doubted) - _MOST_NAMED} more" if len(doubted) > _MOST_NAMED else ""
    why = report.doubt or "marks of its runs are not what their script wrote"
    said = f"{why} ({', '.join(list(doubted)[:_MOST_NAMED])}{more})"
    return structs.replace(report, doubt=said, doubted=dict(doubted))
