"""A machine kept full, swept and packed, through the real engine and loop: every event is watched by the oracle."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from fill_measures import full, longest_hole, off_shares, spans_of_log, spans_of_truth, steady_time
from oracle_nodes import unfolded
from stability_plan import (
    BUSY,
    C5_TIMES,
    SMALL_TIMES,
    TABLE_4,
    Filled,
    Wish,
    at_times,
    c5_stability,
    packed,
    play,
    small_stability,
    sweep_of_five,
    wide_and_narrow,
)
from stage import random_deaths

from shakedown.model.filling import Fill
from shakedown.twin import Fates, Lies

CAPS = (("cm4", 5), ("shield", 5), ("spear", 4))
FAULTS = Fates(failed=0.03, node_fail=0.02, repair_s=120.0, deaths=(("n03", 300.0, 200.0), ("n11", 600.0, 300.0)))
LIES = Lies(timed_out=0.03, lost_submit=0.02, stale_s=6.0, marks_late_s=4.0, release_lost=0.05, release_unheard=0.05)


def small(wish: Wish, **options: Any) -> Filled:
    return play(small_stability(wish), times=SMALL_TIMES, **options)


def test_twenty_minutes_are_filled_as_the_plan_says() -> None:
    """Caps, stagger, targets: full from the end of the ramp to the start of the drain, in the right shares, without a hole."""
    campaign = small(Wish(copies=CAPS, stagger_s=1.0))
    (steady,) = campaign.document.components
    since, until = steady_time(campaign.document, campaign.events())
    spans, told = spans_of_truth(campaign), spans_of_log(campaign.document, campaign.events())
    assert full(spans, 16, since, until) > 0.8
    assert full(told, 16, since, until) == pytest.approx(full(spans, 16, since, until), abs=0.02)
    off = off_shares(spans, steady.mix, since, until)
    assert max(map(abs, off.values())) < 0.05, off
    for test in TABLE_4:
        assert longest_hole(spans, test, since, until, nodes=16, needs=2) < 90.0, test
    assert campaign.state.phase == "ended"


@pytest.mark.parametrize("seed", range(4))
def test_the_same_with_faults_lies_and_crashes(seed: int) -> None:
    campaign = small(
        Wish(copies=CAPS, minutes=12.0), fates=FAULTS, lies=LIES, seed=seed, dies=random_deaths(seed, 0.001, most=3)
    )
    assert campaign.state.phase == "ended"
    assert campaign.crashes
    lost = [event for event in campaign.events("verdict") if event.value.get("failed_nodes")]
    assert {node for event in lost for node in event.value["failed_nodes"]} <= {f"n{n:02d}" for n in range(1, 17)}


def test_enough_is_queued_while_nobody_drives() -> None:
    """Followers take over: what is loaded stays within the budgets, by the machine's own word."""
    fill = Fill(survive_s=180.0)
    campaign = small(Wish(per_target=2.0, fill=fill, minutes=8.0, filler=False))
    assert campaign.state.phase == "ended"
    assert any("after" in event.value for event in campaign.events("submit_order"))


@pytest.mark.parametrize("copies", [(("shield", 16),), ()], ids=["the plan has a cap", "the plan has none"])
def test_people_narrow_it_while_it_runs(copies: tuple[tuple[str, int], ...]) -> None:
    acts = (
        (120.0, "cap", {"test": "shield", "copies": 2, "by": "Ada"}),
        (240.0, "budget", {"budget": "f2/mdt", "amount": 2.0, "by": "Ada"}),
        (360.0, "exclude", {"nodes": ["n05"], "by": "Ada"}),
        (480.0, "pause", {"component": "stability", "cause": "maintenance", "by": "Ada"}),
    )
    campaign = small(
        Wish(minutes=15.0, copies=copies),
        script=at_times(*acts, (600.0, "continue", {"component": "stability", "by": "Ada"})),
    )
    assert campaign.state.phase == "ended"
    said = Counter(event.event for event in campaign.events())
    for name in ("capped", "budget_set", "excluded", "paused", "continued"):
        assert said[name] == 1, name


def test_a_sweep_sees_every_node_and_the_busy_ones_as_they_fall_idle() -> None:
    campaign = play(sweep_of_five(), others=BUSY)
    assert len(campaign.world.jobs) == 16
    assert len(campaign.world.executions) == 80
    where = {event.run: unfolded(event.value["nodes"]) for event in campaign.events("verdict")}
    repeats = {event.run: event.value["repeat"] for event in campaign.events("submit_order")}
    assert {(run, nodes[0]) for run, nodes in where.items()} == {(run, f"n{n:02d}") for run, n in repeats.items()}
    first = {event.value["node"]: event.time for event in reversed(campaign.events("submit_order"))}
    began = campaign.events()[0].time
    assert first[3] >= began + 400 and first[7] >= began + 700 and first[16] >= began + 1000


def test_a_sweep_goes_round_twice_and_survives_untrue_words() -> None:
    campaign = play(
        sweep_of_five(rounds=2),
        others=BUSY,
        lies=Lies(stale_s=20.0, idle_untrue=0.05, timed_out=0.1),
        quiet=False,
        limit=20_000,
    )
    assert len({event.run for event in campaign.events("verdict")}) == 160


def test_a_thousand_cases_in_four_allocations() -> None:
    campaign = play(packed(), times={"small": (2.0, 1.0)})
    assert len(campaign.world.jobs) == 4
    assert Counter(event.value["verdict"] for event in campaign.events("verdict")) == {"passed": 1000}


def test_a_killed_allocation_loses_no_case() -> None:
    def kill(campaign: Any, wait: int) -> None:
        if campaign.clock.now() > campaign.world.began + 20 and len(campaign.world.jobs) == 4:
            campaign.world.cancel(next(iter(campaign.world.jobs)))
            campaign.script = None

    campaign = play(packed(runs=400), times={"small": (2.0, 1.0)}, script=kill)
    final = [event for event in campaign.events("verdict") if event.value["verdict"] == "passed"]
    assert len({event.case for event in final}) == 400
    assert all(count == 1 for count in Counter(one.run for one in campaign.world.executions).values())


def test_wide_jobs_are_not_starved() -> None:
    """Jobs of one node and of half the machine at equal shares, hour by hour within five points once the first hour is over."""
    plan = wide_and_narrow(hours=6.0)
    times = {"narrow": (600.0, 100.0), "wide": (600.0, 100.0)}
    campaign = play(plan, times=times, watched=False)
    spans, began = spans_of_truth(campaign), campaign.events("submit_order")[0].time
    for hour in range(1, 5):
        off = off_shares(spans, plan.components[0].mix, began + 3600 * hour, began + 3600 * (hour + 1))
        assert max(map(abs, off.values())) < 0.05, (hour, off)


@pytest.mark.slow
def test_ten_days_of_c5() -> None:
    campaign = play(c5_stability(), times=C5_TIMES, watched=False)
    since, until = steady_time(campaign.document, campaign.events())
    spans = spans_of_truth(campaign)
    assert full(spans, 1920, since, until) > 0.9
    off = off_shares(spans, campaign.document.components[0].mix, since, until)
    assert max(map(abs, off.values())) < 0.05, off
