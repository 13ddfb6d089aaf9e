"""The hand: which kernels there are, which compiler is taken, and what a person is told where something is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shakedown import kernels
from shakedown.kernels.build import BuildFailed
from shakedown.model.errors import UsageError


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program: an environment of Python and a PATH that hold nothing. Returns the PATH's directory."""
    (tmp_path / "path").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path / "path"


def test_every_c_file_is_a_kernel_and_the_shared_files_are_none() -> None:
    assert kernels.kernel_names() == (
        "cg",
        "collectives",
        "congestion",
        "gemm",
        "gpu-copy",
        "gpu-gemm",
        "gpu-pairs",
        "gpu-stream",
        "halo",
        "hello",
        "io",
        "loader",
        "metadata",
        "mpimem",
        "nodecheck",
        "noise",
        "pairs",
        "pt2pt",
        "stream",
        "sweep",
        "transpose",
    )
    assert (kernels.kernel_directory() / "Makefile").is_file()


def test_every_kernel_says_what_it_measures_and_explains_every_option() -> None:
    for kernel in kernels.describe_kernels():
        assert kernel.about.endswith("."), kernel.name
        assert kernel.options and all(o.about for o in kernel.options), kernel.name
    names = {o.name for o in kernels.shared_options()}
    assert names == {"--budget", "--fake-nodes", "--self-check", "--self-check-fault", "--help"}


def test_an_unknown_kernel_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        kernels.build_kernels(tmp_path, ["straem"])
    assert str(caught.value) == "there is no kernel 'straem'\nhint: did you mean 'stream'?"
    with pytest.raises(UsageError) as caught:
        kernels.built_kernel("x")
    known = ", ".join(kernels.kernel_names())
    assert str(caught.value) == f"there is no kernel 'x'\nhint: the kernels are: {known}"


def test_the_compiler_of_this_python_comes_before_the_one_on_path(bare: Path) -> None:
    on_path = program(bare / "mpicc")
    assert kernels.find_mpicc() == on_path
    own = program(Path(sys.prefix) / "bin" / "mpicc")
    assert kernels.find_mpicc() == own


def test_the_launcher_is_the_one_beside_the_compiler(bare: Path) -> None:
    program(bare / "mpicc")
    beside = program(bare / "mpiexec")
    program(Path(sys.prefix) / "bin" / "mpiexec")
    assert kernels.find_mpiexec() == beside


def test_a_missing_mpi_is_named_with_the_way_to_get_it(bare: Path) -> None:
    with pytest.raises(UsageError) as caught:
        kernels.find_mpicc()
    assert str(caught.value) == (
        f"there is no 'mpicc' in {sys.prefix}/bin nor on PATH\n"
        "hint: pip install 'shakedown[mpi]', or apt-get install mpich libmpich-dev"
    )


@pytest.mark.parametrize(("there", "missing"), [((), "make"), (("make",), "cc")])
def test_a_missing_compiler_is_named_with_the_way_to_get_it(
    bare: Path, tmp_path: Path, there: tuple[str, ...], missing: str
) -> None:
    for name in ("mpicc", *there):
        program(bare / name)
    with pytest.raises(UsageError) as caught:
        kernels.build_kernels(tmp_path / "out")
    assert str(caught.value) == f"there is no '{missing}' on PATH\nhint: apt-get install gcc make"


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = program(tmp_path / "mpicc", "echo this compiler is out of order >&2; exit 1")
    with pytest.raises(BuildFailed, match=r"could not compile hello:\n(.*\n)*this compiler is out of order"):
        kernels.build_kernels(tmp_path / "out", ["hello"], broken)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_target_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught:
        kernels.build_kernels(tmp_path / "file", ["hello"], program(tmp_path / "mpicc"))
    assert str(caught.value) == (
        f"cannot build kernels in {tmp_path}/file: File exists\n"
        "hint: name a directory that you may write to, with --into DIRECTORY; the cache is below XDG_CACHE_HOME, or ~/.cache"
    )


def test_the_cache_is_another_one_when_the_compiler_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler = program(tmp_path / "mpicc", "one")
    before = kernels.cache_directory(compiler)
    assert before == kernels.cache_directory(compiler)
    assert before.parent == tmp_path / "cache" / "shakedown" / "kernels"
    program(compiler, "another")
    assert kernels.cache_directory(compiler) != before


def test_a_kernel_in_the_cache_is_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program(bare / "mpicc")
    there = program(kernels.cache_directory() / "hello")
    assert kernels.built_kernel("hello") == there


def test_a_compiler_script_below_a_path_with_a_space_is_refused_before_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MPICH's mpicc puts its own folder into its commands without quotes; Open MPI's is a program and does not."""
    own = tmp_path / "my machine"
    script = program(own / "bin" / "mpicc")
    monkeypatch.setattr(sys, "prefix", str(own))
    with pytest.raises(UsageError) as caught:
        kernels.find_mpicc()
    assert str(caught.value) == (
        f"'{script}' cannot compile: it is a script that splits its own path at the space in it\n"
        "hint: install Shakedown into a folder whose whole path has no space"
    )
    script.write_bytes(b"\x7fELF")
    assert kernels.find_mpicc() == script
