"""Tests with several toolchains in one matrix: builds that fail, bits within and across toolchains, and speed beside the first."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm_commands
from msgspec.structs import replace

from shakedown.metrics.judging.populations import populations
from shakedown.metrics.toolchains import Matrix, toolchains_of
from shakedown.model.nouns import Document


def sums(kind: str) -> dict[str, Any]:
    return {"recorded": {"out.nc": [kind * 64, 1, {}]}}


def matrices(story: Any, **changes: Any) -> list[Matrix]:
    story.end()
    document: Document = replace(story.document(), **changes)
    return toolchains_of(document, populations(document, story.record()), story.record())


def chain(story: Any, toolchain: str, kinds: str, times: list[float], **fields: Any) -> None:
    """Runs of a case with one toolchain: what each left, and how long it took."""
    case = story.case(f"a/toolchain={toolchain}", toolchain=toolchain, **fields)
    for repeat, (kind, time) in enumerate(zip(kinds, times, strict=True), 1):
        facts = {} if kind == "-" else sums(kind)
        story.run(case, repeat=repeat, elapsed_s=time, figures={"triad": 100 / time}, **facts)


def test_bits_have_one_letter_over_all_toolchains_and_the_most_frequent_is_a(story: Any) -> None:
    story.repeats = 3
    chain(story, "gnu", "xyy", [10, 10, 10])
    chain(story, "clang", "yyy", [5, 5, 5])
    (one,) = matrices(story)
    assert [(column.toolchain, [bits.words for bits in column.bits]) for column in one.columns] == [
        ("gnu", ["A 2, B 1"]),
        ("clang", ["A 3"]),
    ]
    assert one.identical == (("out.nc", False),)


def test_the_same_bits_everywhere_are_told_and_a_run_that_recorded_nothing_is_not_the_same(story: Any) -> None:
    new = type(story)
    for kinds, same, words in (("xx", True, "A 2"), ("x-", False, "A 1, - 1")):
        told = new()
        told.repeats = 2
        chain(told, "gnu", "xx", [10, 10])
        chain(told, "clang", kinds, [10, 10])
        (one,) = matrices(told)
        assert one.identical == (("out.nc", same),) and one.columns[1].bits[0].words == words


def test_speed_is_told_beside_the_first_toolchain_by_the_direction_of_the_figure(story: Any) -> None:
    story.repeats = 3
    chain(story, "gnu", "xxx", [10, 11, 10])
    chain(story, "clang", "xxx", [5, 5, 8])
    (one,) = matrices(story)
    speeds = {speed.figure: speed for speed in one.columns[1].speeds}
    assert (speeds["elapsed"].median, speeds["elapsed"].times, speeds["elapsed"].count) == (5, 2.0, 3)
    assert (speeds["triad"].median, speeds["triad"].times) == (20, 2.0)  # a rate: the other way round
    assert [speed.times for speed in one.columns[0].speeds] == [1.0, 1.0]


def test_a_build_that_failed_is_a_result_and_so_is_a_case_that_cannot_run(story: Any) -> None:
    chain(story, "gnu", "x", [10])
    chain(story, "clang", "", [], expect="build_failed", because="known")
    chain(story, "cray", "", [], unavailable="no toolchain cray here")
    story.run("a/toolchain=clang", "build_failed")
    (one,) = matrices(story)
    told = [(c.toolchain, c.available, c.passed, c.runs, c.expected, c.as_expected) for c in one.columns]
    assert told == [
        ("gnu", True, 1, 1, "", False),
        ("clang", True, 0, 1, "build_failed", True),
        ("cray", False, 0, 0, "", False),
    ]
    assert one.columns[1].verdicts == (("build_failed", 1),) and one.columns[2].why == "no toolchain cray here"


def test_one_toolchain_is_no_matrix_and_other_parameters_are_matrices_of_their_own(story: Any) -> None:
    for toolchain in ("gnu", "clang"):
        for n in "12":
            pairs = (("n", n), ("toolchain", toolchain))
            story.run(story.case(f"a/{toolchain}-{n}", toolchain=toolchain, parameters=pairs))
    story.run(story.case("b/1", toolchain="gnu"))
    assert [(one.name, [c.toolchain for c in one.columns]) for one in matrices(story)] == [
        ("a/n=1", ["gnu", "clang"]),
        ("a/n=2", ["gnu", "clang"]),
    ]


SYSTEM = """system: box
clusters: {box: {scheduler: local, partitions: {all: {nodes: localhost, type: t}}}}
node_types: {t: {cores: 2}}
toolchains: {gnu: {cc: cc}, clang: {cc: cc}, broken: {cc: cc}}
"""
TEST = """test: m
parameters: {toolchain: [gnu, clang, broken]}
build: {run: "if test {toolchain} = broken; then echo 'error: unknown flag' >&2; exit 1; fi; echo built > built"}
run: {command: "echo {toolchain} > out.nc; echo same > same.nc"}
check: [file out.nc recorded, file same.nc recorded]
expect: [{verdict: build_failed, because: known, where: {toolchain: broken}}]
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    plan = "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [m], repeats: 2}}]\n"
    for name, text in {"site": "site: s\n", "systems/box": SYSTEM, "tests/m": TEST, "plans/p": plan}.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = shakedown(tmp_path, "run", "p", "-q", "--report")
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


def shakedown(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    where = os.environ | {"COLUMNS": "100"}
    return warm_commands.run(words, cwd=site, env=where, capture_output=True, text=True, check=False)


def test_the_matrix_of_a_campaign_that_ran_in_the_terminal_in_json_and_in_the_report(ran: Path) -> None:
    text = shakedown(ran, "toolchains").stdout
    assert "same.nc: the same bits in all runs" in text and "out.nc: NOT the same bits in all runs" in text
    assert "broken: exit status 1: error: unknown flag" in text and "failed, build_failed is expected" in text
    (one,) = json.loads(shakedown(ran, "toolchains", "--json").stdout)["toolchains"]
    assert {column["toolchain"]: column["build"] for column in one["columns"]} == {
        "gnu": "done",
        "clang": "done",
        "broken": "failed",
    }
    assert one["identical"] == [["out.nc", False], ["same.nc", True]]
    report = ran / "campaigns/p-1/report"
    page = (ran / "campaigns/p-1/report.html").read_text()
    assert '<h2 id="toolchains">' in page and "error: unknown flag" in page and "out.nc: B 2" in page
    assert (report / "figures/toolchains-01.svg").is_file()
    rows = (report / "tables/toolchains.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 + 4 + 2  # each toolchain, two patterns and the run time of those that ran


def test_a_campaign_without_several_toolchains_says_how_to_have_them(ran: Path) -> None:
    (ran / "plans/q.yaml").write_text(
        "plan: q\nsystem: box\ncomponents: [{functionality: {tests: [{test: m, where: {toolchain: gnu}}]}}]\n"
    )
    shakedown(ran, "run", "q", "-q")
    done = shakedown(ran, "toolchains", "q-1")
    assert done.returncode == 2 and "no test of q-1 has two toolchains" in done.stderr
    assert "parameters: {toolchain: [gnu, clang]}" in done.stderr
