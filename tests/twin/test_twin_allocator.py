"""Who starts when on a simulated machine: in turn, around a large job, never on nodes that are not there to be had."""

from __future__ import annotations

import random
import time

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.model.nouns import Cluster, NodeType, Partition, System
from shakedown.twin.machine.allocator import Licences, Need, Pool, highest, lowest, numbers
from shakedown.twin.machine.nodes import rooms_of


def cycle(pool: Pool, now: float = 0.0, backfills: bool = True) -> dict[int, list[int]]:
    """Who starts, and on which nodes."""
    started: dict[int, list[int]] = {}

    def start(ticket: int, nodes: int) -> None:
        started[ticket] = numbers(nodes)

    pool.cycle(now, start, backfills)
    return started


def test_jobs_start_in_turn_on_the_first_nodes() -> None:
    pool = Pool(4)
    for ticket, units in enumerate((1, 2, 2), 1):
        pool.queue(ticket, Need(units, 60.0))
    assert cycle(pool) == {1: [1], 2: [2, 3]}
    pool.release(1)
    assert cycle(pool, 10.0) == {3: [1, 4]}


def test_a_small_job_passes_a_large_one_only_where_it_is_over_in_time() -> None:
    """Two of four nodes are taken until 100 s; four are wanted next, so that nothing longer than 100 s may begin."""
    pool = Pool(4)
    pool.queue(1, Need(2, 100.0))
    assert cycle(pool) == {1: [1, 2]}
    pool.queue(2, Need(4, 50.0))
    pool.queue(3, Need(1, 101.0))
    pool.queue(4, Need(1, 100.0))
    assert cycle(pool) == {4: [3]}
    pool.release(4)
    assert cycle(pool, 90.0) == {}
    pool.release(1)
    assert cycle(pool, 100.0) == {2: [1, 2, 3, 4]}


def test_a_long_job_passes_on_nodes_that_the_large_one_does_not_need() -> None:
    pool = Pool(4)
    pool.queue(1, Need(2, 100.0))
    cycle(pool)
    pool.queue(2, Need(3, 50.0))
    pool.queue(3, Need(1, 1000.0))
    pool.queue(4, Need(1, 1000.0))
    assert cycle(pool) == {3: [3]}, "one of the two free nodes is kept, the other is to spare"


@pytest.mark.parametrize(("fifo", "backfills"), [(True, True), (False, False)])
def test_nobody_passes_where_it_is_strict_or_not_yet_time(fifo: bool, backfills: bool) -> None:
    pool = Pool(4, fifo=fifo)
    pool.queue(1, Need(3, 100.0))
    cycle(pool)
    pool.queue(2, Need(2, 10.0))
    pool.queue(3, Need(1, 10.0))
    assert cycle(pool, backfills=backfills) == {}


def test_one_certain_node_and_nodes_that_are_not_wanted() -> None:
    pool = Pool(4)
    pool.queue(1, Need(1, 60.0, node=3))
    pool.queue(2, Need(2, 60.0, without=0b0011))
    pool.queue(3, Need(1, 60.0, without=0b0001))
    assert cycle(pool) == {1: [3], 3: [2]}, "a job for two of nodes 3 and 4 waits, and keeps node 4 for itself"


def test_a_job_for_one_certain_node_is_in_nobodys_way() -> None:
    pool = Pool(2)
    pool.queue(1, Need(1, 1000.0, node=2))
    cycle(pool)
    pool.queue(2, Need(1, 1000.0, node=2))
    pool.queue(3, Need(1, 1000.0))
    assert cycle(pool) == {3: [1]}


def test_nodes_that_are_down_are_given_to_nobody_and_hold_nobody_up() -> None:
    pool = Pool(3)
    pool.close(0b100)
    pool.queue(1, Need(3, 10.0))
    pool.queue(2, Need(1, 1000.0))
    assert cycle(pool) == {2: [1]}, "three nodes cannot be had at any time: who needs them waits alone"
    pool.open(0b100)
    pool.release(2)
    assert cycle(pool) == {1: [1, 2, 3]}


def test_licences_are_shared_by_the_pools_of_a_cluster() -> None:
    licences = Licences({"mdt": 1.0})
    one, other = Pool(2, licences), Pool(2, licences)
    need = Need(1, 60.0, licences=(("mdt", 1.0),))
    one.queue(1, need)
    one.queue(2, need)
    one.queue(3, Need(1, 60.0))
    other.queue(4, need)
    assert cycle(one) == {1: [1], 3: [2]}, "who waits for a licence is in nobody's way"
    assert cycle(other) == {}
    one.release(1)
    assert cycle(other) == {4: [1]}


def test_who_was_withdrawn_does_not_start() -> None:
    pool = Pool(1)
    pool.queue(1, Need(1, 60.0))
    pool.queue(2, Need(1, 60.0))
    pool.withdraw(1)
    assert len(pool) == 1
    assert cycle(pool) == {2: [1]}


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(0, 10_000), st.booleans())
def test_no_node_is_given_twice_and_the_first_never_waits_longer_than_promised(
    count: int, seed: int, fifo: bool
) -> None:
    """Random queues played to their end; the promise: the head starts when all before it have used up their time limits."""
    draw = random.Random(seed)
    pool, now = Pool(count, fifo=fifo), 0.0
    ends: list[tuple[float, int]] = []
    promised: dict[int, float] = {}
    needs = {
        n: Need(draw.randint(1, count), draw.randint(1, 20) * 10.0, without=draw.choice((0, 0, 1)))
        for n in range(1, 60)
    }
    wanted = {ticket for ticket, need in needs.items() if need.units <= count - (need.without & 1)}
    for ticket in sorted(wanted):
        pool.queue(ticket, needs[ticket])
    started: dict[int, float] = {}
    while len(started) < len(wanted):
        for ticket, nodes in cycle(pool, now).items():
            started[ticket] = now
            assert len(nodes) == needs[ticket].units
            assert not (1 in nodes and needs[ticket].without)
            ends.append((now + needs[ticket].limit_s * draw.choice((0.3, 1.0)), ticket))
        held = [pool.nodes_of(ticket) for _, ticket in ends]
        assert sum(nodes.bit_count() for nodes in held) == (sum_of(held)).bit_count() == count - pool.free.bit_count()
        left = sorted(wanted - set(started))
        if left and not needs[left[0]].without:
            assert left[0] not in promised or now <= promised[left[0]], (
                "the first of the queue waits longer than promised"
            )
            promised.setdefault(
                left[0], latest(pool, needs[left[0]], {t: needs[t].limit_s + started[t] for _, t in ends})
            )
        if left:
            ends.sort()
            now, ticket = ends.pop(0)
            pool.release(ticket)
    if fifo:
        assert [ticket for ticket, _ in sorted(started.items(), key=lambda item: item[1])] == sorted(wanted)


def sum_of(nodes: list[int]) -> int:
    found = 0
    for one in nodes:
        found |= one
    return found


def latest(pool: Pool, need: Need, until: dict[int, float]) -> float:
    """When so many nodes are free at the latest, counted without the allocator."""
    free = pool.free.bit_count()
    for ticket, when in sorted(until.items(), key=lambda item: item[1]):
        if free >= need.units:
            break
        free += pool.nodes_of(ticket).bit_count()
        if free >= need.units:
            return when
    return float("inf")


@given(st.integers(0, 2**70 - 1), st.integers(0, 75))
def test_the_first_and_the_last_of_some_nodes(nodes: int, count: int) -> None:
    all_of_them = numbers(nodes)
    assert numbers(lowest(nodes, count)) == (all_of_them[:count] if count <= len(all_of_them) else [])
    assert numbers(highest(nodes, count)) == (all_of_them[-count:] if count else [])


@pytest.mark.parametrize(
    "text", ["n[1-40]", "c5n[0001-0040]", "nid[00095-00134]", "a-b-[98-137]", "x[1-20],y[1-20]", "r1n[01-40]"]
)
@settings(max_examples=40)
@given(nodes=st.integers(1, 2**40 - 1))
def test_node_sets_are_folded_as_slurm_folds_them(text: str, nodes: int) -> None:
    partition = Partition("batch", "c", text, 40, "t")
    room = rooms_of(System("s", (Cluster("c", "slurm", (partition,)),), (NodeType("t"),)), fifo=False)["c:batch"]
    folded = room.folded(nodes)
    assert folded == str(NodeSet.fromlist(room.named(nodes), resolver=RESOLVER_NOGROUP))
    assert list(NodeSet(folded)) == list(NodeSet.fromlist(room.named(nodes)))


def test_thousands_may_wait_for_thousands_of_nodes() -> None:
    """Ten times the waiting jobs cost about the same for each that ends: what is looked at are kinds of jobs, not jobs."""
    few, many = _per_end(1_000), _per_end(10_000)
    assert many < 5 * few + 0.001


def _per_end(waiting: int) -> float:
    draw = random.Random(1)
    pool = Pool(2000)
    for ticket in range(waiting):
        pool.queue(ticket, Need(draw.choice((1, 8, 24, 48, 96)), draw.choice((600.0, 3600.0))))
    running = list(cycle(pool))
    times = []
    for turn in range(200):
        pool.release(running.pop(0))
        before = time.process_time()
        running += cycle(pool, 10.0 * turn)
        times.append(time.process_time() - before)
    return sorted(times)[len(times) // 2]
