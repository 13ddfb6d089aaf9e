"""The shared file system: each slowdown against its formula, and every run's time against a reckoning second by second."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_simulated import HOUR, Rig, taking
from stability_plan import BUDGET, MDTS, case

from shakedown.model.nouns import Case
from shakedown.model.scenario import Bandwidth, Hang, Metadata, RunTime, Scenario
from shakedown.twin.machine.storage import metadata_slowdown, usl_time

LINK = "f2/bandwidth"
WALL_S = 20_000.0


def loading(name: str = "t", mdt: float = 1.0, bytes_per_s: float = 0.0, limit_s: float = WALL_S) -> Case:
    loads = ((BUDGET, mdt),) * (mdt > 0) + ((LINK, bytes_per_s),) * (bytes_per_s > 0)
    return msgspec.structs.replace(case(name, 1, limit_s), loads=loads)


def mdt(**fields: Any) -> tuple[Metadata, ...]:
    fields = {"sigma": 0.02, "kappa": 0.01, "healthy": 1.0, "share": 0.2} | fields
    return (Metadata(BUDGET, **fields),)


# ---- laws ----------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 200), st.floats(0, 1), st.floats(0, 0.1))
def test_the_time_of_an_operation_is_gunthers_law_turned_over(n: int, sigma: float, kappa: float) -> None:
    """Gunther: n clients do C(n) = n / (1 + sigma (n - 1) + kappa n (n - 1)) times the work of one; each waits n / C(n)."""
    capacity = n / (1 + sigma * (n - 1) + kappa * n * (n - 1))
    assert usl_time(n, sigma, kappa) == pytest.approx(n / capacity)


def test_past_saturation_a_target_does_less_and_less() -> None:
    """The most is done at sqrt((1 - sigma) / kappa) copies; twice as many do less than that, and each waits far longer."""
    sigma, kappa = 0.05, 0.01
    best = math.sqrt((1 - sigma) / kappa)
    rate = {n: n / usl_time(n, sigma, kappa) for n in range(1, 100)}
    assert max(rate, key=rate.__getitem__) in (math.floor(best), math.ceil(best))
    assert rate[2 * round(best)] < rate[round(best)]
    assert usl_time(44, sigma, kappa) > 4 * usl_time(best, sigma, kappa)


def test_up_to_the_healthy_load_nothing_takes_longer() -> None:
    terms = mdt(healthy=8.0)[0]
    assert [metadata_slowdown(terms, n) for n in (0, 1, 8)] == [1.0, 1.0, 1.0]
    assert metadata_slowdown(terms, 16) == pytest.approx(
        (1 + 0.02 * 15 + 0.01 * 16 * 15) / (1 + 0.02 * 7 + 0.01 * 8 * 7)
    )


# ---- runs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 2, 5, 8])
def test_copies_that_begin_together_on_one_target_take_as_long_as_the_formula_says(copies: int) -> None:
    rig = Rig(taking(1000.0, metadata=mdt()), (loading(),))
    for number in range(copies):
        rig.order(f"j{number}", target="mdt2")
    rig.until(WALL_S)
    slow = 1 + 0.02 * (copies - 1) + 0.01 * copies * (copies - 1)
    assert [rig.lasted(f"j{n}") for n in range(copies)] == pytest.approx([1000 * (1 + 0.2 * (slow - 1))] * copies)


def test_copies_on_different_targets_do_not_mind_each_other() -> None:
    rig = Rig(taking(1000.0, metadata=mdt(share=1.0)), (loading(),))
    for name in MDTS:
        rig.order(name, target=name)
    rig.until(2000)
    assert [rig.lasted(name) for name in MDTS] == pytest.approx([1000.0] * 4)


def test_a_run_in_the_middle_of_another_slows_it_for_as_long_as_it_is_there() -> None:
    """Two copies: each operation takes 1 + 0.5 times as long, and all of the time is metadata."""
    rig = Rig(taking(600.0, metadata=mdt(sigma=0.5, kappa=0.0, share=1.0)), (loading(),))
    rig.order("a", target="mdt0")
    rig.until(300)
    rig.order("b", target="mdt0")
    rig.until(WALL_S)
    # a: 300 s alone, 300 s of work at 1.5; then b has done 300 of its 600 s
    assert rig.span("a") == pytest.approx((0.0, 300 + 450))
    assert rig.span("b") == pytest.approx((300.0, 750 + 300))


def test_a_cancelled_run_loads_nothing_any_more() -> None:
    rig = Rig(taking(600.0, metadata=mdt(sigma=0.5, kappa=0.0, share=1.0)), (loading(),))
    rig.order("a", target="mdt0")
    rig.order("b", target="mdt0")
    rig.until(300)
    rig.world.cancel("b")
    rig.until(WALL_S)
    assert rig.lasted("a") == pytest.approx(300 + 400)
    assert {resource.load for resource in rig.world.physics.storage.resources.values()} == {0.0}  # type: ignore[union-attr]


@pytest.mark.parametrize("lasts_s", [60.0, 5 * HOUR])
def test_a_hung_target_stalls_its_runs_for_exactly_as_long_or_until_their_walltime(lasts_s: float) -> None:
    hang = Hang("mdt1", 400.0, lasts_s)
    rig = Rig(taking(1000.0, metadata=mdt(hangs=(hang,))), (loading(limit_s=9000.0),))
    for name in ("mdt0", "mdt1"):
        rig.order(name, target=name)
    rig.until(WALL_S)
    assert rig.lasted("mdt0") == pytest.approx(1000.0, abs=1e-5)
    longer = 1000.0 + lasts_s
    assert rig.lasted("mdt1") == pytest.approx(min(longer, 9000.0), abs=1e-5)
    assert rig.state("mdt1") == ("completed" if longer < 9000 else "timeout")


def test_a_run_that_begins_on_a_hung_target_waits_for_its_end() -> None:
    rig = Rig(taking(1000.0, metadata=mdt(hangs=(Hang("", 0.0, 500.0),))), (loading(),))
    rig.until(200)
    rig.order("a", target="mdt3")
    rig.until(WALL_S)
    assert rig.span("a") == pytest.approx((200.0, 1500.0), abs=1e-5)


def test_one_copy_too_many_never_goes_on_and_the_others_do() -> None:
    rig = Rig(taking(1000.0, metadata=mdt(hangs_past=3.0, share=0.0)), (loading(limit_s=5000.0),))
    for number in range(5):
        rig.order(f"j{number}", target="mdt0")
    rig.until(WALL_S)
    assert [rig.state(f"j{n}") for n in range(5)] == ["completed"] * 3 + ["timeout"] * 2
    assert rig.lasted("j4") == 5000.0


def test_more_than_the_bandwidth_stretches_the_share_that_moves_data() -> None:
    """Three runs of 20 GB/s on 40 GB/s: their tenth takes 1.5 times as long."""
    scenario = taking(1000.0, bandwidth=(Bandwidth(LINK, 40e9, share=0.1),))
    rig = Rig(scenario, (loading(mdt=0.0, bytes_per_s=20e9),))
    for number in range(2):
        rig.order(f"fit{number}")
    rig.until(2000)
    for number in range(3):
        rig.order(f"many{number}")
    rig.until(WALL_S)
    assert [rig.lasted(f"fit{n}") for n in range(2)] == pytest.approx([1000.0] * 2)
    assert [rig.lasted(f"many{n}") for n in range(3)] == pytest.approx([1000 * (0.9 + 0.1 * 1.5)] * 3)


def test_runs_that_no_budget_places_are_all_on_one_target() -> None:
    """Paper 004, VI.D: one user, one directory, one metadata target."""
    bare = (case("t", 1, WALL_S, load=0.0),)
    for target, where in (("", "mdt0"), ("mdt3", "mdt3")):
        rig = Rig(taking(1000.0, metadata=mdt(every_run=1.0, target=target)), bare)
        for number in range(6):
            rig.order(f"j{number}")
        loads = {place[1]: one.load for place, one in rig.world.physics.storage.resources.items()}  # type: ignore[union-attr]
        assert loads == {name: 6.0 if name == where else 0.0 for name in MDTS}
        rig.until(WALL_S)
        assert rig.lasted("j5") == pytest.approx(1000 * (1 + 0.2 * (0.02 * 5 + 0.01 * 30)))


def test_without_such_a_word_they_load_nothing() -> None:
    rig = Rig(taking(1000.0, metadata=mdt(share=1.0)), (case("t", 1, WALL_S, load=0.0),))
    for number in range(6):
        rig.order(f"j{number}")
    rig.until(WALL_S)
    assert rig.lasted("j5") == 1000.0


def test_parts_of_a_job_load_what_their_cases_load() -> None:
    from shakedown.model.ports import JobOrder, Part

    rig = Rig(taking(100.0, metadata=mdt(sigma=0.5, kappa=0.0, share=1.0)), (loading(),))
    parts = tuple(Part(f"p{number}", rig.cases["t"]) for number in range(4))
    order = JobOrder("pack", "p0", rig.cases["t"], parts=parts, at_once=2, targets=((BUDGET, "mdt0"),))
    rig.machine.scheduler.submit([order])
    rig.until(WALL_S)
    assert [one.end - one.start for one in rig.world.executions if one.end] == pytest.approx([150.0] * 4)


# ---- against a reckoning of another kind ------------------------------------------------------------------------------------


@dataclass
class Runner:
    """A run as the reckoning knows it."""

    begin: float
    work: float
    target: str
    bytes_per_s: float
    end: float = 0.0


def reckon(runners: list[Runner], terms: Metadata, link: Bandwidth, hang: Hang) -> None:
    """From one change to the next, every run's pace anew from all that run: no lanes, no virtual time."""
    now, left = 0.0, {number: one.work for number, one in enumerate(runners)}
    while left:
        on = [n for n in left if runners[n].begin <= now + 1e-9]
        pace = {n: _pace(runners[n], [runners[m] for m in on], terms, link, hang, now) for n in on}
        changes = [runners[n].begin - now for n in left if runners[n].begin > now + 1e-9]
        changes += [at - now for at in (hang.after_s, hang.after_s + hang.lasts_s) if at > now + 1e-9]
        changes += [left[n] / pace[n] for n in on if pace[n] > 0]
        step = min(changes)
        for n in on:
            left[n] -= step * pace[n]
        now += step
        for n in [n for n in on if left[n] <= 1e-7]:
            runners[n].end = now
            del left[n]


def _pace(one: Runner, on: list[Runner], terms: Metadata, link: Bandwidth, hang: Hang, now: float) -> float:
    if hang.target == one.target and hang.after_s <= now + 1e-9 < hang.after_s + hang.lasts_s:
        return 0.0
    n = sum(other.target == one.target for other in on)
    slow = (1 + terms.sigma * (n - 1) + terms.kappa * n * (n - 1)) - 1
    wide = max(1.0, sum(other.bytes_per_s for other in on) / link.capacity) - 1 if one.bytes_per_s else 0.0
    return 1 / (1 + terms.share * slow + link.share * wide)


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_any_crowd_takes_as_long_as_reckoned_change_by_change(seed: int) -> None:
    draw = random.Random(seed)
    hang = Hang("mdt1", draw.uniform(100, 900), draw.uniform(10, 500))
    terms, link = mdt(share=draw.uniform(0, 0.6), hangs=(hang,))[0], Bandwidth(LINK, 5e9, share=draw.uniform(0, 0.3))
    times = {f"t{n}": draw.uniform(100, 900) for n in range(4)}
    cases = tuple(loading(name, bytes_per_s=draw.choice((0.0, 2e9, 3e9)), limit_s=9e5) for name in times)
    scenario = Scenario(
        times=tuple((name, RunTime(seconds)) for name, seconds in times.items()), metadata=(terms,), bandwidth=(link,)
    )
    rig = Rig(scenario, cases)
    runners = []
    for number, at in enumerate(sorted(draw.uniform(0, 2000) for _ in range(8))):  # never more than there are nodes
        one = draw.choice(cases)
        target = draw.choice(MDTS[:2])
        rig.until(at)
        rig.order(f"j{number}", of=one.id, target=target)
        runners.append(Runner(rig.now, times[one.id], target, dict(one.loads).get(LINK, 0.0)))
    rig.until(50_000)
    reckon(runners, terms, link, hang)
    assert [rig.span(f"j{n}")[1] for n in range(8)] == pytest.approx([one.end for one in runners], abs=1e-3)
