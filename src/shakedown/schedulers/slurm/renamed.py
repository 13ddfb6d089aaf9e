"""Jobs of ours that somebody gave another name, perhaps that of another one: the controller knows them by their number and by the
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
    """Purpose: whether a job of another name was submitted to work in this directory of ours: a number alone proves nothing, for a
    controller that lost its memory gives it to a stranger.
    """
    name = row.cluster or clusters[0].name
    ran = run(commands.scontrol_job(name, len(clusters) > 1, row.id), command_s)
    return ran.status == 0 and key_values(ran.output.strip()).get("WorkDir") == str(directory)


def found_by_number(job: Asked, others: Mapping[str, QueueRow]) -> QueueRow | None:
    """Purpose: the row of another name that has a job's number."""
    number, _, home = job.scheduler_id.partition(";")
    row = others.get(number)
    return row if row is not None and row.cluster in ("", home) else None


@dataclass(slots=True)
class Numbers:
    """The numbers that Slurm gave our jobs. ``told``: by our ids, of every job that was ever asked about."""

    token: str
    places: JobPlaces
    told: dict[str, str] = field(default_factory=dict)

    def hear(self, jobs: Iterable[Asked]) -> None:
        """Purpose: keep the numbers of these jobs, also for when nobody asks about them any more."""
        self.told |= {job.id: job.scheduler_id.partition(";")[0] for job in jobs if job.scheduler_id}

    def owns(self, name: str, number: str) -> bool:
        """Purpose: whether the job of ours that has this name is to be taken for the one with this number, too.

        It is not where it is known by another number: then somebody gave its name to the job with this one. Where no number of it
        is known, it is: that a controller which lost its memory gives numbers again is likelier than that somebody exchanges names.
        """
        job = job_of_label(self.token, name)
        if job is None:
            return False
        known = self.told.get(job) or self._claimed(job)
        return known in ("", number)

    def _claimed(self, job: str) -> str:
        """The number that the claim of a job tells; "" where it has none, or cannot be read."""
        try:
            marks = read_marks(self.places, job)
        except OSError:
            return ""
        return marks.scheduler_id if marks is not None else ""


@dataclass(slots=True)
class Owners:
    """Which of our jobs the rows of a queue are, whatever they are called. ``known``: the answers, by number and name.

    ``acts``: whether something is done to the jobs. Then a row that has the number of one and the name of another is left out until
    the controller tells which it is: after it lost its memory, the number of a job that is lost is that of one which goes on.
    """

    token: str
    places: JobPlaces
    clusters: Sequence[Cluster]
    run: Run
    command_s: float
    acts: bool = False
    known: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def sort(self, rows: Sequence[QueueRow], jobs: Sequence[Asked]) -> list[tuple[str, QueueRow]]:
        """Purpose: our job of each row that bears one of our names; what bears none is left out.

        A name says which job it is unless a number says otherwise. Then the controller is asked once where the job works: two
        names may have been exchanged, and of one name there may be two jobs. Where it does not say, the number tells, but not
        against the name of a job whose own number is not known yet: a controller that lost its memory gives numbers again.
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
        """Purpose: the job of ours in whose directory a job of Slurm's works; "" for none of them, or where nobody answers.

        A campaign may have been moved since: the end of the path tells.
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
    """Slurm's number of a job and, where there are several, its cluster."""
    number, _, home = scheduler_id.partition(";")
    return number, home if several else ""
