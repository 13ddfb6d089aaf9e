"""Cores and memory that a system file has and the machine does not give us: refused before a run measures its neighbour."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shakedown.conductor.driver.ports import refuse_cores_that_are_not_there
from shakedown.machine.room import Room, room_here
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Case, Cluster, Document, NodeType, Partition, Shape, System
from shakedown.model.resources import Gpus, Resources

GIB = float(1 << 30)


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (Room(4, 4, None, 8 * GIB), ""),
        (Room(8, 4, 4.0, 7.9 * GIB), ""),  # hardware threads count too, and sizes are rounded
        (
            Room(4, 1, None, 8 * GIB),
            "it says 4 cores, and of this machine's 4 processors this process may use 1 (taskset",
        ),
        (Room(4, 4, 2.5, 8 * GIB), "the control group that this process is in may use the time of 2.5 processors"),
        (Room(4, 4, None, 2 * GIB), "it says 8.0 GiB of memory, and this process may use 2.0 GiB"),
        (Room(4, 4, None, 0.0), ""),  # nobody says
    ],
)
def test_what_is_lacking_is_said(room: Room, words: str) -> None:
    lacking = room.lacking(NodeType("host", cores=4, memory_bytes=8 * GIB))
    assert words in lacking if words else lacking == ""


def test_the_tightest_limit_of_any_control_group_counts(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "proc/meminfo": "MemTotal: 16777216 kB\n",
        "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/a/b/memory.max": f"{3 << 30}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    room = room_here(tmp_path, frozenset({0, 2}))
    assert (room.threads, room.processors, room.memory_bytes) == (2, 1.5, 3 * GIB)


def plan_for(scheduler: str, cores: int) -> Document:
    cluster = Cluster("c", scheduler, (Partition("all", "c", "n1", 1, "node"),))
    return Document(
        "p", System("lab", (cluster,), (NodeType("node", cores=cores),)), (), (Case("x", "t", "c:all"),), ()
    )


def test_a_plan_for_cores_that_are_not_there_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3})
    with pytest.raises(UsageError) as caught:
        refuse_cores_that_are_not_there(plan_for("local", 4))
    assert caught.value.message.startswith("system lab is not what is here: it says 4 cores")
    assert caught.value.hint is not None and "correct systems/lab.yaml" in caught.value.hint
    refuse_cores_that_are_not_there(plan_for("local", 1))
    refuse_cores_that_are_not_there(plan_for("slurm", 128))


def test_only_what_the_plans_own_partitions_have_must_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file may describe larger nodes beside: whichever stands first in it, the cases' own partitions count."""
    places = (Partition("large", "c", "n1", 1, "large"), Partition("small", "c", "n2", 1, "small"))
    kinds = (NodeType("large", cores=4096), NodeType("small", cores=1, gpus=Gpus(2)))
    system = System("lab", (Cluster("c", "local", places),), kinds)

    def plan(place: str, gpus: int = 0) -> Document:
        case = Case("x", "t", f"c:{place}", shape=Shape(resources=Resources(gpus_per_node=gpus)))
        return Document("p", system, (), (case,), ())

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    refuse_cores_that_are_not_there(plan("small", gpus=1))
    with pytest.raises(UsageError, match="it says 4096 cores"):
        refuse_cores_that_are_not_there(plan("large"))
    with pytest.raises(UsageError, match="x needs 2 GPUs; this machine lets us use 1"):
        refuse_cores_that_are_not_there(plan("small", gpus=2))
