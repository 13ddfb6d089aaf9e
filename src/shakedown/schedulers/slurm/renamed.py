"""Jobs of ours that somebody gave another name: the controller knows them by their number and by the directory they work in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shakedown.model.nouns import Cluster
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import QueueRow, key_values
from shakedown.schedulers.slurm.runner import Run


def is_ours(run: Run, clusters: Sequence[Cluster], row: QueueRow, directory: Path, command_s: float) -> bool:
    """Purpose: whether a job of another name was submitted to work in this directory of ours: a number alone proves nothing, for a
    controller that lost its memory gives it to a stranger.
    """
    name = row.cluster or clusters[0].name
    ran = run(commands.scontrol_job(name, len(clusters) > 1, row.id), command_s)
    return ran.status == 0 and key_values(ran.output.strip()).get("WorkDir") == str(directory)


def found_by_number(job: Asked, others: Mapping[str, QueueRow]) -> QueueRow | None:
    """Purpose: the row of another name that has a job's number."""
    number, _, home = job.scheduler_id.partition(";")
    row = others.get(number)
    return row if row is not None and row.cluster in ("", home) else None
