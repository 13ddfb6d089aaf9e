"""Orders of jobs: what one decision has promised, and how a job of one run or of several is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from shakedown.engine.constraints.blocking import Outlook, Starting
from shakedown.engine.constraints.budgets import at_once, choose_targets, in_turn
from shakedown.engine.constraints.left_out import barred, due_again, to_avoid, to_probe
from shakedown.engine.fold.bookkeeping import resolved
from shakedown.engine.state.bundles import Bundle
from shakedown.engine.state.jobs import Job, PendingResult
from shakedown.engine.state.modes import mode_facts
from shakedown.engine.state.needs import handed_to
from shakedown.engine.state.nodes_out import numbers_of
from shakedown.engine.state.orders import Decision, Order
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.state import State, job_name
from shakedown.model.events import Event
from shakedown.model.ports import JobOrder, Part


@dataclass(slots=True)
class Reservations:
    """What this decision has promised, and how many jobs each pool had room for at its beginning.

    ``ahead``: what is promised. ``room``: pool -> jobs. ``ordered``: jobs that this decision ordered.
    """

    ahead: Outlook
    room: dict[str, int]
    ordered: int = 0
    bundles: dict[int, int] = field(default_factory=dict)  # component -> jobs of several runs
    stored: dict[str, int] = field(
        default_factory=dict
    )  # pool -> jobs that wait at the scheduler for a word, once counted


def room_for(state: State, plan: Reservations, key: QueueKey) -> int:
    """How many more jobs of this class may be ordered. A class of a mode or a mix may always be topped up: it
    needs a full machine.
    """
    if key.pool not in plan.room:
        return 0
    promised = plan.ahead.jobs.get(key.pool, 0)
    if not key.case or key.pool in state.pools.backoffs:
        return plan.room[key.pool] - promised
    return state.index.pools[key.pool].high - state.usage.jobs.get(key.pool, 0) - promised


def order_job(
    state: State, decision: Decision, plan: Reservations, key: QueueKey, entry: PendingResult, now: float
) -> None:
    """Purpose: order a job of one run that may start at once."""
    targets = choose_targets(state, key, plan.ahead.loads, now)
    starting = Starting(key, entry.case, state.index.cases[entry.case].shape.time_limit_s)
    plan.ahead.promise(starting, resolved(state.index, key, targets))
    _order(state, decision, plan, key, entry, now, {"targets": targets} if targets else {})


def order_held(
    state: State, decision: Decision, plan: Reservations, key: QueueKey, entry: PendingResult, now: float
) -> None:
    """Purpose: order a job that waits at the scheduler until it is released."""
    plan.ahead.take_place(key, key.loads)
    _count_stored(plan, key)
    _order(state, decision, plan, key, entry, now, {"held": True})


def order_after(
    state: State, decision: Decision, plan: Reservations, key: QueueKey, entry: PendingResult, now: float, before: Job
) -> None:
    """Purpose: order a job that may start when the job ``before`` is over, on its targets and with no more load than it has."""
    plan.ahead.take_place(key, key.loads)
    _count_stored(plan, key)
    targets = {name: before.targets[name] for name, _ in key.loads if name in before.targets}
    value: dict[str, Any] = {"after": before.id}
    _order(state, decision, plan, key, entry, now, value | ({"targets": targets} if targets else {}), before)


def _count_stored(plan: Reservations, key: QueueKey) -> None:
    if key.pool in plan.stored:
        plan.stored[key.pool] += 1


def _order(
    state: State,
    decision: Decision,
    plan: Reservations,
    key: QueueKey,
    entry: PendingResult,
    now: float,
    more: dict[str, Any],
    before: Job | None = None,
) -> None:
    job, run = _new_job(state, plan), entry.void_run or decision.new_run(state)
    waits = bool(more.get("held")) or before is not None
    due, avoids = ([], []) if waits else (_nodes_to_probe(state, plan, key, now), to_avoid(state, key.pool, key.units))
    value = _facts(state, key, entry, now) | more | _where(due, avoids)
    order = JobOrder(
        job,
        run,
        state.index.cases[entry.case],
        held=bool(more.get("held")),
        exclude=(*barred(state, due), *avoids),
        targets=tuple(more.get("targets", {}).items()),
        after=(before.id, before.scheduler_id) if before is not None else ("", ""),
    )
    decision.orders.append(
        Order("submit", Event("submit_order", case=entry.case, run=run, job=job, value=value), order)
    )


def order_bundle(
    state: State,
    decision: Decision,
    plan: Reservations,
    bundle: Bundle,
    found: Sequence[tuple[QueueKey, PendingResult]],
    now: float,
    lanes: int = 1,
    node: int = 0,
) -> None:
    """Purpose: order one job of several runs, of which ``lanes`` run side by side. Each run has its own event; the job is submitted
    once all of these are durable. ``node``: the number of the node that a sweep's job must have, 0 = any.
    """
    key = at_once(in_turn([own for own, _ in found]), lanes)
    cases = [state.index.cases[entry.case] for _, entry in found]
    targets = choose_targets(state, key, plan.ahead.loads, now)
    job, whole = _new_job(state, plan), state.index.whole_job(tuple(entry.case for _, entry in found), bundle, lanes)
    starting = Starting(key, cases[0].id, whole.shape.time_limit_s)
    plan.ahead.promise(starting, resolved(state.index, key, targets))
    shared: dict[str, Any] = {"bundle": bundle.kind, "parts": len(found), "at_once": lanes}
    shared |= {"limit_s": whole.shape.time_limit_s} | ({"node": node} if node else {})
    shared |= {"targets": targets} if targets else {}
    avoids = [] if node else to_avoid(state, key.pool, key.units)
    due = _sees_again(state, plan, key, node, now) if node else _nodes_to_probe(state, plan, key, now)
    shared |= _where(due, avoids)
    parts, events = [], []
    for number, (case, (own, entry)) in enumerate(zip(cases, found, strict=True)):
        run = entry.void_run or decision.new_run(state)
        parts.append(Part(run, case))
        value = _facts(state, own, entry, now) | shared | {"part": number + 1}
        events.append(Event("submit_order", case=entry.case, run=run, job=job, value=value))
    order = JobOrder(
        job,
        parts[0].run,
        whole,
        parts=tuple(parts),
        at_once=lanes,
        node=node,
        exclude=tuple(state.overrides.excluded) if node else (*barred(state, due), *avoids),
        targets=tuple(targets.items()),
    )
    decision.orders.append(Order("submit", events[0], order))
    for event in events[1:]:
        decision.record(event)


def _where(due: list[str], avoids: list[str]) -> dict[str, Any]:
    """What the event says of nodes: left-out nodes that the job may go to, and nodes that it avoids since it
    probes a held queue.
    """
    return ({"may_have": due} if due else {}) | ({"avoids": avoids} if avoids else {})


def _sees_again(state: State, plan: Reservations, key: QueueKey, node: int, now: float) -> list[str]:
    """The node of a sweep's job, if it is left out and due to be probed: the job shows whether it launches jobs again."""
    due = [
        name
        for name in due_again(state, key.pool, now, plan.ahead.probed)
        if numbers_of(state, key.pool, [name]) == {node}
    ]
    plan.ahead.probed.update(due)
    return due


def _nodes_to_probe(state: State, plan: Reservations, key: QueueKey, now: float) -> list[str]:
    """Nodes that are left out and that this job may go to, to probe them."""
    due = to_probe(state, key.pool, key.units, now, plan.ahead.probed) if state.pools.left_out else []
    plan.ahead.probed.update(due)
    return due


def _new_job(state: State, plan: Reservations) -> str:
    plan.ordered += 1
    return job_name(state.campaign.next_job + plan.ordered - 1)


def _facts(state: State, key: QueueKey, entry: PendingResult, now: float) -> dict[str, Any]:
    handed = [asdict(one) for one in handed_to(state, entry)]
    return {
        "component": state.index.components[entry.component].name,
        "repeat": entry.repeat,
        "attempt": entry.attempt,
        "units": key.units,
        "now": now,
        "at": state.seq,
    } | (mode_facts(entry.mode) | ({"handed": handed} if handed else {}))
