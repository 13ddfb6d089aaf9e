"""Partitions that share nodes are one set of nodes: in the allocator, in surveys, in what breaks, in the books of a rehearsal."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_simulated import Rig, taking
from msgspec.structs import replace
from rehearsal_plans import HOUR, play
from stability_plan import case, document, machine

from shakedown.model.nouns import Case, Component, Document, Partition, System
from shakedown.model.ports import Wanted
from shakedown.model.scenario import Maintenance, Scenario
from shakedown.rehearsal.faults import troubles
from shakedown.twin.machine.nodes import one_each, rooms_of
from shakedown.twin.machine.surveys import look_around

PARTITIONS = {"all": "n[01-16]", "low": "n[01-08]", "high": "n[05-16]", "apart": "m[1-4]"}
COUNTS = {"all": 16, "low": 8, "high": 12, "apart": 4}


def shared(*names: str) -> System:
    """Sixteen nodes by several names, and four others."""
    system = machine(16, targets=False)
    partitions = tuple(Partition(name, "c", PARTITIONS[name], COUNTS[name], "rome") for name in names)
    return replace(system, clusters=(replace(system.clusters[0], partitions=partitions),))


def at(partition: str, name: str, nodes: int, limit_s: float = 1000.0) -> Case:
    return replace(case(name, nodes, limit_s, load=0.0), partition=f"c:{partition}")


def test_rooms_that_share_nodes_have_one_pool() -> None:
    rooms = rooms_of(shared("low", "high", "apart"), fifo=False)
    assert rooms["c:low"].pool is rooms["c:high"].pool is not rooms["c:apart"].pool
    assert rooms["c:low"].pool.count == 16
    assert [len(room.named(room.mask)) for room in rooms.values()] == [8, 12, 4]
    assert rooms["c:high"].folded(rooms["c:high"].mask & rooms["c:low"].mask) == "n[05-08]"
    assert len(one_each(rooms)) == 2


def test_partitions_that_meet_only_through_a_third_are_one_pool() -> None:
    rooms = rooms_of(shared("low", "apart", "high", "all"), fifo=False)
    assert rooms["c:low"].pool is rooms["c:all"].pool is rooms["c:high"].pool
    assert len(one_each(rooms)) == 2


@pytest.mark.parametrize("names", [("all", "low", "high"), ("high", "all", "low")])
def test_no_node_is_given_twice_and_each_job_gets_nodes_of_its_partition(names: tuple[str, ...]) -> None:
    cases = [at("all", "a", 10), at("low", "l", 3), at("high", "h", 4)]
    rig = Rig(taking(100.0, "a", "l", "h"), cases, system=shared(*names))
    for number in range(4):
        for of in ("a", "l", "h"):
            rig.order(f"{of}{number}", of)
    for moment in range(1, 900, 7):
        rig.until(float(moment))
        taken: list[str] = []
        for job in rig.world.by_ticket.values():
            if job.state == "running":
                mine = rig.world.rooms[job.pool].named(job.nodes)
                assert set(mine) <= set(rig.world.rooms[job.pool].named(rig.world.rooms[job.pool].mask))
                taken += mine
        assert len(taken) == len(set(taken)) <= 16
    assert all(rig.state(f"{of}{number}") == "completed" for of in ("a", "l", "h") for number in range(4))


def test_a_wide_job_of_one_partition_is_not_starved_by_narrow_ones_of_another() -> None:
    cases = [at("all", "wide", 16, 200.0), at("low", "narrow", 1, 200.0), at("low", "long", 1, 900.0)]
    rig = Rig(taking(100.0, "wide", "narrow", "long"), cases, system=shared("all", "low"))
    rig.order("first", "narrow")
    rig.order("wide", "wide")
    for number in range(40):
        rig.order(f"later{number}", "long")
    rig.until(2000.0)
    assert rig.span("wide")[0] == pytest.approx(100.0, abs=30.0)
    assert all(rig.span(f"later{number}")[0] >= rig.span("wide")[0] for number in range(40))


def test_what_is_idle_is_said_in_each_partitions_own_numbers() -> None:
    rig = Rig(taking(500.0, "l"), [at("low", "l", 6), at("high", "h", 1)], system=shared("low", "high"))
    rig.order("l", "l")
    rig.until(50.0)
    survey = look_around(rig.world, Wanted(("c:low", "c:high"), ()), silent=False)
    assert survey.idle["c:low"] == (7, 8)
    assert survey.idle["c:high"] == tuple(range(3, 13))  # n05 and n06 run; n07 is its third


def test_a_job_for_a_certain_node_gets_the_one_of_its_own_partition() -> None:
    rig = Rig(taking(50.0, "h"), [at("high", "h", 1), at("low", "l", 1)], system=shared("low", "high"))
    rig.order("h", "h", node=3)
    rig.until(10.0)
    assert rig.world.rooms["c:high"].folded(rig.job("h").nodes) == "n07"


def test_maintenance_and_a_dead_node_close_a_node_in_every_partition() -> None:
    scenario = taking(50.0, "l", "h", maintenance=(Maintenance(0.0, 100.0, nodes="n[05-16]"),))
    rig = Rig(scenario, [at("low", "l", 5), at("high", "h", 1)], system=shared("low", "high"))
    rig.order("l", "l")
    rig.order("h", "h")
    rig.until(300.0)
    assert rig.span("l")[0] >= 100.0 and rig.span("h")[0] >= 100.0
    dead = troubles(taking(50.0, "l", "h"), ("dead_node=n06",), shared("low", "high")).scenario
    rig = Rig(dead, [at("low", "l", 8), at("high", "h", 1)], system=shared("low", "high"))
    rig.until(5.0)
    rig.order("l", "l")
    rig.until(300.0)
    assert rig.state("l") == "queued"


def two_components(*names: str) -> Document:
    """Two components at once, each on a partition of its own name."""
    cases = tuple(at(name, f"on-{name}", 2, 1200.0) for name in names)
    parts = tuple(
        Component(f"on-{name}", "stability", (f"on-{name}",), duration_s=3 * HOUR, mix=((f"on-{name}", 1.0),))
        for name in names
    )
    return document(shared("all", "low", "apart"), cases, *parts)


def test_a_plan_on_two_names_of_the_same_nodes_has_each_node_once(tmp_path: Path) -> None:
    plan = two_components("all", "low")
    played = play(tmp_path, plan, Scenario(times=taking(600.0, "on-all", "on-low").times))
    limits = played.limits
    assert limits.nodes == pytest.approx(16)  # not 24, nor the four of a partition that nothing runs on
    assert 0.9 < limits.share <= 1.0
    assert played.busy(16) == pytest.approx(limits.share, abs=0.02)
    assert [(one.name, one.nodes) for one in limits.partitions] == [("c:all, c:low", 16)]


def test_a_plan_of_many_components_has_one_number_for_the_whole_and_one_for_each_partition(tmp_path: Path) -> None:
    plan = two_components("all", "apart")
    played = play(tmp_path, plan, Scenario(times=taking(600.0, "on-all", "on-apart").times))
    limits = played.limits
    assert limits.component == "" and limits.nodes == pytest.approx(20)
    assert sum(one.worked for one in limits.partitions) == pytest.approx(limits.worked)
    assert sum(one.node_hours for one in limits.partitions) == pytest.approx(limits.node_hours)
    assert all(0 < one.worked <= one.node_hours for one in limits.partitions)
    named = limits.share + sum(limit.share for limit in limits.limits)
    assert 0.95 < named <= 1.0 + 1e-6
