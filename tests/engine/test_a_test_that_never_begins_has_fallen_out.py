"""A test of a mix that is submitted and never begins has fallen out; one that waits as long as all the others has not."""

from __future__ import annotations

from typing import Any

from stability_plan import case, document, machine, play

from shakedown.engine.policy.starved_tests import SOONEST_S
from shakedown.model.nouns import Component, Document, Limits
from shakedown.twin import Fates

HOUR = 3600.0
STEADY = Fates(mean_s=600.0, spread_s=60.0)


def two_tests(hours: float = 8.0, **more: Any) -> Document:
    cases = (case("narrow", 1, 900.0, load=0.0), case("wide", 2, 900.0, load=0.0))
    mix = (("narrow", 0.5), ("wide", 0.5))
    part = Component("long", "stability", ("narrow", "wide"), duration_s=hours * HOUR, mix=mix)
    return document(machine(8, targets=False), cases, part, **more)


def told(campaign: Any, *kinds: str) -> list[Any]:
    return [one for one in campaign.events("finding") if one.value["kind"] in (kinds or ("fell_out", "stands_still"))]


def held(campaign: Any, wait: int) -> None:
    """From the first moments on somebody holds every wide job at the scheduler."""
    if wait > 1:
        return
    enter = campaign.world.enter

    def kept(job: Any) -> None:
        job.held = job.held or job.case.id == "wide"
        enter(job)

    campaign.world.enter = kept


def test_what_is_submitted_and_never_begins_is_told_once() -> None:
    """Two wide jobs are in flight all the time, and nothing of them runs, while the other test has far more than its share."""
    limits = Limits(copies=(("wide", 2),))
    campaign = play(two_tests(limits=limits), fates=STEADY, script=held, watched=False, limit=20_000)
    (said,) = told(campaign)
    assert (said.value["kind"], said.value["test"], said.value["submitted"]) == ("fell_out", "wide", 2)
    assert "nothing of test wide has begun for " in said.reason
    assert "JobHeldUser" in said.reason


def test_when_all_that_is_submitted_never_begins_that_is_told_too() -> None:
    """The held jobs are as many as may be submitted: nothing runs any more, for days if nobody looks."""
    campaign = play(two_tests(), fates=STEADY, script=held, watched=False, limit=20_000)
    (said,) = told(campaign, "stands_still")
    assert (said.value["kind"], said.value["component"]) == ("stands_still", "long")
    assert said.value["submitted"] >= 4
    assert "JobHeldUser" in said.reason
    assert said.time - said.value["since"] < HOUR + 60


def test_a_queue_that_is_merely_long_says_nothing() -> None:
    campaign = play(two_tests(), fates=Fates(mean_s=800.0, spread_s=90.0), watched=False)
    assert told(campaign) == []


def test_the_clock_is_the_cadence_of_the_test() -> None:
    """Runs of a minute in a mix of 40 minutes: a test of which nothing begins is told long before it is over."""
    limits = Limits(copies=(("wide", 2),))
    quick = Fates(mean_s=60.0, spread_s=6.0)
    campaign = play(two_tests(40 / 60, limits=limits), fates=quick, script=held, watched=False, limit=20_000)
    (said,) = told(campaign)
    assert (said.value["kind"], said.value["test"]) == ("fell_out", "wide")
    assert SOONEST_S <= said.time - said.value["since"] < 10 * 60.0


def test_a_mix_that_stands_still_is_told_by_a_tenth_of_its_time() -> None:
    campaign = play(two_tests(0.75), fates=STEADY, script=held, watched=False, limit=20_000)
    (said,) = told(campaign, "stands_still")
    assert said.time - said.value["since"] < 11 * 60.0


def test_slow_tests_are_given_the_time_of_three_starts_and_an_hour_at_most() -> None:
    """Two copies of 600 s: three starts lie 900 s apart, and so long nothing is said."""
    limits = Limits(copies=(("wide", 2),))
    campaign = play(two_tests(limits=limits), fates=STEADY, script=held, watched=False, limit=20_000)
    (said,) = told(campaign)
    assert 600.0 <= said.time - said.value["since"] <= HOUR + 60.0
