"""Golden sums: one file for all cases, or one of each toolchain's own."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.engine import index_plan
from shakedown.model.errors import ShakedownError
from shakedown.model.nouns import Check, Document

SYSTEM = """\
system: box
clusters: {box: {scheduler: local, partitions: {all: {nodes: n1, type: t}}}}
node_types: {t: {cores: 4}}
toolchains: {gcc: {cc: gcc}, oneapi: {cc: icx}}
"""
TEST = """\
test: m
parameters: {toolchain: [gcc, oneapi]}
build: {source: src, run: make}
run: {command: "{build}/m"}
check:
  - output contains "done"
  - files match golden: {glob: "*.nc", sums: "golden-{toolchain}.sha256"}
"""
PLAN = "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [m]}}]\n"
SUM = {"gcc": "a" * 64, "oneapi": "b" * 64}


@pytest.fixture
def room(site: Any) -> Any:
    site.write("systems/box.yaml", SYSTEM)
    site.write("tests/src/m.c", "int main() {}\n")
    return site


def document(room: Any, test: str = TEST, toolchains: tuple[str, ...] = ("gcc", "oneapi")) -> Document:
    room.test(test, "tests/m.yaml")
    for name in toolchains:
        room.write(f"tests/golden-{name}.sha256", f"{SUM[name]}  out.nc\n")
    found: Document = room.plan(PLAN)
    return found


def golden(checks: tuple[Check, ...]) -> list[tuple[str, str]]:
    return [(check.toolchain, check.argument) for check in checks if check.kind == "golden"]


def test_each_toolchain_is_held_against_its_own_sums(room: Any) -> None:
    plan = document(room)

    assert golden(plan.tests[0].checks) == [(name, f"out.nc={SUM[name]}") for name in ("gcc", "oneapi")]
    index = index_plan(plan)
    for case in plan.cases:
        test = index.test_of(case)
        assert golden(test.checks) == [(case.toolchain, f"out.nc={SUM[case.toolchain]}")]
        assert [check.kind for check in test.checks] == ["contains", "golden", "exit"]
        assert index.test_of(case) is test, "a worker is sent each test once"


def test_each_file_of_sums_is_one_of_the_sources(room: Any) -> None:
    """So that verify tells when one is edited after the start."""
    names = {source.path for source in document(room).sources}
    assert {"tests/golden-gcc.sha256", "tests/golden-oneapi.sha256"} <= names


def test_sums_that_all_share_check_all(room: Any) -> None:
    plan = document(room, TEST.replace("golden-{toolchain}", "golden-gcc"))

    assert golden(plan.tests[0].checks) == [("", f"out.nc={SUM['gcc']}")]
    assert all(index_plan(plan).test_of(case) is plan.tests[0] for case in plan.cases)


def test_a_toolchain_without_sums_is_an_error_that_says_how_to_make_them(room: Any) -> None:
    with pytest.raises(ShakedownError) as caught:
        document(room, toolchains=("gcc",))
    text = str(caught.value)
    assert "the sums golden-oneapi.sha256 cannot be read: No such file or directory" in text
    assert "make it with: sha256sum *.nc > golden-oneapi.sha256" in text


def test_a_test_without_a_toolchain_cannot_have_sums_of_one(room: Any) -> None:
    plain = TEST.replace("parameters: {toolchain: [gcc, oneapi]}\nbuild: {source: src, run: make}\n", "")
    with pytest.raises(ShakedownError, match=r"golden-{toolchain}\.sha256: this test has no toolchain"):
        document(room, plain.replace("{build}/m", "true"))
