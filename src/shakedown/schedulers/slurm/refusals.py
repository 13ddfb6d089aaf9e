"""Sorting the answers of sbatch: accepted, refused for good, refused for now, or unknown. Pure.

It is only certain that nothing was accepted where the controller said so, or was never reached. In all other cases, above all after
a time-out, the job may have been accepted: the answer is "unknown", and the job is looked up later, never submitted again at once.
"""

from __future__ import annotations

import re

from msgspec import Struct

from shakedown.schedulers.slurm.parsing import clean, job_id
from shakedown.schedulers.slurm.runner import AWAY, Ran


class Sorted(Struct, frozen=True):
    """An answer of sbatch. ``unreachable``: the other jobs of the batch would get the same answer, so they need not be tried."""

    outcome: str
    scheduler_id: str = ""
    transient: bool = False
    unreachable: bool = False
    message: str = ""


_NOBODY_KNOWS = re.compile(
    r"timed out|(send|receive|shutdown)( |/\w+ )?(failure|operation)|zero bytes"
    r"|unexpected message|broken pipe|reset by peer|interrupted",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # of what a command says that cannot reach the controller: words that come before anything is sent
    r"connect failure|connection (refused|failure)|no route to host|network is unreachable|in standby|not active controller"
    r"|configuration source|process configuration file|unable to (establish|resolve)|host not found|unknown host"
    r"|can't be reached now|encode failed|munge socket|error getting cred",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"max_?submit|grpsubmit|job submit limit|job count limit|maximum number of jobs|max_?job_?count|temporarily|queue full"
    r"|try again|resource temporarily|too many open files|cannot allocate memory|no space left|disk quota|i/o error"
    r"|error writing|unable to open file|unable to create|inactive or drain|partition.*(down|inactive)|stale file handle"
    r"|node not available|nodes? busy|rate limit|throttl",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(  # a limit on the job itself, told in the same sentence as the one on their number
    r"(Assoc|QOS)(Max|Min|Grp)\w*(PerJob|Wall|Node|Cpu|Mem|TRES|Time)\w*|known by database|required partition not available.*state",
    re.IGNORECASE,
)
_MEANS = (  # words of Slurm's that do not say where to look
    (
        re.compile(r"invalid licen[cs]e specification", re.IGNORECASE),
        "Slurm has fewer of a licence than the job asks for, or none of that name: compare the system file with scontrol show "
        "licenses",
    ),
)


def sort_answer(ran: Ran) -> Sorted:
    """Purpose: what one run of sbatch means."""
    said = _sentence(ran)
    if ran.status == 0:
        job = job_id(ran.output)
        return (
            Sorted("accepted", job)
            if job
            else Sorted("unknown", message=f"sbatch printed no job id: {said or 'nothing'}")
        )
    if ran.timed_out or ran.status < 0:
        return Sorted("unknown", message=said or f"sbatch was ended by signal {-ran.status}")
    if ran.status == 127:
        return Sorted("refused", transient=True, unreachable=True, message=said)
    return _sort_complaint(ran.error, said)


def _sort_complaint(text: str, said: str) -> Sorted:
    if _FOR_GOOD.search(text) and "submit" not in _FOR_GOOD.search(text)[0].lower():  # type: ignore[index]
        return Sorted("refused", message=said)
    if AWAY.search(text) and not re.search(r"\((send|receive|shutdown)", text):
        if _BEFORE.search(text) and "decode failed" not in text.lower():
            return Sorted("refused", transient=True, unreachable=True, message=said)
        return Sorted("unknown", unreachable=True, message=said)  # of an answer that cannot be read, too
    if _NOBODY_KNOWS.search(text):
        return Sorted("unknown", message=said)
    if _FOR_NOW.search(text):
        return Sorted("refused", transient=True, message=said)
    if "error:" in text or "unrecognized option" in text or "invalid option" in text:
        means = next((f" ({words})" for pattern, words in _MEANS if pattern.search(text)), "")
        return Sorted("refused", message=said + means)
    return Sorted("unknown", message=said or "sbatch failed without a word")


def _sentence(ran: Ran) -> str:
    """The complaint as one line, without the names of programs."""
    lines = [
        re.sub(r"^(sbatch: )?((error|fatal): )?|,( sleeping and)? retrying\.?$", "", line.strip())
        for line in (ran.error or ran.output).splitlines()
    ]
    lines = [line for line in lines if line and not line.startswith("Try ")]
    return clean("; ".join(dict.fromkeys(lines)))
