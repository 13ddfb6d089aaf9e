"""Whose turn it is: by size and age, within the depth of a look; and nodes that will be closed, against a plain reckoning."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from machine_simulated import Rig
from stability_plan import case, machine

from shakedown.model.scenario import Queue, RunTime, Scenario
from shakedown.twin.machine.allocator import Need, Pool, numbers
from shakedown.twin.machine.queue_order import Closing, Turns

DAY = 86_400.0
JOBS = (("first", 1, 1000.0), ("wide", 4, 1000.0), ("small", 1, 50.0), ("tiny", 1, 40.0))
TIMES = tuple((name, RunTime(limit_s)) for name, _, limit_s in JOBS)


def cycle(pool: Pool, now: float = 0.0) -> dict[int, list[int]]:
    """Who starts, and on which nodes."""
    started: dict[int, list[int]] = {}
    pool.cycle(now, lambda ticket, nodes: started.update({ticket: numbers(nodes)}))
    return started


def test_the_largest_goes_first_where_size_counts() -> None:
    pool = Pool(4)
    pool.turns = Turns(size=1.0)
    pool.queue(1, Need(1, 60.0))
    pool.queue(2, Need(3, 60.0))
    pool.queue(3, Need(2, 60.0))
    assert cycle(pool) == {2: [1, 2, 3], 1: [4]}


def test_who_waits_long_enough_passes_the_larger_one() -> None:
    """Size counts 1 x 2/4 more; age 2 x (waiting / 7 d): after 1.75 days more they are even, and the older one goes."""
    for days, first in ((1.7, 2), (1.8, 1)):
        pool = Pool(4)
        pool.turns = Turns(size=1.0, age=2.0)
        pool.queue(1, Need(2, 60.0), now=0.0)
        pool.queue(2, Need(4, 60.0), now=days * DAY)
        assert next(iter(cycle(pool, days * DAY))) == first


def test_age_counts_no_more_than_seven_days() -> None:
    pool = Pool(4)
    pool.turns = Turns(size=1.0, age=0.4)
    pool.queue(1, Need(2, 60.0), now=0.0)
    pool.queue(2, Need(4, 60.0), now=700 * DAY)
    assert next(iter(cycle(pool, 700 * DAY))) == 2


def test_a_look_takes_in_the_first_of_the_queue_alone() -> None:
    """The head waits for all nodes; of those behind it only one is within a depth of two, and it does not fit."""
    started = {}
    for depth in (2, 3, 0):
        pool = Pool(4)
        pool.queue(1, Need(1, 100.0))
        cycle(pool)
        pool.depth = depth
        pool.queue(2, Need(4, 100.0))
        pool.queue(3, Need(2, 500.0))
        pool.queue(4, Need(1, 50.0))
        pool.queue(5, Need(1, 40.0))
        started[depth] = cycle(pool)
    assert started == {2: {}, 3: {4: [2]}, 0: {4: [2], 5: [3]}}


def test_a_scenario_sets_how_the_scheduler_chooses() -> None:
    """One of four nodes is taken for 1,000 s; all four are wanted next, then one for 50 s, then one for 40 s."""
    cases = tuple(case(name, nodes, limit_s) for name, nodes, limit_s in JOBS)
    begun = {}
    for name, queue in {
        "all at once": Queue(),
        "each cycle": Queue(cycle_s=300.0),
        "the head alone": Queue(depth=1),
        "in order": Queue(fifo=True),
    }.items():
        rig = Rig(Scenario(times=TIMES, queue=queue), cases, system=machine(4))
        for job, _, _ in JOBS:
            rig.order(job, of=job)
        rig.until(20_000)
        begun[name] = [rig.span(job)[0] for job, _, _ in JOBS[1:]]
    assert begun == {
        "all at once": [1000.0, 0.0, 0.0],
        "each cycle": [1000.0, 300.0, 300.0],
        "the head alone": [1000.0, 2000.0, 2000.0],
        "in order": [1000.0, 2000.0, 2000.0],
    }


def test_a_scenario_says_what_size_is_worth() -> None:
    """The machine is full for 1,000 s; then a small job that came first, or a wide one."""
    cases = tuple(case(name, nodes, limit_s) for name, nodes, limit_s in JOBS)
    begun = {}
    for size in (0.0, 1.0):
        rig = Rig(Scenario(times=TIMES, queue=Queue(size=size)), cases, system=machine(4))
        for name, of in (("a", "wide"), ("b", "tiny"), ("c", "wide")):
            rig.order(name, of=of)
        rig.until(20_000)
        begun[size] = [rig.span(name)[0] for name in "bc"]
    assert begun == {0.0: [1000.0, 1040.0], 1.0: [2000.0, 1000.0]}


@settings(max_examples=80)
@given(st.integers(0, 100_000))
def test_no_job_could_run_into_a_closing_and_each_starts_as_soon_as_it_may(seed: int) -> None:
    """Random queues around random closings: nobody overlaps one, and without backfill the head starts when a search says."""
    draw = random.Random(seed)
    count = draw.randint(2, 10)
    pool = Pool(count, fifo=True)
    closings = [_closing(draw, count) for _ in range(draw.randint(1, 3))]
    pool.closings += closings
    needs = {n: Need(draw.randint(1, count), draw.randint(1, 30) * 10.0) for n in range(1, 12)}
    for ticket, need in needs.items():
        pool.queue(ticket, need)
    times = sorted({0.0, *(closing.end for closing in closings)})
    ends: list[tuple[float, int]] = []
    started: dict[int, tuple[float, int]] = {}
    while times or ends:
        now = min([*times[:1], *(end for end, _ in ends)])
        times = [at for at in times if at > now]
        for ticket in [ticket for end, ticket in ends if end <= now]:
            pool.release(ticket)
        ends = [(end, ticket) for end, ticket in ends if end > now]
        for ticket, nodes in cycle(pool, now).items():
            bits = sum(1 << (node - 1) for node in nodes)
            started[ticket] = (now, bits)
            ends.append((now + needs[ticket].limit_s, ticket))
            for closing in closings:
                meets = now < closing.end and closing.begin < now + needs[ticket].limit_s
                assert not (meets and bits & closing.nodes)
        head = min((ticket for ticket in needs if ticket not in started), default=0)
        if head:
            assert _fitting(pool.free, closings, now, needs[head].limit_s).bit_count() < needs[head].units
    assert len(started) == len(needs)


def _closing(draw: random.Random, count: int) -> Closing:
    begin = draw.randint(0, 40) * 10.0
    return Closing(begin, begin + draw.randint(1, 20) * 10.0, draw.randint(1, (1 << count) - 1))


def _fitting(free: int, closings: list[Closing], now: float, limit_s: float) -> int:
    for closing in closings:
        if now < closing.end and closing.begin < now + limit_s:
            free &= ~closing.nodes
    return free
