"""Which waiting results become jobs now: queues in the plan's order, then retries that are due, then mixes and sweeps.

``submit`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from typing import Any

from shakedown.engine.constraints.blocking import Outlook, Reason, binding_reason, holder_of, outlook, stagger_of
from shakedown.engine.constraints.queue_guard import probe_first, was_tried
from shakedown.engine.policy.held_jobs import release_held, top_up
from shakedown.engine.policy.mix import Mix, mixes
from shakedown.engine.policy.packs import order_packs
from shakedown.engine.policy.starved_tests import report_starved_tests, tell_standstill
from shakedown.engine.policy.submissions import Reservations, order_job, room_for
from shakedown.engine.policy.sweeps import order_sweeps
from shakedown.engine.state.jobs import PendingResult, Queue
from shakedown.engine.state.modes import FILLER, base, is_step
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import UNANSWERED
from shakedown.engine.state.plan import QueueKey, class_label
from shakedown.engine.state.state import State
from shakedown.model.events import Event


def submit(state: State, decision: Decision, now: float) -> None:
    """Purpose: the submissions and releases that the rules allow now, and why the rest waits, recorded whenever a
    reason changes.
    """
    room = {name: _room(state, name) for name in state.index.pools}
    for shut in state.pools.backoffs.values():
        if shut.until > now and not state.driver.stopping:
            decision.wake(shut.until)
    if all(jobs <= 0 for jobs in room.values()) and not (
        state.index.staged
        or state.index.rolling
        or state.agenda.uncharged
        or state.agenda.unreleased
        or state.index.bundles
    ):
        return
    plan = Reservations(outlook(state, now, any(order.kind == "build" for order in decision.orders)), room)
    rolling = mixes(state, decision, now)
    left = release_held(state, decision, plan, rolling, now)
    _submit_delayed(
        state, decision, plan, now, deferred=True
    )  # they had their turn, and the scheduler did not take them
    asked = in_order(_worth_asking(state, plan, rolling))
    for key, queue in sorted(asked, key=lambda item: probe_first(state, item[0])) if state.pools.guards else asked:
        if room_for(state, plan, key) <= 0:
            continue
        reason = _submit_from(state, decision, plan, key, queue, now)
        _wake_when_due(state, decision, key, reason, now)
        _note(state, decision, key, queue, reason)
    for key, entries in _submit_delayed(state, decision, plan, now).items():
        bundle = state.index.bundles[key.component, key.pool]
        if bundle.kind == "pack":
            order_packs(state, decision, plan, key, entries, bundle, now)
    for mix in rolling.values():
        if mix is not None:
            _submit_mix(state, decision, plan, mix, left, now)
    for number in rolling:
        tell_standstill(state, decision, number, now)
    for key, reason in order_sweeps(state, decision, plan, now).items():
        if key in state.waiting.queues:
            _note(state, decision, key, state.waiting.queues[key], reason)


def queues_in_order(state: State) -> Iterator[tuple[QueueKey, Queue]]:
    return in_order(state.waiting.queues.items())


def in_order(queues: Iterable[tuple[QueueKey, Queue]]) -> Iterator[tuple[QueueKey, Queue]]:
    """Queues by component in the plan's order; within a component by mode, and otherwise in the order in which
    they came to wait.
    """
    return iter(sorted(queues, key=lambda item: (item[0].component, item[0].place)))


def _worth_asking(state: State, plan: Reservations, rolling: Container[int]) -> Iterator[tuple[QueueKey, Queue]]:
    """All queues that may be ordered from here: not those of mixes and sweeps, nor those already told that another stage has the
    pool.
    """
    holders = {pool: holder_of(state, pool, plan.ahead) for pool in plan.room} if state.index.staged else {}
    told = {pool: f"turn:{pool}" for pool, holder in holders.items() if holder}
    for key, queue in state.waiting.queues.items():
        bundle = state.index.bundles.get((key.component, key.pool))
        if (key.component in rolling and not is_step(key.mode)) or (bundle is not None and bundle.kind == "sweep"):
            continue
        if told and queue.reason == told.get(key.pool) and key.stage != holders[key.pool]:
            continue
        yield key, queue


def _room(state: State, pool: str) -> int:
    """How many jobs may be ordered in a pool now: none while more than ``low`` are live, else up to ``high``; after a back-off only
    as many as the scheduler is being tried with.
    """
    limits, live = state.index.pools[pool], state.usage.jobs.get(pool, 0)
    shut = state.pools.backoffs.get(pool)
    if shut is not None:
        asked = sum(
            job.phase in UNANSWERED and job.key is not None and job.key.pool == pool for job in state.jobs.values()
        )
        return max(0, min(shut.most - asked, limits.high - live))
    return limits.high - live if live <= limits.low else 0


def _submit_from(
    state: State, decision: Decision, plan: Reservations, key: QueueKey, queue: Queue, now: float
) -> Reason | None:
    """Order runs of a class, from the first on, until the pool is full or something holds them back. Returns that reason."""
    bundle = state.index.bundles.get((key.component, key.pool))
    if bundle is not None:
        return order_packs(state, decision, plan, key, queue, bundle, now)
    for entry in islice(queue, room_for(state, plan, key)):
        reason = binding_reason(state, key, now, plan.ahead)
        if reason is not None:
            return reason
        if base(key.mode) == "fill":
            _say_short(state, decision, key)
        order_job(state, decision, plan, key, entry, now)
    return None


def _wake_when_due(state: State, decision: Decision, key: QueueKey, reason: Reason | None, now: float) -> None:
    """Starts of a test must be some time apart: ask to be woken when the next one may begin."""
    if reason is not None and reason.key.startswith("stagger:"):
        decision.wake(state.usage.allowed_at.get(key.test, now) + stagger_of(state, key))


def _say_short(state: State, decision: Decision, key: QueueKey) -> None:
    """A fill of which not all copies fit runs with fewer; this is recorded once."""
    copies = state.index.copies(key.component, key.case, key.mode)
    said = state.results.said_short + [order.event.value.get("stage") for order in decision.orders]
    if not copies.binding or str(key.stage) in said:
        return
    component = state.index.components[key.component].name
    value: dict[str, Any] = {"kind": "fill_short", "component": component, "stage": str(key.stage)}
    value |= {"required": copies.wanted, "fits": copies.fits}
    why = f"{copies.wanted} copies at once are asked for and {copies.fits} fit: {copies.binding}"
    decision.record(Event("finding", case=key.case, value=value, reason=why))


def _submit_delayed(
    state: State, decision: Decision, plan: Reservations, now: float, deferred: bool = False
) -> dict[QueueKey, list[PendingResult]]:
    """Order retries that are due; with ``deferred``, those that were ordered before and that the scheduler did not take. Returns,
    by class, those that go into jobs of several runs.
    """
    packed: dict[QueueKey, list[PendingResult]] = {}
    for entry in state.waiting.delayed:
        if entry.not_before > now:
            if not state.driver.stopping:
                decision.wake(entry.not_before)
            break
        if bool(entry.deferred) is not deferred:
            continue
        key = state.index.class_of(entry.component, entry.case, entry.mode)
        bundle = state.index.bundles.get((key.component, key.pool))
        if bundle is not None:
            packed.setdefault(key, []).append(entry)  # a sweep takes its own back with the other results of their nodes
            continue
        reason = binding_reason(state, key, now, plan.ahead)
        _wake_when_due(state, decision, key, reason, now)
        if room_for(state, plan, key) > 0 and reason is None:
            order_job(state, decision, plan, key, entry, now)
    return packed


def _submit_mix(
    state: State, decision: Decision, plan: Reservations, mix: Mix, left: Container[QueueKey], now: float
) -> None:
    """Order the test that is furthest behind its share and may start, until the machine is full; then what fills the rest.

    ``left``: queues whose held jobs are ready but skipped in this round. They are released after the queue that is furthest behind
    its share.
    """
    for mode, candidates, full in (("", mix.candidates, mix.full), (FILLER, mix.fillers, mix.full_for_fillers)):

        def may_go(key: QueueKey, full: Callable[[State, Outlook, QueueKey], bool] = full) -> bool:
            fits = key not in left and not full(state, plan.ahead, key) and room_for(state, plan, key) > 0
            if not fits or mix.reason(state, key, now, plan.ahead) is not None:
                return False
            return not was_tried(state, key.pool, key.case) or not _others_may_probe(state, plan, mix, key, now)

        while any(key.mode == mode and may_go(key) for key in mix.queues):  # else ranking them is for nothing
            key, entry = next(((key, entry) for key, entry in candidates() if may_go(key)), (None, None))
            if key is None or entry is None:
                break
            order_job(state, decision, plan, key, entry, now)
            mix.ordered(key)
    top_up(state, decision, plan, mix, now)
    for key, queue in mix.queues.items():
        reason = mix.reason(state, key, now, plan.ahead)
        _wake_when_due(state, decision, key, reason, now)
        _note(state, decision, key, queue, reason)
    report_starved_tests(state, decision, mix, now)


def _others_may_probe(state: State, plan: Reservations, mix: Mix, key: QueueKey, now: float) -> bool:
    """Whether another case of the mix, which has not probed the held queue in vain, may begin there."""
    others = (one for one in mix.queues if one.pool == key.pool and not was_tried(state, one.pool, one.case))
    return any(mix.reason(state, one, now, plan.ahead) is None for one in others)


def _note(state: State, decision: Decision, key: QueueKey, queue: Queue, reason: Reason | None) -> None:
    """Record why a class waits, each time that the reason changes. Reasons that are not notable are left out."""
    said = reason.key if reason else ""
    if said != queue.reason and (reason is None or reason.notable):
        value = {"class": class_label(state.index, key), "key": said}
        decision.record(Event("waiting", value=value, reason=reason.lasting if reason else "nothing holds it any more"))
