"""Tests of a mix that fall out: nothing of them runs although something should, which is said once, with what holds them back."""

from __future__ import annotations

from typing import Any

from shakedown.engine.orders import Decision
from shakedown.engine.reasons import outlook
from shakedown.engine.rolling import Mix
from shakedown.engine.standing import standing_reason
from shakedown.engine.state import State
from shakedown.model.events import Event

IDLE_S = 60.0  # for which nothing of a test is in flight before that is worth a finding


def tell_fallen(state: State, decision: Decision, mix: Mix, now: float) -> None:
    """Purpose: a finding for each test of the mix of which nothing has been in flight for a minute and nothing is ordered now,
    although it is a run or more behind its share. Never while the machine is being filled: then each waits for its turn.
    """
    component = state.index.components[mix.number]
    roll = state.rolls.get(component.name)
    if roll is None or roll.started is None:
        return
    ramped = roll.started + state.index.components[mix.number].fill.ramp_s
    if now < ramped:
        decision.wake(ramped)
        return
    ordered = {mix.tests[key.case] for key in mix.taken}
    for test in mix.shares:
        since = max(roll.idle.get(test, roll.started), ramped)
        if roll.live.get(test, 0) or test in roll.fallen or test in ordered or _is_held(state, mix, test, now):
            continue
        if not mix.is_behind(test):
            continue
        if now < since + IDLE_S:
            decision.wake(since + IDLE_S)
            continue
        value: dict[str, Any] = {"kind": "fell_out", "component": component.name, "test": test, "since": since}
        decision.record(Event("finding", value=value, reason=_why(state, mix, test, now - since, now)))


def _is_held(state: State, mix: Mix, test: str, now: float) -> bool:
    """Somebody, or the plan, wants that nothing of it runs now."""
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
