"""A node that launches nothing, while others do, must not cost attempts of the plan, and must not stop a whole queue.

After a few jobs in a row that end on one node before their claims, the node is left out: it gets no new job for a while. Then one
job at a time may go there to probe it, and the first that takes its claim ends this. A sweep waits for such a node as for one that
is down, and the sweep's own job for that node may be the probe.

``keep_nodes`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from shakedown.engine.fold.left_out import OUT_S, ROW_S
from shakedown.engine.state.moments import moment
from shakedown.engine.state.nodes_out import failed_nodes, left_out_since
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.records import Guard, LeftOut, VainRow
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.shared_nodes import names_of, numbers_in
from shakedown.model.units import show_duration

FEW = 3  # jobs in a row
_MOST_TOLD = 20  # jobs in one event
_LONGEST = 500  # characters of what was said


def keep_nodes(state: State, decision: Decision, now: float) -> bool:
    """Purpose: leave out nodes that launch nothing, and take back those that launch jobs again. Returns whether anything was
    ordered.
    """
    pools = state.pools
    if not (pools.in_vain or pools.left_out):
        return False
    before = len(decision.orders)
    for node, out in pools.left_out.items():
        if out.proved:
            decision.record(_readmission(node, out, now))
        elif now < out.until:
            decision.wake(out.until)
    for node, row in pools.in_vain.items():
        if len(row.jobs) < FEW or node in pools.left_out or node in state.overrides.excluded:
            continue
        guard = pools.guards.get(row.pool)
        if guard is not None and guard.since:
            points = enough_left(state, row.pool, {node})  # else probes of a held queue might go there for ever
        else:
            points = guard is not None and points_to_nodes(state, row.pool, guard, now, node)
        if points:
            decision.record(_leave_out(node, row))
            return True  # how many may be left out depends on how many are
    return len(decision.orders) > before


def points_to_nodes(state: State, pool: str, guard: Guard, now: float, node: str = "") -> bool:
    """Purpose: whether the failed launches of a pool point to single nodes rather than to its whole queue.

    True where all of them were on one node, or on nodes for which the queue was held in vain before, and enough other nodes are
    left. ``node``: one more node to count, whose own row of failures goes on while other nodes run jobs.
    """
    nodes = {job.node for job in guard.row.values()} | ({node} if node else set())
    again = bool(nodes) and nodes <= guard.before.keys() and now <= guard.released + ROW_S
    if guard.what or "" in nodes or (len(nodes) > 1 and not again):
        return False
    return enough_left(state, pool, nodes)


def enough_left(state: State, pool: str, nodes: Collection[str]) -> bool:
    """Purpose: whether at least half of a pool is left when these nodes go, beside those that are excluded or left out already."""
    place = state.index.places.get(pool)
    if place is None:
        return False
    out = {name for name in (*state.overrides.excluded, *state.pools.left_out, *nodes) if name in names_of(place.nodes)}
    return len(out) <= place.count // 2


def barred(state: State, due: Collection[str] = ()) -> tuple[str, ...]:
    """Purpose: the nodes that a new job must not get: those excluded or left out. ``due``: nodes that are left out but may be
    probed.
    """
    return (*state.overrides.excluded, *(node for node in state.pools.left_out if node not in due))


def due_again(state: State, pool: str, now: float, probed: Collection[str]) -> list[str]:
    """Purpose: the nodes of a pool that are left out and to which a job may go now, to see whether they launch jobs again.
    ``probed``: nodes that a job of this decision already may go to.
    """
    guard = state.pools.guards.get(pool)
    if guard is not None and guard.since:
        return []
    due = [
        node
        for node, out in state.pools.left_out.items()
        if out.pool == pool and now >= out.until and out.probe not in state.jobs
    ]
    return [node for node in due if node not in state.overrides.excluded and node not in probed]


def to_probe(state: State, pool: str, units: int, now: float, probed: Collection[str]) -> list[str]:
    """Purpose: the nodes that are left out and that the next job of ``units`` nodes may get: one node, or all that are due where
    the job could not start with only one of them. ``probed``: nodes that a job of this decision already may go to.
    """
    place = state.index.places.get(pool)
    due = due_again(state, pool, now, probed) if place is not None else []
    if place is None or not due:
        return []
    barred_with_one = sum(node in names_of(place.nodes) for node in set(barred(state, due[:1])))
    return due[:1] if units <= place.count - barred_with_one else due


def well_first(state: State, pool: str, numbers: Iterable[int]) -> list[int]:
    """Purpose: nodes of a pool, by number, in the order in which they are tried: those without a failed launch come first.

    The others are tried one at a time until they are left out. Where no more nodes may be left out, they take turns.
    """
    failed = failed_nodes(state, pool)
    known = numbers_in(state.index.places[pool].nodes) if failed else {}
    turns = not enough_left(state, pool, list(failed)[:1])
    rank = {known[node]: place if turns else 1 for place, node in enumerate(failed, 1) if node in known}
    return sorted(numbers, key=lambda number: (rank.get(number, 0), number))


def to_avoid(state: State, pool: str, units: int) -> list[str]:
    """Purpose: the nodes that a job of ``units`` nodes must not get when it probes the held queue of a pool: those on which
    launches failed since shortly before the queue was held, the latest first. Enough other nodes are always left.

    So each probe goes to nodes that were not tried, or not for the longest time. Without this, a few bad nodes, which are always
    idle, would be chosen every time.
    """
    guard, place = state.pools.guards.get(pool), state.index.places.get(pool)
    if place is None or guard is None or not guard.since or guard.what:
        return []
    failed = dict.fromkeys(one.node for one in reversed(guard.row.values()))
    names, out = names_of(place.nodes), set(barred(state))
    known = [node for node in failed if node in names and node not in out]
    return known[: min(_MOST_TOLD, max(0, place.count - sum(name in names for name in out) - units))]


def left_out_in_words(state: State) -> list[str]:
    """Purpose: a sentence for each node that is left out: since when, why, and when it is tried again. Empty when the campaign is
    over.
    """
    return (
        []
        if state.phase == CampaignPhase.ENDED
        else [_in_words(state, node, out) for node, out in state.pools.left_out.items()]
    )


def _in_words(state: State, node: str, out: LeftOut) -> str:
    said = f"{node} is {left_out_since(out)}"
    if out.probe in state.jobs:
        return f"{said}; {out.probe} may go there, to see whether it does again ({_SOONER.format(node)})"
    return f"{said}; one job may go there from {moment(out.until)} on ({_SOONER.format(node)})"


_SOONER = "shakedown include {} gives it work at once"


def _leave_out(node: str, row: VainRow) -> Event:
    jobs, said = list(row.jobs), row.why or "nobody says why"
    value: dict[str, Any] = {"kind": "node_left_out", "nodes": [node], "pool": row.pool, "jobs": jobs[:_MOST_TOLD]}
    value |= {"count": len(jobs), "for_s": OUT_S, "why": said[:_LONGEST]}
    why = f"{node} is left out: {len(jobs)} jobs in a row ended there before they took their claims ({', '.join(jobs[:5])})"
    then = (
        f"it is given no new job for {show_duration(OUT_S)}, then one to see whether it starts; {_SOONER.format(node)}"
    )
    return Event("finding", value=value, reason=f"{why}: {said}; {then}; no attempt is spent")


def _readmission(node: str, out: LeftOut, now: float) -> Event:
    value = {"kind": "node_let_in", "nodes": [node], "pool": out.pool, "held_s": round(now - out.since, 3)}
    why = f"{node} is given jobs again after {show_duration(now - out.since)}: {out.proved} has taken its claim there"
    return Event("finding", value=value, reason=why)
