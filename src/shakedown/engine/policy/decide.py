"""What to order next, and when to look again. Pure: the state is read and never changed; each order comes with its event.

``decide`` is the table of contents: it announces, settles, attends to jobs, collects, builds and submits, in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from shakedown.engine.constraints.blocking import build_reason
from shakedown.engine.constraints.component_clock import tell_time
from shakedown.engine.constraints.left_out import keep_nodes
from shakedown.engine.constraints.queue_guard import keep_queues
from shakedown.engine.fold.bookkeeping import facts_of
from shakedown.engine.policy.circuit_breakers import stand
from shakedown.engine.policy.idle_while_pending import tell_idle_while_pending
from shakedown.engine.policy.job_recovery import attend
from shakedown.engine.policy.silent_numbers import tell_silent
from shakedown.engine.policy.stuck_jobs import tell_stuck
from shakedown.engine.policy.submit import queues_in_order, submit
from shakedown.engine.policy.sweeps import end_sweeps
from shakedown.engine.state.jobs import BuildState, PendingResult, Run
from shakedown.engine.state.modes import is_drill, mode_facts
from shakedown.engine.state.orders import BATCH, Decision, Order
from shakedown.engine.state.phases import BuildPhase, CampaignPhase
from shakedown.engine.state.retirement import component_of, why_no_more
from shakedown.engine.state.state import State
from shakedown.model.events import SPARED, UNDETERMINED, Event
from shakedown.model.nouns import Retry
from shakedown.model.ports import CollectOrder
from shakedown.model.retrying import GONE

LONGEST_WAIT_S = 300.0
_RUNNING: Final = CampaignPhase.RUNNING
_DONE: Final = BuildPhase.DONE


def decide(state: State, now: float) -> Decision:
    """Purpose: the orders that the rules allow at ``now``. The same state and time always give the same decision."""
    decision = Decision()
    if state.phase != _RUNNING or not state.driver.driven:
        return decision
    _announce(state, decision)
    if tell_time(state, decision, now) or stand(state, decision, now) or end_sweeps(state, decision, now):
        return decision  # they take waiting entries away; the rest is decided without them
    if keep_nodes(state, decision, now) or keep_queues(state, decision, now):
        return decision
    _settle(state, decision, now)
    attend(state, decision, now)
    _collect(state, decision)
    _judge_again(state, decision, now)
    _judge_cancelled(state, decision)
    _judge_unmet(state, decision)
    tell_silent(state, decision, now)
    tell_stuck(state, decision, now)
    tell_idle_while_pending(state, decision, now)
    if state.driver.no_room:
        return decision
    _build(state, decision, now)
    if not any(order.event.event == "requeued" for order in decision.orders):  # it takes a waiting entry for itself
        submit(state, decision, now)
    _end(state, decision)
    return decision


# ---- bookkeeping orders ----------------------------------------------------------------------------------------------


def _announce(state: State, decision: Decision) -> None:
    for number, case in islice(state.waiting.unannounced, BATCH):
        component = state.index.components[number].name
        why = state.index.cases[case].unavailable
        decision.record(Event("unavailable", case=case, value={"component": component}, reason=why))


def _settle(state: State, decision: Decision, now: float) -> None:
    """Decide after a verdict whether another attempt follows, perhaps later, or none."""
    for name in islice(state.agenda.to_settle, BATCH):
        run = state.runs[name]
        value: dict[str, Any] = {"component": component_of(state, run), "repeat": run.repeat}
        value |= mode_facts(run.mode)
        rule = GONE if run.verdict == UNDETERMINED else state.index.retry_rule(run.component, run.verdict)
        if is_drill(run.mode) and run.verdict != "submit_failed":
            rule = None  # what it did to the machine is done: nobody does that a second time unasked
        unwanted = why_no_more(state, run.component, run.case, run.mode)
        if rule is None or run.times > rule.times or state.campaign.cancelled or run.cancelled or unwanted:
            why = _why_no_more(state, run, rule.times if rule else 0, unwanted)
            decision.record(Event("given_up", case=run.case, run=name, value=value, reason=why))
            continue
        wait = _wait_before(rule, run)
        value |= {"attempt": run.attempt + 1, "not_before": now + wait if wait else 0.0}
        why = f"{run.verdict} is attempted again: retry {run.times} of {rule.times}"
        decision.record(Event("retry", case=run.case, run=name, value=value, reason=why))


def _wait_before(rule: Retry, run: Run) -> float:
    """How long to wait before the next attempt, in seconds: the plan's back-off, doubled each time.

    Without a back-off the first three retries come at once; later ones wait longer and longer, so that something that always fails
    is not tried a thousand times a minute.
    """
    if rule.backoff_s:
        return rule.backoff_s * 2.0 ** min(run.times - 1, 10)
    return min(2.0 ** (run.attempt - 4), LONGEST_WAIT_S) if run.attempt > 3 else 0.0


def _why_no_more(state: State, run: Run, times: int, unwanted: str) -> str:
    if state.campaign.cancelled:
        return f"the campaign was cancelled: {state.campaign.cancelled}"
    if run.cancelled:
        return f"it was cancelled: {run.cancelled}"
    if run.home or (times and run.times <= times):  # what the plan does not want has no rule of it
        return f"{run.verdict}, and {unwanted}"
    retries = "1 retry" if times == 1 else f"{times} retries"
    return f"{run.verdict} after {retries}" if times else f"{run.verdict} is not retried by this plan"


def _collect(state: State, decision: Decision) -> None:
    for name in islice(state.agenda.to_collect, BATCH):
        run = state.runs[name]
        facts = facts_of(state, run)
        if "restart" in facts:
            continue  # put back into the queue since: that judges the run, in this decision
        if "again" in facts:
            decision.record(_started_again(state, run, facts))
        _order_collecting(state, decision, run, facts)


def _order_collecting(state: State, decision: Decision, run: Run, facts: dict[str, Any]) -> None:
    case = state.index.cases[run.case]
    payload = CollectOrder(
        run.id, case, state.index.test_of(case), facts.get("output", {}), state.index.handing.get(case.id, ())
    )
    decision.orders.append(Order("collect", Event("check_start", run=run.id), payload))


def _judge_again(state: State, decision: Decision, now: float) -> None:
    """Try again to judge runs that could not be judged, less and less often, until it works or a person cancels them."""
    for name, again in islice(state.agenda.undetermined.items(), BATCH):
        run = state.runs[name]
        unwanted = state.campaign.cancelled or run.cancelled
        if unwanted:
            value = {"component": component_of(state, run), "repeat": run.repeat}
            why = f"{run.verdict}, and it was cancelled: {unwanted}"
            decision.record(Event("given_up", case=run.case, run=name, value=value | mode_facts(run.mode), reason=why))
        elif again.again_at <= now:
            _order_collecting(state, decision, run, run.facts)
        else:
            decision.wake(again.again_at)


def _started_again(state: State, run: Run, facts: Mapping[str, Any]) -> Event:
    """The finding that the scheduler started a job again although it had ended by itself, perhaps because it lost a node that still
    worked.
    """
    value = {"kind": "started_again", "restart": facts["again"]}
    value |= {key: facts[key] for key in ("cause", "nodes", "failed_nodes") if key in facts}
    why = (
        state.jobs[run.job].report.message
        or "the scheduler put it back into the queue, although it had come to its own end"
    )
    return Event("finding", job=run.job, run=run.id, case=run.case, value=value, reason=f"{why}; it does nothing more")


def _judge_cancelled(state: State, decision: Decision) -> None:
    for entry in islice(state.waiting.to_cancel, BATCH):
        why = state.campaign.cancelled or entry.cancelled or "cancelled before it started"
        _judge_waiting(state, decision, entry, "cancelled", why)


def _judge_unmet(state: State, decision: Decision) -> None:
    """Judge results that are not run because what they need did not pass, or because their ladder does not need them. Results that
    need these are then judged in turn.
    """
    for entry in islice(state.waiting.unmet, BATCH):
        if entry.spared:
            _judge_waiting(state, decision, entry, SPARED, entry.unmet)
            continue
        case = state.index.cases[entry.case]
        expected = f" (as expected: {case.because})" if case.expect == "not_run" else ""
        _judge_waiting(state, decision, entry, "not_run", entry.unmet + expected)


def _judge_waiting(state: State, decision: Decision, entry: PendingResult, verdict: str, why: str) -> None:
    value = {
        "verdict": verdict,
        "component": state.index.components[entry.component].name,
        "repeat": entry.repeat,
        "attempt": entry.attempt,
        "final": True,
    } | mode_facts(entry.mode)
    run = entry.void_run or decision.new_run(state)
    decision.record(Event("verdict", case=entry.case, run=run, value=value, reason=why))


def _end(state: State, decision: Decision) -> None:
    if state.over and not decision.orders and not state.builds_running():
        counts: dict[str, int] = {}
        for tally in state.tallies:
            for verdict, count in tally.verdicts.items():
                counts[verdict] = counts.get(verdict, 0) + count
        why = state.campaign.cancelled or "every wanted result is judged or unavailable"
        decision.record(Event("campaign_end", value={"counts": dict(sorted(counts.items()))}, reason=why))


# ---- builds ------------------------------------------------------------------------------------------


def _build(state: State, decision: Decision, now: float) -> None:
    """Start the builds that waiting classes need, in the plan's order. Where a build failed, all results that wait for it are
    judged.
    """
    builds = state.builds
    if all((build := builds.get(key)) is not None and build.phase == _DONE for key in state.index.builds):
        return
    started: set[str] = set()
    for key, queue in queues_in_order(state):
        build = state.builds.get(key.build)
        if build is not None and build.phase == BuildPhase.FAILED:
            why = f"build {state.index.build_names[key.build]} failed: {build.message}; its log is {build.log}"
            for entry in islice(queue, BATCH):
                case = state.index.cases[entry.case]
                expected = f" (as expected: {case.because})" if case.expect == "build_failed" else ""
                _judge_waiting(state, decision, entry, "build_failed", why + expected)
        elif build is not None and build.phase == BuildPhase.HELD and build.not_before > now:
            if not state.driver.stopping:
                decision.wake(build.not_before)
        elif key.build and _may_build(build) and key.build not in started and not build_reason(state, len(started)):
            started.add(key.build)
            spec = state.index.builds[key.build]
            event = Event("build_order", build=key.build, value={"name": spec.name, "now": now, "at": state.seq})
            decision.orders.append(Order("build", event, spec))


def _may_build(build: BuildState | None) -> bool:
    return build is None or build.phase == BuildPhase.HELD
