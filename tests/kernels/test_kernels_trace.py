"""The tracer against programs that count their own calls, messages and bytes, in C and Fortran, under MPICH and Open MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from shakedown.kernels import find_mpicc, find_mpiexec, kernel_directory
from shakedown.kernels.traces import Rank, Trace, read_trace, trace_files

pytestmark = pytest.mark.mpi

PROGRAMS = Path(__file__).parent / "traced"
TRACER = kernel_directory().parent / "trace"
RANKS = 3
LIBRARY = "libshakedown-trace.so"
# language -> the compiler's name, the source, its options
LANGUAGES = {
    "c": ("mpicc", "known.c", []),
    "newer": ("mpicc", "newer.c", []),
    "mpi": ("mpifort", "known.F90", []),
    "mpi_f08": ("mpifort", "known.F90", ["-DF08"]),
    "mpi of 4": ("mpifort", "known.F90", ["-DMPI4", "-fallow-argument-mismatch"]),
    "mpi_f08 of 4": ("mpifort", "known.F90", ["-DF08", "-DMPI4"]),
}
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SHAKEDOWN_TRACE")},
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "HYDRA_LAUNCHER": "fork",
}


@dataclass(frozen=True)
class Ran:
    """A run of a traced program. ``known``: what the program counted, of each rank: the words of its lines."""

    status: int
    errors: str
    place: Path
    known: list[list[list[str]]]

    @property
    def trace(self) -> Trace:
        (path,) = trace_files(self.place)
        return read_trace(path)


def tool(mpi: str, name: str) -> str:
    """A program of the wheel's MPICH, of Debian's or of Open MPI; skips where it is not installed."""
    if mpi == "wheel":
        return str(find_mpicc() if name == "mpicc" else find_mpiexec())
    found = shutil.which(f"{name}.{mpi}")
    if found is None:
        pytest.skip(f"there is no {name}.{mpi}; scripts/slurm-packages installs it")
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory with the tracer of an MPI, built once; quickly, for its tests only."""

    @cache
    def build(mpi: str) -> Path:
        place = Path(shutil.copytree(TRACER, tmp_path_factory.mktemp("tracer") / "trace"))
        words = ["WARNINGS=-Wall -Wextra -Wshadow -Wvla -Werror", "CFLAGS=-O0"]
        done = subprocess.run(
            ["make", "-s", f"CC_MPI={tool(mpi, 'mpicc')}", *words],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return place

    return build


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    @cache
    def compiled(mpi: str, language: str = "c") -> Path:
        name, source, options = LANGUAGES[language]
        target = tmp_path_factory.mktemp("program") / "known"
        subprocess.run([tool(mpi, name), "-w", *options, "-o", str(target), str(PROGRAMS / source)], check=True)
        return target

    return compiled


@pytest.fixture
def run(built: Callable[[str], Path], tmp_path: Path) -> Callable[..., Ran]:
    def start(mpi: str, command: list[str | Path], tracer: str = "", **variables: str) -> Ran:
        library = built(tracer or mpi) / LIBRARY
        words = [tool(mpi, "mpiexec"), "-n", str(RANKS), "env", f"LD_PRELOAD={library}", *map(str, command)]
        done = subprocess.run(
            words, cwd=tmp_path, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=60, check=False
        )
        files = [tmp_path / f"known-{rank}.txt" for rank in range(RANKS)]
        known = [[line.split() for line in file.read_text().splitlines()] for file in files if file.exists()]
        return Ran(done.returncode, done.stdout + done.stderr, tmp_path, known)

    return start


def counted(lines: list[list[str]], kind: str) -> dict[str, tuple[int, int]]:
    """What a program says it did: name -> how often, bytes."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, size in (line[1:] for line in lines if line[0] == kind):
        found[name][0] += 1
        found[name][1] += int(size)
    return {name: (times, size) for name, (times, size) in found.items()}


def calls_of(rank: Rank) -> dict[str, tuple[int, int]]:
    return {name.removeprefix("MPI_"): counts[:2] for name, counts in rank.calls.items()}


def pairs_of(trace: Trace, rank: int) -> dict[str, tuple[int, int]]:
    return {str(pair.to): (pair.messages, pair.bytes) for pair in trace.pairs if pair.sender == rank}


@pytest.mark.parametrize(
    ("mpi", "language"),
    [
        ("wheel", "c"),
        ("openmpi", "c"),
        ("wheel", "newer"),
        ("mpich", "newer"),
        ("openmpi", "newer"),
        ("openmpi", "mpi"),
        ("openmpi", "mpi_f08"),
        ("mpich", "mpi of 4"),
        ("mpich", "mpi_f08 of 4"),
    ],
)
def test_calls_messages_and_bytes_are_those_that_the_program_counts(
    run: Callable[..., Ran], program: Callable[..., Path], mpi: str, language: str
) -> None:
    ran = run(mpi, [program(mpi, language)])
    assert ran.status == 0, ran.errors
    trace = ran.trace
    assert len(ran.known) == len(trace.ranks) == RANKS and ("Open MPI" in trace.mpi) == (mpi == "openmpi")
    for rank, known in zip(trace.ranks, ran.known, strict=True):
        assert calls_of(rank) == counted(known, "call")
        assert pairs_of(trace, rank.rank) == counted(known, "pair")
        files = {line[1]: (int(line[2]), int(line[3])) for line in known if line[0] == "file"}
        assert not files or {name: counts[:2] for name, counts in rank.files.items()} == files
    _check_sums(trace)
    if language == "c":
        _check_memory(trace)


@pytest.mark.parametrize("mpi", ["wheel", "openmpi"])
def test_clang_has_no_warning(mpi: str) -> None:
    if shutil.which("clang") is None:
        pytest.skip("there is no clang; scripts/slurm-packages installs it")
    strict = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wshadow",
        "-Wvla",
        "-Werror",
        "-Wno-unused-command-line-argument",
        "-fsyntax-only",
    ]
    variables = ENVIRONMENT | {"MPICH_CC": "clang", "OMPI_CC": "clang"}
    line = [tool(mpi, "mpicc"), *strict, str(TRACER / "trace.c")]
    done = subprocess.run(line, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _check_memory(trace: Trace) -> None:
    for rank in trace.ranks:
        assert rank.memory_mb.peak >= rank.memory_mb.after_init + 33.5  # 32 MiB that the program fills at its end
        assert rank.wall_s > 0 and rank.host


def _check_sums(trace: Trace) -> None:
    """The sums over ranks are those of the ranks' own numbers, and the matrix is that of the pairs."""
    for row in trace.calls:
        mine = {rank.rank: rank.calls[row.name] for rank in trace.ranks if row.name in rank.calls}
        assert (row.ranks, row.calls) == (len(mine), sum(counts[0] for counts in mine.values()))
        assert row.bytes == sum(counts[1] for counts in mine.values())
        assert row.seconds == pytest.approx(sum(counts[2] for counts in mine.values()), abs=1e-6)
        assert row.most_s == mine[row.most_rank][2] == max(counts[2] for counts in mine.values())
        assert row.least_s == min(counts[2] for counts in mine.values())
    assert trace.matrix is not None and trace.matrix.labels == [str(rank) for rank in range(RANKS)]
    sent = [[0.0] * RANKS for _ in range(RANKS)]
    for pair in trace.pairs:
        sent[pair.sender][pair.to] += 1e-6 * pair.bytes
    assert all(row == pytest.approx(mine, abs=1e-6) for row, mine in zip(trace.matrix.rows, sent, strict=True))
    assert trace.line is not None and len(trace.line.mpi_share) <= 64
    inside = sum(share * trace.line.step_s for share in trace.line.mpi_share[:-1])
    assert inside <= trace.mpi_s / RANKS * 1.01 + 1e-3


def test_waits_are_measured_where_that_is_asked_for(run: Callable[..., Ran], program: Callable[..., Path]) -> None:
    trace = run("wheel", [program("wheel")], SHAKEDOWN_TRACE_WAITS="1").trace
    assert trace.waits_measured and all(wait > 0 for wait in trace.waits)
    waited = {row.name for row in trace.calls if row.wait_s}
    assert {"MPI_Barrier", "MPI_Alltoallv", "MPI_Reduce"} <= waited and not waited & {"MPI_Send", "MPI_Iallreduce"}
    known = {"calls": {row.name: row.calls for row in trace.calls}}
    assert known["calls"]["MPI_Barrier"] == RANKS  # the barriers of the tracer do not count


def test_each_program_of_a_run_has_a_trace_and_a_shell_has_none(
    run: Callable[..., Ran], program: Callable[..., Path]
) -> None:
    """MPICH's processes take part in MPI once; the programs here come one after another, under launchers of their own."""
    ran = run("wheel", ["sh", "-c", f"ls >/dev/null; exec {program('wheel')}"], SHAKEDOWN_TRACE_PEERS="1")
    again = run("wheel", [program("wheel")], SHAKEDOWN_TRACE_PEERS="1")
    assert ran.status == again.status == 0, ran.errors + again.errors
    first, second = trace_files(ran.place)
    assert (first.name, second.name) == ("shakedown-trace.jsonl", "shakedown-trace-2.jsonl")
    one, other = read_trace(first), read_trace(second)
    assert [row.calls for row in sorted(one.calls, key=lambda row: row.name)] == [
        row.calls for row in sorted(other.calls, key=lambda row: row.name)
    ]
    assert len(one.pairs) == RANKS and one.unlisted == RANKS  # each rank sends to two others, and lists one
    assert one.matrix == other.matrix and sum(map(bool, one.matrix.rows[0])) == 2  # type: ignore[union-attr]


def test_a_program_with_another_mpi_is_stopped_with_a_sentence(
    run: Callable[..., Ran], program: Callable[..., Path]
) -> None:
    ran = run("openmpi", [program("openmpi")], tracer="wheel")
    assert ran.status != 0 and not trace_files(ran.place)
    assert (
        "error: trace: it was built for MPICH or one like it, and this program has Open MPI: build it with"
        in ran.errors
    )


def test_a_program_may_be_linked_with_the_tracer(built: Callable[[str], Path], tmp_path: Path) -> None:
    place, target = built("wheel"), tmp_path / "linked"
    words = [tool("wheel", "mpicc"), "-w", "-o", str(target), str(PROGRAMS / "known.c"), str(place / "trace.o"), "-ldl"]
    subprocess.run(words, check=True)
    done = subprocess.run(
        [tool("wheel", "mpiexec"), "-n", "2", str(target)], cwd=tmp_path, env=ENVIRONMENT, check=False
    )
    assert done.returncode == 0
    (path,) = trace_files(tmp_path)
    assert len(read_trace(path).ranks) == 2
