"""Starts that never took their claim: whether the node failed to launch them, or somebody ended them. Pure.

A prolog may fail, a spool directory may have no room, or slurmd may refuse a second copy of a job. Slurm then cancels the job as
user 0, calls it failed, or lets it reach its time limit; in each case the script was never started. That is a failure of the node.
"""

from __future__ import annotations

from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.cluster.job_script import FOUL_MARKS
from shakedown.schedulers.cluster.marks import Marks
from shakedown.schedulers.local_host.script import CLAIM_TAKEN
from shakedown.schedulers.slurm.job_evidence import Found
from shakedown.schedulers.slurm.parsing import QueueRow, Record
from shakedown.schedulers.slurm.states import meaning

NEVER_OPENED = -53  # "0:53": slurmd could not even open the job's output or directory
_NOBODY = ("", "0")  # whom slurmd cancels a job as; "" where nobody says who it was
_HOW = {
    "cancelled": "Slurm cancelled it",
    "timeout": "it came to its time limit",
    "node_fail": "Slurm lost the node",
}


def failed_launch(found: Found, source: str, word: str, status: int | None, nodes: str, reason: str, by: str) -> str:
    """Purpose: a sentence, where a job that had a node was ended before its script was started; else "".

    A script that was started and gave up by itself shows that by its exit status. One that a person cancelled has that person's id,
    or what slurmstepd wrote into its output. A later start that was cancelled while it waited still shows the nodes of the start
    before, but also the reason for which it waited.
    """
    state = meaning(word).state
    if not nodes or found.marks_trouble or found.words:
        return ""
    if state == "cancelled" and (by not in _NOBODY or reason or (found.job.restart and source == "accounting")):
        return ""
    if state == "failed":
        return (
            "" if status in (CLAIM_TAKEN, FOUL_MARKS) or not found.has_directory else _of_a_failure(nodes, word, status)
        )
    if state in _HOW:
        return f"launch failure on {nodes}: {_HOW[state]} before it took its claim"
    if word == "LAUNCH_FAILED":
        return f"launch failure on {nodes}: Slurm could not launch it"
    return ""


def _of_a_failure(nodes: str, word: str, status: int | None) -> str:
    if status == NEVER_OPENED:
        return f"launch failure on {nodes}: its output file or work directory could not be opened there"
    code = "" if status is None else f" with exit status {status}" if status >= 0 else f" by signal {-status}"
    return f"launch failure on {nodes}: it ended{code} ({word}) before it took its claim"


def requeued_launch(before: Record | None) -> str:
    """Purpose: the same for a start that another one followed. Only for a start that never took its claim."""
    if before is None or not before.nodes or meaning(before.state).state not in ("node_fail", "requeued", "cancelled"):
        return ""
    return f"launch failure on {before.nodes}: Slurm took it back before it took its claim"


def foreign_claim(marks: Marks, row: QueueRow | None) -> str:
    """Purpose: a sentence, where a claim was taken on a node that is not the job's: somebody ran its script there; else ""."""
    if marks.node and marks.node in names_in(marks.nodes or ""):
        return ""  # Slurm started it there, whatever it says now: a controller that lost its memory starts a job a second time
    nodes = row.nodes if row is not None and row.restart == marks.restart and row.nodes else marks.nodes
    if not marks.node or not nodes or marks.node == nodes or marks.node in names_in(nodes):
        return ""
    return f"its claim was taken on {marks.node}, which is none of its nodes ({nodes}): somebody ran its script there"
