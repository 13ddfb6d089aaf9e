"""Noise against brute force, closed forms and the shapes that the literature has."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
import scipy
from noise_brute_force import brute_steps, exact_loss

from shakedown.model.errors import UsageError
from shakedown.twin.models.noise import simulate
from shakedown.twin.models.noise_hits import Hits, Target
from shakedown.twin.models.noise_periodic import WHOLE, PeriodicBackground, PeriodicHits, Phases
from shakedown.twin.models.noise_sources import Placement, Source
from shakedown.twin.models.noise_study import shares_of, sizes, study_noise

MS, US = 1e-3, 1e-6
PATTERNS: tuple[Literal["periodic", "random"], ...] = ("periodic", "random")


def slowdown(source: Source, processes: int, work: float, seeds: int = 1) -> float:
    """On nodes of one core, over several seeds, with 10 us of collective."""
    place = Placement(processes, 1, 1)
    runs = [simulate(place, [source], work, 1000, 10 * US, seed) for seed in range(seeds)]
    return sum(run.slowdown for run in runs) / seeds


def losses(source: Source, phases: Phases, clock: float, work: float) -> list[float]:
    """What the source takes of a rank at each phase, event by event."""
    period, duration = Fraction(source.period_s), Fraction(source.duration_s)
    places = [Fraction(int(phase), WHOLE) * period for phase in phases]
    return [float(exact_loss(Fraction(clock), Fraction(work), place, period, duration)) for place in places]


# ---- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [0.2 * MS, 1 * MS, 9.7 * MS, 35.1 * MS])
@pytest.mark.parametrize("clock", [0.0, 0.0123, 1e6 + 0.004321])
def test_given_its_phase_a_rank_loses_what_the_events_take(work: float, clock: float) -> None:
    source = Source("tick", 10 * MS, 1.5 * MS)
    rng = np.random.default_rng(5)
    phases = rng.integers(0, WHOLE, 300, dtype=np.uint64)
    wanted = losses(source, phases, clock, work)
    ranks = np.arange(300)
    listed = PeriodicHits(source, Target(ranks, 1, 300, False), phases, work, rng).hits(clock, 0.0)
    found = np.full(300, listed.common_s)
    np.add.at(found, listed.ranks, listed.delay_s)
    tolerance = 1e-9 if clock < 1 else 1e-8  # a double holds 1e6 s to 1e-10 s, and many periods add up
    assert found == pytest.approx(wanted, abs=tolerance)

    background = PeriodicBackground(source, phases, work)
    background.hits(clock, 0.0)
    assert background.common_s + background.of(ranks) == pytest.approx(wanted, abs=tolerance)
    longest, rank = background.longest()
    assert background.common_s + longest == pytest.approx(max(wanted), abs=tolerance)
    assert wanted[rank] == pytest.approx(max(wanted), abs=tolerance)
    assert background.on(rank) == longest


def test_where_every_place_is_listed_several_events_of_a_node_are_shared_out() -> None:
    source = Source("daemon", 2 * MS, 0.1 * MS, on="node")
    phases = np.random.default_rng(1).integers(0, WHOLE, 50, dtype=np.uint64)
    target = Target(np.arange(50) * 4, 4, 200, False)
    effect = PeriodicHits(source, target, phases, 20 * MS, np.random.default_rng(2)).hits(0.005, 0.0)
    assert isinstance(effect, Hits)
    lost = np.zeros(200)
    np.add.at(lost, effect.ranks, effect.delay_s)
    wanted = losses(source, phases, 0.005, 20 * MS)
    assert lost.reshape(50, 4).sum(axis=1) == pytest.approx(wanted, abs=1e-12)
    assert (lost > 0).sum() > 150  # ten events a node do not all fall on one of its cores


# ---- equal in distribution ---------------------------------------------------------------------------------------------

TICK, DAEMON = Source("tick", 7 * MS, 0.3 * MS), Source("daemon", 31 * MS, 4 * MS, on="node")
CASES = {
    "one periodic": (Placement(6, 2, 2), [TICK]),
    "two periodic": (Placement(9, 3, 3), [TICK, DAEMON]),
    "three, the last node half empty": (Placement(7, 2, 2), [TICK, DAEMON, Source("fine", 0.9 * MS, 0.05 * MS)]),
    "idle core": (Placement(6, 2, 3), [TICK, DAEMON]),
    "some nodes": (Placement(12, 2, 2), [Source("first", 20 * MS, 3 * MS, every=3, at=1), DAEMON]),
    "random": (Placement(8, 2, 2), [Source("burst", 15 * MS, 2 * MS, pattern="random")]),
    "random on nodes": (Placement(8, 2, 2), [Source("burst", 15 * MS, 3 * MS, on="node", pattern="random"), TICK]),
    "random, many": (Placement(4, 2, 2), [Source("hail", 0.2 * MS, 0.01 * MS, pattern="random")]),
    "random on nodes, many": (Placement(4, 2, 2), [Source("hail", 0.2 * MS, 0.01 * MS, on="node", pattern="random")]),
    "at once": (Placement(6, 2, 2), [Source("gang", 15 * MS, 2 * MS, synchronised=True), TICK]),
    "at once on nodes": (Placement(6, 2, 2), [Source("gang", 15 * MS, 2 * MS, on="node", synchronised=True), TICK]),
    "many a step": (Placement(6, 2, 2), [Source("fine", 0.5 * MS, 0.04 * MS, on="node"), TICK]),
}


@pytest.mark.parametrize("name", CASES)
def test_as_brute_force_in_distribution(name: str) -> None:
    place, sources = CASES[name]
    seeds, steps, work, collective = 400, 12, 2 * MS, 0.2 * MS
    fast = [simulate(place, sources, work, steps, collective, seed).step_s for seed in range(seeds)]
    slow = [brute_steps(place, sources, work, collective, steps, 10_000 + seed) for seed in range(seeds)]
    for figure in (math.fsum, max, lambda run: run[0], lambda run: run[-1]):
        ours, theirs = [figure(run.tolist()) for run in fast], [figure(run) for run in slow]
        # the last bits of sums are no difference
        assert scipy.stats.ks_2samp(np.round(ours, 9), np.round(theirs, 9)).pvalue > 0.002


def test_brute_force_sees_a_source_that_is_half_as_long_again() -> None:
    """The test above would fail for a wrong model: it does for this one."""
    place, work = Placement(6, 2, 2), 2 * MS
    fast = [
        math.fsum(simulate(place, [Source("a", 7 * MS, 0.45 * MS)], work, 12, 0.0, seed).step_s) for seed in range(400)
    ]
    slow = [math.fsum(brute_steps(place, [TICK], work, 0.0, 12, seed)) for seed in range(400)]
    assert scipy.stats.ks_2samp(fast, slow).pvalue < 1e-6


# ---- closed forms and shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("period", "duration", "fine", "coarse"),
    [(100 * MS, 2.5 * MS, 3.51, 1.25), (10 * MS, 250 * US, 1.26, 1.05), (1 * MS, 25 * US, 1.06, 1.03)],
)
def test_the_same_share_of_time_costs_by_its_granularity(
    period: float, duration: float, fine: float, coarse: float
) -> None:
    """2.5 % of the time in three shapes, as Ferreira, Bridges and Brightwell 2008 found: long events cost most."""
    source = Source("noise", period, duration)
    assert slowdown(source, 4096, 1 * MS) == pytest.approx(fine, rel=0.02)
    assert slowdown(source, 4096, 10 * MS) == pytest.approx(coarse, rel=0.02)


@pytest.mark.parametrize(
    ("period", "duration", "four"), [(0.1, 2.5 * MS, 1.12), (10 * MS, 250 * US, 1.08), (1 * MS, 25 * US, 1.04)]
)
def test_on_four_ranks_the_shapes_are_alike(period: float, duration: float, four: float) -> None:
    assert slowdown(Source("noise", period, duration), 4, 1 * MS, seeds=20) == pytest.approx(four, abs=0.035)


@pytest.mark.parametrize("processes", [1, 64, 4096])
def test_between_the_closed_forms(processes: int) -> None:
    """g + d (1 - (1 - p)^P): p is at least that of an event in the work, at most that of one that touches it."""
    work, period, duration = 1 * MS, 400 * MS, 2 * MS
    mean = np.mean(
        [
            simulate(Placement(processes, 1, 1), [Source("n", period, duration)], work, 2000, 0.0, s).mean_s
            for s in range(12)
        ]
    )
    least, most = (work + duration * (1 - (1 - p) ** processes) for p in (work / period, (work + duration) / period))
    assert least * 0.97 <= mean <= most * 1.03


def test_the_longest_of_many_exponential_events() -> None:
    """Gumbel: where n events of mean d hit a step, the longest is d (ln n + 0.5772)."""
    work, duration, period, ranks = 1 * MS, 1 * US, 2 * MS, 20_000
    run = simulate(Placement(ranks, 1, 1), [Source("n", period, duration, pattern="random")], work, 1000)
    events = work / (period - duration) * ranks
    # two events on one rank add up, which makes the longest a little longer than the longest event
    longest = run.mean_s - work
    assert duration * (math.log(events) + 0.5772) < longest < duration * (math.log(events) + 0.5772) * 1.25


def test_noise_at_once_costs_its_share_and_no_more() -> None:
    source = Source("gang", 100 * MS, 2.5 * MS, synchronised=True)
    run = simulate(Placement(4096, 4, 4), [source], 1 * MS, 20_000)
    assert run.slowdown == pytest.approx(1 + 2.5 / 100, rel=2e-3)  # to first order 1 + d / T, exactly 1 / (1 - d / T)
    assert run.slowdown == pytest.approx(1 / (1 - 0.025), rel=2e-4)


def test_one_rank_loses_the_share_that_the_source_takes() -> None:
    for pattern in PATTERNS:
        source = Source("n", 10 * MS, 1 * MS, pattern=pattern)
        run = simulate(Placement(1, 1, 1), [source], 1.234 * MS, 40_000, seed=3)
        assert run.slowdown == pytest.approx(1 / 0.9, rel=0.01)


# ---- who is hit --------------------------------------------------------------------------------------------------------


def test_an_idle_core_takes_what_may_run_anywhere_and_no_tick() -> None:
    daemon, tick = Source("daemon", 0.1, 5 * MS, on="node"), Source("tick", 5 * MS, 50 * US)
    runs = [simulate(Placement(512 * k, k, 4), [daemon, tick], 1 * MS, 500) for k in (1, 2, 3, 4)]
    for run in runs[:3]:
        assert run.blame_s["daemon"] == 0.0
        assert run.mean_s == pytest.approx(1.05 * MS, rel=1e-6)
    assert runs[3].slowdown > 5


def test_only_the_last_of_every_32_nodes() -> None:
    source = Source("last", 0.05, 5 * MS, every=32, at=31)
    assert simulate(Placement(31 * 4, 4, 4), [source], 1 * MS, 200).slowdown == 1.0
    assert simulate(Placement(32 * 4, 4, 4), [source], 1 * MS, 200).slowdown > 1.1


def test_blame_adds_up_to_what_the_steps_lost() -> None:
    sources = [Source("tick", 10 * MS, 50 * US), Source("daemon", 0.5, 2 * MS, on="node"),
               Source("burst", 1.0, 3 * MS, on="node", pattern="random")]  # fmt: skip
    run = simulate(Placement(1024, 4, 4), sources, 1 * MS, 500, 10 * US, seed=2)
    assert math.fsum(run.blame_s.values()) == pytest.approx(run.mean_s - run.quiet_s, rel=1e-9)
    assert min(run.blame_s.values()) > 0


def test_without_sources_nothing_is_lost_and_the_collective_may_depend_on_the_size() -> None:
    run = simulate(Placement(1000, 4, 4), [], 1 * MS, 10, lambda processes: processes * US)
    assert run.step_s.tolist() == pytest.approx([2 * MS] * 10)


# ---- same seed, same bytes ---------------------------------------------------------------------------------------------


def test_same_seed_same_bytes_and_another_seed_other_ones() -> None:
    sources = CASES["random on nodes"][1]
    runs = [simulate(Placement(4096, 4, 4), sources, 1 * MS, 300, 10 * US, seed).step_s.tobytes() for seed in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2]


def test_a_source_has_its_own_random_numbers() -> None:
    """Another source that hits nobody changes nothing."""
    place, tick = Placement(600, 3, 4), Source("tick", 70 * MS, 1 * MS)
    absorbed = Source("daemon", 10 * MS, 1 * MS, on="node")
    one = simulate(place, [tick], 1 * MS, 300).step_s
    two = simulate(place, [absorbed, tick], 1 * MS, 300).step_s
    assert one.tobytes() == two.tobytes()


# ---- the study ---------------------------------------------------------------------------------------------------------


def test_sizes_grow_from_a_full_node_to_the_job() -> None:
    assert sizes(8192, 4) == [4, 32, 256, 2048, 8192]
    assert sizes(3, 4) == [3]


def test_removing_the_source_that_costs_most_gives_most() -> None:
    small, large = Source("small", 1.0, 50 * US), Source("large", 1.0, 5 * MS)
    shares = shares_of(Placement(4096, 4, 4), [small, large], 1 * MS, 300)
    assert [share.source for share in shares] == ["large", "small"]
    assert shares[0].without == pytest.approx(1.05, abs=0.005)
    assert shares[1].without > 4


def test_a_study_has_every_size_for_every_number_a_node() -> None:
    study = study_noise(100, [4, 3, 4], 4, [TICK, DAEMON], 1 * MS, 50)
    assert [(point.processes, point.per_node) for point in study.points] == [
        (4, 4), (32, 4), (100, 4), (3, 3), (24, 3), (100, 3),
    ]  # fmt: skip
    assert study.of_shares == study.at(4)[-1]


# ---- what cannot be modelled -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"duration_s": 1.0}, "leaves no time"),
        ({"duration_s": 0.0}, "more than nothing"),
        ({"period_s": math.nan}, "more than nothing"),
        ({"period_s": math.inf}, "more than nothing"),
        ({"every": 0}, "no node number"),
        ({"every": 4, "at": 4}, "no node number"),
    ],
)
def test_sources_that_cannot_be(change: dict[str, float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Source(**({"name": "n", "period_s": 1.0, "duration_s": 0.1} | change))  # type: ignore[arg-type]


def test_runs_that_cannot_be() -> None:
    place, source = Placement(4, 4, 4), Source("n", 1.0, 0.1)
    for work, steps in ((0.0, 1), (math.nan, 1), (math.inf, 1), (1.0, 0), (1.0, 10**12)):
        with pytest.raises(UsageError):
            simulate(place, [source], work, steps)
    with pytest.raises(UsageError, match="two sources are called"):
        simulate(place, [source, source], 1.0, 1)
    with pytest.raises(UsageError, match="events in one step"):
        simulate(place, [Source("n", 1e-9, 1e-10)], 1e6, 1)
    for processes, per_node, cores in ((0, 1, 1), (4, 0, 4), (4, 5, 4), (10**12, 4, 4)):
        with pytest.raises(UsageError):
            Placement(processes, per_node, cores)


def test_phases_are_kept_over_a_year() -> None:
    """In single precision the phase of a 1 ms tick would be lost after minutes."""
    tick = Source("tick", 1 * MS, 25 * US)
    clock = 365 * 86400.0
    rng = random.Random(4)
    phases = np.array([rng.randrange(WHOLE) for _ in range(20_000)], dtype=np.uint64)
    background = PeriodicBackground(tick, phases, 0.1 * MS)
    background.hits(clock, 0.0)
    hit = (background.of(np.arange(20_000)) > 0).mean()
    assert hit == pytest.approx(0.125, abs=0.01)
