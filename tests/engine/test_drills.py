"""Drills: their moment is told once, a test that is one is ordered then and once, and people's words are kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stability_plan import at_times, case, document, machine, play

from shakedown.engine import decide, explain, index_plan
from shakedown.engine.state.orders import Decision
from shakedown.engine.state.records import DrillProgress
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.events import Event
from shakedown.model.nouns import Component, Document, Drill, Retry

PERSON = Drill("pull-a-link", 100.0, "pull a link", "vendor", evidence=1, lost=0)
SELF = Drill("restart", 200.0, case="switch", lost=0)


def plan(*drills: Drill, **more: Any) -> Document:
    cases = (case("a", 1, 60.0, load=0.0), case("switch", 1, 60.0, load=0.0))
    mix = (("a", 1.0),)
    own = Component(
        "stability", "stability", ("a",), duration_s=600.0, mix=mix, drills=drills or (PERSON, SELF), **more
    )
    return document(machine(2, targets=False), cases, own)


def findings(hand: ByHand) -> list[Event]:
    """What is decided now, without folding it."""
    orders = decide(hand.state, hand.state.time).orders
    return [order.event for order in orders if order.event.value.get("kind") == "drill_due"]


def until(hand: ByHand, seconds: float) -> list[str]:
    """Time goes on to so long after the clock began; what was ordered then."""
    hand.state.time = hand.state.clocks.mixes["stability"].started + seconds  # type: ignore[operator]
    return hand.settle()


def ordered(hand: ByHand) -> list[str]:
    return [run.mode for run in hand.state.runs.values()]


def test_its_moment_is_told_once_and_woken_for() -> None:
    hand = begun(plan(PERSON))
    start = hand.state.clocks.mixes["stability"].started
    assert start is not None and decide(hand.state, hand.state.time).wake_at == start + 100.0
    assert "finding" not in until(hand, 99.0)
    hand.state.time = start + 130.0
    (event,) = findings(hand)
    assert event.value == {"kind": "drill_due", "component": "stability", "drill": "pull-a-link", "at": start + 100.0}
    assert event.reason == (
        "drill pull-a-link of component stability is due: pull a link (vendor does it); say shakedown drill stability "
        "pull-a-link --begun, and --ended when it is done"
    )
    hand.settle()
    assert hand.state.clocks.drills == {"stability": {"pull-a-link": DrillProgress(start + 100.0)}}
    assert not findings(hand)
    assert thaw_state(freeze_state(hand.state), hand.state.index) == hand.state


def test_a_test_that_is_a_drill_is_ordered_at_its_moment_and_once() -> None:
    hand = begun(plan(SELF, retry=(Retry("failed", 3), Retry("node_fail", 3))))
    until(hand, 199.0)
    assert "drill:restart" not in ordered(hand)
    (waits,) = [one for one in explain(hand.state, now=hand.state.time) if one.case == "switch"]
    assert waits.text == "drill restart begins when the clock of component stability has run 3 min 20 s"
    until(hand, 200.0)
    assert ordered(hand).count("drill:restart") == 1
    (run,) = [run for run in hand.state.runs.values() if run.mode == "drill:restart"]
    hand.play("submit_accepted", job=run.job, value={"id": "7"})
    hand.play("job_report", job=run.job, run=run.id, value={"state": "node_fail", "source": "marks"})
    assert hand.settle()[:2] == ["verdict", "given_up"], "what it did to the machine is done"
    until(hand, 300.0)
    assert "drill:restart" not in ordered(hand)


@pytest.mark.parametrize("amnesia", [False, True])
def test_it_is_ordered_once_over_kills_and_resume(amnesia: bool) -> None:
    dies = (lambda name, count: count in (20, 33, 47, 60)) if not amnesia else (lambda name, count: False)
    campaign = play(plan(), amnesia=amnesia, dies=dies)
    orders = [event for event in campaign.events("submit_order") if event.value.get("mode") == "drill"]
    starts = [event for event in campaign.events("submit_order") if "mode" not in event.value]
    assert len({event.value["repeat"] for event in orders}) == len({event.run for event in orders}) == 1
    assert orders[0].time >= starts[0].time + 200.0
    due = [event for event in campaign.events("finding") if event.value["kind"] == "drill_due"]
    assert [event.value["drill"] for event in due] == ["pull-a-link"]
    assert "switch" not in campaign.state.clocks.mixes["stability"].work
    assert campaign.state.over and (campaign.crashes > 0) is not amnesia


def test_a_component_that_is_drained_before_its_moment_has_no_drill() -> None:
    campaign = play(plan(), script=at_times((50.0, "drain", {"component": "stability", "by": "Ada"})))
    assert not [event for event in campaign.events("submit_order") if event.value.get("mode") == "drill"]
    assert campaign.state.over


def test_peoples_words_are_heard_and_nonsense_is_refused() -> None:
    say = "drill"
    of = {"component": "stability", "drill": "pull-a-link", "by": "V. Endor"}
    file = [{"name": "log", "sha256": "a" * 64, "bytes": 3}]
    words = at_times(
        (90.0, say, of | {"act": "ended"}),
        (120.0, say, of | {"act": "begun"}),
        (125.0, say, of | {"act": "ended"}),
        (126.0, say, of | {"act": "ended", "evidence": file, "from": 5.0e9}),
        (127.0, say, of | {"act": "ended", "evidence": file}),
        (130.0, say, of | {"drill": "restart", "act": "begun"}),
        (131.0, say, of | {"drill": "pull-a-lnik", "act": "begun"}),
    )
    campaign = play(plan(), script=words)
    said = campaign.events("drilled")
    assert [(event.value["act"], event.value["by"]) for event in said] == [("begun", "V. Endor"), ("ended", "V. Endor")]
    progress = campaign.state.clocks.drills["stability"]["pull-a-link"]
    assert (progress.begun, progress.ended) == (said[0].value["from"], said[1].value["from"])
    refused = [event.reason for event in campaign.events("command_refused")]
    assert [next(part for part in WORDS if part in reason) for reason in refused] == list(WORDS)


WORDS = (
    "nobody has said that drill pull-a-link began",
    "drill pull-a-link asks for 1 evidence file, and 0 came with it",
    "the time is in the future",
    "drill restart of component stability is done by its test switch",
    "component stability has no drill 'pull-a-lnik'; did you mean",
)


def test_a_clock_that_starts_anew_has_its_drills_again_and_an_amendment_keeps_what_was_done() -> None:
    hand = begun(plan(PERSON, SELF))
    until(hand, 100.0)
    hand.play("clock", value={"component": "stability", "act": "restart", "from": hand.state.time, "by": "Ada"})
    assert hand.state.clocks.drills == {}
    hand = begun(plan(PERSON, SELF))
    until(hand, 200.0)
    before = hand.state.clocks.drills
    amended = plan(PERSON, msgspec.structs.replace(SELF, lost=1))
    names = [component.name for component in hand.state.index.components]
    hand.state.plan = index_plan(amended, before=hand.state.index)
    hand.play("amended", value={"document": "d" * 64, "components": names}, reason="more of it")
    hand.settle()
    assert hand.state.clocks.drills == before
    assert ordered(hand).count("drill:restart") == 1
    assert decide(hand.state, hand.state.time).orders == Decision().orders
