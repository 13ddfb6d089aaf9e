"""A job that is asked about, and everything that one look found of it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.slurm.parsing import QueueRow, Record
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, meaning

Told = Literal["told", "silent", "none", "unasked"]


class Asked(Struct, frozen=True):
    """A job that is asked about: our id, Slurm's ("" = not known), how often it was started again, since when it is ours, its open
    parts. ``lost``: only one start is asked about, whose node was lost; what came after it is known.
    """

    id: str
    scheduler_id: str = ""
    restart: int = 0
    since: float = 0.0
    parts: tuple[str, ...] = ()
    lost: bool = False


class Found(Struct, frozen=True):
    """Everything that one look found of a job.

    ``queue``, ``accounting``: whether they answered ("none": there is no accounting here). ``records``: accounting's records of the
    job, one for each start. ``marks_trouble``: why its marks could not be read. ``words``: what slurmstepd last wrote into the
    job's own output; ``said``: the last line there. ``finished``: its starts in the list of finished jobs, in order. ``doubt_s``:
    for how many seconds it has not been plainly waiting or running. ``output``: where its output is. ``again``: the number of the
    newest start that found an earlier one over and did nothing, 0 = none. ``never_began``: the start in question never took its
    claim. ``has_directory``: the job's directory exists. ``renamed``: the name that somebody gave the job at the scheduler.
    ``moved_from``: for a job that did not begin, the directory that its script was written for, if the job's directory is another
    one now. ``nodes_now``: its nodes when it was last seen running. ``told_to_end``: slurmstepd wrote into its output that it ended
    a start of it. ``unheard``: what its script says of its end while the queue calls it running. ``script``: accounting's record of
    the script of the start that left the marks; ``scripts``: whether it was asked for. ``unsettled``: there are marks of a start
    that Slurm does not know, and Slurm may still tell of it; ``foul``: it does not.
    """

    job: Asked
    marks: Marks | None = None
    marks_trouble: str = ""
    row: QueueRow | None = None
    queue: Told = "told"
    records: tuple[Record, ...] = ()
    accounting: Told = "unasked"
    finished: tuple[Record, ...] = ()
    words: str = ""
    said: str = ""
    doubt_s: float = 0.0
    trouble: str = ""  # why a source was silent
    output: dict[str, Any] = field(default_factory=dict)
    again: int = 0
    never_began: bool = False
    renamed: str = ""
    has_directory: bool = True
    moved_from: str = ""
    nodes_now: str = ""
    told_to_end: bool = False
    unsettled: bool = False
    foul: str = ""
    unheard: str = ""
    script: Record | None = None
    scripts: Told = "unasked"


_LAST = frozenset({"completed", "failed", "timeout", "cancelled"})  # after these Slurm starts nothing again by itself


def listed(found: Found, restart: int) -> Record | None:
    """Purpose: what the list of finished jobs has of one start of a job; None where that is not known.

    The list does not number the starts, so they are counted. Its older part may have been moved away: then there are fewer lines
    than starts that are over, and only an end that nothing follows can still be identified.
    """
    lines, newest = found.finished, newest_start(found)
    if restart >= max(newest, len(lines)):
        return lines[-1] if lines and meaning(lines[-1].state).state in _LAST else None
    row = found.row
    lives = row is not None and row.restart == newest and meaning(row.state).state in BEFORE_AND_DURING
    over = newest if lives or restart == newest else newest + 1
    return lines[restart] if max(over, restart + 1) <= len(lines) else None


def newest_start(found: Found) -> int:
    """Purpose: the number of the newest start that the queue or the marks show, or that is asked about."""
    row, marks = found.row, found.marks
    told = (row.restart if row is not None else 0, marks.restart if marks is not None else 0)
    return max(found.job.restart, found.again, *told)
