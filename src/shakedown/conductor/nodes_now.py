"""What the scheduler says of a campaign's nodes at this moment, for people who ask where it stands."""

from __future__ import annotations

from typing import Any

import msgspec

from shakedown.engine import State

ASK_S = 5.0  # that the answer may take


def nodes_now(state: State) -> dict[str, Any]:
    """Purpose: nodes that are down or drained, as plain data; {} where the campaign runs on no cluster that can be asked."""
    from shakedown.schedulers.slurm.nodes_out import nodes_out
    from shakedown.schedulers.slurm.runner import Runner

    clusters = [one for one in state.index.document.system.clusters if one.scheduler == "slurm"]
    if not clusters or state.phase != "running":
        return {}
    out, trouble = nodes_out(clusters, Runner(), ASK_S)
    return {
        "count": sum(one.count for one in out),
        "out": [msgspec.to_builtins(one) for one in out],
        "trouble": trouble,
    }
