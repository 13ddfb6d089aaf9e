"""What people may order of a running campaign, on a cluster with targets: amounts, nodes, clocks, and how each refusal says why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand
from stage import small_document

from shakedown.conductor.commands.overrides import MOST_NODES, STANDING_COMMANDS, check_all, order
from shakedown.engine import State, index_plan
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.errors import UsageError
from shakedown.model.events import VALUE_LIMIT, Event
from shakedown.model.filling import ClockTerms
from shakedown.model.nouns import Component, Document, Limits
from shakedown.model.ports import Command

structs = msgspec.structs.replace
DAY = 86400.0
NOW = 1_700_000_000.0


def document() -> Document:
    """16 nodes, 40 GB/s of bandwidth, two metadata targets with 8 each; t0 loads 2 GB/s and one of a target."""
    plain = small_document(nodes=16, tests=2, budgets={"f2/bandwidth": 40e9, "f2/mdt": 8.0})
    system = structs(plain.system, targeted=(("f2/mdt", ("mdt0", "mdt1")),))
    loads = (("f2/bandwidth", 2e9), ("f2/mdt", 1.0))
    cases = tuple(structs(case, loads=loads if case.loads else ()) for case in plain.cases)
    return structs(
        plain,
        system=system,
        cases=cases,
        components=(
            Component("long", "stability", ("t0", "t1"), duration_s=10 * DAY),
            Component("declared", "stability", ("t0",), duration_s=DAY, clock=ClockTerms(start="declared")),
            Component("part", "functionality", ("t0",)),
        ),
        limits=Limits(copies=(("t0", 4),), budgets=(("f2/bandwidth", 20e9),)),
    )


@pytest.fixture
def hand() -> ByHand:
    """The campaign began a day ago; ``long`` ordered its first job then."""
    hand = ByHand(State(plan=index_plan(document())))
    hand.state.time = NOW - DAY
    hand.play("campaign_start")
    hand.play("driver_start")
    hand.settle()
    return hand


def order_of(hand: ByHand, what: str, **value: Any) -> Event:
    return order(hand.state, NOW, what, value, "so")


@pytest.mark.parametrize(
    ("budget", "amount", "kept"),
    [
        ("f2/bandwidth", "10 GB/s", 10e9),
        ("f2/bandwidth", "40%", 8e9),
        ("f2/bandwidth", "2GB/s", 2e9),
        ("f2/bandwidth", "0", 0.0),
        ("f2/mdt", "3", 3.0),
        ("f2/mdt", "25 %", 2.0),
        ("f2/mdt@mdt1", "1", 1.0),
    ],
)
def test_an_amount_is_read_as_people_write_it(hand: ByHand, budget: str, amount: str, kept: float) -> None:
    """A share is one of the plan's own amount, which is less than the machine's here."""
    event = order_of(hand, "budget", budget=budget, amount=amount)
    assert (event.event, event.value) == ("budget_set", {"budget": budget, "amount": pytest.approx(kept)})


@pytest.mark.parametrize(
    ("what", "value", "message", "hint"),
    [
        (
            "budget",
            {"budget": "f2/bandwidth", "amount": "10"},
            "'10' is 10 of f2/bandwidth, and the smallest run takes 2e+09",
            "write its unit if it has one; 'budget f2/bandwidth 0' holds back everything that loads it",
        ),
        (
            "budget",
            {"budget": "f2/mdt", "amount": "4 GB/s"},
            "'4 GB/s' is 4e+09, and budget f2/mdt has 8 by the plan",
            "less can be set",
        ),
        ("budget", {"budget": "f2/mdt", "amount": "4 GBs"}, "'4 GBs': 'GBs' is no unit", "did you mean 'GB/s'?"),
        ("budget", {"budget": "f2/mdt", "amount": "-1"}, "'-1' is no amount", "none gives the plan's own amount back"),
        (
            "budget",
            {"budget": "f2/mdt", "amount": "nan"},
            "'nan' is not a number with a unit",
            "such as 3, 40%, or 4 GB/s",
        ),
        (
            "budget",
            {"budget": "f2/mdt", "amount": "1e999"},
            "'1e999' is no amount",
            "none gives the plan's own amount back",
        ),
        ("budget", {"budget": "f2/mtd", "amount": "1"}, "system toy has no budget 'f2/mtd'", "did you mean 'f2/mdt'?"),
        (
            "budget",
            {"budget": "f2/mdt@mdt7", "amount": "1"},
            "budget f2/mdt has no target 'mdt7'",
            "did you mean 'mdt1'?",
        ),
        (
            "budget",
            {"budget": "f2/bandwidth@x", "amount": "1"},
            "budget f2/bandwidth has no target 'x'",
            "it has no targets",
        ),
        ("budget", {"budget": "f2/mdt"}, "budget f2/mdt was not changed; it has the plan's own amount", None),
        (
            "cap",
            {"test": "t0", "copies": True},
            "'True' is not a number of runs",
            "a whole number, or none for the plan's own",
        ),
        (
            "cap",
            {"test": "t0", "copies": 1.5},
            "'1.5' is not a number of runs",
            "a whole number, or none for the plan's own",
        ),
        ("exclude", {"nodes": ["n17"]}, "system toy has no node 'n17'", "its nodes are n[1-16]"),
        ("exclude", {"nodes": []}, "its nodes are not a list of names", None),
        ("exclude", {"nodes": "n1"}, "its nodes are not a list of names", None),
        ("exclude", {"nodes": ["n1"] * 51}, "it names 51 nodes; at most 50 go into one command", None),
        ("include", {"nodes": ["n1"]}, "n1 is not excluded", "no node is"),
        ("pause", {"component": "part", "cause": "sun"}, "'sun' is no cause", None),
        (
            "pause",
            {"component": "part", "from": NOW - 5},
            "component part has no clock",
            None,
        ),
        (
            "pause",
            {"component": "long", "from": NOW + 90},
            "the time is in the future; give the command once that time has come",
            None,
        ),
        ("pause", {"component": "long", "from": "soon"}, "'soon' is no time", None),
        ("pause", {"component": "long", "from": float("nan")}, "'nan' is no time", None),
        ("clock", {"component": "long", "act": "go on"}, "the clock of component long already runs at", None),
        (
            "clock",
            {"component": "declared", "act": "stop"},
            "the clock of component declared has not started yet",
            None,
        ),
        (
            "clock",
            {"component": "long", "act": "start"},
            "the clock of component long starts with its first order",
            "see clock in the plan",
        ),
        (
            "clock",
            {"component": "long", "act": "stop", "from": NOW - 2 * DAY},
            "the campaign began on 2023-11-13 22:13:21 UTC, after 2023-11-12 22:13:20 UTC",
            None,
        ),
    ],
)
def test_a_refusal_names_the_thing_and_the_way_out(
    hand: ByHand, what: str, value: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as refused:
        order_of(hand, what, **value)
    assert refused.value.message.startswith(message)
    if hint is not None:
        assert refused.value.hint == hint


def test_an_order_without_a_reason_is_refused(hand: ByHand) -> None:
    with pytest.raises(UsageError, match="it does not say why"):
        order(hand.state, NOW, "drain", {}, "  ")


def test_a_clock_is_stopped_for_a_past_hour_only_where_it_ran(hand: ByHand) -> None:
    long = {"component": "long"}
    stop = long | {"act": "stop", "from": NOW - 7200, "cause": "maintenance"}
    go_on = long | {"act": "go on", "from": NOW - 3600}
    first, second = check_all(hand.state, NOW, "clock", [stop, go_on], "so")
    assert first.value == stop
    assert second.value == go_on
    with pytest.raises(UsageError, match="already stands still at 2023-11-14 20:43:20 UTC"):
        order_of(hand, "clock", **long, act="stop", **{"from": NOW - 5400})
    assert order_of(hand, "clock", **long, act="stop", **{"from": NOW - 1800}).value["from"] == NOW - 1800


@pytest.mark.parametrize("what", ["clock", "pause"])
def test_a_word_on_a_past_time_is_recorded_with_when_it_was_said(hand: ByHand, what: str) -> None:
    """The conductor heard it a minute later; where it speaks of no time, it is as of when it is heard."""
    conductor: Any = SimpleNamespace(
        state=hand.state, reread=list, ports=SimpleNamespace(clock=SimpleNamespace(now=lambda: NOW))
    )
    for since in (NOW - 61.0, None):
        wish = {"component": "long", "act": "stop", "from": since, "said": 5.0, "by": "Ada"}
        event = STANDING_COMMANDS[what](conductor, Command("q1", what, "ada", wish, "so", NOW - 60.0))
        assert event is not None and event.value.get("from") == (since or {"clock": NOW, "pause": None}[what])
        assert event.value.get("said") == (NOW - 60.0 if "from" in event.value else None)


def test_a_declared_clock_is_started_once(hand: ByHand) -> None:
    started = order_of(hand, "clock", component="declared", act="start", **{"from": NOW - 60})
    assert started.value == {"component": "declared", "act": "start", "from": NOW - 60}
    hand.play("clock", value=started.value)
    with pytest.raises(UsageError, match="was started on 2023-11-14 22:12:20 UTC") as refused:
        order_of(hand, "clock", component="declared", act="start")
    assert refused.value.hint == "there is: restart"


def test_a_paused_clock_goes_on_with_its_component(hand: ByHand) -> None:
    check_all(hand.state, NOW, "pause", [{"component": "long", "cause": "site"}], "so")
    with pytest.raises(UsageError, match="component long is paused, and its clock stands still as long as it is"):
        order_of(hand, "clock", component="long", act="go on")
    with pytest.raises(UsageError, match="component long is paused already: so"):
        order_of(hand, "pause", component="long")


def test_excluding_says_only_what_is_new_and_the_longest_event_fits(hand: ByHand) -> None:
    check_all(hand.state, NOW, "exclude", [{"nodes": ["n1", "n2"]}], "so")
    assert order_of(hand, "exclude", nodes=["n2", "n3", "n3"]).value == {"nodes": ["n3"]}
    with pytest.raises(UsageError, match="n2 is excluded already: "):
        order_of(hand, "exclude", nodes=["n2"])
    names = [f"a-rather-long-name-of-a-node-in-a-rack-{number:05d}.example.org" for number in range(MOST_NODES)]
    value = {"nodes": names, "by": "x" * 100, "request": "y" * 40, "who": "z" * 40}
    assert len(msgspec.json.encode(value)) < VALUE_LIMIT


def test_after_the_end_only_the_clock_is_spoken_of(hand: ByHand) -> None:
    hand.state.phase = CampaignPhase.ENDED
    with pytest.raises(UsageError, match="the campaign is over; nothing of it is ordered any more"):
        order_of(hand, "exclude", nodes=["n1"])
    assert order_of(hand, "clock", component="long", act="stop").event == "clock"


def test_what_is_drained_is_neither_paused_nor_drained_again(hand: ByHand) -> None:
    hand.play("drain_request", value={"component": "long", "by": "Ada"}, reason="enough")
    for what in ("pause", "drain"):
        with pytest.raises(UsageError, match=r"component long was drained by Ada on .*: enough; it comes to its end"):
            order_of(hand, what, component="long")
    with pytest.raises(UsageError, match="component long is not paused") as refused:
        order_of(hand, "continue", component="long")
    assert refused.value.hint is not None and refused.value.hint.endswith("amend the plan to take it up again")


def test_a_campaign_that_drains_is_not_drained_again(hand: ByHand) -> None:
    hand.play("drain_request", reason="so", value={"by": "Ada"})
    with pytest.raises(UsageError, match=r"^the campaign was drained by Ada on .*: so; it drains already$"):
        order_of(hand, "drain")


def test_the_only_node_of_a_cluster_is_not_excluded(hand: ByHand) -> None:
    system = hand.state.index.document.system
    local = structs(
        system,
        clusters=tuple(
            structs(one, scheduler="local", partitions=tuple(structs(part, nodes="here") for part in one.partitions))
            for one in system.clusters
        ),
    )
    hand.state.plan = index_plan(structs(document(), system=local))
    with pytest.raises(UsageError, match="here is the only node of its cluster, so it cannot be excluded"):
        order_of(hand, "exclude", nodes=["here"])
