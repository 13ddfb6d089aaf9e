"""What the tracer wrote of a program's ranks, read and added up. A trace lies where the program ran: nothing in it is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from shakedown.events.plain_files import open_plain
from shakedown.model.errors import RecordError

STEM, SUFFIX = "shakedown-trace", ".jsonl"
MOST_BYTES = 1 << 30
_DEEP = 3  # directories below that of the run that are looked into
_MOST_FILES = 100
_LETTERS = 200  # of a name
COLLECTIVES = frozenset(
    f"MPI_{name}{suffix}"
    for suffix in ("", "_c")
    for name in (
        *("Barrier", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block"),
        *("Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"),
    )
)

Counts = tuple[int, int, float, float]  # calls, bytes, seconds, seconds of wait where these were measured


class _Begin(msgspec.Struct, tag_field="record", tag="trace"):
    ranks: int
    program: str = ""
    mpi: str = ""
    waits_measured: bool = False


class Memory(msgspec.Struct):
    """Of one rank, in MB: resident after MPI_Init and at the end, and the most there ever was."""

    after_init: float
    end: float
    peak: float


class Rank(msgspec.Struct, tag_field="record", tag="rank"):
    """One rank: its calls of MPI by name, its operations on files, and its memory."""

    rank: int
    wall_s: float
    mpi_s: float
    files_s: float
    memory_mb: Memory
    host: str = ""
    calls: dict[str, Counts] = {}
    files: dict[str, Counts] = {}


class _Others(msgspec.Struct):
    ranks: int = 0
    messages: int = 0
    bytes: int = 0


class _Pairs(msgspec.Struct, tag_field="record", tag="pairs"):
    sender: int = msgspec.field(name="from")
    to: list[int]
    messages: list[int]
    bytes: list[int]
    others: _Others = msgspec.field(default_factory=_Others)


class _Sum(msgspec.Struct):
    name: str
    ranks: int
    calls: int
    bytes: int
    s: float
    wait_s: float
    least_s: float
    most_s: float
    most_rank: int
    even: bool


class _Call(_Sum, tag_field="record", tag="call"):
    pass


class _File(_Sum, tag_field="record", tag="file"):
    pass


class Matrix(msgspec.Struct, tag_field="record", tag="matrix"):
    """Bytes, in MB, from each rank to each other; of many ranks between blocks of neighbours."""

    labels: list[str]
    rows: list[list[float]]


class Line(msgspec.Struct, tag_field="record", tag="line"):
    """The share of all ranks' time that was in MPI, in each of equal steps since MPI_Init."""

    step_s: float
    mpi_share: list[float]


class _End(msgspec.Struct, tag_field="record", tag="end"):
    wall_s: float


_Record = _Begin | Rank | _Pairs | _Call | _File | Matrix | Line | _End


class Row(msgspec.Struct):
    """One call of MPI, or operation on files, over all ranks. ``wait_s`` is None where nothing is known of it.

    ``wait_s`` of a collective without measured waits: what the ranks were in it longer than the rank with the least time, where all
    called it equally often. The last to come does not wait.
    """

    name: str
    ranks: int
    calls: int
    bytes: int
    seconds: float
    least_s: float
    most_s: float
    most_rank: int
    wait_s: float | None = None


class Pair(msgspec.Struct):
    """What one rank sent to another; -1 is one outside of MPI_COMM_WORLD."""

    sender: int
    to: int
    messages: int
    bytes: int


class Trace(msgspec.Struct):
    """A program's trace. Pairs have the most bytes first; ``unlisted`` are those that the tracer only added up."""

    path: str
    program: str
    mpi: str
    waits_measured: bool
    wall_s: float
    mpi_s: float
    ranks: list[Rank]
    calls: list[Row]
    files: list[Row]
    pairs: list[Pair]
    unlisted: int
    waits: list[float]  # of each rank, in collectives, s
    matrix: Matrix | None = None
    line: Line | None = None


def trace_files(directory: Path) -> list[Path]:
    """Purpose: the traces in a run's directory, in the order in which their programs ended."""
    found: list[Path] = []
    for folder, folders, names in os.walk(directory):
        if len(Path(folder).relative_to(directory).parts) >= _DEEP:
            folders.clear()
        folders.sort()
        found += [Path(folder) / name for name in names if name.startswith(STEM) and name.endswith(SUFFIX)]
        if len(found) > _MOST_FILES:
            break
    return sorted(found[:_MOST_FILES], key=_number)


def read_trace(path: Path, most_bytes: int = MOST_BYTES) -> Trace:
    """Purpose: a trace with its sums. Errors: RecordError where it cannot be read, is no trace, or is not complete."""
    read = _Read()
    try:
        for record in _records(path, most_bytes):
            read.take(record)
        if read.begin is not None and read.end is not None:
            return _put_together(str(path), read, read.begin, read.end)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        hint = "the tracer writes it when the program calls MPI_Finalize; run the test again"
        raise RecordError(f"{path} is no trace: {error}", hint) from error
    raise RecordError(f"{path} is not complete", "the program, or its job, ended while it was written")


@dataclass(slots=True)
class _Read:
    """The records of a trace by their kind."""

    begin: _Begin | None = None
    end: _End | None = None
    ranks: list[Rank] = field(default_factory=list)
    pairs: list[_Pairs] = field(default_factory=list)
    calls: list[_Sum] = field(default_factory=list)
    files: list[_Sum] = field(default_factory=list)
    matrix: Matrix | None = None
    line: Line | None = None

    def take(self, record: _Record) -> None:
        match record:
            case _Begin():
                self.begin = record
            case _End():
                self.end = record
            case Rank():
                self.ranks.append(record)
            case _Pairs():
                self.pairs.append(record)
            case _Call():
                self.calls.append(record)
            case _File():
                self.files.append(record)
            case Matrix():
                self.matrix = record
            case Line():
                self.line = record


def _records(path: Path, most_bytes: int) -> Iterator[_Record]:
    decoder: msgspec.json.Decoder[_Record] = msgspec.json.Decoder(_Record)
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise ValueError(f"it has more than {most_bytes} bytes")
        for line in file:
            yield decoder.decode(line)


def _put_together(path: str, read: _Read, begin: _Begin, end: _End) -> Trace:
    """Errors: ValueError where lists that belong together differ in length."""
    measured, matrix = begin.waits_measured, read.matrix
    least = {call.name: call.least_s for call in read.calls if call.even and call.name in COLLECTIVES}
    each = [
        Pair(one.sender, *three) for one in read.pairs for three in zip(one.to, one.messages, one.bytes, strict=True)
    ]
    if matrix is not None and not _is_square(matrix):
        raise ValueError("its matrix is not square")
    return Trace(
        path=path,
        program=begin.program[:_LETTERS],
        mpi=begin.mpi[:_LETTERS],
        waits_measured=measured,
        wall_s=end.wall_s,
        mpi_s=sum(rank.mpi_s for rank in read.ranks),
        ranks=sorted(read.ranks, key=lambda rank: rank.rank),
        calls=_rows(read.calls, measured),
        files=_rows(read.files, False),
        pairs=sorted(each, key=lambda pair: (-pair.bytes, pair.sender, pair.to)),
        unlisted=sum(one.others.ranks for one in read.pairs),
        waits=[_wait(rank, least, measured) for rank in sorted(read.ranks, key=lambda rank: rank.rank)],
        matrix=matrix,
        line=read.line,
    )


def _is_square(matrix: Matrix) -> bool:
    side = len(matrix.labels)
    return len(matrix.rows) == side and all(len(row) == side for row in matrix.rows)


def _rows(sums: list[_Sum], measured: bool) -> list[Row]:
    rows = [
        Row(one.name[:_LETTERS], one.ranks, one.calls, one.bytes, one.s, one.least_s, one.most_s, one.most_rank)
        for one in sorted(sums, key=lambda one: (-one.s, one.name))
    ]
    known = {one.name: one for one in sums}
    for row in rows:
        if row.name in COLLECTIVES and (measured or known[row.name].even):
            row.wait_s = known[row.name].wait_s if measured else max(0.0, row.seconds - row.ranks * row.least_s)
    return rows


def _wait(rank: Rank, least: dict[str, float], measured: bool) -> float:
    if measured:
        return sum(counts[3] for counts in rank.calls.values())
    return sum(max(0.0, counts[2] - least[name]) for name, counts in rank.calls.items() if name in least)


def _number(path: Path) -> tuple[str, int, str]:
    """By the number that the tracer put behind the name; the first has none."""
    number = path.name.removeprefix(STEM).removesuffix(SUFFIX).removeprefix("-")
    return str(path.parent), int(number) if number.isdecimal() else 0, path.name
