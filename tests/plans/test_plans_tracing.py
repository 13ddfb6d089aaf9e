"""``run: {trace: yes}``: the ranks alone have the tracer in them, and it is built with the compiler of their MPI."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from shakedown.plans.checking import check_site

PRELOAD = "env LD_PRELOAD={build}/.shakedown-trace/libshakedown-trace.so SHAKEDOWN_TRACE=shakedown-trace.jsonl"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs on PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "make", "mpicc", "mpiexec"):
        program(folder, name)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    return folder


def program(folder: Path, name: str, says: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


def of_openmpi(folder: Path) -> None:
    """A program of Open MPI, with compiler and launcher, where mpicc is MPICH's."""
    program(folder, "ldd", "libmpi.so.40 => /lib/libmpi.so.40")
    program(folder, "mpiexec", "HYDRA build details:")
    for name in ("lmp", "mpirun.openmpi", "mpicc.openmpi"):
        program(folder, name)


def build_of(site: Any) -> Any:
    listing = site.listing()
    (case,) = listing.cases
    assert case.unavailable == ""
    return next(build for build in listing.builds if build.key == case.build)


def test_the_launch_line_ends_in_the_preload_and_nothing_else_has_it(site: Any, programs: Path) -> None:
    site.test('test: a\nrun: {tasks_per_node: 2, trace: yes, command: "./before; {launch} ./a"}\n')
    case = site.case()
    assert case.script == f"./before; mpiexec -n 2 {PRELOAD} ./a"
    assert case.environment == () and case.build == build_of(site).key
    assert build_of(site).script.splitlines()[-1] == "make -C .shakedown-trace CC_MPI=mpicc libshakedown-trace.so"


def test_without_it_a_case_is_as_it_was(site: Any, programs: Path) -> None:
    site.test('test: a\nrun: {tasks_per_node: 2, trace: no, command: "{launch} ./a"}\n')
    assert (site.case().script, site.case().build) == ("mpiexec -n 2 ./a", "")


def test_it_may_be_a_parameter(site: Any, programs: Path) -> None:
    site.test('test: a\nparameters: {t: [yes, no]}\nrun: {trace: "{t}", command: "{launch} ./a"}\n')
    assert ["LD_PRELOAD" in case.script for case in site.cases()] == [True, False]


def test_a_build_of_the_tests_own_has_the_tracer_in_it(site: Any, programs: Path) -> None:
    site.write("tests/src/Makefile", "all:\n")
    text = 'test: a\nbuild: {source: src, run: make all}\nrun: {trace: %s, command: "{launch} {build}/a"}\n'
    plain, traced = (build_of(site.test(text % word)) for word in ("no", "yes"))
    assert traced.key != plain.key and traced.source == plain.source != ""
    assert plain.script == "make all" and traced.script.endswith("libshakedown-trace.so\nmake all")


def test_two_tests_share_one_tracer(site: Any, programs: Path) -> None:
    for name in "ab":
        site.write(f"tests/{name}.yaml", f'test: {name}\nrun: {{trace: yes, command: "{{launch}} ./{name}"}}\n')
    listing = site.listing()
    assert len(listing.builds) == 1 and len({case.build for case in listing.cases}) == 1


def test_it_is_built_for_the_mpi_of_the_program(site: Any, programs: Path) -> None:
    of_openmpi(programs)
    site.test('test: a\nneeds: {programs: [lmp]}\nrun: {trace: yes, command: "{launch} lmp"}\n')
    assert "CC_MPI=mpicc.openmpi " in build_of(site).script
    assert site.case().script.startswith("mpirun.openmpi --oversubscribe -n 1 env LD_PRELOAD=")


def test_it_is_built_for_the_mpi_that_the_test_names(site: Any, programs: Path) -> None:
    of_openmpi(programs)
    site.test('test: a\nrun: {trace: yes, launch: {mpi: openmpi}, command: "{launch} ./a"}\n')
    assert "CC_MPI=mpicc.openmpi " in build_of(site).script


@pytest.mark.parametrize(
    ("compiler", "found"),
    [("mpifort.openmpi", "mpicc.openmpi"), ("/opt/x/bin/mpicxx", "/opt/x/bin/mpicc"), ("ftn", "mpicc")],
)
def test_a_toolchain_tells_its_compiler_for_c(compiler: str, found: str) -> None:
    from shakedown.model.nouns import Toolchain
    from shakedown.plans.cases.tracing import _c_compiler

    assert _c_compiler(Toolchain("t", cc="gcc", fc=compiler)) == found


def test_without_a_compiler_it_is_unavailable(site: Any, programs: Path) -> None:
    (programs / "mpicc").unlink()
    site.test('test: a\nrun: {trace: yes, command: "{launch} ./a"}\n')
    assert "mpicc" in site.case().unavailable


WRONG = [
    ("command: ./a", "the command has no {launch}, so there are no ranks to trace", "{launch} ./program"),
    (
        'container: {image: a.sif}, command: "{launch} ./a"',
        "programs in a container are not traced: the tracer is built for the MPI of the machine",
        "leave out trace, or container",
    ),
]


@pytest.mark.parametrize(("run", "message", "hint"), WRONG)
def test_what_cannot_be_traced_is_told(site: Any, here: Any, programs: Path, run: str, message: str, hint: str) -> None:
    site.write("tests/a.sif", "")
    site.test(f"test: a\nrun: {{trace: yes, {run}}}\n")
    (problem,) = check_site(Path(site.path), lambda: here).problems
    assert (problem.message, problem.hint) == (message, hint)


def test_the_tracer_lies_beside_the_kernels() -> None:
    """Its Makefile is what the build's last line calls."""
    from shakedown.kernels import kernel_directory

    lines = (kernel_directory().parent / "trace" / "Makefile").read_text()
    assert "\nlibshakedown-trace.so: trace.o\n" in lines and shutil.which("env")
