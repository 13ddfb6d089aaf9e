"""What to order next, and when to look again. Pure: the state is read, never altered; every order comes with its event.

``decide`` is the table of contents: what is announced, settled, attended to, collected, built and submitted, in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from shakedown.engine.attend import attend
from shakedown.engine.orders import BATCH, Decision, Order
from shakedown.engine.places import class_label
from shakedown.engine.plan import ClassKey
from shakedown.engine.reasons import Reason, binding_reason, build_reason
from shakedown.engine.state import BuildState, Entry, Queue, Run, State, job_name
from shakedown.model.events import Event
from shakedown.model.nouns import Retry
from shakedown.model.ports import CollectOrder, JobOrder

LONGEST_WAIT_S = 300.0


def decide(state: State, now: float) -> Decision:
    """Purpose: the orders that policy permits at ``now``. The same state and time give the same decision, always."""
    decision = Decision()
    if state.phase != "running" or not state.driven:
        return decision
    _announce(state, decision)
    _settle(state, decision, now)
    attend(state, decision, now)
    _collect(state, decision)
    _judge_cancelled(state, decision)
    _build(state, decision, now)
    if not any(order.event.event == "requeued" for order in decision.orders):  # it takes a waiting entry for itself
        _submit(state, decision, now)
    _end(state, decision)
    return decision


# ---- bookkeeping orders ----------------------------------------------------------------------------------------------


def _announce(state: State, decision: Decision) -> None:
    for number, case in islice(state.unannounced, BATCH):
        component = state.index.components[number].name
        why = state.index.cases[case].unavailable
        decision.record(Event("unavailable", case=case, value={"component": component}, reason=why))


def _settle(state: State, decision: Decision, now: float) -> None:
    """After a verdict that may be retried: another attempt, later if need be, or the end of it."""
    for name in islice(state.to_settle, BATCH):
        run = state.runs[name]
        value: dict[str, Any] = {"component": state.index.components[run.component].name, "repeat": run.repeat}
        rule = state.index.retry_rule(run.component, run.verdict)
        if rule is None or run.attempt > rule.times or state.cancelled or run.cancelled:
            why = _why_no_more(state, run, rule.times if rule else 0)
            decision.record(Event("given_up", case=run.case, run=name, value=value, reason=why))
            continue
        wait = _wait_before(rule, run.attempt)
        value |= {"attempt": run.attempt + 1, "not_before": now + wait if wait else 0.0}
        why = f"{run.verdict} is attempted again: retry {run.attempt} of {rule.times}"
        decision.record(Event("retry", case=run.case, run=name, value=value, reason=why))


def _wait_before(rule: Retry, attempt: int) -> float:
    """The plan's back-off, doubled each time. Without one the first three retries are at once, and later ones wait all the
    same: what goes wrong again and again must not be tried a thousand times a minute.
    """
    if rule.backoff_s:
        return rule.backoff_s * 2.0 ** min(attempt - 1, 10)
    return min(2.0 ** (attempt - 4), LONGEST_WAIT_S) if attempt > 3 else 0.0


def _why_no_more(state: State, run: Run, times: int) -> str:
    if state.cancelled:
        return f"the campaign was cancelled: {state.cancelled}"
    if run.cancelled:
        return f"it was cancelled: {run.cancelled}"
    return f"{run.verdict} after {times} retries" if times else f"{run.verdict} is not retried by this plan"


def _collect(state: State, decision: Decision) -> None:
    for name in islice(state.to_collect, BATCH):
        run = state.runs[name]
        case = state.index.cases[run.case]
        output = state.jobs[run.job].facts.get("output", {})
        payload = CollectOrder(name, case, state.index.tests[case.test], output)
        decision.orders.append(Order("collect", Event("check_start", run=name), payload))


def _judge_cancelled(state: State, decision: Decision) -> None:
    for entry in islice(state.to_cancel, BATCH):
        why = state.cancelled or "cancelled before it started"
        _judge_waiting(state, decision, entry, "cancelled", why)


def _judge_waiting(state: State, decision: Decision, entry: Entry, verdict: str, why: str) -> None:
    value = {
        "verdict": verdict,
        "component": state.index.components[entry.component].name,
        "repeat": entry.repeat,
        "attempt": entry.attempt,
        "final": True,
    }
    run = entry.void_run or decision.new_run(state)
    decision.record(Event("verdict", case=entry.case, run=run, value=value, reason=why))


def _end(state: State, decision: Decision) -> None:
    if state.over and not decision.orders and not state.builds_running():
        counts: dict[str, int] = {}
        for tally in state.tallies:
            for verdict, count in tally.verdicts.items():
                counts[verdict] = counts.get(verdict, 0) + count
        why = state.cancelled or "every wanted result is judged or unavailable"
        decision.record(Event("campaign_end", value={"counts": dict(sorted(counts.items()))}, reason=why))


# ---- builds and submissions ------------------------------------------------------------------------------------------


def _build(state: State, decision: Decision, now: float) -> None:
    """Start what waiting classes need, in the plan's order; a failed build judges everything that waits for it."""
    if not state.index.builds:
        return
    started: set[str] = set()
    for key, queue in _queues_in_order(state):
        build = state.builds.get(key.build)
        if build is not None and build.phase == "failed":
            why = f"build {state.index.builds[key.build].name} failed: {build.message}; its log is {build.log}"
            for entry in islice(queue.entries, BATCH):
                case = state.index.cases[entry.case]
                expected = f" (as expected: {case.because})" if case.expect == "build_failed" else ""
                _judge_waiting(state, decision, entry, "build_failed", why + expected)
        elif build is not None and build.phase == "held" and build.not_before > now:
            if not state.stopping:
                decision.wake(build.not_before)
        elif key.build and _may_build(build) and key.build not in started and not build_reason(state, len(started)):
            started.add(key.build)
            spec = state.index.builds[key.build]
            event = Event("build_order", build=key.build, value={"name": spec.name, "now": now, "at": state.seq})
            decision.orders.append(Order("build", event, spec))


def _may_build(build: BuildState | None) -> bool:
    return build is None or build.phase == "held"


def _queues_in_order(state: State) -> Iterator[tuple[ClassKey, Queue]]:
    """Queues by component, in the plan's order; within a component in the order in which they first waited."""
    return iter(sorted(state.queues.items(), key=lambda item: item[0].component))


@dataclass(slots=True)
class _Plan:
    """What this decision has already promised, on top of what the state holds."""

    used: dict[str, float] = field(default_factory=dict)
    room: dict[str, int] = field(default_factory=dict)
    ordered: int = 0


def _submit(state: State, decision: Decision, now: float) -> None:
    promised = _Plan(room={name: _room(state, name) for name in state.index.pools})
    for shut in state.shut.values():
        if shut.until > now and not state.stopping:
            decision.wake(shut.until)
    if all(room <= 0 for room in promised.room.values()):
        return
    building = any(order.kind == "build" for order in decision.orders)
    for key, queue in _queues_in_order(state):
        if promised.room.get(key.pool, 0) <= 0:
            continue
        reason = binding_reason(state, key, now, promised.used, building)
        if reason is None:
            reason = _submit_from(state, decision, promised, key, queue.entries, now)
        _note(state, decision, key, queue, reason)
    _submit_delayed(state, decision, promised, now, building)


def _room(state: State, pool: str) -> int:
    """How many jobs may be ordered now: none while more than ``low`` live, then up to ``high``; one where none was taken."""
    limits, live = state.index.pools[pool], state.live.get(pool, 0)
    if pool in state.shut:
        return 1 if live < limits.high else 0
    return limits.high - live if live <= limits.low else 0


def _submit_from(
    state: State, decision: Decision, promised: _Plan, key: ClassKey, entries: Any, now: float
) -> Reason | None:
    """Order from the head of a class until its pool is full or a budget binds; that budget's reason comes back."""
    for entry in islice(entries, promised.room[key.pool]):
        reason = binding_reason(state, key, now, promised.used)
        if reason is not None:
            return reason
        _order_job(state, decision, promised, key, entry, now)
    return None


def _submit_delayed(state: State, decision: Decision, promised: _Plan, now: float, building: bool) -> None:
    for entry in state.delayed:
        if entry.not_before > now:
            if not state.stopping:
                decision.wake(entry.not_before)
            return
        key = state.index.class_of(entry.component, entry.case)
        if promised.room.get(key.pool, 0) > 0 and binding_reason(state, key, now, promised.used, building) is None:
            _order_job(state, decision, promised, key, entry, now)


def _order_job(state: State, decision: Decision, promised: _Plan, key: ClassKey, entry: Entry, now: float) -> None:
    promised.room[key.pool] -= 1
    for budget, load in key.loads:
        promised.used[budget] = promised.used.get(budget, 0.0) + load
    job = job_name(state.next_job + promised.ordered)
    promised.ordered += 1
    run = entry.void_run or decision.new_run(state)
    value = {
        "component": state.index.components[entry.component].name,
        "repeat": entry.repeat,
        "attempt": entry.attempt,
        "units": key.units,
        "now": now,
        "at": state.seq,
    }
    event = Event("submit_order", case=entry.case, run=run, job=job, value=value)
    decision.orders.append(Order("submit", event, JobOrder(job, run, state.index.cases[entry.case])))


def _note(state: State, decision: Decision, key: ClassKey, queue: Queue, reason: Reason | None) -> None:
    """Log why a class waits, once per change. That the queue ahead is long enough is no news."""
    said = reason.key if reason else ""
    if said != queue.reason and (reason is None or reason.notable):
        value = {"class": class_label(state, key), "key": said}
        decision.record(Event("waiting", value=value, reason=reason.text if reason else "nothing holds it any more"))
