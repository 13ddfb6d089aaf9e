"""A controller that lost its memory (it was killed, or its state rolled back) starts a job that runs a second time.

The second start has the same id and restart count, finds the claim taken, or cannot begin at all; what Slurm then says of the
job's end is said of that start, and not of the one that ran.
"""

from __future__ import annotations

from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.job_evidence import Found

CLOCKS_DIFFER_S = 5.0  # the controller's and the file system's
_LOST_MEMORY = "Slurm started it a second time, as a controller does that lost its memory; that start"
_FOUND_TAKEN = "found the claim taken and ended"
_ENDED_AT_ONCE = "ended without a claim of its own"


def second_start(found: Found, status: int | None, exact: bool = True) -> str:
    """Purpose: a sentence's beginning where an end that Slurm tells is that of a second start; "" where it is the first one's.

    ``status``: the exit status that Slurm tells. ``exact``: all of it; accounting drops the highest bit, so what it tells of a
    payload that ended with 225 reads like a start that found the claim taken. The claim of a job is never older than the start
    that took it.
    """
    claimed, start = found.marks.claimed_at if found.marks is not None else None, _start(found)
    if status == CLAIM_TAKEN and (exact or claimed is None or start is None or start > claimed + CLOCKS_DIFFER_S):
        return f"{_LOST_MEMORY} {_FOUND_TAKEN}"
    if claimed is None or start is None or start <= claimed + CLOCKS_DIFFER_S:
        return ""
    return f"{_LOST_MEMORY} {_ENDED_AT_ONCE}"


def _start(found: Found) -> float | None:
    """When Slurm says that this restart began."""
    row, restart = found.row, found.job.restart
    if row is not None and row.restart == restart and row.start:
        return row.start
    return found.records[restart].start if len(found.records) > restart else None


def first_is_over(found: Found, nodes: str) -> bool:
    """Purpose: whether the start that has the claim was ended: slurmstepd wrote so, or slurmd of the same node started the second
    one, for which it ends the first.
    """
    first = found.marks.node or found.marks.nodes if found.marks is not None else ""
    return found.told_to_end or bool(found.words) or not first or first in names_in(nodes) or first == nodes
