"""What status and why say of runs that are at the scheduler: held, following, parts of jobs; and of budgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stability_plan import Wish, at_times, packed, play, small_stability

from shakedown.engine import State
from shakedown.engine.policy.explain import explain_run
from shakedown.model.filling import Fill
from shakedown.queries.status import _budgets
from shakedown.twin import Fates


def sentences(into: dict[str, str], at: float) -> Callable[[Any, int], None]:
    """At this time, each live run -> what is said of it."""
    armed: list[bool] = []

    def look(campaign: Any, wait: int) -> None:
        state: State = campaign.conductor.state
        if not armed:
            armed.append(True)
            campaign.clock.at(campaign.world.began + at, lambda: True)
        if campaign.clock.now() >= campaign.world.began + at and not into:
            into.update({run: explain_run(state, run, campaign.clock.now()) for run in state.runs})

    return look


def test_a_held_run_names_what_its_release_waits_for() -> None:
    said: dict[str, str] = {}
    wish = Wish(per_target=2.0, fill=Fill(queue_ahead_s=120.0), minutes=5.0, filler=False)
    play(small_stability(wish), script=sentences(said, 120.0))
    held = [
        text
        for text in said.values()
        if text.startswith("we hold it in the scheduler's queue, and let it go by ourselves once this has passed: ")
    ]
    assert held
    assert any("f2/mdt: no target has room for 1 more (mdt0 2 of 2, mdt1 2 of 2" in text for text in held)


def test_a_follower_names_the_job_before_it() -> None:
    said: dict[str, str] = {}
    wish = Wish(per_target=2.0, fill=Fill(survive_s=180.0), minutes=5.0, filler=False)
    campaign = play(small_stability(wish), script=sentences(said, 120.0))
    after = {(event.run, event.value.get("after")) for event in campaign.events("submit_order")}
    named = {run: text for run, text in said.items() if " and follows j" in text}
    assert named
    assert all((run, text.partition(" follows ")[2][:7]) in after for run, text in named.items())


def test_a_part_says_which_it_is_of_which_job() -> None:
    said: dict[str, str] = {}
    campaign = play(
        packed(runs=40, allocations=2, at_once=2, nodes=4), fates=Fates(mean_s=20.0), script=sentences(said, 30.0)
    )
    part = {event.run: (event.value["part"], event.job) for event in campaign.events("submit_order")}
    for run, text in said.items():
        assert text.startswith(f"part {part[run][0]} of 20 of {part[run][1]}"), text
    assert sum(text.endswith(", not begun") for text in said.values()) > 10
    assert sum(text.endswith(": it is running") for text in said.values()) == 4


def test_budgets_are_listed_by_target_and_with_the_copies_that_people_cap() -> None:
    seen: dict[str, dict[str, float]] = {}

    def look(campaign: Any, wait: int) -> None:
        operator(campaign, wait)
        if campaign.clock.now() > campaign.world.began + 100 and not seen:
            seen.update(_budgets(campaign.conductor.state))

    operator = at_times(
        (50.0, "cap", {"test": "shield", "copies": 2, "by": "Ada"}),
        (60.0, "budget", {"budget": "f2/mdt", "amount": 3.0, "by": "Ada"}),
    )
    play(small_stability(Wish(minutes=4.0)), script=look)
    assert [name for name in seen if not name.startswith("copies:")] == [f"f2/mdt@mdt{number}" for number in range(4)]
    assert {budget["limit"] for name, budget in seen.items() if "@" in name} == {3.0}
    assert sum(budget["taken"] for name, budget in seen.items() if "@" in name) > 4
    assert seen["copies:shield"]["limit"] == 2.0


def test_a_test_that_falls_out_is_told_once_and_not_while_the_machine_is_being_filled() -> None:
    """With its targets closed no test that loads them runs; the ramp alone is no hole."""
    quiet = play(small_stability(Wish(minutes=4.0, fill=Fill(ramp_s=200.0))), fates=Fates(mean_s=37.5, spread_s=7.5))
    assert not [event for event in quiet.events("finding") if event.value["kind"] == "fell_out"]
    close = (60.0, "budget", {"budget": "f2/mdt", "amount": 0.0, "by": "Ada"})
    again = (250.0, "budget", {"budget": "f2/mdt", "amount": None, "by": "Ada"})
    closed = play(small_stability(Wish(minutes=6.0, fill=Fill())), script=at_times(close, again))
    told = [event for event in closed.events("finding") if event.value["kind"] == "fell_out"]
    tests = [event.value["test"] for event in told]
    assert tests
    assert len(set(tests)) == len(tests)
    waiting = [
        event for event in told if event.value.get("submitted")
    ]  # submitted before the targets closed: they never began
    held = [event for event in told if event not in waiting]
    assert held and all("f2/mdt: no target has room" in event.reason for event in held)
    assert all(event.time - event.value["since"] >= 60.0 for event in held)
    assert all(" has begun for " in event.reason for event in waiting)
    assert all(event.time - event.value["since"] >= 120.0 for event in waiting)
