"""Marks of a start that Slurm does not know: a payload can write them, for its own job or for another one.

Slurm counts how often it starts a job, and no payload can change that. Marks of a start are believed if that count includes it, and
also where nobody can be asked. For a job that the controller has forgotten only accounting counts, which may be late: the
controller keeps what its database has not taken yet, and says how much that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import structs

from shakedown.schedulers.claims import CONDUCTOR
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import NO_ROOM, Marks, read_restart, read_robbed
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.states import meaning

COUNTED_S = (
    10.0  # by which the count may be late: the queue was asked before the files were read, accounting lags behind
)
UNTOLD_S = 60.0  # and accounting where nobody says by how much it is behind
Lag = Literal["behind", "even", "untold"]


def without_unknown(found: Found, places: JobPlaces, lag: Callable[[Found], Lag] = lambda _: "untold") -> Found:
    """Purpose: what was found, without starts that Slurm does not know; ``unsettled`` while it may still tell of them.

    ``lag``: whether accounting has everything that the controller knew before it was asked now. Raises OSError where the marks of
    the start that Slurm does know cannot be read.
    """
    newest, known = max(found.marks.restart if found.marks is not None else 0, found.again), _counted(found)
    if newest <= found.job.restart:
        return found
    if found.row is None and found.accounting == "unasked":  # it is asked now and then only: not in this look
        return structs.replace(found, unsettled=True) if found.queue == "told" else found
    if known is None or newest <= known:
        return found
    if found.doubt_s < COUNTED_S or (_may_be_late(found) and not _is_even(found, lag(found))):
        return structs.replace(found, unsettled=True)
    restart = max(known, found.job.restart)
    marks = found.marks
    if marks is not None and marks.restart > restart:
        marks = read_restart(places, found.job.id, restart)
        marks = marks if marks.claimed and marks.holder != CONDUCTOR else read_robbed(places, found.job.id, restart)
    told = f"restart {known}" if known else "none"
    return structs.replace(
        found,
        marks=marks,
        again=found.again if found.again <= known else 0,
        output=_output(found, marks),
        foul=f"there are marks of its restart {newest}, and Slurm knows of {told}: somebody else wrote them",
    )


def _may_be_late(found: Found) -> bool:
    """Whether only accounting counts, and its last record is not an end after which no start would run a payload."""
    if found.row is not None or not found.records:
        return False
    last = found.records[-1]
    own = meaning(last.state).state in ("completed", "failed") and last.exit is not None and last.exit >= 0
    return not own


def _is_even(found: Found, lag: Lag) -> bool:
    return lag == "even" or (lag == "untold" and found.doubt_s >= UNTOLD_S)


def _counted(found: Found) -> int | None:
    """The number of the newest start that Slurm knows; None where nobody could be asked."""
    told = [found.row.restart] if found.row is not None else []
    if found.records:
        told.append(len(found.records) - 1)
    return max(*told, len(found.finished) - 1, 0) if told else None


def _output(found: Found, marks: Marks | None) -> dict[str, object]:
    if marks is None or not marks.claimed or not found.output:
        return {}
    output = {name: value for name, value in found.output.items() if name != "no_room"}
    return output | {"bytes": marks.output_bytes} | ({"no_room": NO_ROOM} if marks.full else {})
