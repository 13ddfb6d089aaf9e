"""Folding what concerns nodes that launch nothing: jobs that end there before their claims, jobs that take their claims, probes.

``count`` and ``prove`` keep count. ``constraints/left_out.py`` decides whether a node is left out, and ``finding`` folds that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from shakedown.engine.fold.bookkeeping import doubt
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.phases import NOT_BEGUN
from shakedown.engine.state.records import LeftOut, VainRow
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.shared_nodes import names_in, names_of, numbers_in

ROW_S = 600.0  # what ended longer ago is no part of a row any more
OUT_S, LONGEST_OUT_S = 600.0, 7200.0  # for which a node is left out before a job probes it; doubled each time
_ONE_NODE = re.compile(r"[^\s,\[\]]+")


def node_of(value: dict[str, Any]) -> str:
    """Purpose: the one node on which a job ended before its claim, by its report; "" where it is not exactly one
    or is not known.
    """
    failed = value.get("failed_nodes") or []
    if failed:
        return str(failed[0]) if len(failed) == 1 else ""
    nodes = str(value.get("nodes", ""))
    return nodes if _ONE_NODE.fullmatch(nodes) else ""


def count(state: State, job: Job, pool: str, node: str, event: Event) -> bool:
    """Count a job that ended on a node before its claim. Returns whether the node is already left out; then the failure says
    nothing about the queue.
    """
    row = state.pools.in_vain.setdefault(node, VainRow(pool))
    row.jobs = {name: at for name, at in row.jobs.items() if event.time - at <= ROW_S} | {job.id: event.time}
    row.why = event.reason
    out = state.pools.left_out.get(node)
    if out is None:
        return False
    job.spared, out.why = True, event.reason
    if out.probe == job.id:
        out.strikes, out.probe = out.strikes + 1, ""
        out.until = event.time + min(OUT_S * 2.0 ** min(out.strikes, 10), LONGEST_OUT_S)
    return True


def prove(state: State, job: Job, value: dict[str, Any], began: float) -> None:
    """A job took its claim: its first node launches jobs. If the job was completed, all of its nodes do."""
    pools = state.pools
    watched = pools.in_vain.keys() | pools.left_out.keys()
    for guard in pools.guards.values():
        watched |= guard.before.keys()
    if not watched:
        return
    names = names_in(str(value.get("nodes", "")))
    for node in names if value["state"] == "completed" else names[:1]:
        row = pools.in_vain.get(node)
        if node not in watched or (row is not None and began < max(row.jobs.values())):
            continue
        pools.in_vain.pop(node, None)
        for guard in pools.guards.values():
            guard.before.pop(node, None)
        if node in pools.left_out:
            pools.left_out[node].proved = job.id


def probes(state: State, job: Job, nodes: list[str]) -> None:
    """A job was ordered that may go to nodes that are left out."""
    for node in nodes:
        if node in state.pools.left_out:
            state.pools.left_out[node].probe = job.id


def elsewhere(state: State, job: Job, nodes: str) -> None:
    """A job began. Where it was to probe a node and is on other nodes, the next job may probe it."""
    for node, out in state.pools.left_out.items():
        if out.probe == job.id and nodes and node not in names_in(nodes):
            out.probe = ""


def finding(state: State, event: Event) -> None:
    """Fold that a node is left out, or is given jobs again."""
    for node in event.value["nodes"]:
        if event.value["kind"] == "node_let_in":
            let_in(state, node)
        else:
            _leave_out(state, node, event)


def let_in(state: State, node: str) -> None:
    """It is given jobs again, and counts anew; a sweep that waited for it has something to see again."""
    if node in state.pools.left_out and node not in state.overrides.excluded:
        order_again(state, [node])
    out = state.pools.left_out.pop(node, None)
    state.pools.in_vain.pop(node, None)
    if out is not None:
        state.pools.unseen = {key: since for key, since in state.pools.unseen.items() if key.pool != out.pool}


def order_again(state: State, nodes: Sequence[str]) -> None:
    """Nodes are about to be given jobs again. What waits at a scheduler and could have them was ordered to avoid them, for what was
    ordered before was taken back then: it is taken back and ordered again. A job that is for one node avoids none that it needs.
    """
    embedded = {one.name for one in state.index.document.system.clusters if one.embedded}
    places = {pool: place for pool, place in state.index.places.items() if pool.partition(":")[0] not in embedded}
    concerned = {pool for pool, place in places.items() if not names_of(place.nodes).isdisjoint(nodes)}
    probes = {state.pools.left_out[node].probe for node in nodes if node in state.pools.left_out}
    words = f"{', '.join(nodes[:5])}{' and more' if len(nodes) > 5 else ''} may be given to it again"
    for job in state.jobs.values() if concerned else ():
        waits = job.phase in NOT_BEGUN and not (job.node or job.stale or job.id in probes)
        if waits and job.key is not None and job.key.pool in concerned:
            doubt(state, job, words)


def _leave_out(state: State, node: str, event: Event) -> None:
    """A node is left out. Jobs that wait at the scheduler and could get the node are taken back and ordered again without it."""
    pool = event.value["pool"]
    place = state.index.places.get(pool)
    number = numbers_in(place.nodes).get(node, 0) if place is not None else 0
    state.pools.left_out[node] = LeftOut(pool, event.time, event.time + OUT_S, event.value.get("why", ""))
    row = state.pools.in_vain.get(node)
    for name in row.jobs if row is not None else ():
        job = state.jobs.get(name)
        if job is not None:
            job.spared = True
    for job in state.jobs.values():
        if job.phase in NOT_BEGUN and job.key is not None and job.key.pool == pool and job.node in (0, number):
            doubt(state, job, f"{node} launches nothing and is given no job for now")
