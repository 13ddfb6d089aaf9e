"""The set-ups of a component come before all else of it, its clean-ups after; neither is in its mix, its modes or its clock."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from engine_by_hand import ByHand, begun
from stability_plan import Wish, at_times, case, play, small_stability
from stage import small_document

from shakedown.engine import explain, index_plan
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.model.nouns import Component, Document, Mode, Retry

replace = msgspec.structs.replace


def with_steps(repeats: int = 1, **more: Any) -> Document:
    """Four tests: the first sets up, the fourth cleans up, the third is in a component that comes after."""
    plan = small_document(tests=4, repeats=repeats, budgets={})
    plan = replace(plan, cases=tuple(replace(case, build="", loads=()) for case in plan.cases), builds=())
    first, second, third, fourth = (case.id for case in plan.cases[:4])
    own = Component("suite", "functionality", (second,), repeats, set_up=(first,), clean_up=(fourth,), **more)
    return replace(plan, components=(own, Component("later", "functionality", (third,), after=("suite",))))


def came_to(hand: ByHand, run: str, verdict: str, final: bool = True) -> list[str]:
    """A live run ends and is judged; the events that follow."""
    one = hand.state.runs[run]
    component = hand.state.index.components[one.component].name
    hand.play("submit_accepted", job=one.job, value={"id": "7"})
    state = "completed" if verdict == "passed" else "failed"
    hand.play("job_report", job=one.job, run=run, value={"state": state, "source": "marks"})
    hand.settle()
    value = {"verdict": verdict, "component": component, "repeat": one.repeat, "attempt": one.attempt, "final": final}
    value |= {"mode": one.mode} if one.mode else {}
    hand.play("verdict", case=one.case, run=run, job=one.job, value=value, reason="so it was")
    return hand.settle()


def live(hand: ByHand) -> dict[str, tuple[str, str, int]]:
    return {run.id: (run.case, run.mode, run.repeat) for run in hand.state.runs.values()}


def texts(hand: ByHand) -> dict[str, str]:
    return {one.key: one.text for one in explain(hand.state, now=hand.state.time)}


def test_set_up_comes_first_and_clean_up_last() -> None:
    document = with_steps(repeats=2)
    first, second, third, fourth = (case.id for case in document.cases[:4])
    hand = begun(document)
    assert live(hand) == {"r000001": (first, "set-up", 1)}
    said = texts(hand)
    assert said[f"need:{first}"] == f"{first} set-up #1 of component suite comes first, as r000001"
    assert said["clean-up:suite"] == "it cleans up after all else of component suite; 3 of its results are open"
    came_to(hand, "r000001", "passed")
    assert live(hand) == {"r000002": (second, "", 1), "r000003": (second, "", 2)}
    came_to(hand, "r000002", "failed")
    assert list(live(hand)) == ["r000003"], "one result of the component is open"
    came_to(hand, "r000003", "passed")
    assert live(hand) == {"r000004": (fourth, "clean-up", 1)}, "whatever came out; what is after it waits on"
    came_to(hand, "r000004", "failed")
    assert live(hand) == {"r000005": (third, "", 1)}


def test_where_the_set_up_did_not_pass_nothing_is_ordered_but_the_clean_up() -> None:
    document = with_steps(repeats=2)
    first, _, _, fourth = (case.id for case in document.cases[:4])
    hand = begun(document)
    came_to(hand, "r000001", "failed")
    assert hand.state.tallies[0].verdicts == {"failed": 1, "not_run": 2}
    assert [name for name, *_ in live(hand).values()] == [fourth]
    hand = begun(document)
    one = hand.state.runs["r000001"]
    hand.play("submit_accepted", job=one.job, value={"id": "7"})
    hand.play("job_report", job=one.job, run="r000001", value={"state": "failed", "source": "marks"})
    hand.settle()
    value = {"verdict": "failed", "component": "suite", "repeat": 1, "attempt": 1, "final": True, "mode": "set-up"}
    hand.play("verdict", case=first, run="r000001", job=one.job, value=value, reason="exit status 1")
    assert texts(hand)[f"need:{first}"] == (
        f"{first} set-up #1 of component suite comes first, and was judged failed as r000001; to run it after all: "
        "shakedown again suite"
    )


def test_a_set_up_is_attempted_again_as_the_plan_says() -> None:
    hand = begun(with_steps(retry=(Retry("failed", 1),)))
    came_to(hand, "r000001", "failed", final=False)
    assert [mode for _, mode, _ in live(hand).values()] == ["set-up"]
    came_to(hand, "r000002", "passed")
    assert [mode for _, mode, _ in live(hand).values()] == [""]


def test_a_drain_and_a_cancellation_leave_the_clean_up() -> None:
    for event, value in (("drain_request", {"component": "suite"}), ("cancel_request", {"all": True})):
        document = with_steps(repeats=3, retry=(Retry("failed", 1),))
        fourth = document.cases[3].id
        hand = begun(document)
        came_to(hand, "r000001", "passed")
        hand.play(event, value=value, reason="enough")
        hand.settle()
        for run in [run for run, (_, mode, _) in live(hand).items() if not mode]:
            came_to(hand, run, "cancelled")
        ((run, (name, mode, _)),) = live(hand).items()
        assert (name, mode) == (fourth, "clean-up"), event
        assert not hand.state.runs[run].cancelled
        came_to(hand, run, "passed")
        if event == "cancel_request":
            assert hand.state.phase == "ended"


def test_a_clean_up_that_is_under_way_is_cancelled_by_its_name_alone() -> None:
    document = with_steps()
    hand = begun(document)
    came_to(hand, "r000001", "passed")
    came_to(hand, "r000002", "passed")
    hand.play("cancel_request", value={"all": True}, reason="enough")
    hand.settle()
    (run,) = hand.state.runs.values()
    assert run.mode == "clean-up" and not run.cancelled
    hand.play("cancel_request", value={"runs": [run.id]}, reason="enough of that, too")
    assert hand.state.runs[run.id].cancelled == "enough of that, too"


def test_where_nothing_was_ordered_there_is_nothing_to_clean() -> None:
    document = with_steps()
    document = replace(document, components=(document.components[1], document.components[0]))
    later = replace(document.components[0], after=())
    document = replace(document, components=(later, replace(document.components[1], after=("later",))))
    for event, value in (("drain_request", {"component": "suite"}), ("cancel_request", {"all": True})):
        hand = begun(document)
        hand.play(event, value=value, reason="enough")
        hand.settle()
        came_to(hand, "r000001", "passed")
        assert hand.state.phase == "ended"
        assert hand.state.tallies[1].verdicts == {"cancelled": 3}


def test_run_again_it_is_set_up_again() -> None:
    document = with_steps(repeats=2)
    first, second, _, fourth = (case.id for case in document.cases[:4])
    hand = begun(replace(document, components=document.components[:1]))
    came_to(hand, "r000001", "failed")
    came_to(hand, next(iter(live(hand))), "passed")
    assert hand.state.phase == "ended"
    hand.play("again", value={"component": "suite"}, reason="mended")
    hand.settle()
    assert list(live(hand).values()) == [(first, "set-up", 2)]
    came_to(hand, next(iter(live(hand))), "passed")
    assert list(live(hand).values()) == [(second, "", 3), (second, "", 4)]
    for run in list(live(hand)):
        came_to(hand, run, "passed")
    assert list(live(hand).values()) == [(fourth, "clean-up", 2)]


def test_modes_begin_after_the_set_up_and_end_before_the_clean_up() -> None:
    modes = (Mode("isolated", repeats=1, warm_up=1), Mode("fill", repeats=1))
    document = with_steps()
    own = replace(document.components[0], kind="performance", modes=modes)
    hand = begun(replace(document, components=(own,)))
    met = []
    while hand.state.phase != "ended":
        run, (_, mode, _) = next(iter(live(hand).items()))
        met.append(mode)
        one = hand.state.runs[run]
        assert one.mode == mode
        hand.play("submit_accepted", job=one.job, value={"id": "7"})
        hand.play("job_report", job=one.job, run=run, value={"state": "completed", "source": "marks"})
        hand.settle()
        named = {"mode": "warm-up", "of": "isolated"} if mode.startswith("warm-up") else {"mode": mode}
        value = {"verdict": "passed", "component": "suite", "repeat": one.repeat, "attempt": 1, "final": True} | named
        hand.play("verdict", case=one.case, run=run, job=one.job, value=value)
        hand.settle()
    assert met[:3] == ["set-up", "warm-up:isolated", "isolated"]
    assert set(met[3:-1]) == {"fill"} and met[-1] == "clean-up"


def test_an_amendment_and_a_snapshot_keep_what_is_known() -> None:
    document = with_steps(repeats=2)
    hand = begun(document)
    came_to(hand, "r000001", "passed")
    came_to(hand, "r000002", "passed")
    assert thaw_state(freeze_state(hand.state), hand.state.index) == hand.state
    amended = replace(document, components=(replace(document.components[0], repeats=3), document.components[1]))
    names = [component.name for component in hand.state.index.components]
    hand.state.plan = index_plan(amended, before=hand.state.index)
    hand.play("amended", value={"document": "d" * 64, "components": names}, reason="more of it")
    hand.settle()
    assert sorted(live(hand).values()) == [(document.cases[1].id, "", 2), (document.cases[1].id, "", 3)]


# ---- a mix for a time --------------------------------------------------------------------------------------------------------


def mixed(**more: Any) -> Document:
    """Sixteen nodes for ten minutes, made ready before and put in order after."""
    plan = small_stability(Wish(minutes=10.0, more={"set_up": ("prepare",), "clean_up": ("tidy",)} | more))
    steps = (case("prepare", 4, 60.0, load=0.0), case("tidy", 1, 60.0, load=0.0))
    tests = tuple(replace(plan.tests[0], name=one.test) for one in steps)
    return replace(plan, cases=(*plan.cases, *steps), tests=(*plan.tests, *tests))


@pytest.mark.parametrize("amnesia", [False, True])
def test_a_mix_runs_between_its_set_up_and_its_clean_up(amnesia: bool) -> None:
    campaign = play(mixed(), amnesia=amnesia)
    orders = campaign.events("submit_order")
    modes = [event.value.get("mode", "") for event in orders]
    assert modes[0] == "set-up" and modes[-1] == "clean-up" and modes.count("set-up") == modes.count("clean-up") == 1
    verdicts = campaign.events("verdict")
    assert verdicts[0].value.get("mode") == "set-up" and verdicts[-1].value.get("mode") == "clean-up"
    assert verdicts[0].seq < orders[1].seq and orders[-1].seq > verdicts[-2].seq
    (up,) = [event for event in campaign.events("finding") if event.value["kind"] == "time_is_up"]
    assert up.time == pytest.approx(orders[1].time + 600.0), "the clock starts with the first order of the mix"
    assert "prepare" not in campaign.state.clocks.mixes["stability"].work
    assert campaign.state.over


def test_a_mix_whose_set_up_fails_runs_nothing_and_is_over() -> None:
    campaign = play(mixed(), script=at_times((5.0, "cancel", {"cases": ["prepare"]})))
    orders = [event.value.get("mode", "") for event in campaign.events("submit_order")]
    assert orders == ["set-up", "clean-up"]
    assert campaign.state.tallies[0].verdicts["not_run"] == 7
    assert campaign.state.over


def test_a_mix_that_is_drained_is_cleaned_up() -> None:
    drained = at_times((200.0, "drain", {"component": "stability", "by": "Ada", "why": "enough"}))
    campaign = play(mixed(), script=drained)
    orders = campaign.events("submit_order")
    assert orders[-1].value.get("mode") == "clean-up" and campaign.state.over
    assert campaign.events("drain_request")
