"""Seeded campaigns in virtual time, with everything that goes wrong; the oracle watches every event."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, seen_running
from stage import ALL_LIES, LOCAL_TROUBLE, TROUBLE, Campaign, random_deaths, small_document

from shakedown.engine import State, decide, index_plan
from shakedown.engine.policy.explain import explain_run
from shakedown.engine.state.phases import JobPhase, RunPhase
from shakedown.model.frozen import digest, freeze
from shakedown.model.nouns import Retry
from shakedown.model.units import show_duration
from shakedown.queries.status import _scheduler_notes
from shakedown.twin import Fates, Lies


def test_a_campaign_without_trouble_passes_everything_once() -> None:
    campaign = Campaign(small_document(repeats=3)).run()

    assert campaign.state.phase == "ended"
    assert [event.value["verdict"] for event in campaign.events("verdict")] == ["passed"] * 10
    assert len(campaign.world.executions) == 10
    assert [event.case for event in campaign.events("unavailable")] == ["missing"]


@pytest.mark.parametrize("first", range(0, 50, 25))
def test_fifty_seeded_campaigns_of_lies_faults_and_crashes(first: int) -> None:
    """Every third one is local (runs die with the conductor), every second one crashes, every fifth forgets its state.

    With plans of every kind, people and accidents: ``test_a_thousand_fault_campaigns.py``.
    """
    seen: Counter[str] = Counter()
    for seed in range(first, first + 25):
        local = seed % 3 == 0
        campaign = Campaign(
            small_document(local=local, repeats=4),
            seed=seed,
            fates=LOCAL_TROUBLE if local else TROUBLE,
            lies=Lies() if local else ALL_LIES,
            local=local,
            dies=random_deaths(seed, 0.02 if seed % 2 else 0.0),
            amnesia=seed % 5 == 0,
        ).run()
        assert campaign.state.phase == "ended"
        seen.update(event.event for event in campaign.events())
    assert {"retry", "submit_unknown", "finding", "claim_taken", "requeued", "given_up"} <= set(seen), seen


@pytest.mark.parametrize(
    "lie",
    [
        Lies(refused=0.4),
        Lies(timed_out=0.5),
        Lies(lost_submit=0.5),
        Lies(late_submit=0.5, late_s=300.0),
        Lies(stale_s=45.0),
        Lies(accounting_late_s=300.0, purge_s=5.0, marks_lost=0.5),
        Lies(accounting_missing=0.5, purge_s=5.0, marks_lost=0.5),
        Lies(runaway=0.5, purge_s=5.0, marks_lost=0.5),
        Lies(marks_late_s=120.0, purge_s=5.0),
        Lies(unstartable=0.4),
        Lies(launch_failure=0.4),
        Lies(outage=0.3),
    ],
    ids=lambda lie: "+".join(name for name in lie.__slots__ if getattr(lie, name) != getattr(Lies(), name)),
)
@pytest.mark.parametrize("seed", range(4))
def test_each_lie_alone_with_crashes(lie: Lies, seed: int) -> None:
    campaign = Campaign(small_document(), seed=seed, fates=TROUBLE, lies=lie, dies=random_deaths(seed, 0.02)).run()

    assert campaign.state.phase == "ended"


def test_dying_once_at_every_port_call_there_is() -> None:
    """Exhaustive: the campaign is run again for each call of each port, and dies exactly there."""
    document = small_document(tests=2, repeats=2)
    fates = Fates(failed=0.2, node_fail=0.2, build_failed=0.0)
    lies = Lies(timed_out=0.3, lost_submit=0.2)
    whole = Campaign(document, seed=3, fates=fates, lies=lies).run()
    named = set(whole.plan.points)
    expected = {
        f"{port}:{edge}"
        for port in (
            *("clock.now", "clock.wait", "scheduler.submit", "scheduler.poll", "scheduler.take_claim"),
            *("builder.start", "builder.poll", "collector.start", "collector.poll"),
            *("log.append", "log.commit", "inbox.poll"),
        )
        for edge in ("before", "after")
    }
    assert expected <= named, expected - named

    for point in range(1, whole.plan.passed + 1):
        if _is_clock(whole, point):
            continue
        campaign = Campaign(document, seed=3, fates=fates, lies=lies, dies=lambda _, count, at=point: count == at).run()  # type: ignore[misc]
        assert campaign.crashes == 1
        assert campaign.state.phase == "ended"


def _is_clock(campaign: Campaign, point: int) -> bool:
    """Reading the clock is by far the most frequent call: one in sixteen is enough."""
    return point > 200 and point % 16 != 0


def test_an_operator_cancels_a_case_and_then_everything() -> None:
    def operator(campaign: Campaign, wait: int) -> None:
        if wait == 3:
            campaign.inbox.post("cancel", reason="wrong input deck", cases=["t2"])
        if wait == 5:
            campaign.inbox.post("cancel", reason="no such case", cases=["t9"])
        if wait == 20:
            campaign.inbox.post("cancel", reason="the power goes at noon", all=True)

    campaign = Campaign(small_document(repeats=20), script=operator).run()

    verdicts = {event.run: event for event in campaign.events("verdict")}
    t2 = [event for event in verdicts.values() if event.case == "t2"]
    assert len(t2) == 20
    assert {event.value["verdict"] for event in t2} == {"cancelled"}
    assert {event.reason for event in t2} == {"cancelled before it started"}
    assert "the power goes at noon" in {event.reason for event in verdicts.values()}
    assert [event.reason for event in campaign.events("command_refused")] == ["not live in this campaign: t9"]
    assert campaign.state.phase == "ended"


def test_stop_lets_runs_end_and_a_later_driver_goes_on() -> None:
    document = small_document(repeats=5)

    def operator(campaign: Campaign, wait: int) -> None:
        if wait == 20 and campaign.crashes == 0:
            campaign.inbox.post("stop", reason="ctrl-c")

    campaign = Campaign(document, script=operator).run()
    assert campaign.state.phase == "running"
    assert campaign.state.jobs == {}
    stopped_at = len(campaign.events("verdict"))
    assert 0 < stopped_at < 16

    campaign.script = None
    campaign.run()
    assert campaign.state.phase == "ended"
    assert len(campaign.events("verdict")) == 16


def test_a_local_stop_takes_back_what_is_queued_and_waits_for_what_runs() -> None:
    def operator(campaign: Campaign, wait: int) -> None:
        if len(campaign.world.executions) >= 4:
            campaign.inbox.post("stop", reason="ctrl-c")
            campaign.script = None

    document = small_document(local=True, tests=1, budgets={}, repeats=19)
    campaign = Campaign(document, local=True, script=operator).run()

    assert campaign.state.phase == "running"
    assert len(campaign.world.executions) <= 9
    assert {event.value["verdict"] for event in campaign.events("verdict")} == {"passed"}
    assert len(campaign.events("claim_taken")) > 5

    campaign.run()
    assert campaign.state.phase == "ended"
    assert len(campaign.world.executions) == 20


def test_retries_end_and_say_so() -> None:
    document = small_document(tests=1, repeats=1, retry=(Retry("failed", 2, 30.0),))

    campaign = Campaign(document, fates=Fates(failed=1.0)).run()

    rest = [event for event in campaign.events() if event.value.get("component") == "rest"]
    assert [e.event for e in rest if e.event in ("verdict", "retry", "given_up")] == [
        *("verdict", "retry"),
        *("verdict", "retry"),
        *("verdict", "given_up"),
    ]
    retries = [event for event in rest if event.event == "retry"]
    waits = [event.value["not_before"] - event.time for event in retries]
    assert waits == [30.0, 60.0]
    assert campaign.events("given_up")[-1].reason == "failed after 2 retries"


def test_the_same_seed_gives_the_same_log_to_the_byte(tmp_path: Path) -> None:
    """Under another hash seed, time zone, directory and process."""
    program = (
        "import sys; sys.path[:0] = [sys.argv[1], sys.argv[1] + '/../support']\n"
        "import hashlib, test_campaigns_in_virtual_time as t\n"
        "print(t.hash_of_a_troubled_campaign())\n"
    )
    here = str(Path(__file__).parent)
    environments = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC"},
        {"PYTHONHASHSEED": "77", "TZ": "Pacific/Auckland"},
    ]
    hashes = {
        subprocess.run(
            [sys.executable, "-c", program, here],
            env=os.environ | environment,
            cwd=tmp_path if environment["TZ"] == "UTC" else "/",
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for environment in environments
    }
    assert hashes == {hash_of_a_troubled_campaign()}


def hash_of_a_troubled_campaign() -> str:
    campaign = Campaign(small_document(), seed=5, fates=TROUBLE, lies=ALL_LIES, dies=random_deaths(5, 0.01)).run()
    return hashlib.sha256(campaign.log.bytes()).hexdigest()


def amendable(campaign: Campaign, at: int, **changes: Any) -> None:
    """At the given wait, put a changed document into force."""
    changed = msgspec.structs.replace(campaign.document, **changes)
    name = digest(freeze(changed))
    campaign.documents[name] = changed

    def operator(campaign: Campaign, wait: int) -> None:
        if wait == at:
            campaign.inbox.post("amend", reason="a change", document=name, by="Ada")

    campaign.script = operator


@pytest.mark.parametrize("at", [3, 8, 15, 25, 40])
@pytest.mark.parametrize("change", ["more", "fewer", "no gate", "no rest", "other loads"])
def test_amended_at_any_time_every_result_is_accounted_for(at: int, change: str) -> None:
    document = small_document(repeats=5, retry=(Retry("failed", 2, 20.0),))
    first, rest = document.components
    components = {
        "more": (first, msgspec.structs.replace(rest, repeats=8)),
        "fewer": (first, msgspec.structs.replace(rest, repeats=2)),
        "no gate": (first, msgspec.structs.replace(rest, after=())),
        "no rest": (first,),
        "other loads": (first, rest),
    }[change]
    cases = document.cases
    if change == "other loads":
        cases = tuple(msgspec.structs.replace(case, loads=()) if case.loads else case for case in cases)
    campaign = Campaign(document, seed=at, fates=TROUBLE, lies=Lies(timed_out=0.2), dies=random_deaths(at, 0.005))
    amendable(campaign, at, components=components, cases=cases)
    campaign.run()

    assert campaign.state.phase == "ended"
    assert all(value == 0 for value in campaign.state.usage.loads.values()), campaign.state.usage.loads
    assert all(value == 0 for value in campaign.state.usage.jobs.values())
    attempts = [
        (e.value["component"], e.case, e.value["repeat"], e.value["attempt"]) for e in campaign.events("verdict")
    ]
    assert len(attempts) == len(set(attempts)), "an attempt is counted twice"


def test_a_cancelled_run_that_a_crash_interrupts_is_not_attempted_again() -> None:
    state = State(plan=index_plan(small_document(tests=1, repeats=1, local=True)))

    hand = ByHand(state)
    play, settle = hand.play, hand.settle
    play("campaign_start")
    play("driver_start")
    settle()
    play("submit_accepted", job="j000001")
    play("job_report", job="j000001", run="r000001", value={"state": "running", "source": "local"})
    play("cancel_request", value={"cases": ["t0"]}, reason="wrong deck")
    assert settle() == ["cancel_order", "verdict"]  # the running one is to be ended, the waiting one is judged
    play("driver_start")
    play("job_report", job="j000001", run="r000001", value={"state": "interrupted", "source": "local"})

    assert settle() == ["verdict", "campaign_end"]
    assert [tally.verdicts for tally in state.tallies[:2]] == [{"cancelled": 1}, {"cancelled": 1}]


def _running(source: str) -> tuple[ByHand, float]:
    """A campaign of one test whose job is seen running; and when it is long past its time limit."""
    hand = seen_running(source)
    case = hand.state.index.cases[hand.state.jobs["j000001"].case]
    return hand, hand.state.time + case.shape.time_limit_s + hand.state.index.policy.lost_after_s + 1


def test_what_the_queue_itself_has_running_is_not_lost_however_late() -> None:
    """It is suspended, or an administrator gave it more time. A record of accounting alone may say "running" for ever."""
    hand, late = _running("accounting")
    hand.state.time = late
    assert "verdict" in hand.settle()

    hand, late = _running("queue")
    hand.state.time = late
    hand.settle()
    assert hand.state.runs["r000001"].phase == "running"
    value = {"state": "completed", "source": "marks", "exit": 0, "elapsed_s": late}
    hand.play("job_report", job="j000001", run="r000001", value=value)
    assert hand.state.runs["r000001"].phase == "ended"


def test_a_time_limit_that_somebody_changed_is_not_called_the_tests() -> None:
    hand, _ = _running("queue")
    limit = hand.state.index.cases[hand.state.jobs["j000001"].case].shape.time_limit_s
    value = {"state": "timeout", "source": "queue", "elapsed_s": limit / 3}
    hand.play("job_report", job="j000001", run="r000001", value=value)
    [verdict] = [o.event for o in decide(hand.state, hand.state.time).orders if o.event.event == "verdict"]
    hand.state.runs["r000001"].attempt = 3
    [third] = [o.event for o in decide(hand.state, hand.state.time).orders if o.event.event == "verdict"]
    reason = verdict.reason
    assert (verdict.value["verdict"], third.value["verdict"]) == ("interrupted", "timeout"), "always: the site's rule"
    assert (
        third.reason
        == reason
        == f"the scheduler ended it at a time limit after {limit / 3:g} s, although it asks for {limit:g} s"
    )


def test_what_a_job_waits_for_is_told_while_it_waits() -> None:
    hand, _ = _running("queue")
    for reason in ("JobHeldUser", ""):
        hand.state.jobs["j000001"].phase, hand.state.runs["r000001"].phase = JobPhase.QUEUED, RunPhase.QUEUED
        hand.play("job_report", job="j000001", run="r000001", value={"state": "queued"}, reason=reason)
        wanted = "the scheduler has it in its queue" + (f": {reason}" if reason else "")
        assert explain_run(hand.state, "r000001") == wanted


def test_a_job_that_no_source_knows_is_not_said_to_wait() -> None:
    """One that never began is fenced off and ordered again; only one that began can be lost."""
    hand, _ = _running("queue")
    policy = hand.state.index.policy
    hand.play("job_report", job="j000001", run="r000001", value={"state": "absent"})
    lost = f"after {show_duration(policy.lost_after_s)} it is lost"
    assert explain_run(hand.state, "r000001").endswith(lost)
    hand.state.jobs["j000001"].phase, hand.state.runs["r000001"].phase = JobPhase.QUEUED, RunPhase.QUEUED
    again = f"after {show_duration(policy.grace_s)} it is kept from ever starting, and ordered again"
    said = explain_run(hand.state, "r000001")
    assert said.startswith("the scheduler took it; no source has known it since ") and said.endswith(f"; {again}")


def test_a_job_that_began_and_waits_again_at_the_scheduler_is_not_said_to_run() -> None:
    """As after a controller that came back with an old memory. It is taken for running all the same: it may go on."""
    hand, _ = _running("queue")
    hand.play("job_report", job="j000001", run="r000001", value={"state": "queued", "source": "queue"})
    said = explain_run(hand.state, "r000001")
    assert "it is running" not in said
    assert said.startswith("it began at ") and "the scheduler has it waiting in its queue again" in said
    [told] = _scheduler_notes(hand.state)
    assert told == {"job": "j000001", "run": "r000001", "why": said}
    hand.play("job_report", job="j000001", run="r000001", value={"state": "running", "source": "queue"})
    assert explain_run(hand.state, "r000001") == "it is running"
    assert _scheduler_notes(hand.state) == []


@pytest.mark.parametrize("how", ["it answers again", "another driver"])
def test_a_cancellation_that_nobody_took_is_asked_for_as_soon_as_somebody_may_take_it(how: str) -> None:
    hand, _ = _running("queue")
    hand.play("cancel_request", value={"all": True}, reason="wrong deck")
    hand.play("job_report", job="j000001", run="r000001", value={"state": "no_answer"})
    assert "cancel_order" in hand.settle()
    hand.play("cancel_done", job="j000001", value={"taken": False})
    assert hand.settle() == [], "not again and again"
    assert explain_run(hand.state, "r000001").endswith("; it is to be cancelled")
    if how == "another driver":
        hand.play("driver_start")
    else:
        hand.play("job_report", job="j000001", run="r000001", value={"state": "running", "source": "queue"})
    assert hand.settle() == ["cancel_order"]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ("no_answer", "no source has answered since 2026-11-22 12:15:40 UTC; after 1 d 0 h it is lost"),
        ("absent", "no source has known it since 2026-11-22 12:15:40 UTC; after 30 min 00 s it is lost"),
    ],
)
def test_a_job_that_nobody_knows_of_says_since_when(seen: str, said: str) -> None:
    hand, _ = _running("queue")
    hand.state.jobs["j000001"].report.state = seen
    hand.state.jobs["j000001"].since = 1_795_349_740.7
    assert explain_run(hand.state, "r000001") == f"it is running; {said}"


def test_a_build_that_cannot_be_carried_out_is_held_and_judges_nobody() -> None:
    state = State(plan=index_plan(small_document(tests=2, repeats=1)))

    hand = ByHand(state)
    play, settle = hand.play, hand.settle
    play("campaign_start")
    play("driver_start")
    assert "build_order" in settle()
    key = next(iter(state.builds))
    play("build_end", build=key, value={"state": "failed", "transient": True}, reason="No space left on device")

    assert "verdict" not in settle()
    assert decide(state, state.time).wake_at == state.time + 2.0
    state.time += 2.0
    assert settle() == ["build_order"]
