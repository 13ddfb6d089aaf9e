"""From the files of a site to the frozen document: the whole way, as a person would walk it."""

from __future__ import annotations

import hashlib
from typing import Any

from shakedown.model.frozen import freeze, thaw
from shakedown.model.nouns import (
    Check,
    Component,
    Criterion,
    FigureSpec,
    FileSystem,
    Limits,
    NodeType,
    Partition,
    Retry,
    Shape,
    Toolchain,
)
from shakedown.plans import read_site, read_system

TEST = """\
test: cm4
about: coupled atmosphere-ocean model
tags: [climate]
parameters: {threads: [1, 2], toolchain: [intel-classic, intel-oneapi]}
exclude: [{threads: 1, toolchain: intel-oneapi}]
build: {source: src/, run: "make CC={toolchain.cc} FC={toolchain.fc}", time_limit: 20min}
run:
  nodes: {default: 48, c5: 64}
  tasks_per_node: "{node.cores // cpus_per_task}"
  cpus_per_task: "{threads}"
  time_limit: 2h
  files: [inputs/in.nml]
  environment: {OMP_NUM_THREADS: "{threads}", VERSION: 12.10}
  command: |
    cd ${{TMPDIR}}
    {launch} {build}/cm4 --out {campaign}/cm4 --ranks {ranks}
loads: {f2/mdt: 1, f2/bandwidth: 4 GB/s}
check:
  - output contains "Completed"
  - output matches "residual = [0-9.]+"
  - file result.nc exists
  - files match golden: {glob: RESTART/*.nc, sums: golden.sha256}
figures:
  sypd: {regex: 'SYPD = (?P<value>[\\d.]+)', unit: years/day, better: higher}
  bandwidth: {json: triad.gb_s, unit: GB/s, better: higher, pick: max, required: no}
expect: [{where: {toolchain: intel-oneapi}, verdict: build_failed, because: newer standards}]
"""

PLAN = """\
plan: c5-phase2
about: acceptance
system: c5
seed: 7
components:
  - functionality:
      name: first-look
      tests: [{test: cm4, where: {threads: 1}}]
      repeats: 3
      criteria:
        correct: {measure: correct / completed, must: "= 100%"}
  - stability:
      tests: ["tag:climate"]
      after: [first-look]
      retry: {node_fail: 2, submit_failed: 5 with backoff}
      criteria:
        done: {measure: passed / wanted, must: ">= 95%", enough: 10}
        fast: {measure: value, of: bandwidth, test: cm4, statistic: mean, must: ">= 900 MB/s", enough: 3}
        steady: {measure: sd / mean, of: elapsed, per: case, must: "<= 20%"}
        short: {measure: value, of: elapsed, statistic: max, must: "<= 1h30m"}
limits: {copies: {cm4: 6}, budgets: {f2/bandwidth: 50%}, builds: 3, queued: 100}
"""
SUMS = "0" * 64 + "  RESTART/a.nc\n" + "F" * 64 + " *RESTART/b.nc\n"


def written(site: Any, cluster: str) -> Any:
    site.write("systems/c5.yaml", cluster)
    site.write("tests/cm4.yaml", TEST)
    site.write("tests/src/Makefile", "all:\n")
    site.write("tests/inputs/in.nml", "&nml /\n")
    site.write("tests/golden.sha256", SUMS)
    return site


def test_a_plan_becomes_a_document(site: Any, cluster: str) -> None:
    document = written(site, cluster).plan(PLAN)
    assert (document.plan, document.about, document.seed) == ("c5-phase2", "acceptance", 7)
    assert document.system.name == "c5"
    assert [case.id for case in document.cases] == [
        "cm4/threads=1,toolchain=intel-classic",
        "cm4/threads=2,toolchain=intel-classic",
        "cm4/threads=2,toolchain=intel-oneapi",
    ]
    assert document.limits == Limits(copies=(("cm4", 6),), budgets=(("f2/bandwidth", 20e9),), builds=3, queued=100)
    assert thaw(freeze(document)) == document


def test_components_say_what_must_hold(site: Any, cluster: str) -> None:
    first, second = written(site, cluster).plan(PLAN).components
    correct = Criterion("correct", "correct / completed", "=", 1.0, unit="%", must="= 100%")
    assert first == Component(
        "first-look", "functionality", ("cm4/threads=1,toolchain=intel-classic",), 3, (), (correct,)
    )
    assert (second.name, second.kind, second.repeats, second.after) == ("stability", "stability", 1, ("first-look",))
    assert len(second.cases) == 3
    assert second.retry == (Retry("node_fail", 2), Retry("submit_failed", 5, 10.0))
    assert second.criteria == (
        Criterion("done", "passed / wanted", ">=", 0.95, unit="%", enough=10, must=">= 95%"),
        Criterion(
            "fast", "value", ">=", 0.9, "GB/s", "bandwidth", "cm4", statistic="mean", enough=3, must=">= 900 MB/s"
        ),
        Criterion("steady", "sd / mean", "<=", 0.2, unit="%", of="elapsed", per="case", must="<= 20%"),
        Criterion("short", "value", "<=", 5400.0, "s", "elapsed", statistic="max", must="<= 1h30m"),
    )


def test_a_case_is_complete_but_for_what_only_a_campaign_knows(site: Any, cluster: str) -> None:
    case = written(site, cluster).plan(PLAN).cases[1]
    assert case.partition == "c5:batch"
    assert case.toolchain == "intel-classic"
    assert case.parameters == (("threads", "2"), ("toolchain", "intel-classic"))
    assert case.shape == Shape(64, 64, 2, units=64, time_limit_s=7200.0)
    assert case.environment == (("OMP_NUM_THREADS", "2"), ("VERSION", "12.10"))
    assert case.loads == (("f2/mdt", 1.0), ("f2/bandwidth", 4e9))
    assert case.files == (("in.nml", str(site.path / "tests/inputs/in.nml")),)
    assert case.unavailable == ""
    assert case.script.splitlines() == [
        "command -v module >/dev/null 2>&1 || . /etc/profile",
        "module load PrgEnv-intel intel-classic/2022.2.1 || exit 1",
        "cd ${TMPDIR}",
        "srun --ntasks=4096 {build}/cm4 --out {campaign}/cm4 --ranks 4096",
    ]


def test_what_is_expected_is_frozen_with_its_reason(site: Any, cluster: str) -> None:
    expected = [(case.expect, case.because) for case in written(site, cluster).plan(PLAN).cases]
    assert expected == [("", ""), ("", ""), ("build_failed", "newer standards")]


def test_cases_of_one_toolchain_share_a_build(site: Any, cluster: str) -> None:
    document = written(site, cluster).plan(PLAN)
    assert [case.build for case in document.cases] == [build.key for build in document.builds for _ in range(2)][:3]
    classic, oneapi = document.builds
    assert classic.name == "cm4"
    assert classic.source == str(site.path / "tests/src")
    assert classic.script.splitlines()[1:] == [
        "module load PrgEnv-intel intel-classic/2022.2.1 || exit 1",
        "make CC=cc FC=ftn",
    ]
    assert classic.environment == (("A", "b"),)
    assert classic.time_limit_s == oneapi.time_limit_s == 1200.0


def test_the_test_holds_its_checks_with_golden_sums_and_its_figures(site: Any, cluster: str) -> None:
    (test,) = written(site, cluster).plan(PLAN).tests
    assert (test.name, test.about, test.tags, test.path) == (
        "cm4",
        "coupled atmosphere-ocean model",
        ("climate",),
        "tests/cm4.yaml",
    )
    sums = f"RESTART/a.nc={'0' * 64}\nRESTART/b.nc={'f' * 64}"
    assert test.checks == (
        Check("contains", "output", "Completed", 'output contains "Completed"'),
        Check("matches", "output", "residual = [0-9.]+", 'output matches "residual = [0-9.]+"'),
        Check("exists", "result.nc", "", "file result.nc exists"),
        Check("golden", "RESTART/*.nc", sums, "files match golden: RESTART/*.nc, golden.sha256"),
        Check("exit", "exit", "0", "exit is 0"),
    )
    assert test.figures == (
        FigureSpec("sypd", "years/day", "higher", regex=r"SYPD = (?P<value>[\d.]+)"),
        FigureSpec("bandwidth", "GB/s", "higher", json="triad.gb_s", pick="max", required=False),
    )


def test_sources_name_every_file_with_its_digest(site: Any, cluster: str) -> None:
    sources = written(site, cluster).plan(PLAN).sources
    assert [source.path for source in sources] == [
        "plans/p.yaml",
        "systems/c5.yaml",
        "tests/cm4.yaml",
        "tests/golden.sha256",
    ]
    for source in sources:
        assert source.sha256 == hashlib.sha256((site.path / source.path).read_bytes()).hexdigest()


def test_a_system_file_is_the_system(site: Any, cluster: str) -> None:
    system = read_system(site.write("systems/c5.yaml", cluster))
    assert system.partitions() == (Partition("batch", "c5", "c5n[0001-1920]", 1920, "rome"),)
    assert system.clusters[0].scheduler == "slurm"
    assert system.node_type("rome") == NodeType("rome", 2, 128, 1, 8, 256.0 * 2**30, 5.3e12, "zen2", 512.0 * 2**20)
    assert system.network == (("kind", "dragonfly"), ("nics", "2"), ("injection", "12.5 GB/s"))
    assert system.filesystems == (
        FileSystem("f2", "lustre", "/lustre/f2/{mdt}/acceptance", (("mdt", ("mdt0", "mdt1")),)),
    )
    assert system.toolchains[0] == Toolchain(
        "intel-classic", ("PrgEnv-intel", "intel-classic/2022.2.1"), "cc", "CC", "ftn", (("A", "b"),)
    )
    assert system.toolchains[1].cxx == "c++"
    assert system.budgets == (("f2/mdt", 8.0), ("f2/bandwidth", 40e9))
    assert system.found == (("kernel", "6.10"), ("os", "SLES"))


def test_a_site_is_everything_in_it(site: Any, cluster: str) -> None:
    written(site, cluster).write("plans/p.yaml", PLAN)
    site.write("tests/broken.yaml", "test: broken\nrunn: x\n")
    reading = read_site(site.path)
    assert [system.name for system in reading.systems] == ["c5"]
    assert set(reading.tests) == {"cm4", "broken"}
    assert set(reading.plans) == {"c5-phase2"}
    assert {problem.path for problem in reading.found_problems()} == {"site/tests/broken.yaml"}


def test_a_plan_does_not_mind_faults_in_other_plans(site: Any, cluster: str) -> None:
    written(site, cluster).write("plans/other.yaml", "plan: other\ncomponets: []\n")
    assert site.plan(PLAN).plan == "c5-phase2"
