"""Jobs of a campaign that Slurm has although nothing of them is to run any more. After a controller came back with an older state,
some wait again, and others are said to run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from shakedown.events.plain_files import open_plain
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import LeftJob, LeftJobs
from shakedown.schedulers.cluster.job_places import job_label, job_of_label
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.parsing import babble, clean, queue_rows
from shakedown.schedulers.slurm.runner import Run, Runner
from shakedown.schedulers.slurm.states import BEFORE_AND_DURING, meaning

_AT_ONCE = 500  # numbers in one command
_TOKEN_BYTES = 64


def left_jobs(token: str, clusters: Sequence[Cluster], run: Run, command_s: float) -> LeftJobs:
    """Purpose: every job of the campaign that waits or runs, by one squeue for each cluster. A job whose nodes are being cleared is
    over.
    """
    found: list[LeftJob] = []
    trouble, several = "", len(clusters) > 1
    for cluster in clusters:
        ran = run(commands.squeue(cluster.name, os.getuid(), several, everything=False), command_s)
        said = clean(ran.error) or f"squeue ended with exit status {ran.status}"
        if why := said if ran.status else babble(ran.output):
            trouble = trouble or f"{cluster.name}: {why}"
            continue
        for row in queue_rows(ran.output, cluster.name):
            state = meaning(row.state).state
            if row.name.startswith(job_label(token, "")) and row.state != "COMPLETING" and state in BEFORE_AND_DURING:
                job = job_of_label(token, row.name) or ""
                found.append(LeftJob(row.id, cluster.name, job, state == "queued", row.nodes))
    return LeftJobs(tuple(found), trouble=trouble)


def left_jobs_now(layout: Layout, clusters: Sequence[Cluster], command_s: float) -> LeftJobs:
    """Purpose: the same, asked now; none where the campaign has no token yet. Each command may take ``command_s`` seconds."""
    try:
        with open_plain(layout.token) as file:
            token = file.read(_TOKEN_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return LeftJobs()
    return left_jobs(token, clusters, Runner(), command_s) if token else LeftJobs()


def cancel_left(token: str, clusters: Sequence[Cluster], command_s: float, run: Runner | None = None) -> LeftJobs:
    """Purpose: cancel every job of a campaign that is over. Returns what there was, and the numbers that scancel did not take."""
    run = run or Runner()
    found = left_jobs(token, clusters, run, command_s)
    kept: list[str] = []
    for cluster in clusters:
        numbers = [job.number for job in found.jobs if job.cluster == cluster.name]
        for first in range(0, len(numbers), _AT_ONCE):
            some = numbers[first : first + _AT_ONCE]
            ran = run(commands.scancel(cluster.name, len(clusters) > 1, some), command_s)
            kept += [number for number in some if ran.status and (ran.timed_out or _is_named(number, ran.error))]
    return LeftJobs(found.jobs, tuple(kept), found.trouble, run.take_calls())


def _is_named(number: str, said: str) -> bool:
    """Whether scancel complains of this job, or of none in particular."""
    words = said.replace(":", " ").replace(",", " ").split()
    return number in words or not any(word.isdigit() for word in words)
