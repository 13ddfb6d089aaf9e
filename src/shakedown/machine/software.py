"""Programs found on the machine: compilers as toolchains, and the MPI that would start jobs."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from shakedown.model.nouns import Pairs, Toolchain

Search = Callable[[str], str | None]  # the path of a program, or None where there is none
Ask = Callable[[list[str]], str]  # what a command prints, "" where it fails

# toolchain -> its C, C++ and Fortran compilers; it is found where its C compiler is
_COMPILERS = {"gcc": ("gcc", "g++", "gfortran"), "clang": ("clang", "clang++", "flang")}
_PATIENCE_S = 5.0
_INTEL = re.compile(r"Intel\(R\) MPI Library.*?Version ([\d.]+)")
_OPEN_MPI = re.compile(r"\((?:OpenRTE|Open MPI|PRRTE)\) ([\d.]+\w*)")
_HYDRA = re.compile(r"HYDRA build details:.*?Version:\s+(\S+)", re.DOTALL)


def toolchains_found(search: Search) -> tuple[Toolchain, ...]:
    """Purpose: a toolchain for each C compiler that is there.

    Its environment makes MPI's compiler wrappers use it too: MPICH's and Open MPI's each have a variable of their own.
    """
    return tuple(
        Toolchain(name, cc=cc, cxx=cxx, fc=fc, environment=(("MPICH_CC", cc), ("OMPI_CC", cc)))
        for name, (cc, cxx, fc) in _COMPILERS.items()
        if search(cc)
    )


def software_facts(search: Search, ask: Ask) -> Pairs:
    """Purpose: versions of what the measurements stand on, for the report: compilers, MPI, Python."""
    compilers = [f"{cc} {ask([cc, '-dumpfullversion', '-dumpversion'])}".strip() for cc in _found_compilers(search)]
    facts = {
        "compilers": ", ".join(compilers) or "none found (apt-get install gcc)",
        "mpi": mpi_found(search, ask),
        "python": platform.python_version(),
    }
    return tuple((key, value) for key, value in facts.items() if value)


def mpi_found(search: Search, ask: Ask) -> str:
    """Which MPI starts jobs here, by the ``mpiexec`` that would be run."""
    starter = search("mpiexec")
    if starter is None:
        return "none found (pip install mpich)"
    said = ask([starter, "--version"])
    for name, pattern in (("Intel MPI", _INTEL), ("Open MPI", _OPEN_MPI), ("MPICH", _HYDRA)):
        match = pattern.search(said)
        if match:
            return f"{name} {match.group(1)} ({starter})"
    return f"unknown ({starter})"


def search_here(program: str) -> str | None:
    """Where a program is: beside our own Python first (the wheels of MPI put theirs there), then on the search path."""
    places = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", os.defpath)])
    return shutil.which(program, path=places)


def ask_here(command: list[str]) -> str:
    """What a command prints, or "" where it cannot be run, fails or takes too long: versions are told, not needed."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout[:10_000].strip()


def _found_compilers(search: Search) -> list[str]:
    return [cc for cc, _, _ in _COMPILERS.values() if search(cc)]
