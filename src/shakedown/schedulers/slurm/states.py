"""Slurm's words for a job's state, and what they mean here. A word that is not listed means "unknown" and is shown as it is."""

from __future__ import annotations

from msgspec import Struct


class Meaning(Struct, frozen=True):
    """What a word means here. ``note``: what to add about it. ``halted``: "stopped" or "suspended", if the job stands still."""

    state: str
    note: str = ""
    halted: str = ""


_MEANINGS = {
    "PENDING": Meaning("queued"),
    "CONFIGURING": Meaning("queued", "its nodes are made ready"),
    "REQUEUED": Meaning("requeued", "it is put back into the queue"),
    "REQUEUE_FED": Meaning("requeued", "it is put back into the queue"),
    "REQUEUE_HOLD": Meaning("queued", "it was put back into the queue and is held"),
    "RESV_DEL_HOLD": Meaning("queued", "it is held: its reservation was deleted"),
    "SPECIAL_EXIT": Meaning("queued", "it was put back into the queue with a special exit and is held"),
    "RUNNING": Meaning("running"),
    "COMPLETING": Meaning("running", "it is completing"),
    "SIGNALING": Meaning("running", "it is being signalled"),
    "STAGE_OUT": Meaning("running", "its data is staged out"),
    "STOPPED": Meaning("running", "it is stopped", "stopped"),
    "SUSPENDED": Meaning("running", "it is suspended", "suspended"),
    "RESIZING": Meaning("running", "its number of nodes is changing"),
    "POWER_UP_NODE": Meaning("queued", "its nodes are switched on"),
    "COMPLETED": Meaning("completed"),
    "FAILED": Meaning("failed"),
    "OUT_OF_MEMORY": Meaning("failed", "it ran out of memory"),
    "TIMEOUT": Meaning("timeout"),
    "DEADLINE": Meaning("timeout", "its deadline passed"),
    "NODE_FAIL": Meaning("node_fail"),
    "BOOT_FAIL": Meaning("node_fail", "its nodes could not be booted"),
    "CANCELLED": Meaning("cancelled"),
    "REVOKED": Meaning("cancelled", "another cluster of the federation started it"),
    "PREEMPTED": Meaning("interrupted", "it was preempted by other work"),
    "LAUNCH_FAILED": Meaning("refused", "it could not be launched"),
    "RECONFIG_FAIL": Meaning("node_fail", "its nodes could not be reconfigured"),
}
OVER = frozenset({"completed", "failed", "timeout", "node_fail", "cancelled", "interrupted", "refused"})
BEFORE_AND_DURING = frozenset({"queued", "running"})
CHANGES = frozenset({"RESIZING"})  # accounting has a record of its own for it, though nothing was started again


def meaning(word: str) -> Meaning:
    """Purpose: what a word of squeue, scontrol, sacct or jobcomp means."""
    known = _MEANINGS.get(word.split("+", maxsplit=1)[0].strip().upper())
    return known or Meaning("unknown", f"Slurm calls its state '{word}', which Shakedown does not know")
