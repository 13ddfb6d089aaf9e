"""A job that is asked about, and all that one look found of it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from shakedown.schedulers.marks import Marks
from shakedown.schedulers.slurm.parsing import QueueRow, Record

Told = Literal["told", "silent", "none", "unasked"]


class Asked(Struct, frozen=True):
    """A job that is asked about: our id, Slurm's ("" not known), its restart, since when it has been ours, its open parts."""

    id: str
    scheduler_id: str = ""
    restart: int = 0
    since: float = 0.0
    parts: tuple[str, ...] = ()


class Found(Struct, frozen=True):
    """All that one look found of a job.

    ``queue``, ``accounting``: whether it answered ("none": there is no accounting here). ``records``: of this job, by
    restart. ``marks_trouble``: why its marks could not be read. ``words``: what slurmstepd wrote into the job's own output
    last. ``finished``: its line in the list of finished jobs. ``doubt_s``: for how long it has not been plainly waiting or
    running. ``output``: where its output is.
    """

    job: Asked
    marks: Marks | None = None
    marks_trouble: str = ""
    row: QueueRow | None = None
    queue: Told = "told"
    records: tuple[Record, ...] = ()
    accounting: Told = "unasked"
    finished: Record | None = None
    words: str = ""
    doubt_s: float = 0.0
    trouble: str = ""  # why a source was silent
    output: dict[str, Any] = field(default_factory=dict)
