"""Our jobs that somebody gave another name, perhaps that of another job: the controller knows them by their number and by the
directory they work in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.model.nouns import Cluster
from shakedown.schedulers.cluster.job_places import IS_JOB, JobPlaces, job_of_label
from shakedown.schedulers.cluster.marks import read_marks
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import QueueRow, key_values
from shakedown.schedulers.slurm.runner import Run


def is_ours(run: Run, clusters: Sequence[Cluster], row: QueueRow, directory: Path, command_s: float) -> bool:
    """Purpose: whether a job with another name was submitted to work in this directory of ours. Its number alone proves nothing: a
    controller that lost its memory gives numbers to other jobs again.
    """
    name = row.cluster or clusters[0].name
    ran = run(commands.scontrol_job(name, len(clusters) > 1, row.id), command_s)
    return ran.status == 0 and key_values(ran.output.strip()).get("WorkDir") == str(directory)


def found_by_number(job: Asked, others: Mapping[str, QueueRow]) -> QueueRow | None:
    """Purpose: the row with another name that has the job's number; None where there is none."""
    number, _, home = job.scheduler_id.partition(";")
    row = others.get(number)
    return row if row is not None and row.cluster in ("", home) else None


@dataclass(slots=True)
class Numbers:
    """The numbers that Slurm gave our jobs. ``told``: our id -> number, for every job that was ever asked about."""

    token: str
    places: JobPlaces
    told: dict[str, str] = field(default_factory=dict)

    def hear(self, jobs: Iterable[Asked]) -> None:
        """Purpose: remember the numbers of these jobs, also for the time after they are no longer asked about."""
        self.told |= {job.id: job.scheduler_id.partition(";")[0] for job in jobs if job.scheduler_id}

    def owns(self, name: str, number: str) -> bool:
        """Purpose: whether our job with this name is the one with this number.

        It is not, if it is known by another number: then somebody gave its name to another job. If no number of it is known, it is:
        a controller that lost its memory and gives numbers again is more likely than a person who exchanges names.
        """
        job = job_of_label(self.token, name)
        if job is None:
            return False
        known = self.told.get(job) or self._claimed(job)
        return known in ("", number)

    def _claimed(self, job: str) -> str:
        """The number in the claim of a job; "" where it has none, or cannot be read."""
        try:
            marks = read_marks(self.places, job)
        except OSError:
            return ""
        return marks.scheduler_id if marks is not None else ""


@dataclass(slots=True)
class Owners:
    """Which of our jobs the rows of a queue belong to, whatever their names. ``known``: earlier answers, by number and name.

    ``acts``: whether something is to be done to the jobs. Then a row with the number of one job and the name of another is left out
    until the controller tells which it is: after it lost its memory, the number of a lost job may be that of a live one.
    """

    token: str
    places: JobPlaces
    clusters: Sequence[Cluster]
    run: Run
    command_s: float
    acts: bool = False
    known: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def sort(self, rows: Sequence[QueueRow], jobs: Sequence[Asked]) -> list[tuple[str, QueueRow]]:
        """Purpose: (our job, row) for each row with one of our names; other rows are left out.

        The name tells which job it is, unless a number contradicts it. Then the controller is asked once which directory the job
        works in: two names may have been exchanged, or two jobs may have one name. Where it does not say, the number decides; but
        not against the name of a job whose own number is not known yet, since a controller that lost its memory gives numbers
        again.
        """
        several = len(self.clusters) > 1
        numbers = {job.id: _number(job.scheduler_id, several) for job in jobs if job.scheduler_id}
        unnumbered = {job.id for job in jobs if not job.scheduler_id}
        by_number: dict[tuple[str, str], list[str]] = {}
        for job, number in numbers.items():
            by_number.setdefault(number, []).append(job)
        found = []
        for row in rows:
            named = job_of_label(self.token, row.name)
            if named is None:
                continue
            here = (row.id, row.cluster if several else "")
            mine = by_number.get(here, [])
            if named not in mine and (mine or numbers.get(named, here) != here):
                owner = self.owner(row)
                if self.acts and mine and not owner:
                    continue
                named = owner or (mine[0] if len(mine) == 1 and named not in unnumbered else named)
            found.append((named, row))
        return found

    def owner(self, row: QueueRow) -> str:
        """Purpose: our job whose directory a job of Slurm's works in; "" where it is none of ours, or there is no answer. The
        campaign may have been moved, so only the end of the path is compared.
        """
        key = (row.id, row.cluster, row.name)
        if key not in self.known:
            name = row.cluster or self.clusters[0].name
            ran = self.run(commands.scontrol_job(name, len(self.clusters) > 1, row.id), self.command_s)
            if ran.status != 0:
                return ""
            place = key_values(ran.output.strip()).get("WorkDir", "")
            job = place.rpartition("/")[2]
            root = self.places.layout.root
            ours = IS_JOB.fullmatch(job) and place.endswith(f"/{self.places.control(job).relative_to(root)}")
            self.known[key] = job if ours else ""
        return self.known[key]


def _number(scheduler_id: str, several: bool) -> tuple[str, str]:
    """Slurm's number of a job, and its cluster where there are several."""
    number, _, home = scheduler_id.partition(";")
    return number, home if several else ""
