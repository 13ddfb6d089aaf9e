"""Several partitions of the local scheduler: each has the slots of its own type, and one machine is behind all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.machine.room import Room
from shakedown.model.nouns import Case, Cluster, NodeType, Partition, Shape, System
from shakedown.model.ports import JobOrder
from shakedown.model.resources import Gpus, Resources
from shakedown.model.shared_nodes import sharing
from shakedown.schedulers.local_host import machine_slots
from shakedown.schedulers.local_host.machine_slots import MachineSlots, Share, slots_of

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]

TYPES = (NodeType("thin", cores=1), NodeType("fat", cores=2), NodeType("acc", cores=2, gpus=Gpus(4)))


def system(*places: tuple[str, str, str], scheduler: str = "local") -> System:
    """A system of one cluster. ``places``: name, node, type."""
    partitions = tuple(Partition(name, "loc", node, 1, kind) for name, node, kind in places)
    return System("mix", (Cluster("loc", scheduler, partitions),), TYPES)


def slots(*places: tuple[str, str, str]) -> MachineSlots:
    found = system(*places)
    return slots_of(found, found.clusters)


def case(partition: str, units: int = 1, gpus: int = 0, exclusive: bool = False) -> Case:
    shape = Shape(units=units, exclusive=exclusive, resources=Resources(gpus_per_node=gpus))
    return Case(f"x@{partition}", "x", f"loc:{partition}", shape=shape)


@pytest.fixture(autouse=True)
def machine_of_eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight cores of one thread each, and no word of anybody on GPUs."""
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(machine_slots, "core_slots", lambda cpus, count: [frozenset({n}) for n in range(8)])
    monkeypatch.setattr(machine_slots, "room_here", lambda: Room(8, 8, None, 0.0))


MIX = (("thin", "t1", "thin"), ("fat", "f1", "fat"), ("acc", "g1", "acc"))


@pytest.mark.parametrize("order", [MIX, (MIX[1], MIX[0], MIX[2]), MIX[::-1]])
def test_each_partition_has_what_its_own_type_has_whatever_stands_first(
    order: tuple[tuple[str, str, str], ...],
) -> None:
    found = slots(*order)
    assert found.cores.count == 5
    assert found.take(case("thin")) is not None
    assert found.take(case("thin")) is None
    assert found.take(case("fat", 2)) is not None
    assert found.take(case("acc", gpus=3)) is not None
    assert found.take(case("acc", gpus=2)) is None
    assert found.never_fits(case("thin", 2)) == "x@thin needs 2 cores; partition loc:thin has 1"
    assert found.never_fits(case("fat", gpus=1)) == "x@fat needs 1 GPUs; partition loc:fat has 0"
    assert found.never_fits(case("fat", 2)) == found.never_fits(case("acc", gpus=4)) == ""


def test_together_they_never_take_more_than_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_slots, "room_here", lambda: Room(8, 8, 2.5, 0.0))
    found = slots(*MIX)
    assert found.cores.count == 2
    fat = found.take(case("fat", 2))
    assert fat is not None
    assert found.take(case("thin")) is None
    found.give_back_cores(case("fat", 2), fat.cores)
    assert found.take(case("thin")) is not None
    assert found.take(case("fat", 2)) is None


def test_partitions_of_one_node_share_its_slots() -> None:
    found = slots(("batch", "n1", "fat"), ("debug", "n1", "fat"))
    assert found.cores.count == 2
    assert found.take(case("batch")) is not None
    assert found.take(case("debug")) is not None
    assert found.take(case("debug")) is None


def test_a_run_that_is_exclusive_has_the_machine_for_itself_and_uses_its_own_cores() -> None:
    found = slots(*MIX)
    taken = found.take(case("thin", exclusive=True))
    assert taken is not None
    assert len(taken.bound) == 1
    assert found.take(case("fat")) is None
    found.give_back_cores(case("thin", exclusive=True), taken.cores)
    assert found.take(case("fat")) is not None
    assert found.take(case("thin", exclusive=True)) is None


def test_all_partitions_of_this_machine_keep_company() -> None:
    used = [f"loc:{name}" for name, _, _ in MIX]
    assert sharing(system(*MIX), used) == dict.fromkeys(used, frozenset(used))
    assert sharing(system(*MIX, scheduler="slurm"), used) == {one: frozenset({one}) for one in used}


# ---- the queue ---------------------------------------------------------------------------------------------------------


def shares() -> MachineSlots:
    """A machine of so many cores as this one has, each a slot of two partitions: thin has one, fat all of them."""
    count = len(os.sched_getaffinity(0))
    return MachineSlots(count + 1, 0, {"loc:thin": Share(1, 0), "loc:fat": Share(count + 1, 0)})


def is_running(machine: Machine, order: JobOrder) -> bool:
    report = machine.last(order)
    return report is not None and report.state == "running"


def test_a_full_partition_does_not_keep_the_others_waiting(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine, go = make_machine(slots=shares()), tmp_path / "go"
    wait = f"while ! [ -e {go} ]; do sleep 0.01; done"
    thin = [machine.order(wait, partition="loc:thin") for _ in range(2)]
    fat = machine.order(wait, partition="loc:fat")
    machine.submit(*thin, fat)
    machine.until(lambda: is_running(machine, thin[0]) and is_running(machine, fat))
    assert machine.last(thin[1]) is None
    go.touch()
    assert [machine.ended(order).state for order in (*thin, fat)] == ["completed"] * 3


def test_who_waits_for_the_whole_machine_is_not_overtaken(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine, go, said = make_machine(slots=shares()), tmp_path / "go", tmp_path / "said"
    first = machine.order(f"while ! [ -e {go} ]; do sleep 0.01; done", partition="loc:thin")
    alone = machine.order(f"echo alone >>{said}", partition="loc:fat", exclusive=True)
    later = machine.order(f"echo later >>{said}", partition="loc:fat")
    machine.submit(first, alone, later)
    machine.until(lambda: is_running(machine, first))
    assert machine.last(alone) is machine.last(later) is None
    go.touch()
    assert [machine.ended(order).state for order in (first, alone, later)] == ["completed"] * 3
    assert said.read_text() == "alone\nlater\n"
