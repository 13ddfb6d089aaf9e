"""The ends of runs as the script of a job of several runs saw them, compared with the mark of each run.

A payload can write into marks, change them and remove them. The job's script keeps what it saw in its memory, writes it into a file
of its own after each end, and corrects that file at the end of the job. So an end counts once both the mark and that file have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import structs

from shakedown.schedulers.cluster.job_places import ENDS_BYTES, JobPlaces, read_small
from shakedown.schedulers.cluster.marks import words_of
from shakedown.schedulers.cluster.part_marks import PartMark, with_end

Words = Mapping[str, str]
Stage = Literal["alive", "over", "counted"]  # "counted": its script came to its own end, and put the file right

_NEVER = {
    "claim": "somebody else wrote its claim: its job's script never began it",
    "output": "somebody else wrote its output before it began: its job's script left it out",
}
_TWICE = "its job's script heard of it twice: somebody else told it of an end, or removed its claim"
_SECOND_LINE = "its job's script has more than one word on its end: somebody else wrote one"
_UNKNOWN = "its mark has an end that its job's script does not know of: somebody else wrote it"
_GONE = "its mark is gone, and its job's script saw it end: somebody removed it"
_NO_END = "its end mark is gone, and its job's script saw it end: somebody removed it"


def keeps_ends(places: JobPlaces, job: str) -> bool:
    """Purpose: whether the job's script writes such a file; scripts of older versions do not. Raises OSError."""
    if places.layout.part_ends(job, 0).exists():
        return True
    return b"/ends." in (read_small(places.script(job), ENDS_BYTES) or b"")


def read_ends(places: JobPlaces, job: str, restart: int) -> dict[str, Words]:
    """Purpose: run -> what the script saw of its end, for one start of a job. Raises OSError."""
    found: dict[str, Words] = {}
    for line in (read_small(places.layout.part_ends(job, restart), ENDS_BYTES) or b"").split(b"\n"):
        run, _, rest = line.partition(b" ")
        if words := words_of(rest + b"\n"):
            name = run.decode("ascii", "replace")
            found[name] = dict(words) | {"second": "1"} if name in found else words
    return found


def held_against(run: str, mark: PartMark | None, words: Words | None, stage: Stage) -> PartMark | None:
    """Purpose: a part's mark as far as its job's script confirms it; None where nothing is known of the part. ``words``: what the
    script saw of it, None = nothing.
    """
    if words is None:
        if mark is None or mark.taken or mark.state == "running":
            return mark
        if stage == "counted":
            return structs.replace(mark, doubt=mark.doubt or _UNKNOWN)
        return structs.replace(mark, state="running", exit_status=None, elapsed_s=None, message="")
    if why := _NEVER.get(words.get("foul", "")):
        return PartMark(run, state="interrupted", message=why, doubt=why)
    seen = with_end(PartMark(run, restart=mark.restart if mark is not None else 0), words)
    seen = structs.replace(seen, doubt=_foul(words))
    if mark is None or mark.taken or mark.state == "running":
        if stage == "alive":
            return mark
        gone = _GONE if mark is None or mark.taken else "" if seen.full else _NO_END
        return structs.replace(seen, doubt=seen.doubt or gone)
    same = (mark.state, mark.exit_status, mark.elapsed_s) == (seen.state, seen.exit_status, seen.elapsed_s)
    why = (
        mark.doubt
        or seen.doubt
        or ("" if same else f"its mark says {_end_in_words(mark)}, its job's script {_end_in_words(seen)}")
    )
    began = mark.began_uptime_s if seen.began_uptime_s is None else seen.began_uptime_s
    return structs.replace(seen, doubt=why, full=mark.full or seen.full, began_uptime_s=began)


def _foul(words: Words) -> str:
    if "second" in words:
        return _SECOND_LINE
    if words.get("foul") == "twice":
        return _TWICE
    return "an end stood in its mark before its payload ended: somebody else wrote it" if "foul" in words else ""


def _end_in_words(mark: PartMark) -> str:
    how = mark.state if mark.exit_status is None else f"exit status {mark.exit_status}"
    return how if mark.elapsed_s is None else f"{how} after {mark.elapsed_s:g} s"
