"""Packs: allocations that hold many runs of a class each.

``order_packs`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from shakedown.engine.constraints.blocking import binding_reason
from shakedown.engine.constraints.budgets import most_at_once
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.policy.part_recovery import MOST_KILLED, ended_before
from shakedown.engine.policy.submissions import Reservations, order_bundle, room_for
from shakedown.engine.state.bundles import Bundle, how_many, side_by_side
from shakedown.engine.state.jobs import PendingResult
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.state import State


def order_packs(
    state: State,
    decision: Decision,
    plan: Reservations,
    key: QueueKey,
    entries: Iterable[PendingResult],
    bundle: Bundle,
    now: float,
) -> Reason | None:
    """Purpose: order allocations, each with as many of these runs as it may hold. Returns the reason why the rest waits, None if
    none.
    """
    waiting: Iterator[PendingResult] = iter(entries)
    while (first := next(waiting, None)) is not None:
        if room_for(state, plan, key) <= 0:
            return None
        reason = _too_many(state, bundle, plan, key) or binding_reason(state, key, now, plan.ahead)
        if reason is not None:
            return reason
        found = [first]
        for entry in islice(waiting, 0 if _runs_alone(first) else bundle.runs - 1):
            if _runs_alone(entry):
                waiting = chain((entry,), waiting)
                break
            found.append(entry)
        cases = [state.index.cases[entry.case] for entry in found]
        lanes = most_at_once(state, key, side_by_side(cases, bundle), plan.ahead.loads, now)
        count = how_many(cases, bundle, lanes)
        order_bundle(state, decision, plan, bundle, [(key, entry) for entry in found[:count]], now, min(lanes, count))
        plan.bundles[key.component] = plan.bundles.get(key.component, 0) + 1
        waiting = chain(found[count:], waiting)
    return None


def _runs_alone(entry: PendingResult) -> bool:
    """Whether earlier attempts at it were ended from outside, together with other runs. The next attempt runs alone, to show
    whether the run itself is the cause.
    """
    return ended_before(entry.spent) >= MOST_KILLED - 1


def pack_reason(state: State, key: QueueKey) -> Reason | None:
    """Purpose: why the runs of a pack have no allocation yet; None where they may have one, or are in no pack."""
    bundle = state.index.bundles.get((key.component, key.pool))
    return _too_many(state, bundle, None, key) if bundle is not None and bundle.kind == "pack" else None


def _too_many(state: State, bundle: Bundle, plan: Reservations | None, key: QueueKey) -> Reason | None:
    alive = state.job_index.bundles.get(key.component, 0) + (plan.bundles.get(key.component, 0) if plan else 0)
    if not bundle.allocations or alive < bundle.allocations:
        return None
    return Reason(
        "allocations", f"{alive} allocations of it are there, and {bundle.allocations} at once are allowed", False
    )
