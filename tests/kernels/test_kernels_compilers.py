"""Every kernel compiles without a warning, under each compiler and each MPI that a site may have; a site's warning is no error."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from built_kernels import STRICT, built_kernels

from shakedown.kernels import build_kernels, find_mpicc, kernel_directory

pytestmark = pytest.mark.mpi


def compiler_of(mpi: str) -> str:
    """The MPI compiler of the wheel, of Debian's MPICH or of Open MPI; skips where it is not installed."""
    found = str(find_mpicc()) if mpi == "wheel" else shutil.which(f"mpicc.{mpi}")
    if found is None:
        pytest.skip(f"there is no mpicc.{mpi}; scripts/slurm-packages installs it")
    return found


def is_own(compiler: str) -> bool:
    """Whether it is the machine's own, which builds the programs of the other tests."""
    own = shutil.which(os.environ.get("MPICH_CC", "cc"))
    return Path(own or "/").resolve() == Path(shutil.which(compiler) or "").resolve()


def make(sources: Path, mpicc: str, compiler: str, *words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}; scripts/slurm-packages installs it")
    environment = {**os.environ, "MPICH_CC": compiler, "OMPI_CC": compiler}
    command = ["make", "-s", f"CC_MPI={mpicc}", *words]
    return subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return Path(shutil.copytree(kernel_directory(), tmp_path / "sources"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_all_kernels_compile_without_a_warning(
    sources: Path, tmp_path_factory: pytest.TempPathFactory, compiler: str
) -> None:
    """The machine's own compiler has built the programs of the other tests already, with all that it optimises. What Clang warns of
    it finds before it optimises, but for loops that a pragma asks to make vectors of: no kernel has one.
    """
    if is_own(compiler):
        assert (built_kernels(tmp_path_factory) / "warnings").read_text() == ""
        return
    assert not any(" simd" in path.read_text() for path in sources.rglob("*.[ch]"))
    done = make(sources, compiler_of("wheel"), compiler, f"WARNINGS=-Werror {STRICT}", "CFLAGS=-O0")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_no_kernel_asks_an_mpi_for_what_it_does_not_declare(sources: Path, mpi: str, compiler: str) -> None:
    """What another MPI makes different are its declarations: they are read, and no code is made."""
    files = [str(path) for path in sorted(sources.rglob("*.c"))]
    (sources / "declared.mk").write_text(
        f"include Makefile\ndeclared:\n\t$(CC_MPI) $(REQUIRED) -Icommon -fsyntax-only {' '.join(files)}\n"
    )
    done = make(sources, compiler_of(mpi), compiler, f"WARNINGS=-Werror {STRICT}", "-f", "declared.mk", "declared")
    assert len(files) > 20 and (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_kernel_is_linked_with_each_mpi_and_runs(sources: Path, mpi: str) -> None:
    done = make(sources, compiler_of(mpi), "gcc", "CFLAGS=-O0", "hello")
    assert done.returncode == 0, done.stderr
    output = subprocess.run([str(sources / "hello"), "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert output.returncode == 0 and "--budget" in output.stdout, output.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_work_of_noise_is_done_each_time_whatever_a_compiler_sees(
    sources: Path, tmp_path_factory: pytest.TempPathFactory, compiler: str
) -> None:
    """A compiler that takes the second call for the first one makes it take no time: then no quantum is ever found."""
    if is_own(compiler):
        program = built_kernels(tmp_path_factory) / "noise"
    else:
        program = sources / "noise"
        done = make(sources, compiler_of("wheel"), compiler, "noise")
        assert done.returncode == 0, done.stderr
    command = [str(program), "--quantum", "100", "--samples", "5", "--budget", "5"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    assert '"record":"end","complete":true' in output


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_copy_is_a_loop_and_no_call_of_memcpy(sources: Path, compiler: str) -> None:
    """Memcpy chooses its stores by the size of the block: copy would read up to 1.3 times more than scale."""
    (sources / "object.mk").write_text(
        "include Makefile\nstream.o: stream.c\n\t$(CC_MPI) $(REQUIRED) $(CFLAGS) -Icommon -c -o $@ $<\n"
    )
    done = make(sources, str(find_mpicc()), compiler, "-f", "object.mk", "stream.o")
    assert done.returncode == 0, done.stderr
    wanted = subprocess.run(["nm", "-u", "stream.o"], cwd=sources, capture_output=True, text=True, check=True).stdout
    assert "memcpy" not in wanted and "memmove" not in wanted


def test_a_warning_of_a_sites_compiler_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that warns of every file, as a newer one may: an error only where warnings are made errors."""
    compiler = tmp_path / "mpicc"
    compiler.write_text(
        '#!/bin/sh\nfor word; do [ "$word" != -Werror ] || { echo "warning: of mine [-Werror]" >&2; exit 1; }; done\n'
        f'echo "warning: of mine" >&2\nexec {find_mpicc()} "$@"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CFLAGS", "-O0")
    assert build_kernels(tmp_path / "programs", ["hello"], compiler)["hello"].is_file()
