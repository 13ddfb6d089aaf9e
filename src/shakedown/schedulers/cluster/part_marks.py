"""What the parts of a job of several runs left on disk: each has a file with its claim, which is its begin mark, and its end mark.

As with a job's own marks, reading may hang with the file system, and nothing in the files is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct, structs

from shakedown.model.ports import AT_LIMIT
from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.job_places import JobPlaces, holder_of, read_small
from shakedown.schedulers.cluster.marks import TROUBLE, as_seconds, as_status, elapsed_of, words_of

_MOST_LINES = 8  # claim, word of a time limit, end


class PartMark(Struct, frozen=True):
    """What is known of a part whose claim was taken.

    ``taken``: by the conductor, so it never begins. ``restart``: of the job, in which the part began. ``began_uptime_s``: when it
    began, in seconds since its host was booted. ``state``: "running" until there is an end; then "completed", "failed", "timeout",
    "refused" (it never ran), or "interrupted" (it never ran either: the claim was not written by its job). ``empty``: nothing is
    written yet: its lane may be about to write the claim, or to remove the file because there is no room. ``full`` and ``doubt``:
    as in ``Marks``.
    """

    run: str
    taken: bool = False
    restart: int = 0
    state: str = "running"
    began_uptime_s: float | None = None
    exit_status: int | None = None
    elapsed_s: float | None = None
    message: str = ""
    empty: bool = False
    full: bool = False
    doubt: str = ""


class Start(Struct, frozen=True):
    """A start of the job, as its claim tells it: when, by the clock of the file system and by its host's uptime, where, and under
    which id.
    """

    claimed_at: float | None = None
    uptime_s: float | None = None
    nodes: str = ""
    scheduler_id: str = ""

    def time_of(self, uptime_s: float | None) -> float | None:
        """Purpose: an uptime of the same host as seconds since 1970, by the clock of the file system; None where
        that is not known.
        """
        if self.claimed_at is None or self.uptime_s is None or uptime_s is None:
            return None
        return round(self.claimed_at + max(0.0, uptime_s - self.uptime_s), 6)


def read_start(places: JobPlaces, job: str, restart: int) -> Start:
    """Purpose: the start of a job, which is needed to turn its parts' marks into times. Raises OSError."""
    claim = places.claim(job, restart)
    data = read_small(claim)
    words = words_of(data)
    if data is None or not words or holder_of(data) == CONDUCTOR:
        return Start()
    return Start(claim.lstat().st_mtime, as_seconds(words.get("uptime")), words.get("nodes", ""), holder_of(data))


def claimed_parts(places: JobPlaces, job: str) -> set[str]:
    """Purpose: the runs of a job whose claims were taken, also those taken by the conductor. Raises OSError."""
    try:
        return set(os.listdir(places.layout.part_marks(job)))  # noqa: PTH208 - only names are wanted
    except (FileNotFoundError, NotADirectoryError):
        return set()


def read_part(places: JobPlaces, job: str, run: str) -> PartMark | None:
    """Purpose: the mark of one part; None where it has none. Raises OSError."""
    data = read_small(places.layout.part_mark(job, run))
    if data is None:
        return None
    if holder_of(data) == CONDUCTOR:
        return PartMark(run, taken=True)
    begin, *others = (words_of(line + b"\n") for line in data.split(b"\n")[:_MOST_LINES])
    end: dict[str, str] = {}
    for words in others:
        end |= words
    ends = sum("status" in words or "trouble" in words for words in others)
    restart = begin.get("restart", "0")
    return with_end(
        PartMark(
            run,
            restart=int(restart) if restart.isdigit() and len(restart) < 7 else 0,
            began_uptime_s=as_seconds(end.get("began", begin.get("uptime"))),
            empty=not data,
            doubt=_why_not_genuine(begin, end, ends),
        ),
        end,
    )


def _why_not_genuine(begin: dict[str, str], end: dict[str, str], ends: int) -> str:
    """Why a mark may not be what the job's script wrote, "" where it may: a claim, perhaps a word of a time limit, and one end."""
    if ends > 1 or "foul" in end:
        return "an end stood in its mark before its payload ended: somebody else wrote it"
    if ends and "uptime" not in begin:
        return "its claim was changed or removed while it ran"
    claimed, began = as_seconds(begin.get("uptime")), as_seconds(end.get("began"))
    if claimed is not None and began is not None and began < claimed:
        return "by its end mark its payload began before its claim was taken"
    return ""


def with_end(mark: PartMark, end: Mapping[str, str]) -> PartMark:
    """Purpose: the mark with the end that these words tell, or unchanged where they tell none."""
    status, elapsed_s, limit_s = as_status(end.get("status")), elapsed_of(end), as_seconds(end.get("timeout"))
    if end.get("trouble") in TROUBLE:
        return structs.replace(mark, state="refused", message=TROUBLE[end["trouble"]])
    if status is None:
        return mark
    state, message = "completed" if status == 0 else "failed", ""
    if limit_s is not None:  # what it still did when it was told to end is no end of its own
        state, message, status = "timeout", f"{AT_LIMIT} of {limit_s:g} s; the job went on", None
    began = as_seconds(end.get("began"))
    return structs.replace(
        mark,
        state=state,
        exit_status=status,
        elapsed_s=elapsed_s,
        message=message,
        full="full" in end,
        began_uptime_s=mark.began_uptime_s if began is None else began,
    )
