"""Bounds in another unit than their figure: converted where both are known, and never answered with another amount."""

from __future__ import annotations

import re
from typing import Any

import pytest

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: local, partitions: {one: {nodes: "n1", type: rome}}}}
node_types: {rome: {cores: 8}}
"""
TEST = "test: a\nrun: {{command: x, time_limit: 60s}}\nfigures: {{f: {{json: a, unit: '{unit}', better: higher}}}}\n"
PLAN = """\
plan: p
system: c5
components:
  - functionality:
      tests: [a]
      criteria: {{c: {{measure: value, of: f, must: '>= {bound}'}}, runs: {{measure: passed / wanted, must: '= 100%'}}}}
"""
CONTRACT = "contract: k\ncolumns: [test, where, figure, must, basis]\nrows:\n  - [a, {{}}, f, '>= {bound}', site]\n"


def files(unit: str, bound: str) -> dict[str, str]:
    return {
        "systems/c5.yaml": SYSTEM,
        "tests/a.yaml": TEST.format(unit=unit),
        "plans/p.yaml": PLAN.format(bound=bound),
        "contracts/k.yaml": CONTRACT.format(bound=bound),
    }


@pytest.mark.parametrize(
    ("unit", "bound"),
    [
        *(("GB/min", "100 MB/s"), ("MB/h", "1 kB/s"), ("µs", "0.006 ms"), ("us", "6e-6 s"), ("μs", "6 us")),
        *(("GFlops", "0.006 TFlops"), ("MFLOPS", "0.006 GFLOP/s"), ("Gflop/s", "0.006 TFLOP/s"), ("Mb", "0.75 MB")),
        *(("Mbit", "750 kB"), ("GB/s", "80 Gbit/s"), ("IOPS", "6 kops/s"), ("J", "0.006 kJ"), ("W", "6000 mW")),
        *(("kJ", "1 kWh"), ("GByte/s", "1 GB/s"), ("Gbps", "1 Gb/s"), ("years/day", "2 years/day")),
    ],
)
def test_a_bound_in_another_unit_of_the_same_is_converted(told: Any, unit: str, bound: str) -> None:
    assert told(files(unit, bound)) == ""


@pytest.mark.parametrize(
    ("unit", "bound"),
    [
        *(("steps/s", "0.006 ksteps/s"), ("GB/s", "5 s"), ("Gizmo/s", "4 GB/s"), ("GB/s", "4 GFLOP/s"), ("B", "5 kX")),
        *(("kJ", "5 kX"), ("GB/s", "4 MBs"), ("points/s", "4 Mpoints/s"), ("s", "4 GB/s"), ("GB/s", "40 Gbitz/s")),
    ],
)
def test_no_answer_puts_the_number_beside_another_unit(told: Any, unit: str, bound: str) -> None:
    said = told(files(unit, bound))
    number, written = bound.split()

    assert said.count("error:") == 2
    for hint in re.findall("hint: (.*)", said):
        assert number not in re.findall(r"[\d.]+", hint), hint
        near = re.search("did you mean '(.*)'", hint)
        assert near is None or near[1][0] == written[0], hint


def test_a_unit_that_is_not_known_is_told_as_such_with_those_that_are(told: Any) -> None:
    said = told(files("steps/s", "4 ksteps/s"))
    assert "there is no unit 'ksteps/s' that is known, and the figure is in steps/s" in said
    assert "write it in steps/s; known are B and b with k to E" in said and "do not measure" not in said


def test_a_number_without_a_unit_may_be_a_share(told: Any) -> None:
    said = told(files("%", "0.06"))
    assert "'0.06' has no unit, and the figure is in %\nhint: write '6%', or '0.06%' where that is meant" in said
