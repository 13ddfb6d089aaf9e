"""A controller that lost its memory (it was killed, or its state was set back) starts a running job a second time.

The second start has the same id and restart count. It finds the claim taken, or cannot begin at all. What Slurm then says of the
job's end is about that start, and not about the one that ran.
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
    """Purpose: the beginning of a sentence, where an end that Slurm tells is that of a second start; "" where it is that of the
    first.

    ``status``: the exit status that Slurm tells. ``exact``: whether it is complete; accounting drops the highest bit, so that 225
    looks like the status of a start that found the claim taken. A job's claim is never older than the start that took it.
    """
    claimed, start = found.marks.claimed_at if found.marks is not None else None, _start(found)
    if status == CLAIM_TAKEN and (exact or claimed is None or start is None or start > claimed + CLOCKS_DIFFER_S):
        return f"{_LOST_MEMORY} {_FOUND_TAKEN}"
    if claimed is None or start is None or start <= claimed + CLOCKS_DIFFER_S:
        return ""
    return f"{_LOST_MEMORY} {_ENDED_AT_ONCE}"


def _start(found: Found) -> float | None:
    """When this start began, by Slurm; None where that is not known."""
    row, restart = found.row, found.job.restart
    if row is not None and row.restart == restart and row.start:
        return row.start
    return found.records[restart].start if len(found.records) > restart else None


def first_is_over(found: Found, nodes: str) -> bool:
    """Purpose: whether the start that has the claim was ended: slurmstepd wrote so, or slurmd of the same node started the second
    one, before which it ends the first.
    """
    first = found.marks.node or found.marks.nodes if found.marks is not None else ""
    return found.told_to_end or bool(found.words) or not first or first in names_in(nodes) or first == nodes
