"""Tests that fall out of a mix: none of their runs goes on although some should. This is recorded once, with what
holds them back.
"""

from __future__ import annotations

from typing import Any

from shakedown.engine.constraints.blocking import outlook
from shakedown.engine.constraints.overrides import component_reason, standing_reason
from shakedown.engine.policy.mix import Mix
from shakedown.engine.state.jobs import Run
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.phases import RUN_NOT_BEGUN
from shakedown.engine.state.records import STANDSTILL
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.units import show_duration

STALLED_S = (
    3600.0  # for which nothing of a test begins although something is submitted: that is worth a finding at the latest
)
SOONEST_S = 120.0  # and at the soonest: a scheduler's own cycle and ours pass by
STANDS_S = (
    600.0  # for which nothing of a whole mix begins, at the soonest; a tenth of its time else, up to ``STALLED_S``
)
RUNS_MISSED = 3.0  # and how many runs of it its share of what the others had since then would have been
IDLE_S = 60.0  # for which nothing of a test is in flight before that is worth a finding


def report_starved_tests(state: State, decision: Decision, mix: Mix, now: float) -> None:
    """Purpose: record a finding for each test of the mix that has had no run in flight for a minute, has none ordered now, and is
    at least one run behind its share. Nothing is recorded while the machine is being filled, since each test then waits for its
    turn.
    """
    component = state.index.components[mix.number]
    roll = state.clocks.mixes.get(component.name)
    if roll is None or roll.started is None:
        return
    ramped = roll.started + state.index.components[mix.number].fill.ramp_s
    if now < ramped:
        decision.wake(ramped)
        return
    ordered = {mix.tests[key.case] for key in mix.taken}
    for test in mix.shares:
        since = max(roll.idle.get(test, roll.started), ramped)
        if roll.live.get(test, 0):
            _tell_stalled(state, decision, mix, test, now)
            continue
        if test in roll.fallen or test in ordered or _is_held(state, mix, test, now):
            continue
        if not mix.is_behind(test):
            continue
        if now < since + IDLE_S:
            decision.wake(since + IDLE_S)
            continue
        value: dict[str, Any] = {"kind": "fell_out", "component": component.name, "test": test, "since": since}
        decision.record(Event("finding", value=value, reason=_why(state, mix, test, now - since, now)))


def _tell_stalled(state: State, decision: Decision, mix: Mix, test: str, now: float) -> None:
    """Record that runs of a test are submitted and none has begun for a long time.

    A long queue alone delays all tests alike. Only what the other tests had meanwhile, of which this one should have had its share,
    shows that it has fallen out.
    """
    component = state.index.components[mix.number]
    roll = state.clocks.mixes[component.name]
    since = max(roll.begun.get(test, 0.0), (roll.started or 0.0) + component.fill.ramp_s)
    share = mix.shares[test]
    due = roll.missed.get(test, 0.0) * share / max(1e-9, 1.0 - share)
    if test in roll.stalled or due < RUNS_MISSED * mix.each[test] or _is_held(state, mix, test, now):
        return
    patience_s = patience(state, mix, test)
    if now < since + patience_s:
        decision.wake(since + patience_s)
        return
    mine = [run for run in state.runs.values() if run.component == mix.number and mix.tests.get(run.case) == test]
    if any(run.phase not in RUN_NOT_BEGUN for run in mine):
        return
    value: dict[str, Any] = {"kind": "fell_out", "component": component.name, "test": test, "since": since}
    value["submitted"] = len(mine)
    says = _scheduler_notes(state, mine)
    what = f"{len(mine)} of its runs are submitted ({says}), and the others had {RUNS_MISSED:g} times its share or more meanwhile"
    why = f"nothing of test {test} has begun for {show_duration(now - since)}: {what}"
    decision.record(Event("finding", value=value, reason=why))


def patience(state: State, mix: Mix, test: str) -> float:
    """Purpose: for how many seconds no run of a test may begin, while others do, before that is a finding.

    It is three times the interval between its starts, as its share of a full machine, its copies and the plan's stagger give it;
    but at least as long as the longest run of the mix so far, since a wider job may have to wait for that. It is 2 minutes at
    least, 1 hour at most.
    """
    lasts = max(mix.longest.values(), default=0.0)
    return min(STALLED_S, max(SOONEST_S, RUNS_MISSED * _apart_s(state, mix, test), lasts))


def _apart_s(state: State, mix: Mix, test: str) -> float:
    """The interval between starts of a test by the plan, in seconds."""
    component, plan = state.index.components[mix.number], state.index.document.limits
    busy = sum({key.pool: mix.busy[key.pool] for key in mix.queues if mix.tests[key.case] == test}.values())
    by_share = mix.each[test] / (mix.shares[test] * busy) if mix.shares[test] * busy > 0 else 0.0
    copies = [most for name, most in (*component.limits.copies, *plan.copies) if name == test and most > 0]
    by_copies = mix.seconds[test] / min(copies) if copies else 0.0
    return max(by_share, by_copies, component.limits.stagger_s, plan.stagger_s)


def tell_standstill(state: State, decision: Decision, number: int, now: float) -> None:
    """Purpose: record a finding where runs of a mix are submitted, none runs, and none has begun for a long time.

    All jobs that the mix may have at the scheduler wait there, so nothing else is ordered.
    """
    component = state.index.components[number]
    roll = state.clocks.mixes.get(component.name)
    if roll is None or roll.started is None or roll.up or STANDSTILL in roll.stalled or not any(roll.live.values()):
        return
    since = max(roll.started + component.fill.ramp_s, *roll.begun.values(), 0.0)
    patience_s = min(STALLED_S, max(STANDS_S, component.duration_s / 10))
    if now < since + patience_s:
        decision.wake(since + patience_s)
        return
    mine = [run for run in state.runs.values() if run.component == number]
    if any(run.phase not in RUN_NOT_BEGUN for run in mine) or component_reason(state, number, now) is not None:
        return
    value: dict[str, Any] = {
        "kind": "stands_still",
        "component": component.name,
        "since": since,
        "submitted": len(mine),
    }
    why = f"nothing of component {component.name} has begun for {show_duration(now - since)} and nothing of it runs"
    why += f", although {len(mine)} of its runs are submitted: {_scheduler_notes(state, mine)}"
    decision.record(Event("finding", value=value, reason=why))


def _scheduler_notes(state: State, runs: list[Run]) -> str:
    """What the scheduler says of jobs that wait."""
    notes = dict.fromkeys(state.jobs[run.job].report.note for run in runs if run.job in state.jobs)
    return ", ".join(note for note in notes if note) or "the scheduler gives no reason but patience"


def _is_held(state: State, mix: Mix, test: str, now: float) -> bool:
    """Whether an override or the plan wants that no run of the test goes on now."""
    keys = [key for key in mix.queues if mix.tests[key.case] == test]
    return bool(keys) and all(standing_reason(state, key, now) is not None for key in keys)


def _why(state: State, mix: Mix, test: str, idle_s: float, now: float) -> str:
    ahead = outlook(state, now)
    held = [mix.reason(state, key, now, ahead) for key in mix.queues if mix.tests[key.case] == test]
    reasons = list(dict.fromkeys(reason.text for reason in held if reason is not None))
    what = "; ".join(reasons) or (
        "other tests are further behind their shares" if held else "no result of it is wanted"
    )
    return f"nothing of test {test} has been in flight for {idle_s:.0f} s: {what}"
