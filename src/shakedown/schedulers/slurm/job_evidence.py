"""A job that is asked about, and all that one look found of it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.slurm.parsing import QueueRow, Record

Told = Literal["told", "silent", "none", "unasked"]


class Asked(Struct, frozen=True):
    """A job that is asked about: our id, Slurm's ("" not known), its restart, since when it has been ours, its open parts.

    ``lost``: it is asked about one start alone, whose node was lost; whatever came after it is known.
    """

    id: str
    scheduler_id: str = ""
    restart: int = 0
    since: float = 0.0
    parts: tuple[str, ...] = ()
    lost: bool = False


class Found(Struct, frozen=True):
    """All that one look found of a job.

    ``queue``, ``accounting``: whether it answered ("none": there is no accounting here). ``records``: of this job, by
    restart. ``marks_trouble``: why its marks could not be read. ``words``: what slurmstepd wrote into the job's own output
    last; ``said``: any last line there. ``finished``: its line in the list of finished jobs. ``doubt_s``: for how long it has
    not been plainly waiting or running. ``output``: where its output is. ``again``: the newest start of the job that found an
    earlier one over and did nothing, 0 = none. ``never_began``: the start that is asked about never took its claim.
    ``has_directory``: the job's directory is there. ``renamed``: the name that somebody gave it at the scheduler.
    ``nodes_now``: the nodes that it had when it was last seen running.
    ``told_to_end``: slurmstepd wrote into its output that it ended a start of it.
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
    said: str = ""
    doubt_s: float = 0.0
    trouble: str = ""  # why a source was silent
    output: dict[str, Any] = field(default_factory=dict)
    again: int = 0
    never_began: bool = False
    renamed: str = ""
    has_directory: bool = True
    nodes_now: str = ""
    told_to_end: bool = False
