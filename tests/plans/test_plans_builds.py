"""Builds: what makes two of them one, and what makes one another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.model.nouns import Build
from shakedown.plans import finding, list_cases

TEST = 'test: a\nbuild: {source: src, run: "make CC={toolchain.cc}"}\nrun: {command: "{build}/a"}\n'


def built(site: Any, here: Any) -> tuple[Build, ...]:
    return list_cases(site.path, "here", lambda: here).builds


@pytest.fixture
def source(site: Any) -> Path:
    site.test(TEST)
    site.write("tests/src/Makefile", "all:\n")
    path: Path = site.write("tests/src/sub/a.c", "int main(void) { return 0; }\n")
    return path


def test_a_build_is_its_source_its_commands_and_its_toolchain(site: Any, here: Any, source: Path) -> None:
    (build,) = built(site, here)
    assert (build.name, build.source, build.script) == ("a", str(site.path / "tests/src"), "make CC=sh")
    assert build.environment == (("MPICH_CC", "sh"),)
    assert len(build.key) == 64
    assert site.case().build == build.key


def test_the_toolchain_is_the_systems_first_where_none_is_named(site: Any, source: Path) -> None:
    assert site.case().toolchain == "gcc"


@pytest.mark.parametrize(
    "change",
    [
        lambda site, path: path.write_text("int main(void) { return 1; }\n"),
        lambda site, path: path.rename(path.with_name("b.c")),
        lambda site, path: path.chmod(0o755),
        lambda site, path: site.write("tests/src/new.h", ""),
        lambda site, path: (site.path / "tests/src/link").symlink_to("Makefile"),
        lambda site, path: site.test(TEST.replace("make CC", "make -j CC")),
    ],
)
def test_anything_that_changes_what_is_built_changes_the_key(site: Any, here: Any, source: Path, change: Any) -> None:
    before = built(site, here)[0].key
    change(site, source)
    assert built(site, here)[0].key != before


def test_nothing_else_changes_it(site: Any, new_site: Any, here: Any, source: Path) -> None:
    other = new_site("moved")
    other.test(TEST.replace("test: a", "test: b"), "tests/deep/b.yaml")
    other.write("tests/deep/src/Makefile", "all:\n")
    copy = other.write("tests/deep/src/sub/a.c", source.read_text())
    other.write("tests/deep/src/.git/HEAD", "ref\n")
    os.utime(copy, (1, 1))
    assert built(other, here)[0].key == built(site, here)[0].key


def test_tests_with_the_same_build_share_it(site: Any, here: Any, source: Path) -> None:
    site.test(TEST.replace("test: a", "test: b"), "tests/b.yaml")
    assert len(built(site, here)) == 1
    assert len({case.build for case in site.cases()}) == 1


def test_a_kernel_of_the_package(site: Any, here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "stream.c").write_text("kernel")
    site.test('test: a\nbuild: {kernel: stream}\nrun: {command: "{build}/stream"}\n')
    (build,) = list_cases(site.path, "here", lambda: here, kernels=kernels).builds or [None]
    if build is None:  # no MPI compiler where these tests run: the case says so
        assert "mpicc" in list_cases(site.path, "here", lambda: here, kernels=kernels).cases[0].unavailable
        return
    assert (build.name, build.source, build.script) == ("stream", str(kernels), "make stream")


def test_the_packages_kernels_are_found_without_being_told(site: Any, here: Any) -> None:
    assert (Path(finding.KERNELS) / "stream.c").is_file()
    site.test('test: a\nbuild: {kernel: stream}\nrun: {command: "{build}/stream"}\n')
    assert {build.source for build in built(site, here)} == {finding.KERNELS}


def test_yaml_files_of_a_source_are_no_tests(site: Any, source: Path) -> None:
    site.write("tests/src/config.yaml", "nothing: to do with tests\n")
    site.write("tests/src/.travis.yml", "hidden: too\n")
    site.write("tests/src/sub/pipeline.yml", "neither: this\n")
    assert [case.id for case in site.cases()] == ["a"]


def test_a_test_inside_a_source_is_still_a_test(site: Any, source: Path) -> None:
    site.test("test: b\nrun: {command: x}\n", "tests/src/b.yaml")
    assert [case.id for case in site.cases()] == ["a", "b"]


# ---- builds in jobs --------------------------------------------------------------------------------------------------

CLUSTER = """\
system: c5
clusters:
  c5:
    scheduler: slurm
    partitions:
      batch: {nodes: "n[1-4]", type: t}
      build: {nodes: "n5", type: small, time_limit: 10min}
node_types: {t: {cores: 64}, small: {cores: 8}}
toolchains: {gcc: {cc: gcc}}
"""
IN_JOB = 'test: a\nwhere: {{partitions: [batch]}}\nbuild: {{run: make, {more}}}\nrun: {{command: "{{build}}/a"}}\n'


def job_build(site: Any, more: str, system: str = "c5") -> Any:
    site.write("systems/c5.yaml", CLUSTER)
    site.test(IN_JOB.format(more=more))
    case = site.case(system)
    return case, site.listing(system).builds


def test_a_build_is_on_the_login_node_unless_it_is_to_be_in_a_job(site: Any) -> None:
    _, (build,) = job_build(site, "where: login")
    assert (build.where, build.partition, build.cpus) == ("login", "", 1)
    login = build.key
    _, (build,) = job_build(site, "where: job")
    assert (build.where, build.partition, build.cpus) == ("job", "c5:batch", 1)
    assert build.key != login
    _, (elsewhere,) = job_build(site, "where: job, partition: build, cpus: 8, time_limit: 10min")
    assert (elsewhere.where, elsewhere.partition, elsewhere.cpus) == ("job", "c5:build", 8)
    assert elsewhere.key != build.key  # it may be made for other nodes


def test_each_partition_has_its_own_build_in_a_job_and_shares_one_of_the_login_node(site: Any) -> None:
    site.write("systems/c5.yaml", CLUSTER)
    for where, count in (("job", 2), ("login", 1)):
        site.test(f'test: a\nbuild: {{run: make, where: {where}, time_limit: 5min}}\nrun: {{command: "{{build}}/a"}}\n')
        assert len({case.build for case in site.cases("c5")}) == count


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "where: job, partition: build, cpus: 9, time_limit: 5min",
            "its build takes 9 cores and a node of partition build has 8",
        ),
        ("where: job, partition: build", "its build may take 30 min 00 s and partition build allows 10 min 00 s"),
    ],
)
def test_a_build_that_its_partition_cannot_take_is_told(site: Any, more: str, reason: str) -> None:
    case, _ = job_build(site, more)
    assert (case.unavailable, case.build) == (reason, "")


def test_a_partition_of_another_system_makes_the_case_unavailable(site: Any) -> None:
    site.write("systems/c6.yaml", CLUSTER.replace("c5", "c6").replace("      build: ", "      compile: "))
    case, _ = job_build(site, "where: job, partition: build, time_limit: 5min", "c6")
    assert case.unavailable == "system c6 has no partition build to build on"


def test_a_local_system_builds_in_no_job(site: Any) -> None:
    site.test('test: a\nbuild: {run: make, where: job}\nrun: {command: "{build}/a"}\n')
    (build,) = site.listing().builds
    assert (build.where, site.case().unavailable) == ("login", "")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("where: job, partition: bulid", "there is no partition 'bulid'"),
        ("partition: build", "build.partition is for builds in a job"),
        ("where: login, cpus: 4", "build.cpus is for builds in a job"),
        ("where: node", "build.where: 'node' is not one of login, job"),
    ],
)
def test_wrong_places_are_told(site: Any, more: str, message: str) -> None:
    with pytest.raises(FileProblems) as caught:
        job_build(site, more)
    assert message in str(caught.value)


LOCAL_WITHOUT = """\
system: bare
clusters: {local: {scheduler: local, partitions: {local: {nodes: localhost, type: t}}}}
node_types: {t: {cores: 2}}
"""


def test_a_system_without_toolchains_has_the_usual_compilers(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test of the catalogue that names a compiler is no error on any system."""
    for name in ("cc", "c++"):
        (tmp_path / name).symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    site.write("systems/bare.yaml", LOCAL_WITHOUT)
    site.test('test: a\nbuild: {run: "CC={toolchain.cc} CXX={toolchain.cxx} make"}\nrun: {command: "{build}/a"}\n')
    (build,) = site.listing("bare").builds
    assert build.script == "CC=cc CXX=c++ make"
    assert (site.case("bare").toolchain, site.case("bare").build) == ("", build.key)
    site.test('test: a\nbuild: {run: "FC={toolchain.fc} make"}\nrun: {command: "{build}/a"}\n')
    assert site.case("bare").unavailable.startswith("fc is not ")
