"""What is said of the time that is left: from what is known, and honest where nothing is."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from stability_plan import case, document, machine, sweep_of_five
from stage import Campaign

from shakedown.cli.time_left import Pace, clock_share, time_left
from shakedown.engine import State, explain
from shakedown.model.nouns import Component, Document, Limits
from shakedown.twin import Fates


def state_after(plan: Document, seconds: float) -> tuple[State, float]:
    """The state of a campaign that has gone on for so long."""
    seen: list[tuple[State, float]] = []

    def look(campaign: Campaign, wait: int) -> None:
        now = campaign.clock.now()
        if wait == 1:
            campaign.clock.at(now + seconds, lambda: True)
        if now >= campaign.world.began + seconds and not seen:
            state = campaign.state_now()
            seen.append((state, now))
            raise KeyboardInterrupt

    campaign = Campaign(plan, fates=Fates(mean_s=100.0, spread_s=0.0), script=look)
    with suppress(KeyboardInterrupt):
        campaign.run()
    return seen[0]


def two(repeats: int = 7) -> Document:
    cases = (case("short", 1, 900.0, load=0.0), case("long", 1, 7200.0, load=0.0))
    return document(machine(4, targets=False), cases, Component("part", "functionality", ("short", "long"), repeats))


def test_nothing_known_is_said_so() -> None:
    state, now = state_after(two(), 1.0)
    assert time_left(state, Pace(), now) == "14 runs of unknown length"


def test_what_one_test_takes_says_nothing_of_another() -> None:
    state, now = state_after(two(), 1.0)
    pace = Pace()
    pace.add("short", 7.0)
    assert time_left(state, pace, now) == "about 12.2 s of work left and 7 runs of unknown length"


def test_it_is_never_less_than_the_longest_run_that_is_open() -> None:
    state, now = state_after(two(repeats=1), 1.0)
    pace = Pace()
    pace.add("short", 7.0)
    pace.add("long", 840.0)
    said = time_left(state, pace, now)
    assert said.startswith(("about 13 min 59 s", "about 14 min")), said


def test_a_mix_is_over_when_its_clock_is() -> None:
    cases = (case("one", 1, 900.0, load=0.0),)
    part = Component("stability", "stability", ("one",), duration_s=7200.0)
    state, now = state_after(document(machine(4, targets=False), cases, part), 1000.0)
    pace = Pace()
    pace.add("one", 100.0)
    assert time_left(state, pace, now) == "1 h 43 min of stability left"


def left(plan: Document, **seconds: float) -> str:
    state, now = state_after(plan, 0.0)
    pace = Pace()
    for test, took in seconds.items():
        pace.add(test, took)
    return time_left(state, pace, now)


def test_what_comes_one_after_the_other_takes_its_times_together() -> None:
    """A run of ten minutes and then another one, on four nodes."""
    cases = (case("one", 1, 900.0, load=0.0), case("two", 1, 900.0, load=0.0))
    parts = (
        Component("first", "functionality", ("one",)),
        Component("then", "functionality", ("two",), after=("first",)),
    )
    plan = document(machine(4, targets=False), cases, *parts)
    assert left(plan, one=600.0, two=600.0) == "about 20 min 00 s of work left"


def test_copies_budgets_and_stagger_keep_nodes_idle() -> None:
    """Ten runs of a minute on 16 nodes: two at once by copies, or by a budget, or one in a minute."""
    cases = (case("one", 1, 900.0, load=0.0),)
    part = Component("first", "functionality", ("one",), repeats=10)
    free = document(machine(16, targets=False), cases, part)
    assert left(free, one=60.0) == "about 1 min 00 s of work left"
    assert (
        left(msgspec.structs.replace(free, limits=Limits(copies=(("one", 2),))), one=60.0)
        == "about 5 min 00 s of work left"
    )
    own = msgspec.structs.replace(
        free, components=(msgspec.structs.replace(part, limits=Limits(copies=(("one", 2),))),)
    )
    assert left(own, one=60.0) == "about 5 min 00 s of work left"
    loading = document(machine(16, per_target=1.0), (case("one", 1, 900.0, load=0.5),), part)
    assert left(loading, one=60.0) == "about 1 min 15 s of work left", "two on each of four targets"
    spread = msgspec.structs.replace(free, limits=Limits(stagger_s=60.0))
    assert left(spread, one=6.0) == "about 10 min 00 s of work left", "each start waits for the one before it"


def test_a_clock_says_how_far_a_component_is_that_runs_for_a_time() -> None:
    cases = (case("one", 1, 900.0, load=0.0),)
    part = Component("stability", "stability", ("one",), duration_s=7200.0)
    state, now = state_after(document(machine(4, targets=False), cases, part), 1800.0)
    assert clock_share(state, now) == pytest.approx(0.25, abs=0.02)
    state, now = state_after(two(), 1.0)
    assert clock_share(state, now) is None


def test_a_test_of_a_mix_waits_for_what_really_binds() -> None:
    """Nothing of the machine is taken yet, so it is not full; later it is."""
    cases = (case("one", 1, 900.0, load=0.0),)
    part = Component("stability", "stability", ("one",), duration_s=7200.0)
    plan = document(machine(4, targets=False), cases, part)
    state, now = state_after(plan, 100.0)
    (waiting,) = explain(state, now=now)
    assert waiting.text.startswith("c:batch is full")
    state.usage.units = {"c:batch": 0}
    (waiting,) = explain(state, now=now)
    assert waiting.text == "it is about to be ordered"


def test_what_a_sweep_wants_on_nodes_that_are_out_has_no_known_end() -> None:
    """Nobody knows when an excluded node comes back: the work left is that of the others."""
    plan = sweep_of_five(nodes=8)
    state, now = state_after(plan, 0.0)
    pace = Pace()
    for test in plan.tests:
        pace.add(test.name, 100.0)
    whole = time_left(state, pace, now)
    assert whole.startswith("about ") and "wait for" not in whole
    state.overrides.excluded |= {"n7": "excluded by Ada", "n8": "excluded by Ada"}
    assert time_left(state, pace, now).endswith("; 10 runs wait for n7, n8, which are out")
