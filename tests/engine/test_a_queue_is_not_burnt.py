"""A queue is not burnt: what keeps every job from starting costs them a while, and none of them an attempt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stage import Campaign, random_deaths, small_document

from shakedown.conductor.commands import overrides
from shakedown.engine import explain
from shakedown.engine.constraints.left_out import to_avoid
from shakedown.engine.constraints.queue_guard import held_queues, queue_in_words
from shakedown.engine.policy.explain import explain_run
from shakedown.engine.state.nodes_out import launches_nothing
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import JobOrder, Ports, SubmitAnswer
from shakedown.queries.status import _live, _waiting
from shakedown.queries.why import _why_run
from shakedown.twin import Fates, Lies

STEADY = Fates(mean_s=60, spread_s=20)
structs = msgspec.structs.replace


def plan_of(repeats: int = 12, tests: tuple[str, ...] = ("t0", "t1", "t3"), local: bool = False) -> Document:
    plain = small_document(tests=4, budgets={}, local=local)
    cases = tuple(structs(case, build="") for case in plain.cases)
    return structs(plain, components=(Component("many", "functionality", tests, repeats),), builds=(), cases=cases)


def attempts(campaign: Campaign) -> set[int]:
    return {event.value["attempt"] for event in campaign.events("submit_order")}


def verdicts(campaign: Campaign) -> Counter[str]:
    return Counter(event.value["verdict"] for event in campaign.events("verdict"))


def findings(campaign: Campaign, kind: str) -> list[float]:
    return [event.time for event in campaign.events("finding") if event.value["kind"] == kind]


# ---- the campaign's directory is away ----------------------------------------------------------------------------------


@pytest.mark.parametrize("away", [((120.0, 15.0),), ((100.0, 400.0),), ((40.0, 25.0), (300.0, 90.0))])
@pytest.mark.parametrize("lies", [Lies(), Lies(stale_s=7, marks_late_s=5, accounting_late_s=12)], ids=["told", "late"])
def test_a_directory_that_is_away_costs_no_run_an_attempt(away: tuple[tuple[float, float], ...], lies: Lies) -> None:
    """What starts meanwhile ends before its claim; of what ends meanwhile nobody can read how, until it is back."""
    campaign = Campaign(plan_of(), fates=STEADY, lies=replace(lies, away=away), seed=3).run()

    assert (attempts(campaign), verdicts(campaign)) == ({1}, {"passed": 36})
    held, released = findings(campaign, "queue_held"), findings(campaign, "queue_released")
    assert held
    assert len(released) == len(held)
    back = max(since + lasts for since, lasts in away) + campaign.world.began
    assert released[-1] < back + 90, "the probe took its claim soon after the directory was back"


def test_a_node_that_is_named_when_the_files_can_be_read_again_is_avoided_by_the_next_probe() -> None:
    """While they could not be read nobody knew where the jobs ended. They count once, and no node is left out for it."""
    hand = begun(plan_of(repeats=3))
    for number in range(1, 4):
        hand.play("submit_accepted", job=f"j00000{number}", value={"id": str(number)})
    for number in range(1, 4):
        _says(hand, number, "no_answer", "its files cannot be read", source="marks")
    hand.settle()
    (pool,) = held_queues(hand.state)
    guard = hand.state.pools.guards[pool]
    assert to_avoid(hand.state, pool, 1) == []

    for number, node in ((3, "n1"), (1, "n2"), (1, "n2")):
        why = f"launch failure on {node}: Slurm cancelled it before it took its claim"
        failed = {"nodes": node, "failed_nodes": [node], "launch_failure": True}
        _says(hand, number, "node_fail", why, source="accounting", **failed)
    assert len(guard.row) == 3 and guard.strikes == 0
    assert to_avoid(hand.state, pool, 1) == ["n2", "n1"], "the last first"
    _says(hand, 2, "absent", "", source="accounting")
    hand.state.time += 60.0
    hand.settle()
    probe = next(event for event in reversed(hand.log) if event.event == "submit_order")
    assert probe.value["avoids"] == ["n2", "n1"]
    assert not hand.state.pools.in_vain and not hand.state.pools.left_out


def test_a_node_of_a_held_queue_is_not_told_the_reason_of_another_and_is_not_excluded() -> None:
    hand = begun(plan_of(repeats=3))
    for number in range(1, 4):
        hand.play("submit_accepted", job=f"j00000{number}", value={"id": str(number)})
    for number in range(1, 4):
        why = f"launch failure on n{number}: Slurm cancelled it before it took its claim"
        _says(hand, number, "node_fail", why, source="accounting", nodes=f"n{number}", launch_failure=True)
    hand.settle()
    (pool,) = held_queues(hand.state)

    words = "without a launch: jobs end there before they take their claims"
    assert launches_nothing(hand.state, pool, "n1") == words
    assert launches_nothing(hand.state, pool, "n3") == (
        f"{words}: launch failure: Slurm cancelled it before it took its claim"
    )
    with pytest.raises(UsageError) as refused:
        overrides.order(hand.state, hand.state.time, "include", {"nodes": ["n1"]}, "it is well again")
    assert f"n1 is not excluded: holding the queue of {pool} took it back in" in str(refused.value)
    assert "as soon as one job begins" in str(refused.value.hint)


def _says(hand: ByHand, number: int, state: str, why: str, **facts: Any) -> None:
    job = f"j00000{number}"
    run = hand.state.jobs[job].run
    hand.play("job_report", job=job, run=run, reason=why, value={"state": state, "id": str(number)} | facts)


def test_that_nobody_can_tell_whether_claims_are_taken_is_told_once_of_each_job() -> None:
    away = (90.0, 120.0)
    campaign = Campaign(plan_of(local=True), fates=STEADY, lies=Lies(away=(away,)), local=True).run()

    back = campaign.world.began + sum(away)
    unknown = Counter(event.job for event in campaign.events("claim_unknown"))
    ordered = Counter(event.job for event in campaign.events("claim_order") if event.time < back)
    settled = {event.job: event.time for event in campaign.events("claim_taken")}
    assert unknown
    assert set(unknown.values()) == {1}
    assert all(ordered[job] == 1 for job in unknown)
    assert all(settled[job] >= back for job in unknown)
    assert verdicts(campaign) == {"passed": 36}


def test_what_waits_at_the_scheduler_is_kept_there_and_one_probes() -> None:
    """The jobs of a queue begin one after the other as nodes fall idle: most of them are kept from it in time."""
    fates, seen = Fates(mean_s=60, spread_s=59), list[str]()
    lies = Lies(unstartable=0.0, away=((60.0, 120.0),), idle_untrue=0.0)

    def look(campaign: Campaign, wait: int) -> None:
        state, now = campaign.state_now(), campaign.clock.now()
        if state.pools.guards and any(guard.since for guard in state.pools.guards.values()):
            seen.extend(waiting.text for waiting in explain(state, now=now))
            seen.extend(explain_run(state, run.id, now) for run in state.runs.values())

    slow_starts = plan_of(repeats=30)
    campaign = Campaign(slow_starts, fates=fates, lies=lies, seed=5, script=look).run()

    (held,), (released,) = findings(campaign, "queue_held"), findings(campaign, "queue_released")
    asked = [event for event in campaign.events("submit_order") if held <= event.time < released]
    let_go = [event for event in campaign.events("release_order") if held <= event.time < released]
    assert 1 <= len(asked) + len(let_go) <= 8, "one at a time, and later each time"
    assert any(text.startswith("the queue of c:batch is held since") for text in seen)
    assert "it is kept in the scheduler's queue, for the queue of c:batch is held" in seen
    assert (attempts(campaign), verdicts(campaign)) == ({1}, {"passed": 90})


@pytest.mark.parametrize("seed", range(4))
def test_it_holds_through_crashes_of_the_conductor(seed: int) -> None:
    lies = Lies(away=((50.0, 60.0), (400.0, 30.0)), release_lost=0.2, release_unheard=0.2, timed_out=0.1)
    plan = plan_of(repeats=6)
    campaign = Campaign(
        plan, fates=STEADY, lies=lies, seed=seed, dies=random_deaths(seed, 0.02, 12), amnesia=True
    ).run()

    assert campaign.crashes
    assert verdicts(campaign)["passed"] == 18
    assert attempts(campaign) == {1}


# ---- jobs that cannot start, submissions that are refused ----------------------------------------------------------------


class Refusing:
    """A scheduler that refuses, for good, what ``why`` gives a reason for."""

    def __init__(self, ports: Ports, why: object) -> None:
        self.inner, self.why = ports.scheduler, why

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def submit(self, orders: list[JobOrder]) -> list[SubmitAnswer]:
        answers = []
        for order in orders:
            why = self.why(order)  # type: ignore[operator]
            refused = SubmitAnswer(order.job, "refused", message=why)
            answers.append(refused if why else self.inner.submit([order])[0])
        return answers


def refusing(campaign: Campaign, why: object) -> Campaign:
    campaign.change_ports = lambda ports: structs_of(ports, scheduler=Refusing(ports, why))
    return campaign


def structs_of(ports: Ports, **changes: object) -> Ports:
    return structs(ports, **changes)


def test_submissions_that_are_refused_for_the_same_reason_hold_the_queue() -> None:
    """The account is shut for ten minutes: every case would be refused, in the same words but for names."""
    campaign = Campaign(plan_of(), fates=STEADY)
    refused_until = campaign.clock.now() + 600

    def why(order: JobOrder) -> str:
        return f"Invalid account for {order.run} (jobs/{order.job})" if campaign.clock.now() < refused_until else ""

    refusing(campaign, why).run()
    assert verdicts(campaign) == {"passed": 36}
    assert attempts(campaign) == {1}
    (held,), (released,) = findings(campaign, "queue_held"), findings(campaign, "queue_released")
    assert released < refused_until + 310
    tried = [event for event in campaign.events("submit_order") if held < event.time < refused_until]
    assert 3 <= len(tried) <= 10


def test_what_one_case_asks_for_is_its_own_affair() -> None:
    """It is refused as often as its plan allows, and the others never wait for it."""
    campaign = Campaign(plan_of(repeats=4), fates=STEADY)
    refusing(campaign, lambda order: "node configuration is not available" if order.case.id == "t0" else "").run()
    assert verdicts(campaign) == {"passed": 8, "submit_failed": 24}
    assert findings(campaign, "queue_held") == []


def test_a_case_that_cannot_start_does_not_hold_the_others_for_long() -> None:
    """Its jobs are taken and end before their claims. Another case probes, takes its claim, and the first is judged by itself."""
    campaign = Campaign(plan_of(repeats=6), fates=STEADY)
    chance = campaign.world.chance

    def broken(share: float, *what: object) -> bool:
        if what and what[0] == "start":
            return campaign.world.jobs[str(what[1])][0].case.id == "t0"
        return chance(share, *what)

    campaign.world.chance = broken  # type: ignore[method-assign]
    campaign.run()
    counted = verdicts(campaign)
    assert counted["passed"] == 12
    assert counted["submit_failed"] >= 6
    given_up = {event.case for event in campaign.events("given_up")}
    assert given_up == {"t0"}
    late = [event.time for event in campaign.events("verdict") if event.value["verdict"] == "passed"]
    assert max(late) - campaign.world.began < 900


def test_on_this_machine_what_waits_is_taken_back_and_runs_later() -> None:
    campaign = Campaign(plan_of(local=True), fates=STEADY, lies=Lies(away=((90.0, 40.0),)), local=True).run()
    assert verdicts(campaign) == {"passed": 36}
    assert attempts(campaign) == {1}


# ---- what is said of it ------------------------------------------------------------------------------------------------


def test_status_says_once_why_a_queue_is_held_and_why_says_it_of_each_run() -> None:
    kept, short = (
        "it is kept in the scheduler's queue, for the queue of c:batch is held",
        "the queue of c:batch is held",
    )
    lines: list[str] = []
    told: list[tuple[list[str], str]] = []

    def look(campaign: Campaign, wait: int) -> None:
        state = campaign.state_now()
        for pool in held_queues(state):
            full = queue_in_words(state, pool, state.pools.guards[pool])
            lines.extend(one["reason"] for one in _waiting(state, False))
            lines.extend(_live(state, run)["doing"] for run in state.runs)
            told.extend((_why_run(state, Record(), [], run), full) for run in state.runs)

    Campaign(plan_of(repeats=30), fates=STEADY, lies=Lies(away=((60.0, 120.0),)), seed=5, script=look).run()

    assert {kept, short} <= set(lines)
    assert not any("jobs end before they take their claims" in line for line in lines), "that is said once, below"
    assert [said for said, full in told if said[0] == kept] == [[kept, full] for said, full in told if said[0] == kept]


# ---- a job that took its claim, although it looks as if it had not -----------------------------------------------------------


@pytest.mark.parametrize("ending", ["interrupted", "node_fail", "timeout", "cancelled"])
def test_a_job_of_a_held_queue_whose_claim_is_its_own_is_judged_by_its_end(ending: str) -> None:
    """Its files could not be read, so it was counted among those that end before their claims. It had taken its claim, and its end
    says not how long it ran: it is judged as any other that ended so, and another job may probe.
    """
    hand = _three_with_their_files_away()
    assert "claim_order" in _ends(hand, 1, ending)
    ((pool, guard),) = hand.state.pools.guards.items()
    hand.state.time = guard.until + 1.0
    assert "one job probes once it is known of j000001 whether the claim was taken" in queue_in_words(
        hand.state, pool, guard
    )
    hand.play("claim_found", job="j000001", run="r000001")
    hand.settle()

    (verdict,) = (event for event in hand.log if event.event == "verdict")
    assert (verdict.run, verdict.value["verdict"]) == ("r000001", ending)
    for number in (2, 3):
        _ends(hand, number, "interrupted")
        hand.play("claim_taken", job=f"j00000{number}", run=f"r00000{number}")
    hand.state.time += 60.0
    hand.settle()
    assert guard.probe in hand.state.jobs, "nothing keeps the next job from probing"


def test_what_is_cancelled_ends_although_it_is_not_known_how_its_job_ran() -> None:
    hand = _three_with_their_files_away()
    for number in (1, 2, 3):
        _ends(hand, number, "interrupted")
    for number in (1, 2, 3):
        hand.play("claim_found", job=f"j00000{number}", run=f"r00000{number}")
    hand.play("cancel_request", value={"all": True}, reason="enough")
    hand.settle()

    assert hand.log[-1].event == "campaign_end"
    assert {event.value["verdict"] for event in hand.log if event.event == "verdict"} == {"cancelled"}


def test_a_job_that_refuses_to_start_after_its_claim_was_found_waits_again_whatever_else_is_said() -> None:
    hand = _three_with_their_files_away()
    _says(hand, 1, "refused", "it could not open its files", source="marks")
    hand.settle()
    hand.play("claim_found", job="j000001", run="r000001")
    _says(hand, 1, "refused", "it could not open its files", source="marks")
    _says(hand, 1, "absent", "", source="accounting")

    assert "returned" in hand.settle()


def _three_with_their_files_away() -> ByHand:
    hand = begun(plan_of(repeats=1))
    for number in range(1, 4):
        hand.play("submit_accepted", job=f"j00000{number}", value={"id": str(number)})
    for number in range(1, 4):
        _says(hand, number, "no_answer", "its files cannot be read", source="marks")
    hand.settle()
    assert held_queues(hand.state)
    return hand


def _ends(hand: ByHand, number: int, state: str) -> list[str]:
    _says(hand, number, state, "its job script was ended by signal 53", source="queue", nodes=f"n{number}")
    return hand.settle()
