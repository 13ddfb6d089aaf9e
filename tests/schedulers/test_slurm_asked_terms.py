"""What an sbatch asks for, read from its own words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.model.job_terms import ALONE, BESIDE, ON_SHARED_CORES, Terms, unlike
from shakedown.model.nouns import Case, Cluster, Partition, Shape
from shakedown.model.ports import JobOrder
from shakedown.model.resources import Resources
from shakedown.schedulers.slurm.asked_terms import asked_of

PLAIN = {
    "partition": "batch", "nodes": 2, "tasks": 8, "cpus": 16, "wants": "", "features": "", "reservation": "", "gpus": "",
    "time_limit_s": 360.0, "sharing": BESIDE,
}  # fmt: skip


def asked(options: tuple[str, ...] = (), node: int = 0, **shape: Any) -> dict[str, Any]:
    cluster = Cluster("emu", "slurm", (Partition("batch", "emu", "n[001-004]", 4, "node", options=options),))
    full = Shape(nodes=2, tasks_per_node=4, cpus_per_task=2, time_limit_s=300.0, **shape)
    return asked_of([JobOrder("j1", "r1", Case("c", "t", "emu:batch", shape=full), node=node)], [cluster])["j1"]


def test_an_order_without_wishes_of_its_own() -> None:
    assert asked() == PLAIN


@pytest.mark.parametrize(
    ("options", "shape", "more"),
    [
        ((), {"exclusive": True}, {"sharing": ALONE}),
        (("--partition=real", "--exclude=n004"), {}, {"partition": "real"}),
        (("--qos=low", "--account=acc"), {}, {"qos": "low", "account": "acc"}),
        (("--reservation=day",), {}, {"reservation": "day"}),
        (("--constraint=a",), {"resources": Resources(constraint="b")}, {"features": "a&b"}),
        ((), {"resources": Resources(gpus_per_node=4)}, {"gpus": "gpu:4"}),
        ((), {"resources": Resources(memory_bytes=2.0**30)}, {"memory_bytes": 2.0**30}),
        (
            ("--licenses=scratch:1", "--comment=a b"),
            {"requeue": True},
            {"more": "comment=a b licenses=scratch:1 requeue"},
        ),
    ],
)
def test_what_is_asked_for_beside_that(options: tuple[str, ...], shape: dict[str, Any], more: dict[str, Any]) -> None:
    assert asked(options, **shape) == PLAIN | more


@pytest.mark.parametrize(
    ("options", "missing"),
    [(("--exclusive=user",), {"sharing"}), (("--oversubscribe",), {"sharing"}), (("--gpus=3",), {"gpus"})],
)
def test_what_cannot_be_told_for_certain_is_left_out(options: tuple[str, ...], missing: set[str]) -> None:
    told = asked(options)
    assert told.pop("more") == options[0][2:], "jobs are told apart by it all the same"
    assert told == {name: value for name, value in PLAIN.items() if name not in missing}


def test_words_of_which_nobody_knows_which_is_the_last_tell_nothing() -> None:
    assert asked(("-p", "other")) == {}
    assert asked(node=9) == {}, "it is refused, and says why"


def test_a_node_that_is_asked_for_by_name() -> None:
    assert asked(node=3) == PLAIN | {"wants": "n003"}


HAS = Terms(partition="batch", nodes=2, wants="n[001-002]", gpus="gres/gpu:4", sharing=BESIDE, memory_bytes=2.0**30)


@pytest.mark.parametrize(
    ("name", "asks", "has", "other"),
    [
        ("wants", "n002,n001", {}, None),
        ("wants", "n001", {}, "n[001-002]"),
        ("gpus", "gpu:4", {}, None),
        ("gpus", "gpu:4", {"gpus": "gres:gpu:a100:4(S:0)"}, None),
        ("gpus", "gpu:2", {}, "gres/gpu:4"),
        ("gpus", "gpu:2", {"gpus": ""}, ""),
        ("sharing", ON_SHARED_CORES, {}, None),
        ("sharing", ALONE, {}, BESIDE),
        ("memory_bytes", 2.0**31, {}, 2.0**30),
        ("memory_bytes", 2.0**29, {}, None),
        ("nodes", 4, {}, 2),
        ("partition", "batch,debug", {}, None),
    ],
)
def test_what_a_job_has_that_is_not_what_was_asked_for(name: str, asks: Any, has: dict[str, Any], other: Any) -> None:
    assert unlike(name, asks, replace(HAS, **has)) == other
