"""What the scheduler says at this moment, for ``status``: which nodes are out, and which jobs it has whose runs are over."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from shakedown.engine import State
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.dialects import Dialect, call, dialect_named
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.ports import LeftJob, LeftJobs

ASK_S = 5.0  # that the answer may take


def nodes_now(state: State) -> dict[str, Any]:
    """Purpose: nodes that are down or drained, as plain data; {} where no cluster of the campaign can be asked."""
    asked = _who_can_be_asked(state, "nodes_out")
    if not asked or state.phase != CampaignPhase.RUNNING:
        return {}
    answers = [_ask(dialect, clusters) for dialect, clusters in asked.items()]
    out = [one for found, _ in answers for one in found]
    trouble = next((said for _, said in answers if said), "")
    return {
        "count": sum(one.count for one in out),
        "out": [msgspec.to_builtins(one) for one in out],
        "trouble": trouble,
    }


def jobs_now(layout: Layout, state: State) -> list[LeftJob]:
    """Purpose: jobs that wait or run at the scheduler although their runs are over, as after its controller came back with an older
    state. Of a campaign that is over and that nobody drives, all of its jobs. A cluster that does not answer tells of none.

    A job that was ordered after ``state`` was read has a higher number, and is not taken for one that is over.
    """
    ended = state.phase == CampaignPhase.ENDED and not state.driver.driven
    if state.campaign.next_job == 1:
        return []
    found: list[LeftJob] = []
    for dialect, clusters in _who_can_be_asked(state, "left_jobs").items():
        with suppress(UsageError):
            left: LeftJobs = call(dialect, "left_jobs", layout, clusters, ASK_S)
            found += [job for job in left.jobs if ended or _is_over(state, job.job)]
    return found


def _is_over(state: State, job: str) -> bool:
    """Whether a job of runs was ordered and is not open any more."""
    number = job.removeprefix("j")
    return job.startswith("j") and number.isdigit() and int(number) < state.campaign.next_job and job not in state.jobs


def _who_can_be_asked(state: State, what: str) -> dict[Dialect, list[Cluster]]:
    """The clusters of each dialect that has an answer. ``what``: the field that names it."""
    asked: dict[Dialect, list[Cluster]] = {}
    for cluster in state.index.document.system.clusters:
        dialect = dialect_named(cluster.scheduler)
        if dialect is not None and getattr(dialect, what):
            asked.setdefault(dialect, []).append(cluster)
    return asked


def _ask(dialect: Dialect, clusters: Sequence[Cluster]) -> tuple[Sequence[Any], str]:
    """The nodes that are out, and why a scheduler could not be asked. A failing scheduler package does not stop the command."""
    try:
        found, trouble = call(dialect, "nodes_out", clusters, ASK_S)
    except UsageError as error:
        return [], error.message
    return found, trouble
