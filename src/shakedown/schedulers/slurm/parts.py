"""News of the parts of jobs of several runs: each begin and each end once. What is known to be over is not looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shakedown.model.ports import JobReport
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.cluster.part_marks import PartMark, Start, claimed_parts, read_part, read_start
from shakedown.schedulers.slurm.evidence import SETTLE_S
from shakedown.schedulers.slurm.job_evidence import Asked

# A file system may show what is in a directory late (NFS: up to a minute). A job that came to its own end counted its parts.
_DIRECTORY_SETTLES_S = 60.0


@dataclass(slots=True)
class Told:
    """What was said of one job's parts: run -> state; and its starts, by restart."""

    parts: dict[str, str] = field(default_factory=dict)
    starts: dict[int, Start] = field(default_factory=dict)
    unclaimed: int = 0  # of the open ones, at the last look


@dataclass(slots=True)
class Parts:
    """The memory of one helper: a new one says everything again."""

    places: JobPlaces
    _told: dict[str, Told] = field(default_factory=dict)

    def news(self, job: Asked) -> list[JobReport]:
        """Purpose: what has not been said of a job's parts. Raises OSError where its marks cannot be read."""
        if not job.parts:
            return []
        told = self._told.setdefault(job.id, Told())
        claimed = claimed_parts(self.places, job.id)
        told.unclaimed = sum(run not in claimed for run in job.parts)
        reports = []
        for run in job.parts:
            if run in claimed and told.parts.get(run, "running") == "running":
                reports += self._look_at(job, run, told)
        return reports

    def are_complete(self, job: Asked, marks: Marks | None, doubt_s: float) -> bool:
        """Purpose: whether ``news`` of a job that is over was all there will be. What is too late is not waited for."""
        if not job.parts:
            return True
        if marks is None or marks.left is None:
            return doubt_s >= SETTLE_S
        told = self._told.get(job.id)
        return told is None or told.unclaimed <= marks.left or doubt_s >= _DIRECTORY_SETTLES_S

    def forget(self, jobs: Sequence[Asked]) -> None:
        """Jobs that nobody asks about any more."""
        wanted = {job.id for job in jobs}
        self._told = {job: told for job, told in self._told.items() if job in wanted}

    def _look_at(self, job: Asked, run: str, told: Told) -> list[JobReport]:
        mark = read_part(self.places, job.id, run)
        if mark is None:
            return []
        state = "taken" if mark.taken else mark.state
        if told.parts.get(run) == state:
            return []
        told.parts[run] = state
        return [] if mark.taken else [self._report(job, mark, self._start(job, mark, told))]

    def _start(self, job: Asked, mark: PartMark, told: Told) -> Start:
        if mark.restart not in told.starts:
            told.starts[mark.restart] = read_start(self.places, job.id, mark.restart)
        return told.starts[mark.restart]

    def _report(self, job: Asked, mark: PartMark, start: Start) -> JobReport:
        over = mark.state != "running"
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
            output=self._output(job.id, mark.run) if over else {},
            began=start.time_of(mark.began_uptime_s),
            run=mark.run,
        )

    def _output(self, job: str, run: str) -> dict[str, Any]:
        """Where its output is: paths inside the campaign."""
        layout = self.places.layout
        file, place = layout.part_output(job, run), layout.part_work(job, run)
        try:
            size = file.lstat().st_size
        except OSError:
            return {}
        return {
            "file": str(file.relative_to(layout.root)),
            "bytes": size,
            "directory": str(place.relative_to(layout.root)),
        }
