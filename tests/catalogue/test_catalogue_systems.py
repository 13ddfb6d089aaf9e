"""The eleven systems of the package: read without a fault, sourced line by line, and every printed number with its verdict.

What a number must come to is computed here again, by hand, from what the papers print.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from shakedown import catalogue
from shakedown.model.nouns import NodeType, System
from shakedown.plans.finding import shipped_systems
from shakedown.plans.schema.problems import Problems
from shakedown.plans.site import shipped_machine
from shakedown.plans.systems import Machine
from shakedown.twin.models.peaks import MachineFacts, Verdict, faults, machine_facts

FILES = Path(catalogue.__file__).parent / "systems"
NAMES = sorted(
    ["asci-q", "franklin", "hopper", "cielo", "sequoia", "trinity-haswell", "trinity-knl", "trinity", "c3", "c4", "c5"]
)
GIB, PIB = 2.0**30, 2.0**50


@cache
def machine(name: str) -> Machine:
    problems = Problems()
    found = shipped_machine(name, problems)
    assert [str(problem) for problem in problems.found] == []
    assert found is not None
    return found


@cache
def facts(name: str) -> MachineFacts:
    read = machine(name)
    return machine_facts(read.system, read.published, read.assumed)


def derived(name: str, amount: str) -> float:
    return facts(name).amounts[amount].value


def verdict(name: str, value: str) -> Verdict:
    (found,) = [one for one in facts(name).verdicts if one.printed == value]
    return found


def test_the_eleven_are_there() -> None:
    assert sorted(shipped_systems()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_file_has_its_system_s_name_and_no_fault(name: str) -> None:
    read = machine(name)
    assert read.system.name == name
    assert read.file == f"catalogue:systems/{name}.yaml"
    assert read.shipped
    assert faults(read.system, read.published) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_its_source_or_is_called_assumed(name: str) -> None:
    """A line with a number in it has a comment, or one of the two before it has; or it is listed under ``assumed``."""
    text = (FILES / f"{name}.yaml").read_text()
    written: dict[str, Any] = yaml.safe_load(text)
    assumed = {key.rpartition(".")[2] for key in written.get("assumed", {})}
    body = re.split(r"^(?:assumed|published):", text[text.index("clusters:") :], flags=re.MULTILINE)[0].splitlines()
    for number, line in enumerate(body):
        if re.search(r": .*\d", line) and not any(f"{key}:" in line for key in assumed | {"cpu", "product"}):
            assert "#" in "".join(body[max(0, number - 2) : number + 1]), f"{name}: {line}"
    for one in written.get("published", []):
        assert re.match(r"paper 00[0-4], ", one["source"]), one


# ---- each derived number, computed again ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "amount", "by_hand"),
    [
        ("asci-q", "peak", 8192 * 1.25e9 * 2),
        ("asci-q", "cores", 2048 * 4),
        ("asci-q", "pfs.capacity", 6144 * 72e9),
        ("asci-q", "hpss.bandwidth", (36 * 13 + 20 * 45 + 16 * 45 + 50) * 1e6),
        ("asci-q", "network.node_injection", 2 * 250e6),
        ("asci-q", "network.bisection", 1024 * 2 * 250e6 * 0.25),  # a quarter of what one segment injects
        ("franklin", "peak", 38_288 * 9.2e9),
        ("hopper", "nodes", 6384),
        ("hopper", "cores", 153_216),
        ("hopper", "peak", 153_216 * 8.4e9),
        ("hopper", "memory", 6000 * 32e9 + 384 * 64e9),
        ("cielo", "cores", 8894 * 16),
        ("cielo", "magny-cours.peak", 16 * 4 * 2.4e9),
        ("cielo", "peak", 8894 * 153.6e9),
        ("cielo", "network.switches", 5184),
        ("sequoia", "peak", 98_304 * 204.8e9),
        ("sequoia", "cores", 1_572_864),
        ("trinity-haswell", "cores", 9436 * 32),
        ("trinity-haswell", "haswell.peak", 32 * 16 * 2.3e9),
        ("trinity-haswell", "memory", 9436 * 128e9),
        ("trinity-knl", "knl.peak", 68 * 32 * 1.4e9),
        ("trinity-knl", "cores", 9984 * 68),
        ("trinity-knl", "knl.memory_per_core", 96e9 / 68),
        ("trinity-knl", "knl.fast_memory_per_core", 16e9 / 68),
        ("trinity", "nodes", 19_420),
        ("trinity", "cores", 301_952 + 678_912),
        ("trinity", "peak", 9436 * 1177.6e9 + 9984 * 3046.4e9),
        ("trinity", "memory", 9436 * 128e9 + 9984 * 96e9),
        ("trinity", "fast_memory", 9984 * 16e9),
        ("c3", "nodes", 1496),
        ("c4", "nodes", 2656),
        ("c5", "cores", 1920 * 128),
        ("c5", "network.node_injection", 200e9 / 8),
        ("c5", "f2.ost.total_capacity", 6 * 12 * 489e12),
        ("c5", "f2.capacity", 37.5e15),
    ],
)
def test_what_a_machine_adds_up_to(name: str, amount: str, by_hand: float) -> None:
    assert derived(name, amount) == pytest.approx(by_hand, rel=1e-12)


REPRODUCED = [
    ("asci-q", "20.48 TFLOP/s", "exact"),
    ("asci-q", "10 TFLOP/s", "rounded"),
    ("asci-q", "442 TB", "rounded"),  # 442.4
    ("asci-q", "221 TB", "rounded"),
    ("asci-q", "> 75%", "above"),  # 75.5
    ("asci-q", "2.138 GB/s", "exact"),
    ("asci-q", "120 MB/s", "exact"),
    ("asci-q", "280 MB/s", "exact"),
    ("asci-q", "480 MB/s", "exact"),
    ("asci-q", "1120 MB/s", "exact"),
    ("franklin", "352 TFLOP/s", "rounded"),
    ("franklin", "1.88 GB", "rounded"),
    ("hopper", "1.28 PFLOP/s", "truncated"),  # 1.287
    ("hopper", "> 153000", "above"),
    ("hopper", "> 217 TB", "rounded"),  # 216.6, and not over it
    ("hopper", "1.29 GB", "rounded"),
    ("hopper", "2.58 GB", "rounded"),
    ("hopper", "3.6e6", "truncated"),  # 3.677 million
    ("hopper", "28%", "rounded"),  # 28.3
    ("hopper", "8.4 GFLOP/s", "exact"),
    ("cielo", "1.37 PFLOP/s", "rounded"),  # 1.366
    ("cielo", "153.6 GFLOP/s", "exact"),
    ("cielo", "142304", "exact"),
    ("cielo", "2 GB", "exact"),
    ("sequoia", "20 PFLOP/s", "rounded"),
    ("sequoia", "1.6 PB", "rounded"),
    ("trinity-haswell", "1177.6 GFLOP/s", "exact"),
    ("trinity-haswell", "301952", "exact"),
    ("trinity-haswell", "1.2 PB", "rounded"),
    ("trinity-haswell", "4 GB", "exact"),
    ("trinity-knl", "3046.4 GFLOP/s", "exact"),
    ("trinity-knl", "1.11 PB", "truncated"),  # 1.118
    ("trinity-knl", "1.41 GB", "rounded"),
    ("trinity-knl", "0.235 GB", "rounded"),
    ("trinity", "41.5 PFLOP/s", "rounded"),  # 41.527
    ("trinity", "> 40 PFLOP/s", "above"),
    ("trinity", "> 19420", "exact"),  # and not over it
    ("trinity", "78 PB", "exact"),
    ("trinity", "1.6 TB/s", "exact"),
    ("trinity", "576", "exact"),
    ("trinity", "16", "exact"),
    ("trinity", "> 4", "above"),  # 4.31
    ("trinity", "> 16", "above"),  # 16.67
    ("trinity", "9906", "exact"),
    ("c5", "1920", "exact"),
    ("c5", "20", "exact"),
]


@pytest.mark.parametrize(("name", "value", "how"), REPRODUCED)
def test_what_is_reproduced(name: str, value: str, how: str) -> None:
    found = verdict(name, value)
    assert (found.outcome, found.how) == ("reproduced", how)


WRONG = [
    ("asci-q", "74", 72, ""),
    ("asci-q", "240 MB/s", 260e6, ""),
    ("asci-q", "4 GB/s", 500e6, "Gb/s"),
    ("franklin", "> 38000", 9572, ""),
    ("hopper", "3284", 6384, ""),
    ("hopper", "50%", 3.5 / 6, ""),
    ("cielo", "8944", 8894, ""),
    ("cielo", "> 291.5 TB", 8894 * 32e9, ""),
    ("sequoia", "4.7", 4.8, ""),
    ("trinity-knl", "9975", 9984, ""),
    ("trinity-knl", "678300", 678_912, ""),
    ("trinity", "2.16 PiB", 2.166272e15, "PB"),
    ("trinity", "0.16 PiB", 0.159744e15, "PB"),
    ("trinity", "< 0.8 TB/s", 806 * GIB, ""),
    ("trinity", "7%", 1 - 772 / 806, ""),
    ("c5", "1728", 1792, ""),
    ("c5", "200 GB/s", 25e9, "Gb/s"),
    ("c5", "37.5 PB", 35.208e15, ""),
]


@pytest.mark.parametrize(("name", "value", "derived_value", "unit"), WRONG)
def test_what_does_not_add_up(name: str, value: str, derived_value: float, unit: str) -> None:
    (found,) = [one for one in facts(name).verdicts if one.printed == value and one.outcome != "reproduced"]
    assert found.derived == pytest.approx(derived_value, rel=1e-12)
    assert found.adds_up_in == unit
    assert found.because, "the reader is told why"


def test_nothing_else_fails_to_add_up() -> None:
    wrong = {(name, one.printed) for name in NAMES for one in facts(name).verdicts if one.outcome != "reproduced"}
    assert wrong == {(name, value) for name, value, _, _ in WRONG}


def test_the_reasons_given_are_right() -> None:
    """The numbers that stand in the reasons, by hand."""
    by_hand = {
        "2.066 PiB": (9436 * 128 + 9984 * 96) * GIB / PIB,
        "0.152 PiB": 9984 * 16 * GIB / PIB,
        "8.4%": 100 * (1 - 738 / 806),
        "38.7 PB": 72 * 489 * 2**40 / 1e15,
        "1.418 GB/s": (36 * 13 + 20 * 45 + 50) / 1000,
        "would make 0.66": 3284 * 24 * 8.4e9 / 1e15,
    }
    reasons = " ".join(one.because for name in NAMES for one in facts(name).verdicts)
    for words, value in by_hand.items():
        (printed,) = re.findall(r"[\d.]+", words)
        assert words in reasons
        assert f"{value:.{len(printed.partition('.')[2])}f}" == printed
    assert round(8944 * 153.6e9 / 1e15, 2) == round(8894 * 153.6e9 / 1e15, 2) == 1.37


@pytest.mark.parametrize(("nodes", "ssp"), [(9984, 580.92), (9975, 580.40)])
def test_only_9984_nodes_of_knights_landing_make_the_printed_ssp(nodes: int, ssp: float) -> None:
    """Paper 001, SSP: reference Tflop / (December time x nodes), the geometric mean of the eight, times the system's nodes."""
    rates = [
        *(1065.151 / (7.20 * 3840), 3350.20032 / (33.95 * 768), 1364.51 / (160.36 * 768), 18409.4 / (467.26 * 769)),
        *(4729.66 / (212.00 * 768), 9180.11 / (471.62 * 47), 19911.348 / (2118.73 * 150), 15036.5 / (631.27 * 384)),
    ]
    assert round(math.prod(rates) ** (1 / 8) * nodes, 2) == ssp


# ---- the machines as machines -----------------------------------------------------------------------------------------


def test_trinity_is_both_of_its_phases_in_one_cluster() -> None:
    whole: System = machine("trinity").system
    assert [(p.cluster, p.name, p.count, p.type) for p in whole.partitions()] == [
        ("trinity", "haswell", 9436, "haswell"),
        ("trinity", "knl", 9984, "knl"),
    ]
    for name in ("haswell", "knl"):
        assert machine(f"trinity-{name}").system.node_type(name) == whole.node_type(name)
        assert machine(f"trinity-{name}").system.partitions()[0].nodes in {p.nodes for p in whole.partitions()}


def test_the_ncrc_shares_f2_and_its_budget() -> None:
    """c3, c4 and c5 have the same file system; a run works on one of four metadata targets, and loads it."""
    systems = [machine(name).system for name in ("c3", "c4", "c5")]
    assert systems[0].filesystems == systems[1].filesystems == systems[2].filesystems
    (f2,) = systems[2].filesystems
    assert (f2.path, dict(f2.targets)["mdt"]) == ("/lustre/f2/{mdt}/acceptance", ("mdt0", "mdt1", "mdt2", "mdt3"))
    assert systems[2].budgets == (("f2/mdt", 16.0),)
    assert dict(systems[2].targeted) == {"f2/mdt": ("mdt0", "mdt1", "mdt2", "mdt3")}
    assert [(p.nodes, p.count) for p in systems[2].partitions()] == [("c5n[0001-1920]", 1920)]


def test_what_no_paper_prints_is_marked_where_it_is_used() -> None:
    assert facts("c5").amounts["peak"].assumed == {"node_types.rome.clock", "node_types.rome.flops_per_cycle"}
    assert not facts("c5").amounts["cores"].assumed
    assert verdict("franklin", "352 TFLOP/s").assumed
    assert facts("c3").amounts["cores"].assumed
    for name in ("trinity", "trinity-haswell", "trinity-knl", "hopper", "cielo"):
        assert not any(one.assumed for one in facts(name).amounts.values())


def test_fast_memory_is_no_memory() -> None:
    knl: NodeType = machine("trinity-knl").system.node_type("knl")
    assert (knl.memory_bytes, knl.fast_memory_bytes) == (96e9, 16e9)
    assert derived("trinity-knl", "memory") == 9984 * 96e9


def test_the_guide_tells_what_does_not_add_up() -> None:
    page = (Path(__file__).parents[2] / "docs/guides/systems.md").read_text()
    table = page[page.index("## What does not add up in the papers") :]
    for name in {name for name, *_ in WRONG}:
        rows = [line for line in table.splitlines() if line.startswith(f"| {name} |")]
        count = sum(one[0] == name for one in WRONG)
        assert len(rows) == count - (name == "trinity-knl"), name  # its nodes and cores share a row
