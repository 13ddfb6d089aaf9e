"""Reading the claim and the marks that a cluster's job left on disk. The job's machine may die at any byte, so nothing in the files
is trusted. Reading may hang with the file system, so it must happen in a process that may hang.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import islice

from msgspec import Struct

from shakedown.model.void_starts import PAYLOAD_CHANGED, VOID
from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.job_places import JobPlaces, holder_of, read_small

NO_ROOM = "the campaign's file system was full or away when it ended"
_MOST_ENTRIES = 10_000  # of a job's directory that are looked at
_MARK = re.compile(r"(?:claim|marks)\.(0|[1-9][0-9]{0,5})")
_WORD = re.compile(r"([a-z]+)=(\S*)")


class Marks(Struct, frozen=True):
    """What is known of one start of a job.

    ``claimed``: its claim was taken, or there is an end mark although the claim is gone. ``holder``: who has the claim:
    "conductor", the scheduler's id of the job, "" = cannot be read (yet). ``node``: slurmd's name of the node that the script ran
    on, "" = the claim does not say. ``began_uptime_s``: when it began, in seconds since ``host`` was booted. ``claimed_at``: when
    the claim was written, and ``ended_at``: when the payload ended, in seconds since 1970 by the clock of the file system, which is
    the same for all jobs. ``exit_status``: of the payload, None where it did not end by itself. ``told``: the signal that told the
    job to end; ``elapsed_s`` is known then, but only the scheduler knows the reason. ``trouble``: why the payload never ran
    although the job did. ``void``: why it did nothing: "over": an earlier start had come to its own end; "before": the job that it
    follows may still run. ``output_bytes``: the size of its output so far. ``left``: for a job of several runs that came to its own
    end, how many runs had no claim then. ``full``: there was no room for the end mark at first. ``stopped``: a job of several runs
    began no more of them, as it could not write claims. ``doubt``: why the files may not be what the job's script wrote, "" = no
    reason: the payload runs as the same user and could have written them. ``torn``: there is an end mark without a complete line.
    """

    restart: int
    claimed: bool = False
    holder: str = ""
    host: str = ""
    scheduler_id: str = ""
    nodes: str = ""
    began_uptime_s: float | None = None
    claimed_at: float | None = None
    exit_status: int | None = None
    elapsed_s: float | None = None
    output_bytes: int = 0
    told: str = ""
    trouble: str = ""
    void: str = ""
    node: str = ""
    left: int | None = None
    full: bool = False
    stopped: bool = False
    doubt: str = ""
    torn: bool = False
    ended_at: float | None = None


def read_marks(places: JobPlaces, job: str) -> Marks | None:
    """Purpose: the marks of the newest start that left any; None where there are none. Raises OSError where the job's directory
    cannot be read, so that nothing is known.
    """
    restart = _newest_restart(places, job)
    return None if restart is None else read_restart(places, job, restart)


def read_restart(places: JobPlaces, job: str, restart: int) -> Marks:
    """Purpose: the marks of one restart. Raises OSError."""
    claim = read_small(places.claim(job, restart))
    mark = read_small(places.marks(job, restart))
    begin, end = words_of(claim), words_of(mark)
    holder = "" if claim is None else holder_of(claim)
    if holder == CONDUCTOR and as_status(end.get("status")) is not None:
        holder = ""  # its payload ended: so the claim was another one while it ran
    claimed_at = _written(places, job, restart) if begin and holder != CONDUCTOR else None
    told, void = end.get("told", ""), end.get("trouble", "") if end.get("trouble") in VOID else ""
    return Marks(
        restart,
        claimed=claim is not None or (bool(end) and not void),
        holder=holder,
        host=begin.get("host", ""),
        scheduler_id="" if holder == CONDUCTOR else holder,
        nodes=begin.get("nodes", ""),
        began_uptime_s=as_seconds(end.get("began", begin.get("uptime"))),
        claimed_at=claimed_at,
        ended_at=_ended_at(claimed_at, as_seconds(begin.get("uptime")), as_seconds(end.get("ended"))),
        exit_status=None if told else as_status(end.get("status")),
        elapsed_s=elapsed_of(end),
        output_bytes=_size(places, job, restart),
        told=told,
        trouble=TROUBLE.get(end.get("trouble", ""), ""),
        void=void,
        node=begin.get("node", ""),
        left=_count(end.get("left")),
        full="full" in end,
        stopped="stopped" in end,
        doubt=_why_not_genuine(claim, mark, begin, end),
        torn=mark is not None and not end,
    )


def _ended_at(claimed_at: float | None, claimed: float | None, ended: float | None) -> float | None:
    """When the payload ended, by the clock of the file system: the time of the claim plus the uptime that passed
    on its host since.
    """
    if claimed_at is None or claimed is None or ended is None:
        return None
    return round(claimed_at + ended - claimed, 6)


def _why_not_genuine(claim: bytes | None, mark: bytes | None, begin: dict[str, str], end: dict[str, str]) -> str:
    """Why a claim and a mark may not be what the job's script wrote; "" where they may. The script writes one line into each, and
    the end after the beginning.
    """
    if end.get("foul") in FOUL:
        return FOUL[end["foul"]]
    if has_more(mark):
        return "its end mark has more than one line: somebody else wrote into it"
    if has_more(claim):
        return "its claim has more than one line: somebody else wrote into it"
    if "status" in end and claim is not None and holder_of(claim) == CONDUCTOR:
        return FOUL["claim"]
    claimed, began = as_seconds(begin.get("uptime")), as_seconds(end.get("began"))
    if claimed is not None and began is not None and began < claimed:
        return "by its end mark its payload began before its claim was taken"
    return ""


def has_more(data: bytes | None) -> bool:
    """Purpose: whether there is anything after the first line of a file that should have one line."""
    return bool((data or b"").partition(b"\n")[2])


def read_robbed(places: JobPlaces, job: str, restart: int) -> Marks | None:
    """Purpose: the marks of a start of a job that has an output but no claim; None where there is no output. Raises OSError.

    A script makes its output only once it has its claim. So the claim was removed or changed later, perhaps by the payload, and the
    job did run.
    """
    try:
        size = os.stat(places.output(job, restart), follow_symlinks=False).st_size  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Marks(restart, claimed=True, output_bytes=size, doubt=FOUL["claim"])


# What a job's script found when its payload had ended, by the word that it writes into its end mark.
FOUL = {
    "early": "an end mark was there before its payload ended: somebody else wrote it",
    "claim": "its claim was changed or removed while it ran",
    "part": "marks of its runs are not what their script wrote",
}
TROUBLE = {
    "claim": "something that is no plain file is in the place of its claim: somebody put it there, and nothing was run",
    "place": "its work directory, its output file or its payload could not be opened on the node",
    "payload": PAYLOAD_CHANGED,
}


def _newest_restart(places: JobPlaces, job: str) -> int | None:
    try:
        with os.scandir(places.control(job)) as entries:
            found = [
                int(match[1]) for entry in islice(entries, _MOST_ENTRIES) if (match := _MARK.fullmatch(entry.name))
            ]
    except (FileNotFoundError, NotADirectoryError):
        places.see_jobs()  # a job that left nothing is not the same as a directory of jobs that is away
        return None
    return max(found, default=None)


def words_of(data: bytes | None) -> dict[str, str]:
    """The words (name=value) of the first line; empty where that line is not complete."""
    line, newline, _ = (data or b"").partition(b"\n")
    if not newline or not line.endswith(b" .") or b"\0" in line:
        return {}
    return dict(_WORD.findall(line.decode("ascii", "replace")))


def as_seconds(word: str | None) -> float | None:
    return float(word) if word and re.fullmatch(r"\d{1,12}(\.\d{1,9})?", word) else None


def as_status(word: str | None) -> int | None:
    return int(word) if word and re.fullmatch(r"\d{1,3}", word) else None


def _count(word: str | None) -> int | None:
    return int(word) if word and re.fullmatch(r"\d{1,9}", word) else None


def elapsed_of(end: Mapping[str, str]) -> float | None:
    """The seconds between two readings of the uptime on one host; None where they are missing or impossible."""
    began, ended = as_seconds(end.get("began")), as_seconds(end.get("ended"))
    return None if began is None or ended is None or ended < began else round(ended - began, 6)


def _size(places: JobPlaces, job: str, restart: int) -> int:
    try:
        return os.stat(places.output(job, restart), follow_symlinks=False).st_size  # noqa: PTH116
    except OSError:
        return 0


def _written(places: JobPlaces, job: str, restart: int) -> float | None:
    try:
        return os.stat(places.claim(job, restart), follow_symlinks=False).st_mtime  # noqa: PTH116
    except OSError:
        return None
