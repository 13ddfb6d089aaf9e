"""The present state of a campaign's nodes according to the scheduler, for ``status``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from shakedown.engine import State
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.dialects import Dialect, call, dialect_named
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Cluster

ASK_S = 5.0  # that the answer may take


def nodes_now(state: State) -> dict[str, Any]:
    """Purpose: nodes that are down or drained, as plain data; {} where no cluster of the campaign can be asked."""
    asked: dict[Dialect, list[Cluster]] = {}
    for cluster in state.index.document.system.clusters:
        dialect = dialect_named(cluster.scheduler)
        if dialect is not None and dialect.nodes_out:
            asked.setdefault(dialect, []).append(cluster)
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


def _ask(dialect: Dialect, clusters: Sequence[Cluster]) -> tuple[Sequence[Any], str]:
    """The nodes that are out, and why a scheduler could not be asked. A failing scheduler package does not stop the command."""
    try:
        found, trouble = call(dialect, "nodes_out", clusters, ASK_S)
    except UsageError as error:
        return [], error.message
    return found, trouble
