"""Where the MPI compiler and launcher are: beside this Python first, then on PATH."""

from __future__ import annotations

import sys
from pathlib import Path

from shakedown.model.errors import UsageError

GET_MPI = "pip install 'shakedown[mpi]', or apt-get install mpich libmpich-dev"
GET_COMPILER = "apt-get install gcc make"


def find_mpicc() -> Path:
    """Purpose: the compiler for MPI programs. Raises UsageError with the way to get one that works."""
    found = _find("mpicc", [Path(sys.prefix) / "bin"])
    if _splits_its_own_path(found):
        raise UsageError(
            f"'{found}' cannot compile: it is a script that splits its own path at the space in it",
            "install Shakedown into a folder whose whole path has no space",
        )
    return found


def find_mpiexec() -> Path:
    """Purpose: the launcher that belongs to ``find_mpicc``: a program started by another library's launcher runs alone."""
    return _find("mpiexec", [find_mpicc().parent, Path(sys.prefix) / "bin"])


def find_program(name: str, way: str) -> Path:
    """A program on PATH. Raises UsageError with the ``way`` to get it."""
    import shutil

    found = shutil.which(name)
    if found is None:
        raise UsageError(f"there is no '{name}' on PATH", way)
    return Path(found)


def _splits_its_own_path(compiler: Path) -> bool:
    """MPICH's mpicc is a shell script: it puts its folder into compiler options without quotes. Other libraries' are programs."""
    if not any(letter.isspace() for letter in str(compiler)):
        return False
    try:
        with compiler.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _find(name: str, first: list[Path]) -> Path:
    import shutil

    for directory in first:
        found = shutil.which(name, path=str(directory))
        if found is not None:
            return Path(found)
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"there is no '{name}' in {Path(sys.prefix) / 'bin'} nor on PATH", GET_MPI)
    return Path(found)
