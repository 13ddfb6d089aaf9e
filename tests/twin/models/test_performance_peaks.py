"""What machines add up to: sums over types and partitions, what is not known, what rests on an assumption."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.nouns import Cluster, FileSystem, NodeType, Partition, System, TargetClass
from shakedown.model.printed import Published
from shakedown.twin.models.peaks import faults, machine_amounts, machine_facts, verdict
from shakedown.twin.models.reckoning import ReckoningError, unit_of


def a_system(*partitions: Partition, **fields: Any) -> System:
    types = (
        NodeType("thin", 2, 24, memory_bytes=32e9, peak_flop_per_s=24 * 4 * 2.1e9, clock_hz=2.1e9, flops_per_cycle=4),
        NodeType("fat", 2, 24, 2, memory_bytes=64e9, peak_flop_per_s=24 * 4 * 2.1e9, fast_memory_bytes=16e9),
        NodeType("odd", cores=3),
    )
    used = partitions or (Partition("a", "c", "n[1-10]", 10, "thin"), Partition("b", "c", "m[1-4]", 4, "fat"))
    return System("s", (Cluster("c", "slurm", used),), types, **fields)


def test_sums_are_over_all_nodes() -> None:
    amounts = machine_amounts(a_system())
    value = {name: one.value for name, one in amounts.items()}
    assert (value["nodes"], value["cores"], value["sockets"], value["threads"]) == (14, 336, 28, 10 * 24 + 4 * 48)
    assert value["peak"] == pytest.approx(14 * 24 * 8.4e9)
    assert (value["memory"], value["fast_memory"]) == (10 * 32e9 + 4 * 64e9, 4 * 16e9)
    assert value["thin.core_peak"] == pytest.approx(8.4e9)
    assert value["fat.memory_per_core"] == pytest.approx(64e9 / 24)
    assert {unit_of(amounts[name].dimension) for name in ("peak", "thin.peak", "fat.core_peak")} == {"flop/s"}


def test_a_node_in_two_partitions_counts_once() -> None:
    batch, debug = Partition("batch", "c", "n[1-100]", 100, "thin"), Partition("debug", "c", "n[91-104]", 14, "thin")
    amounts = machine_amounts(a_system(batch, debug))
    assert amounts["nodes"].value == amounts["thin.nodes"].value == 104


def test_what_is_not_known_of_one_type_is_not_known_of_all() -> None:
    amounts = machine_amounts(a_system(Partition("a", "c", "n[1-10]", 10, "thin"), Partition("o", "c", "o1", 1, "odd")))
    assert amounts["cores"].value == 243
    assert "peak" not in amounts
    assert "memory" not in amounts
    assert "odd.peak" not in amounts
    assert "fat.nodes" not in amounts  # no partition has them
    assert "memory_bandwidth" not in amounts


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ({"nics": "2", "injection": "12.5 GB/s"}, {"node_injection": 25e9, "total_injection": 350e9}),
        ({"injection": "1.6 GB/s"}, {"nics": 1, "node_injection": 1.6e9}),
        # 3 x 4 x 5: cut across the longest, 3 x 4 links, twice for the way round
        ({"kind": "torus", "dimensions": "3x4x5", "link": "2 GB/s"}, {"switches": 60, "bisection": 2 * 3 * 4 * 2e9}),
        ({"kind": "mesh", "dimensions": "3x4x5", "link": "2 GB/s"}, {"bisection": None}),
        ({"kind": "fat tree", "injection": "1 GB/s", "taper": "25%"}, {"bisection": 7 * 1e9 / 4}),
        ({"kind": "fat tree", "injection": "1 GB/s"}, {"bisection": None}),
        (
            {"injection": "plenty", "latency": "low", "dimensions": "?"},
            {"injection": None, "nics": None, "switches": None},
        ),
    ],
)
def test_the_network(network: dict[str, str], expected: dict[str, float | None]) -> None:
    amounts = machine_amounts(a_system(network=tuple(network.items())))
    found = {name: amounts[f"network.{name}"].value if f"network.{name}" in amounts else None for name in expected}
    assert found == expected


def test_file_systems() -> None:
    f2 = FileSystem(
        "f2",
        targets=(("mdt", ("m0", "m1", "m2", "m3")),),
        classes=(TargetClass("ost", 72, 489e12, 1e9), TargetClass("ssd", 2, 0.0, 5e9)),
    )
    written = FileSystem("w", capacity_bytes=1e15, classes=(TargetClass("ost", 2, 9e15),))
    value = {name: one.value for name, one in machine_amounts(a_system(filesystems=(f2, written))).items()}
    assert (value["f2.mdt.count"], value["f2.ost.count"]) == (4, 72)
    assert value["f2.capacity"] == value["f2.ost.total_capacity"] == 35.208e15
    assert value["f2.bandwidth"] == 82e9
    assert value["w.capacity"] == 1e15  # what is written goes before what targets make
    assert value["w.ost.total_capacity"] == 18e15


def test_assumptions_follow_numbers() -> None:
    amounts = machine_amounts(a_system(), (("node_types.thin.clock", "why"), ("clusters.c.partitions.b", "why")))
    assert amounts["thin.peak"].assumed == {"node_types.thin.clock"}
    assert amounts["peak"].assumed == {"node_types.thin.clock", "clusters.c.partitions.b"}
    assert amounts["memory"].assumed == {"clusters.c.partitions.b"}
    assert not amounts["thin.memory"].assumed


def published(value: str, of: str) -> Published:
    return Published("it", value, of, "here", "so")


def test_a_verdict_has_both_numbers() -> None:
    (right, wrong) = machine_facts(a_system(), [published("14", "nodes"), published("577 GB", "memory")]).verdicts
    assert (right.outcome, right.how, right.derived) == ("reproduced", "exact", 14)
    assert (wrong.outcome, wrong.how, wrong.in_printed_unit) == ("does not add up", "", 576)
    assert (wrong.source, wrong.because, wrong.printed) == ("here", "so", "577 GB")
    assert verdict(published("576 GiB", "memory"), machine_amounts(a_system())).adds_up_in == "GB"


def test_a_verdict_on_another_kind_of_number_is_refused() -> None:
    text = "'14 GB' and 'nodes', which is in number, do not measure the same thing"
    with pytest.raises(ReckoningError, match=text):
        machine_facts(a_system(), [published("14 GB", "nodes")])
    ((one, error),) = faults(a_system(), [published("14", "nodes"), published("3", "noodles")])
    assert (one.value, error.hint) == ("3", "did you mean 'nodes'?")
