"""What is said of the time that is left: from what is known, and honest where nothing is."""

from __future__ import annotations

from contextlib import suppress

from stability_plan import case, document, machine
from stage import Campaign

from shakedown.cli.time_left import Pace, time_left
from shakedown.engine import State
from shakedown.model.nouns import Component, Document
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
