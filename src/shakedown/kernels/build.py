"""Building kernels: in a scratch copy of their sources, into a directory of choice or a cache keyed by what goes in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from shakedown.kernels.compilers import GET_COMPILER, GET_MPI, find_mpicc, find_program
from shakedown.kernels.sources import checked_names, kernel_directory
from shakedown.model.errors import ShakedownError, UsageError
from shakedown.model.own_places import own_place

# what a person's environment says to make of the compiler's words: a program built with others is another program
_MAKES = ("CFLAGS", "LDFLAGS", "OFFLOAD", "LOADER_LIBRARIES", "LOADER_FUNCTIONS", "MPICH_CC", "OMPI_CC")


def build_kernels(target: Path, names: Sequence[str] = (), mpicc: Path | None = None) -> dict[str, Path]:
    """Purpose: compile the named kernels, or all, and put the programs into ``target``.

    Returns name -> program. A program appears whole or not at all, so several builders may share a target.
    Errors: UsageError for an unknown name, a missing compiler or a target that cannot be written; BuildFailed with the
    compiler's words.
    """
    import tempfile

    wanted = checked_names(names)
    compiler = mpicc or find_mpicc()
    make = find_program("make", GET_COMPILER)
    find_program(os.environ.get("MPICH_CC", "cc"), GET_COMPILER)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=target) as scratch:
            _copy_sources(Path(scratch))
            _make(make, compiler, Path(scratch), wanted)
            return {name: (Path(scratch) / name).replace(target / name) for name in wanted}
    except OSError as error:
        hint = "name a directory that you may write to, with --into DIRECTORY; the cache is below XDG_CACHE_HOME, or ~/.cache"
        raise UsageError(f"cannot build kernels in {target}: {error.strerror or error}", hint) from error


def built_kernel(name: str) -> Path:
    """Purpose: the program of a kernel from the cache, built now if it is not there yet."""
    checked_names([name])
    program = cache_directory() / name
    return program if program.is_file() else build_kernels(program.parent, [name])[name]


def cache_directory(mpicc: Path | None = None) -> Path:
    """Purpose: where built kernels are kept: one directory for each set of sources, compiler and processor architecture."""
    return _cached(mpicc or find_mpicc(), _sources())


def _cached(mpicc: Path, sources: list[Path]) -> Path:
    import hashlib
    import platform

    compiler = mpicc.resolve()
    words = [os.environ.get(name, "") for name in _MAKES]
    digest = hashlib.sha256("\n".join([platform.machine(), str(compiler), *words, ""]).encode())
    for path in [compiler, *sources]:
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return own_place("XDG_CACHE_HOME") / "shakedown" / "kernels" / digest.hexdigest()[:16]


def build_tracer(target: Path | None = None, mpicc: str | None = None) -> Path:
    """Purpose: the tracer's library, built into ``target``; without one from the cache, built now if it is not there yet.

    ``mpicc``: a program or its path. Errors: as those of ``build_kernels``.
    """
    import tempfile

    compiler = find_program(mpicc, GET_MPI) if mpicc else find_mpicc()
    sources = sorted(path for path in (kernel_directory().parent / "trace").iterdir() if path.is_file())
    place = target or _cached(compiler, sources)
    library = place / "libshakedown-trace.so"
    if target is None and library.is_file():
        return library
    make = find_program("make", GET_COMPILER)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=place) as scratch:
            for path in sources:
                (Path(scratch) / path.name).write_bytes(path.read_bytes())
            _make(make, compiler, Path(scratch), [library.name])
            return (Path(scratch) / library.name).replace(library)
    except OSError as error:
        hint = "name a directory that you may write to, with --into DIRECTORY; the cache is below XDG_CACHE_HOME, or ~/.cache"
        raise UsageError(f"cannot build the tracer in {place}: {error.strerror or error}", hint) from error


class BuildFailed(ShakedownError):
    """A kernel could not be compiled; the message holds the compiler's last words."""


def _sources() -> list[Path]:
    found = kernel_directory().rglob("*")
    return sorted(p for p in found if p.suffix in {".c", ".h", ".awk"} or p.name == "Makefile")


def _copy_sources(scratch: Path) -> None:
    for path in _sources():
        copy = scratch / path.relative_to(kernel_directory())
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())


def _make(make: Path, compiler: Path, where: Path, names: Sequence[str]) -> None:
    import subprocess

    command = [str(make), "--no-print-directory", "-C", str(where), f"CC_MPI={compiler}", *names]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        words = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise BuildFailed(
            f"{compiler} could not compile {', '.join(names)}:\n{words}", "the compiler must know C11 and OpenMP"
        )
