"""The rules that watch a thousand campaigns are only worth something if they catch engines that are broken on purpose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oracle_modes import Violation
from stage import random_deaths, small_document
from thousand_campaigns import SOON, Nasty

import shakedown.engine.policy.submit as submit_module
from shakedown.engine.fold.evolve import HANDLERS
from shakedown.engine.state.job_index import job_index_of
from shakedown.metrics.rows.table import _HANDLERS as ROWS
from shakedown.model.events import Event
from shakedown.model.nouns import Document, Limits, Retry
from shakedown.twin import Fates, Lies, NothingWillHappen

Patch = pytest.MonkeyPatch
explain_module = sys.modules["shakedown.engine.policy.explain"]
strict_oracle: Any = sys.modules["oracle_strict"]
decide_module = sys.modules["shakedown.engine.policy.decide"]


def said(plan: Document, seeds: int = 4, **options: Any) -> Iterator[str]:
    """What the oracle says of a few campaigns, each of which is played when the next sentence is asked for."""
    for seed in range(seeds):
        more: dict[str, Any] = {"policy": SOON, "quiet": False} | options
        campaign = Nasty(plan, seed=seed, **({"fates": Fates(failed=0.4)} | more))
        try:
            campaign.run(1500)
        except (Violation, NothingWillHappen, AssertionError) as violation:
            yield str(violation)


def again(times: int = 2, back: float = 30.0, **more: Any) -> Document:
    return small_document(repeats=4, retry=(Retry("failed", times, back),), **more)


def test_ours_is_not_caught() -> None:
    assert list(said(again(), lies=Lies(timed_out=0.2), dies=random_deaths(1, 0.01))) == []


def test_a_back_off_that_is_too_short(monkeypatch: Patch) -> None:
    monkeypatch.setattr(decide_module, "_wait_before", lambda rule, attempt: rule.backoff_s)
    assert any("too early" in one for one in said(again()))


def test_a_back_off_that_is_not_kept(monkeypatch: Patch) -> None:
    honest = HANDLERS["retry"]

    def hasty(state: Any, event: Event) -> None:
        import msgspec

        honest(state, msgspec.structs.replace(event, value=event.value | {"not_before": 0.0}))

    monkeypatch.setitem(HANDLERS, "retry", hasty)
    assert any("before its back-off is over" in one for one in said(again()))


def test_more_attempts_than_the_plan_allows(monkeypatch: Patch) -> None:
    from shakedown.engine.state.plan import PlanIndex

    honest = PlanIndex.retry_rule

    def generous(index: Any, component: int, verdict: str) -> Retry | None:
        rule = honest(index, component, verdict)
        return rule and Retry(rule.verdict, rule.times + 1, rule.backoff_s)

    monkeypatch.setattr(PlanIndex, "retry_rule", generous)
    assert any("for the 3th time, 2 at most" in one for one in said(again(), fates=Fates(failed=1.0)))


def test_more_jobs_than_may_be_queued(monkeypatch: Patch) -> None:
    import msgspec

    plan = msgspec.structs.replace(small_document(repeats=4, budgets={}), limits=Limits(queued=2))
    assert list(said(plan)) == []
    honest = submit_module._room
    monkeypatch.setattr(submit_module, "_room", lambda state, pool: honest(state, pool) + 1)
    assert any("3 jobs in c:batch, 2 at most" in one for one in said(plan))


def sleeps(rest: Callable[[Any, str], int]) -> Callable[[Any, str], int]:
    """After the first run nothing more is ordered once a pool is empty."""
    return lambda state, pool: (
        0 if state.campaign.next_run > 1 and not state.usage.jobs.get(pool) else rest(state, pool)
    )


def test_a_pool_that_is_left_empty(monkeypatch: Patch) -> None:
    monkeypatch.setattr(submit_module, "_room", sleeps(submit_module._room))
    assert any(
        "nothing holds" in one and "its pool is empty" in one for one in said(small_document(repeats=4), fates=Fates())
    )


def test_a_reason_that_stays_when_it_is_gone(monkeypatch: Patch) -> None:
    """A pause is told of for ever."""
    from shakedown.engine.constraints.reason import Reason

    def paused(campaign: Any, wait: int) -> None:
        if wait == 3:
            campaign.ask("pause", component="rest", cause="other")
        if wait == 40:
            campaign.ask("continue", component="rest")

    plan = small_document(repeats=6)
    assert list(said(plan, script=paused, fates=Fates())) == []
    stays = Reason("paused:rest", "component rest is paused")
    monkeypatch.setattr(explain_module, "binding_reason", lambda state, key, now, ahead: stays)
    assert any("which is gone, and still says so" in one for one in said(plan, script=paused, fates=Fates()))


def test_a_ledger_that_is_not_that_of_the_jobs(monkeypatch: Patch) -> None:
    honest = HANDLERS["submit_accepted"]

    def careless(state: Any, event: Event) -> None:
        honest(state, event)
        state.job_index = job_index_of(list(state.jobs.values())[1:])

    monkeypatch.setitem(HANDLERS, "submit_accepted", careless)
    assert any("the job_index is not that of the jobs" in one for one in said(small_document()))


def test_a_snapshot_that_forgets(monkeypatch: Patch) -> None:
    honest = strict_oracle.thaw_state

    def forgetful(data: bytes, plan: Any) -> Any:
        state = honest(data, plan)
        state.agenda.attention = {}
        state.tallies[-1].closed += 1
        return state

    monkeypatch.setattr(strict_oracle, "thaw_state", forgetful)
    assert any("a snapshot is not the live state" in one for one in said(small_document()))


def test_rows_that_count_otherwise(monkeypatch: Patch) -> None:
    honest = ROWS["verdict"]

    def lossy(record: Any, event: Event) -> None:
        if event.value["verdict"] != "failed":
            honest(record, event)

    monkeypatch.setitem(ROWS, "verdict", lossy)
    assert any("rows count" in one for one in said(small_document()))


def test_a_run_time_that_is_not_so(monkeypatch: Patch) -> None:
    import shakedown.conductor.driver.loop as loop_module

    monkeypatch.setattr(loop_module, "_rounded", lambda seconds: None if seconds is None else round(seconds))
    assert any("by the log" in one for one in said(small_document(), fates=Fates()))
