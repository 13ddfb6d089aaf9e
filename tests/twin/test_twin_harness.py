"""The harness in front of the scheduler, as paper 004 had it: builds before jobs, and submissions that nobody misses for days."""

from __future__ import annotations

from itertools import pairwise

import pytest
import scipy
from machine_simulated import DAY, HOUR, Rig, rehearse, taking
from stability_plan import case, small_stability

from shakedown.model.scenario import Builds, Harness, Hole


def test_every_job_waits_for_a_build_of_its_own_on_a_slot() -> None:
    """Two slots, builds of 600 s, five jobs: they reach the queue two by two."""
    rig = Rig(taking(100.0, builds=Builds(slots=2, mean_s=600.0), harness=Harness(build_first=True)))
    for number in range(5):
        rig.order(f"j{number}")
    assert (rig.report("j0").state, rig.report("j0").message) == ("queued", "HarnessBuild")
    rig.until(5000)
    assert [rig.span(f"j{n}")[0] for n in range(5)] == [600.0, 600.0, 1200.0, 1200.0, 1800.0]


def test_builds_of_the_engine_and_of_the_harness_share_the_slots() -> None:
    from shakedown.model.nouns import Build

    build = Build("0" * 64, "tool", "", "make")
    terms = taking(100.0, builds=Builds(slots=1, mean_s=600.0), harness=Harness(build_first=True))
    rig = Rig(terms, builds=(build,))
    rig.order("a")
    rig.machine.builder.start([build])
    rig.order("b")
    rig.until(5000)
    assert [rig.span(name)[0] for name in "ab"] == [600.0, 1800.0]


def test_who_is_cancelled_while_it_waits_for_its_build_takes_no_slot() -> None:
    rig = Rig(taking(100.0, builds=Builds(slots=1, mean_s=600.0), harness=Harness(build_first=True)))
    for name in "abc":
        rig.order(name)
    rig.until(10)
    rig.world.cancel("b")
    rig.until(5000)
    assert rig.state("b") == "cancelled"
    assert rig.span("c")[0] == 1200.0


def test_a_forgotten_submission_sits_until_a_person_notices_to_the_second() -> None:
    rig = Rig(taking(100.0, harness=Harness(forgets=0.3, notice_s=72 * HOUR)))
    for number in range(300):
        rig.until(number * 200.0)
        rig.order(f"j{number}")
    rig.until(10)
    late = [n for n in range(300) if rig.job(f"j{n}").delayed]
    assert scipy.stats.binomtest(len(late), 300, 0.3).pvalue > 0.001
    assert {rig.report(f"j{n}").message for n in late} == {"JobHeldAdmin"}
    rig.until(10 * DAY)
    assert [rig.span(f"j{n}")[0] for n in late] == pytest.approx([n * 200.0 + 72 * HOUR for n in late])


def test_a_held_job_that_is_released_while_it_is_forgotten_starts_when_both_are_over() -> None:
    rig = Rig(taking(100.0, harness=Harness(forgets=1.0, notice_s=1000.0)))
    rig.order("a", held=True)
    rig.order("b", held=True)
    rig.until(500)
    rig.world.release("a", {})
    rig.until(2000)
    rig.world.release("b", {})
    rig.until(5000)
    assert [rig.span(name)[0] for name in "ab"] == pytest.approx([1000.0, 2000.0])


def test_a_hole_takes_all_submissions_of_its_tests_and_gives_them_back_together() -> None:
    hole = Hole(("t",), 1000.0, 5000.0)
    rig = Rig(taking(100.0, "t", "u", harness=Harness(holes=(hole,))), (case("t", 1, 900.0), case("u", 1, 900.0)))
    for number in range(40):
        rig.until(number * 200.0)
        rig.order(f"t{number}", of="t")
        assert bool(rig.job(f"t{number}").delayed) == (1000 <= number * 200 < 6000)
        rig.order(f"u{number}", of="u")
    rig.until(20_000)
    begun = {n: rig.span(f"t{n}")[0] for n in range(40)}
    assert all(begun[n] == n * 200.0 for n in range(5))
    assert min(begun[n] for n in range(5, 30)) == 6000.0
    assert all(rig.span(f"u{n}")[0] < n * 200.0 + 1000 for n in range(5, 25)), "the other test goes on"


def test_jobs_that_build_the_next_one_run_into_their_walltime_until_it_is_mended() -> None:
    """Paper 004, IV.E: UFS at the beginning."""
    terms = taking(800.0, builds=Builds(mean_s=300.0), harness=Harness(in_job=(("t", 5000.0),)))
    rig = Rig(terms, (case("t", 1, 1000.0),))
    rig.order("a")
    rig.until(6000)
    rig.order("b")
    rig.until(9000)
    assert [(rig.state(name), rig.lasted(name)) for name in "ab"] == [("timeout", 1000.0), ("completed", 800.0)]


def test_the_engine_sees_jobs_that_wait_and_the_log_says_why() -> None:
    """A campaign of half an hour in which one of six tests is forgotten for ten minutes: none of it begins meanwhile."""
    plan = small_stability()
    hole = Hole(("shield",), 300.0, 600.0)
    campaign = rehearse(
        plan, taking(37.5, *(one.test for one in plan.cases), harness=Harness(holes=(hole,))), poll_s=5.0
    )
    events = campaign.log.events()
    began = campaign.world.began
    said = [event for event in events if event.event == "job_report" and event.reason == "JobHeldAdmin"]
    assert {campaign.document.cases[4].id} == {
        event.case or campaign.world.jobs[event.job][0].case.id for event in said
    }
    starts = sorted((one.start - began, one.job) for one in campaign.world.executions if one.case == "shield")
    within = [campaign.world.jobs[job][0].submitted - began for at, job in starts if 300 <= at < 900]
    assert max(within) < 300, "what was in the queue before still runs"
    assert max(later - at for (at, _), (later, _) in pairwise(starts)) > 300, "and then nothing does"
    assert starts[0][0] < 300 < 900 <= starts[-1][0]


def test_forgetting_depends_on_the_job_and_not_on_the_order_of_calls() -> None:
    def forgotten(names: list[str]) -> set[str]:
        rig = Rig(taking(1.0, harness=Harness(forgets=0.5)))
        for name in names:
            rig.order(name)
        return {name for name in names if rig.job(name).delayed}

    names = [f"j{number}" for number in range(40)]
    assert forgotten(names) == forgotten(names[::-1])
