"""From the files of a site to the frozen document: the whole way, as a person would walk it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.model.filling import ClockTerms, Fill, Pack, Phase, Sweep, Window, Yield
from shakedown.model.frozen import freeze, thaw
from shakedown.model.judging import Criterion
from shakedown.model.nouns import (
    Check,
    Cluster,
    Component,
    FigureSpec,
    Limits,
    Mode,
    NodeType,
    Partition,
    Patience,
    Procedure,
    Retry,
    Shape,
    TargetClass,
    Toolchain,
)
from shakedown.plans import read_site, read_system
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import documented
from shakedown.plans.schema.tables import TABLES
from shakedown.plans.schema.yaml_nodes import read_nodes


def test_a_plan_becomes_a_document(example: Any) -> None:
    document = example.read()
    assert (document.plan, document.about, document.seed) == ("c5-phase2", "acceptance", 7)
    assert document.system.name == "c5"
    assert [case.id for case in document.cases] == [
        "stream",
        "cm4/threads=1,toolchain=intel-classic",
        "cm4/threads=2,toolchain=intel-classic",
        "cm4/threads=2,toolchain=intel-oneapi",
        "minisweep",
    ]
    narrowed = Limits((("cm4", 6),), (("f2/bandwidth", 20e9),), queued=100, builds=3, stagger_s=5.0, exclude_after=3)
    assert replace(document.limits, observed=()) == narrowed
    assert [(word.budget, word.source, word.means, word.full) for word in document.limits.observed] == [
        ("f2/mdt", "promql", "used", 100.0), ("f2/bandwidth", "influxql", "free", 40000.0)
    ]  # fmt: skip
    assert thaw(freeze(document)) == document


def test_components_say_what_must_hold(example: Any) -> None:
    components = {component.name: component for component in example.read().components}
    assert list(components) == [
        "vendor",
        "first-look",
        "performance",
        "mixed",
        "stability",
        "every-node",
        "sizes",
        "site",
        "scores",
    ]
    first, second = components["first-look"], components["stability"]
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


def test_components_say_how_their_cases_run_and_what_people_do(example: Any) -> None:
    components = {component.name: component for component in example.read().components}
    vendor, performance, mixed = (components[name] for name in ("vendor", "performance", "mixed"))
    about = "run the vendor's diagnostics on every node"
    assert vendor.procedures == (Procedure("diagnostics", about, "vendor", 1, "3.1"),)
    assert vendor.about == "what the vendor shows before the site begins"
    assert performance.modes == (Mode("isolated", 3, 1), Mode("fill", 2, 1, 4))
    assert (performance.after, performance.gate) == (("vendor",), "met")
    assert (mixed.duration_s, mixed.mix) == (864000.0, (("stream", 0.25), ("cm4", 0.75)))
    assert (performance.fill, performance.sweep, performance.pack) == (Fill(), None, None)
    assert (vendor.modes, vendor.gate, vendor.duration_s, vendor.mix) == ((), "over", 0.0, ())


def test_a_component_says_how_it_keeps_the_machine_full(example: Any) -> None:
    components = {component.name: component for component in example.read().components}
    mixed = components["mixed"]
    assert mixed.phases == (Phase("first", 345600.0), Phase("second", 518400.0))
    assert mixed.fill == Fill(0.98, queue_ahead_s=7200.0, survive_s=28800.0, ramp_s=600.0, drain=True)
    assert (mixed.fillers, mixed.stop_after) == (("minisweep",), 5)
    assert mixed.limits == Limits((("cm4", 6),), (("f2/mdt", 4.0), ("f2/bandwidth", 16e9)), stagger_s=30.0)
    monday, *weekend = mixed.windows
    assert monday == Window(
        "Mon 06:00 to Mon 18:00",
        6 * 3600.0,
        18 * 3600.0,
        "Europe/Berlin",
        budgets=(("f2/bandwidth", 10e9),),
        copies=(("cm4", 2),),
    )
    assert weekend == [
        Window("Sat 22:00 to Sun 04:00", 5 * 86400.0 + 22 * 3600.0, 6 * 86400.0 + 4 * 3600.0, closed=True),
        Window("Sun 22:00 to Mon 04:00", 6 * 86400.0 + 22 * 3600.0, 4 * 3600.0, closed=True),
    ]
    assert mixed.yields == (Yield(("c3", "c4"), 50, 10, (("f2/mdt", 1.0),), (("cm4", 1),)),)
    assert mixed.clock == ClockTerms("declared", (("vendor", "restarts"), ("site", "runs")), ramp=False)
    assert components["every-node"].sweep == Sweep(queued=16, rounds=2, wait_s=43200.0)
    assert components["site"].pack == Pack(runs=100, at_once=1, allocations=4)


def test_floors_are_in_the_words_of_their_measures(example: Any) -> None:
    floor, holes, node = next(c for c in example.read().components if c.name == "mixed").criteria
    assert floor == Criterion("floor", "runs", ">=", 100.0, per="test", must=">= 100")
    assert holes == Criterion("holes", "longest hole", "<=", 6.0, "h", per="test", must="<= 6h")
    assert node == Criterion("node", "hours per node", ">=", 150.0, "h", must=">= 150h")


def test_a_case_is_complete_but_for_what_only_a_campaign_knows(example: Any) -> None:
    case = example.read().cases[2]
    assert case.partition == "c5:batch"
    assert case.toolchain == "intel-classic"
    assert case.parameters == (("threads", "2"), ("toolchain", "intel-classic"))
    assert case.shape == Shape(64, 64, 2, units=64, exclusive=True, time_limit_s=7200.0, requeue=True)
    assert case.environment == (("OMP_NUM_THREADS", "2"), ("A", "b"), ("VERSION", "12.10"))
    assert case.loads == (("f2/mdt", 1.0), ("f2/bandwidth", 4e9))
    assert case.files == (("in.nml", str(example.path / "tests/inputs/in.nml")),)
    assert (case.work, case.targets, case.stage) == ("/lustre/f2/{mdt}/acceptance", (("mdt", "f2/mdt"),), "per-target")
    assert case.unavailable == ""
    loading, _, own = case.script.rpartition("} >loaded-software.txt\n")
    assert "\nfor sd_module in PrgEnv-intel intel-classic/2022.2.1; do\n" in loading
    assert own.splitlines() == [
        "cd ${TMPDIR}",
        "srun --mpi=pmi2 --nodes=64 --ntasks=4096 --ntasks-per-node=64 --cpus-per-task=2 --cpu-bind=cores --exact"
        " {build}/cm4 --out {campaign}/cm4 --ranks 4096",
    ]


def test_what_is_expected_is_frozen_with_its_reason(example: Any) -> None:
    expected = [(case.expect, case.because) for case in example.read().cases]
    assert expected == [("", ""), ("", ""), ("", ""), ("build_failed", "newer standards"), ("", "")]


def test_cases_of_one_toolchain_share_a_build(example: Any) -> None:
    document = example.read()
    stream, classic, oneapi = document.builds
    assert [case.build for case in document.cases] == [stream.key, classic.key, classic.key, oneapi.key, ""]
    assert classic.name == "cm4"
    assert classic.source == str(example.path / "tests/src")
    assert "sd_module in PrgEnv-intel intel-classic/2022.2.1; do\n" in classic.script
    assert classic.script.endswith("} >loaded-software.txt\nmake CC=cc FC=ftn")
    assert (classic.where, classic.partition, classic.cpus) == ("job", "c5:batch", 16)
    assert classic.environment == (("A", "b"),)
    assert classic.time_limit_s == oneapi.time_limit_s == 1200.0


def test_the_test_holds_its_checks_with_golden_sums_and_its_figures(example: Any) -> None:
    _, test, _ = example.read().tests
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
        FigureSpec("sypd", "years/day", "higher", "log.txt", regex=r"SYPD = (?P<value>[\d.]+)"),
        FigureSpec("bandwidth", "GB/s", "higher", json="triad.gb_s", pick="max", required=False),
    )


def test_sources_name_every_file_with_its_digest(example: Any) -> None:
    sources = example.read().sources
    assert [source.path for source in sources] == [
        "plans/phase2.yaml",
        "systems/c5.yaml",
        "tests/cm4.yaml",
        "tests/defaults.yaml",
        "tests/minisweep.yaml",
        "tests/stream.yaml",
        "tests/golden.sha256",
        "contracts/phase2.yaml",
        "contracts/history.csv",
        "failures/site.yaml",
    ]
    for source in sources:
        assert source.sha256 == hashlib.sha256((example.path / source.path).read_bytes()).hexdigest()


def test_a_system_file_is_the_system(example: Any) -> None:
    system = read_system(example.path / "systems/c5.yaml")
    batch = Partition("batch", "c5", "c5n[0001-1920]", 1920, "rome", 86400.0, ("--switches=2",), 1024)
    patience = Patience(poll_s=10, grace_s=120, lost_after_s=3600, no_answer_s=172800, dead_after_s=600)
    options = ("--account=acceptance", "-qnormal")
    licences = (("matlab", 4.0), ("f2_mdt0", 8.0), ("f2_mdt1", 8.0))
    assert system.clusters == (Cluster("c5", "slurm", (batch,), options, licences, 1000, patience),)
    assert system.node_type("rome") == NodeType(
        *("rome", 2, 128, 1, 8, 256.0 * 2**30, 5.3e12, "zen2", 512.0 * 2**20, ("zen2", "rack1")),
        *(2.6e9, 16, 16.0 * 2**30, 409.6e9),
    )
    assert system.network[:3] == (("kind", "dragonfly"), ("nics", "2"), ("injection", "12.5 GB/s"))
    assert dict(system.network)["lnet_routers"] == "30"
    (f2,) = system.filesystems
    assert (f2.name, f2.kind, f2.path) == ("f2", "lustre", "/lustre/f2/{mdt}/acceptance")
    assert f2.targets == (("mdt", ("mdt0", "mdt1")), ("oss", ("oss0", "oss1")))
    assert f2.classes == (TargetClass("oss", 2, 0.0, 8e9), TargetClass("ost", 72, 489e12))
    assert (f2.capacity_bytes, f2.bandwidth_bytes_per_s) == (37.5e15, 200e9)
    assert system.toolchains[0] == Toolchain(
        "intel-classic", ("PrgEnv-intel", "intel-classic/2022.2.1"), "cc", "CC", "ftn", (("A", "b"),), "intel"
    )
    assert system.toolchains[1].cxx == "c++"
    assert system.budgets == (("f2/mdt", 8.0), ("f2/bandwidth", 40e9), ("matlab", 4.0))  # a licence is a budget too
    assert system.targeted == (("f2/mdt", ("mdt0", "mdt1")),)
    assert system.licence_names == (("f2/mdt@mdt0", "f2_mdt0"), ("f2/mdt@mdt1", "f2_mdt1"))
    assert system.found == (("kernel", "6.10"), ("os", "SLES"))


def test_a_site_is_everything_in_it(example: Any) -> None:
    example.write("tests/broken.yaml", "test: broken\nrunn: x\n")
    reading = read_site(example.path)
    assert (reading.name, reading.about) == ("example", "every key of every file is in here somewhere")
    assert reading.record_environment == ("EXAMPLE_*", "SITE_PROFILE")
    assert [system.name for system in reading.systems] == ["c5"]
    assert set(reading.tests) == {"cm4", "climate-defaults", "stream", "minisweep", "broken"}
    assert set(reading.plans) == {"c5-phase2"}
    assert {problem.path for problem in reading.found_problems()} == {"example/tests/broken.yaml"}


def test_a_plan_does_not_mind_faults_in_other_plans(example: Any) -> None:
    example.write("plans/other.yaml", "plan: other\ncomponets: []\n")
    assert example.read().plan == "c5-phase2"


@pytest.mark.parametrize("name", ["c5-phase2", "phase2", "plans/phase2.yaml", "example/plans/phase2.yaml"])
def test_a_plan_is_known_by_its_name_and_by_its_path(example: Any, name: str) -> None:
    assert example.read(name).plan == "c5-phase2"


EVERY_KEY = Path(__file__).with_name("every_key.yaml")  # a test with the keys that no test of the example has


def test_a_test_with_the_other_keys_is_read_without_a_fault() -> None:
    problems = Problems()
    root = read_nodes(EVERY_KEY.read_bytes(), "every_key.yaml", problems)
    assert root is not None and TABLES["test"].read(root, "", problems) and not problems.told()


# Keys that would change what the example is about; files of their own try them: test_plans_resources.py, test_plans_identical.py,
# test_plans_set_up.py, test_plans_drills.py, test_plans_baselines.py.
ELSEWHERE = {"node_types.TYPE.gpus", "node_types.TYPE.gpus.model", "run.memory"} | {
    f"components[].KIND.criteria.CRITERION.{key}" for key in ("files", "across")
}
ELSEWHERE |= {"baselines.BASELINE.campaign", "baselines.BASELINE.epoch", "baselines.BASELINE.values[].mode"}
ELSEWHERE |= {"limits.observe.BUDGET.command"}  # test_plans_observing.py
ELSEWHERE |= {"components[].KIND.set_up", "components[].KIND.clean_up"}
ELSEWHERE |= {path for path, _ in documented(TABLES["plan"]) if path.startswith("components[].KIND.drills")}


def test_the_example_has_every_key_there_is(example: Any) -> None:
    """So that what is tried on the example is tried on every key."""
    for kind, names in {
        "site": ["site"],
        "system": ["systems/c5"],
        "test": ["tests/defaults", "tests/cm4", "tests/stream", "tests/minisweep"],
        "plan": ["plans/phase2"],
        "rehearsal": ["rehearsals/naive", "rehearsals/busy"],
    }.items():
        text = "".join((example.path / f"{name}.yaml").read_text() for name in names)
        text += EVERY_KEY.read_text() if kind == "test" else ""
        for path, _ in documented(TABLES[kind]):
            key = path.rpartition(".")[2]
            assert path in ELSEWHERE or f"{key}:" in text, f"no '{path}' in the {kind} files of the example"
