"""The programs of a programming environment: each way builds, runs, and sees what is wrong with the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from shakedown import catalogue

TESTS = Path(catalogue.__file__).parent / "tests"
EXACT = "sum of 1..1000000 = 500000500000"
MPICH = {"CC_MPI": "mpicc.mpich", "CXX_MPI": "mpicxx.mpich", "FC_MPI": "mpifort.mpich"}

needs_fortran = pytest.mark.skipif(
    shutil.which("gfortran") is None, reason="gfortran is not installed: scripts/slurm-packages"
)
needs_mpich = pytest.mark.skipif(
    shutil.which("mpifort.mpich") is None, reason="Debian's MPICH is not installed: scripts/slurm-packages"
)


def ways(name: str) -> list[str]:
    found: list[str] = yaml.safe_load((TESTS / f"{name}.yaml").read_text())["parameters"]["way"]
    return found


def built(folder: Path, way: str, **environment: str) -> subprocess.CompletedProcess[str]:
    shutil.copytree(TESTS / "programming", folder / "source")
    known = {"PATH": os.environ["PATH"], **environment}
    command = ["make", "--no-print-directory", way, "CC=gcc", "CXX=g++", "FC=gfortran"]
    return subprocess.run(
        command, cwd=folder / "source", env=known, capture_output=True, text=True, check=False, timeout=120
    )


def said(folder: Path, *command: str, **environment: str) -> tuple[int, list[str]]:
    program = (
        [*command[:-1], str(folder / "source/program"), *command[-1:]] if command else [str(folder / "source/program")]
    )
    known = {**os.environ, **environment}
    done = subprocess.run(
        program, env=known, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout.splitlines()


@needs_fortran
@pytest.mark.parametrize("way", [*ways("programming"), *ways("programming-fortran")])
def test_languages_and_libraries(tmp_path: Path, way: str) -> None:
    done = built(tmp_path, way)
    assert done.returncode == 0, done.stderr
    assert said(tmp_path) == (0, [EXACT, "threads = 1"])


@pytest.mark.parametrize("threads", [1, 3])
def test_openmp_has_the_threads_that_it_is_given(tmp_path: Path, threads: int) -> None:
    done = built(tmp_path, "openmp")
    assert done.returncode == 0, done.stderr
    assert said(tmp_path, OMP_NUM_THREADS=str(threads)) == (0, [EXACT, f"threads = {threads}"])


@needs_mpich
@pytest.mark.parametrize(
    "way", [*ways("programming-mpi"), *ways("programming-mpi-fortran"), *ways("programming-hybrid")]
)
def test_the_wrappers_of_mpi(tmp_path: Path, way: str) -> None:
    done = built(tmp_path, way, **MPICH)
    assert done.returncode == 0, done.stderr
    threads = 2 if way == "hybrid" else 1
    status, lines = said(tmp_path, "mpiexec.mpich", "-n", "2", "2", OMP_NUM_THREADS="2")
    assert (status, lines[:3]) == (0, [EXACT, "ranks = 2", f"threads = {threads}"])


@needs_mpich
@pytest.mark.parametrize("way", [*ways("programming-mpi"), *ways("programming-mpi-fortran")])
def test_ranks_that_do_not_find_each_other_are_told(tmp_path: Path, way: str) -> None:
    """As where the launcher is of another MPI than the wrapper: each rank is alone."""
    assert built(tmp_path, way, **MPICH).returncode == 0
    status, lines = said(tmp_path, "2")
    assert status == 1
    assert lines[0] == (
        "error: single ranks instead of one world: 1 of 2; the wrapper that built this is of another MPI than the launcher"
    )


def test_an_environment_without_static_libraries_fails_while_it_is_built(tmp_path: Path) -> None:
    """A compiler that links dynamically whatever it is told is found out."""
    done = built(tmp_path, "static", STATIC="-O1")
    assert done.returncode != 0
    assert "NEEDED" in done.stdout


@needs_fortran
def test_fortran_without_its_library_is_not_linked(tmp_path: Path) -> None:
    done = built(tmp_path, "c++-fortran", FORTRAN_LIBRARIES="-lno-such-library")
    assert done.returncode != 0
