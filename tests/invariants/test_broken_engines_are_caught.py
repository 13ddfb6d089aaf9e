"""The oracle is only worth something if it catches engines that are broken on purpose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oracle import Violation
from stage import Campaign, moded_document, people, random_deaths, small_document

import shakedown.conductor.driver.loop as loop_module
import shakedown.engine.constraints.blocking as reasons_module
from shakedown.engine import Decision, decide
from shakedown.engine.fold.evolve import HANDLERS
from shakedown.model.events import Event
from shakedown.model.ports import Ports
from shakedown.twin import Fates, Lies, NothingWillHappen


def violations(make: Callable[[int], Campaign], seeds: range = range(30)) -> list[str]:
    """What the oracle says of each seed's campaign."""
    return list(_violations(make, seeds))


def assert_caught(make: Callable[[int], Campaign], *words: str, seeds: range = range(30)) -> None:
    """Of one of the seeds' campaigns the oracle says a sentence with all these words; the others are not played any more."""
    found = []
    for said in _violations(make, seeds):
        found.append(said)
        if all(word in said for word in words):
            return
    raise AssertionError(f"no campaign of {seeds} is said to be: {' ... '.join(words)}; but: {found}")


def _violations(make: Callable[[int], Campaign], seeds: range) -> Iterator[str]:
    for seed in seeds:
        try:
            make(seed).run()
        except (Violation, NothingWillHappen) as violation:
            yield str(violation)


def test_the_engine_as_it_is_gives_no_violation() -> None:
    assert violations(lambda seed: Campaign(small_document(), seed=seed, lies=Lies(timed_out=0.3))) == []


def test_no_intent_submitting_before_the_order_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(conductor: Any, decision: Decision) -> None:
        orders = [order for order in decision.orders if order.kind == "submit"]
        for order in decision.orders:
            conductor.log(order.event)
        loop_module._submit(conductor, orders)
        conductor.commit()
        conductor.ports.builder.start([o.payload for o in decision.orders if o.kind == "build"])
        conductor.ports.collector.start([o.payload for o in decision.orders if o.kind == "collect"])

    monkeypatch.setattr(loop_module, "_carry_out", hasty)
    found = violations(lambda seed: Campaign(small_document(), seed=seed), range(3))

    assert found == ["j000001 was submitted before its order was durable"] * 3


def test_no_claim_replacing_a_doubtful_job_without_taking_it() -> None:
    """A submission that arrives late then runs beside its replacement."""

    def careless(ports: Ports) -> Ports:
        ports.scheduler.take_claim = lambda job: True  # type: ignore[method-assign]
        return ports

    late = Lies(late_submit=0.5, late_s=400.0)
    assert_caught(
        lambda seed: Campaign(small_document(), seed=seed, lies=late, change_ports=careless),
        "ran although its claim was taken",
    )
    assert violations(lambda seed: Campaign(small_document(), seed=seed, lies=late)) == []


def test_budget_freed_on_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = HANDLERS["job_report"]

    def generous(state: Any, event: Event) -> None:
        honest(state, event)
        if event.value["state"] in ("absent", "no_answer") and event.job in state.jobs:
            state.usage.loads.clear()

    monkeypatch.setitem(HANDLERS, "job_report", generous)
    silent = Lies(outage=0.5)
    fates = Fates(mean_s=150.0)
    assert_caught(
        lambda seed: Campaign(small_document(repeats=6), seed=seed, lies=silent, fates=fates),
        "fs/mdt",
        "may start, which makes it 3 of 2",
    )


def test_a_lost_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-offs and deadlines are never woken up for: the local machine waits for ever."""
    honest = decide

    def sleepy(state: Any, now: float) -> Decision:
        decision = honest(state, now)
        decision.wake_at = None
        return decision

    from shakedown.model.nouns import Retry

    document = small_document(local=True, retry=(Retry("failed", 3, 60.0),))
    monkeypatch.setattr(loop_module, "decide", sleepy)
    found = violations(lambda seed: Campaign(document, seed=seed, local=True, fates=Fates(failed=0.5)), range(5))

    assert found == ["nothing is in flight, nobody set a time, and work is left"] * 5


def test_a_fact_kept_outside_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conductor that remembers in its own memory what it has collected loses it with its memory."""
    collecting: set[str] = set()

    def forgetful(make: Callable[[int], Campaign]) -> Callable[[int], Campaign]:
        def fresh(seed: int) -> Campaign:
            collecting.clear()
            return make(seed)

        return fresh

    def once_only(ports: Ports) -> Ports:
        honest = ports.collector.start

        def start(orders: Any) -> None:
            new = [order for order in orders if order.run not in collecting]
            collecting.update(order.run for order in new)
            honest(new)

        ports.collector.start = start  # type: ignore[method-assign]
        return ports

    def dying_once() -> Callable[[str, int], bool]:
        left = [True]

        def dies(name: str, count: int) -> bool:
            return name == "collector.start:after" and len(collecting) == 3 and bool(left) and left.pop()

        return dies

    make = forgetful(
        lambda seed: Campaign(
            small_document(local=True), seed=seed, local=True, dies=dying_once(), change_ports=once_only
        )
    )
    found = violations(make, range(3))

    assert found
    assert all("nothing is in flight" in said or "the campaign does not end" in said for said in found), found


def test_a_state_altered_outside_the_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = decide

    def meddling(state: Any, now: float) -> Decision:
        state.campaign.next_job += 1
        return honest(state, now)

    monkeypatch.setattr(loop_module, "decide", meddling)
    found = violations(lambda seed: Campaign(small_document(), seed=seed), range(2))

    assert all("the live state is not what the log folds to" in said for said in found)
    assert len(found) == 2


def test_a_verdict_from_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treating "absent" at once as an end runs things twice, or loses results that are really there."""
    import shakedown.engine.policy.job_recovery as attend_module
    from shakedown.engine.policy.overlooked_jobs import look_into

    def trusting(state: Any, decision: Decision, job: Any, now: float) -> str:
        if job.report.state != "absent":
            return look_into(state, decision, job, now)
        attend_module._judge(state, decision, job, "passed", "it is gone")
        return ""

    monkeypatch.setattr(attend_module, "look_into", trusting)
    assert_caught(
        lambda seed: Campaign(small_document(), seed=seed, lies=Lies(late_submit=0.5), dies=random_deaths(seed, 0.01)),
        "is passed but was executed 0 times",
    )


# ---- modes, mixes and gates --------------------------------------------------------------------------------------------


def moded(seed: int) -> Campaign:
    return Campaign(moded_document(seed), seed=seed, fates=Fates(failed=0.1, incorrect=0.1), script=people)


def test_an_isolated_run_beside_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn is kept but nobody waits for the pool to be empty."""
    honest = reasons_module._turn

    def hasty(state: Any, key: Any, ahead: Any) -> Any:
        reason = honest(state, key, ahead)
        return None if reason and reason.key.startswith("alone") else reason

    monkeypatch.setattr(reasons_module, "_turn", hasty)
    assert_caught(moded, "is to be isolated and is ordered beside", seeds=range(8))


def test_others_beside_an_isolated_run_or_a_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = reasons_module._turn
    monkeypatch.setattr(
        reasons_module, "_turn", lambda state, key, ahead: honest(state, key, ahead) if key.stage else None
    )
    assert_caught(moded, "which are of another kind", seeds=range(8))


def test_a_fill_that_begins_before_the_last_one_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose turn it is is forgotten as soon as nothing of the stage waits any more."""
    honest = reasons_module._turn

    def early(state: Any, key: Any, ahead: Any) -> Any:
        waiting = {key.stage for key in state.waiting.queues}
        if any(stage not in waiting for stage in state.usage.stages.get(key.pool, {})):
            return None
        return honest(state, key, ahead)

    monkeypatch.setattr(reasons_module, "_turn", early)
    assert_caught(moded, "which are of another kind", seeds=range(8))


def test_more_copies_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = reasons_module._turn

    def generous(state: Any, key: Any, ahead: Any) -> Any:
        reason = honest(state, key, ahead)
        return None if reason and reason.key == "copies" else reason

    monkeypatch.setattr(reasons_module, "_turn", generous)
    assert_caught(moded, "is copy", seeds=range(8))


def test_a_measured_run_before_its_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warm-ups are wanted but wait behind what is measured."""
    import shakedown.engine.state.plan as plan_module

    monkeypatch.setattr(reasons_module, "_warm_up", lambda state, key: None)
    monkeypatch.setattr(plan_module, "is_warm_up", lambda mode: not mode.startswith("warm-up"))
    assert_caught(moded, "began before its warm-ups", seeds=range(8))


def test_a_warm_up_that_is_counted_as_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log calls it a result of the mode: what was wanted is then ordered twice."""
    import shakedown.engine.policy.submissions as ordering_module

    monkeypatch.setattr(ordering_module, "mode_facts", lambda mode: {"mode": mode.split(":")[-1]} if mode else {})
    found: list[str] = []
    for seed in range(8):
        try:
            moded(seed).run()
        except (Violation, ValueError) as caught:
            found.append(str(caught))
        if any("began before its warm-ups" in said or "is ordered while" in said for said in found):
            return
    raise AssertionError(found)


def test_a_gate_that_opens_when_it_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons_module, "_not_met", lambda state, name: None)
    assert_caught(moded, "although", "is not met", seeds=range(20))


def test_a_gate_that_forgets_its_procedures(monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.engine.state.state import State

    monkeypatch.setattr(State, "unattested", lambda state, number: [])
    assert_caught(moded, "was attested", seeds=range(20))


def test_an_outcome_that_is_not_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import shakedown.conductor.driver.gates as outcomes_module

    monkeypatch.setattr(outcomes_module, "weigh", lambda conductor, name: ("met", "it looks good"))
    assert_caught(moded, "came out met", seeds=range(20))


def test_a_mix_that_goes_on_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is only told when the machine happens to be idle."""
    import shakedown.engine.constraints.component_clock as time_module
    import shakedown.engine.policy.mix as rolling_module
    import shakedown.engine.policy.submit as submit_module

    decide_module = sys.modules["shakedown.engine.policy.decide"]
    honest, mixes = time_module.tell_time, rolling_module.mixes

    def when_idle(state: Any, decision: Decision, now: float) -> bool:
        return not state.jobs and honest(state, decision, now)

    monkeypatch.setattr(decide_module, "tell_time", when_idle)
    monkeypatch.setattr(submit_module, "mixes", lambda state, decision, now: mixes(state, decision, 0.0))
    assert_caught(moded, "after its time", seeds=range(8))


def test_the_moded_plans_give_no_violation() -> None:
    assert violations(moded, range(20)) == []
