"""The plan ``catalogue:survey``: it fits one node and a cluster, lasts an hour, names what it leaves out, says where it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from shakedown.kernels import kernel_names
from shakedown.machine.here import local_system
from shakedown.model.errors import UsageError
from shakedown.model.nouns import Case, Document, NodeType, System, Toolchain
from shakedown.plans import list_cases, read_plan
from shakedown.plans.checking import check_site
from shakedown.plans.documents import plan_summaries
from shakedown.plans.finding import shipped_plans
from shakedown.plans.site import read_site

SURVEY = "catalogue:survey"
SURVEY_GPUS = "catalogue:survey-gpus"
PAGE = Path(__file__).parents[2] / "docs/guides/survey.md"
GCC = Toolchain("gcc", cc="gcc", cxx="g++", fc="gfortran")
HERE = local_system("here", "somewhere", NodeType("host", cores=2), "", (GCC,), ())
HOUR = 3600.0
CLUSTER = """system: big
clusters:
  big: {scheduler: slurm, partitions: {batch: {nodes: "n[1-NODES]", type: t}}}
node_types: {t: {cores: 64, memory: 256 GiB}}
toolchains: {gcc: {cc: gcc, cxx: g++, fc: gfortran}}
filesystems:
  scratch: {kind: lustre, path: /scratch}
  disk: {kind: local, path: /tmp}
  hidden: {kind: nfs}
  striped: {kind: lustre, path: "/striped/{ost}", targets: {ost: [ost0, ost1]}}
"""


def here() -> System:
    return HERE


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with nothing of its own."""
    (tmp_path / "site.yaml").write_text("site: empty\n")
    return tmp_path


def with_cluster(site: Path, nodes: int = 64, name: str = "big") -> Path:
    (site / "systems").mkdir(exist_ok=True)
    text = CLUSTER.replace("NODES", str(nodes)).replace("system: big", f"system: {name}")
    (site / "systems" / f"{name}.yaml").write_text(text)
    return site


def survey(site: Path, system: str | None = None) -> Document:
    return read_plan(site, SURVEY, here, system=system)


def by_test(document: Document) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in document.cases:
        found.setdefault(case.test, []).append(case)
    return found


def test_on_one_node_it_starts_without_what_needs_more_and_says_why(site: Path) -> None:
    document = survey(site)
    assert (document.plan, document.system.name, document.unavailable) == ("survey", "here", "restrict")
    lost = {case.test: case.unavailable for case in document.cases if "it takes" in case.unavailable}
    assert set(lost) == {"survey-nodecheck", "survey-congestion", "loader-sbcast"}
    assert by_test(document)["survey-pairs"][0].shape.ranks == 2


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        (4, {"survey-nodecheck": 3, "survey-pairs": 4, "survey-collectives": 4, "survey-transpose": 4, "survey-io": 4}),
        (
            64,
            {
                "survey-nodecheck": 57,
                "survey-pairs": 16,
                "survey-collectives": 8,
                "survey-congestion": 50,
                "survey-io": 8,
            },
        ),
        (9000, {"survey-nodecheck": 8100, "survey-pairs": 16, "survey-congestion": 50}),
    ],
)
def test_tests_take_as_many_nodes_as_there_are_up_to_a_number(site: Path, nodes: int, wanted: dict[str, int]) -> None:
    cases = by_test(survey(with_cluster(site, nodes), "big"))
    assert {name: {case.shape.nodes for case in cases[name]} for name in wanted} == {
        name: {count} for name, count in wanted.items()
    }
    too_large = {case.test for mine in cases.values() for case in mine if "it takes" in case.unavailable}
    assert too_large == ({"survey-congestion"} if nodes < 10 else set())


def test_no_job_takes_more_nodes_than_the_partition_allows(site: Path) -> None:
    system = with_cluster(site) / "systems/big.yaml"
    system.write_text(system.read_text().replace("type: t}}}", "type: t, most_nodes: 20}}}"))
    cases = by_test(survey(site, "big"))
    assert [case.shape.nodes for case in cases["survey-nodecheck"]] == [18]


def test_files_are_measured_on_each_file_system_that_any_test_can_work_on(site: Path) -> None:
    cases = by_test(survey(with_cluster(site), "big"))
    for name in ("survey-io", "loader"):
        where = {dict(case.parameters)["filesystem"]: case.work for case in cases[name]}
        assert where == {"campaign": "", "scratch": "/scratch"}


def test_its_limits_add_up_to_about_an_hour(site: Path) -> None:
    """Even where each job waits for the one before it, on the system with one file system beside the campaign's."""
    limits = [case.shape.time_limit_s for case in survey(with_cluster(site), "big").cases]
    assert len(limits) > 15 and sum(limits) <= HOUR + 180


def test_it_has_every_kernel_of_the_package(site: Path) -> None:
    kernels = {build.name for build in survey(with_cluster(site), "big").builds}
    assert kernels == {name for name in kernel_names() if not name.startswith("gpu-")}


def test_the_gpus_of_a_node_have_one_rank_each_and_a_node_without_any_is_left_out(site: Path) -> None:
    with_cluster(site)
    document = read_plan(site, SURVEY_GPUS, here, system="big")
    assert document.unavailable == "restrict"
    assert {case.unavailable for case in document.cases} == {
        "gpus_per_node comes out as 0: a node of partition batch has no GPUs"
    }
    path = site / "systems/big.yaml"
    path.write_text(path.read_text().replace("cores: 64,", "cores: 64, gpus: {count: 4, model: A100, memory: 80 GiB},"))
    document = read_plan(site, SURVEY_GPUS, here, system="big")
    assert {build.name for build in document.builds} == {name for name in kernel_names() if name.startswith("gpu-")}
    cases = by_test(document)
    assert {name: len(of) for name, of in cases.items()} == {
        "gpu-stream": 1,
        "gpu-gemm": 2,
        "gpu-copy": 1,
        "gpu-pairs": 2,
    }
    for case in (case for of in cases.values() for case in of):
        assert (case.shape.nodes, case.shape.tasks_per_node) == (1, 4)


def test_the_page_names_every_test_that_it_runs_and_the_plan_every_one_that_the_page_names(site: Path) -> None:
    plan = yaml.safe_load(Path(shipped_plans()[SURVEY]).read_text())
    run = {test for component in plan["components"] for test in component["performance"]["tests"]}
    table = PAGE.read_text().partition("## What it runs")[2].partition("\nEach has")[0]
    assert set(re.findall(r"`([\w-]+)`", table)) - {"nodes", "network", "storage"} == run


def test_where_a_site_has_a_cluster_it_says_where_the_survey_runs(site: Path) -> None:
    with_cluster(site)
    with pytest.raises(UsageError) as told:
        survey(site)
    assert str(told.value) == (
        "the site describes big: say where the tests run\n"
        "hint: --system big submits them there; --system here runs them on this machine"
    )
    assert [survey(site, name).system.name for name in ("big", "here")] == ["big", "here"]


def test_check_reads_it_on_every_cluster_of_the_site_or_here(site: Path) -> None:
    checked = check_site(site, here, (SURVEY,))
    assert checked.problems == () and {lost.case for lost in checked.unavailable} >= {"survey-congestion"}
    with_cluster(with_cluster(site, 64), 4, "small")
    checked = check_site(site, here, (SURVEY,))
    assert checked.problems == ()
    assert [lost.case for lost in checked.unavailable if "it takes" in lost.reason] == ["survey-congestion"]
    assert all(lost.restrict for lost in checked.unavailable)
    left_out = {lost.case for lost in checked.unavailable}
    for warning in checked.warnings:
        assert any(f": {case} cannot run: " in warning.message for case in left_out), warning


def test_check_tells_a_fault_that_keeps_it_from_starting_and_no_other(site: Path) -> None:
    (site / "tests").mkdir()
    (site / "tests/stream.yaml").write_text("test: stream\nextends: stream\nrun: {nodes: '{no.such.name}'}\n")
    (site / "plans").mkdir()
    (site / "plans/other.yaml").write_text("plan: other\nsystem: here\ncomponents: [{site: {tests: [missing]}}]\n")
    checked = check_site(site, here, (SURVEY,))
    assert {problem.path for problem in checked.problems} == {"tests/stream.yaml"}


@pytest.mark.parametrize("name", ["catalogue:surveys", "catalogue:"])
def test_a_plan_that_the_package_has_not_is_told(site: Path, name: str) -> None:
    for read in (lambda: read_plan(site, name, here), lambda: check_site(site, here, (name,))):
        with pytest.raises(UsageError) as told:
            read()
        assert told.value.message == f"there is no plan '{name}'"
        known = "the package has: catalogue:survey, catalogue:survey-gpus"
        assert told.value.hint in ("did you mean 'catalogue:survey'?", known)


def test_it_is_listed_beside_the_plans_of_the_site(site: Path) -> None:
    found = [(plan.name, plan.system, plan.components) for plan in plan_summaries(read_site(site, parts="plans"))]
    assert found == [(SURVEY_GPUS, "any", ("gpus",)), (SURVEY, "any", ("nodes", "network", "storage"))]


def test_a_test_of_a_site_takes_the_file_systems_and_nodes_too(site: Path) -> None:
    with_cluster(site, 12)
    (site / "tests").mkdir()
    (site / "tests/a.yaml").write_text(
        "test: a\nparameters: {where: ['{filesystems}', again]}\nrun: {nodes: '{partition.nodes // 2}', command: 'echo {where}'}\n"
    )
    cases = [case for case in list_cases(site, "big", here).cases if case.test == "a"]
    assert [(dict(case.parameters)["where"], case.shape.nodes) for case in cases] == [
        ("campaign", 6), ("scratch", 6), ("again", 6),
    ]  # fmt: skip
