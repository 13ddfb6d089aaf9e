"""A record's rows as bytes and back, so that a few rows can be read without decoding all of them.

``freeze_record`` gives parts by name; ``KeptRows`` reads the runs. Each run is stored with its own checksum, and ``keys`` has the
fields that filters need. ``thawed`` gives a record to which events can be added; its runs are decoded on demand.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from typing import Any, overload

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.rows.rows import NoteRow, RunRow
from shakedown.metrics.rows.table import Record

Parts = Mapping[str, Any]  # name -> bytes, or a view of bytes
RUNS = "runs"  # the part whose rows have their own checksums
UNFIT = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, EOFError)


class Unreadable(ValueError):
    """The kept bytes differ from what was written."""


class Key(Struct, frozen=True, array_like=True, gc=False):
    """The fields of a run's row that filters need. ``failed``: it has a class of failure; ``current``: its verdict is in force."""

    run: str
    case: str
    verdict: str
    current: bool
    failed: bool


class _Books(Struct):
    """State that is needed only to add further events."""

    jobs: dict[str, str]
    chains: dict[tuple[str, ...], int]


def key_of(row: RunRow) -> Key:
    """The filter key of a row."""
    return Key(row.run, row.case, row.verdict, not row.superseded_by, bool(row.failure_class))


class KeptRows(MutableSequence[RunRow]):
    """The runs of a kept record: a list whose rows are decoded on demand; rows can be appended and replaced."""

    def __init__(self, data: memoryview, ends: array[int], sums: array[int], keys: list[Key]) -> None:
        self._data, self._ends, self._sums, self._keys = data, ends, sums, keys
        self._decoder = msgspec.msgpack.Decoder(RunRow)
        self._changed: dict[int, RunRow] = {}
        self._new: list[RunRow] = []

    def select(self, wanted: Callable[[Key], bool]) -> Iterator[RunRow]:
        """Purpose: the rows whose key is wanted, in order."""
        for place, key in enumerate(self._keys):
            if place in self._changed:
                if wanted(key_of(self._changed[place])):
                    yield self._changed[place]
            elif wanted(key):
                yield self._row(place)
        yield from (row for row in self._new if wanted(key_of(row)))

    def places(self) -> dict[str, int]:
        """Purpose: run -> the place of its row in force, which is its last one."""
        return {key.run: place for place, key in enumerate(self._keys)}

    def count(self, value: object = None) -> int:
        """Purpose: with ``value`` None, the number of runs: rows in force."""
        if value is not None:
            return super().count(value)
        kept = sum(key.current for place, key in enumerate(self._keys) if place not in self._changed)
        return kept + sum(not row.superseded_by for row in (*self._changed.values(), *self._new))

    def _row(self, place: int) -> RunRow:
        data = self._data[self._ends[place - 1] if place else 0 : self._ends[place]]
        if zlib.crc32(data) != self._sums[place]:
            raise Unreadable("runs")
        return self._decoder.decode(data)

    def __len__(self) -> int:
        return len(self._keys) + len(self._new)

    @overload
    def __getitem__(self, place: int) -> RunRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[RunRow]: ...
    def __getitem__(self, place: int | slice) -> RunRow | list[RunRow]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = place + len(self) if place < 0 else place
        if place >= len(self._keys):
            return self._new[place - len(self._keys)]
        return self._changed[place] if place in self._changed else self._row(place)

    @overload
    def __setitem__(self, place: int, row: RunRow) -> None: ...
    @overload
    def __setitem__(self, place: slice, row: Iterable[RunRow]) -> None: ...
    def __setitem__(self, place: int | slice, row: Any) -> None:
        if isinstance(place, slice):
            raise TypeError("rows are replaced one by one")
        if place >= len(self._keys):
            self._new[place - len(self._keys)] = row
        else:
            self._changed[place] = row

    def __delitem__(self, place: int | slice) -> None:
        raise TypeError("no row of a record goes")

    def insert(self, index: int, value: RunRow) -> None:
        if index != len(self):
            raise TypeError("rows are added at the end")
        self._new.append(value)


def freeze_record(record: Record) -> dict[str, bytes]:
    """Purpose: a folded record as parts. Raises one of UNFIT if it contains a value that cannot be encoded."""
    encoder = msgspec.msgpack.Encoder()
    ends, sums, rows, end = array("Q"), array("I"), bytearray(), 0
    for row in record.runs:
        data = encoder.encode(row)
        rows += data
        end += len(data)
        ends.append(end)
        sums.append(zlib.crc32(data))
    rest = replace(record, runs=[], notes=[], plans={}, _place={}, _jobs={}, _chains={})
    return {
        "rest": encoder.encode(rest),
        "keys": encoder.encode([key_of(row) for row in record.runs]),
        "books": encoder.encode(_Books(record._jobs, record._chains)),
        "notes": encoder.encode(record.notes),
        "ends": ends.tobytes(),
        "sums": sums.tobytes(),
        RUNS: bytes(rows),
    }


def thawed(parts: Parts, rows: memoryview, in_full: bool = True) -> Record:
    """Purpose: the record that was frozen. ``rows``: the part RUNS; ``in_full``: False if no event will be added and the notes are
    not needed; the record then has no notes.

    Raises one of UNFIT if the parts are not those of a record. A damaged row raises Unreadable when it is read.
    """
    record = msgspec.msgpack.decode(parts["rest"], type=Record)
    ends, sums = array("Q"), array("I")
    ends.frombytes(parts["ends"])
    sums.frombytes(parts["sums"])
    keys = msgspec.msgpack.decode(parts["keys"], type=list[Key])
    if not len(ends) == len(sums) == len(keys) or (ends[-1] if ends else 0) != len(rows):
        raise Unreadable("runs")
    kept = KeptRows(rows, ends, sums, keys)
    record.runs = kept  # type: ignore[assignment] # it is what the fold does with a list
    if in_full:
        books = msgspec.msgpack.decode(parts["books"], type=_Books)
        record._jobs, record._chains, record._place = books.jobs, books.chains, kept.places()
        record.notes = msgspec.msgpack.decode(parts["notes"], type=list[NoteRow])
    return record


def with_plain_rows(record: Record) -> Record:
    """Purpose: the same record with a plain list of rows, for a caller that reads all of them. Raises Unreadable."""
    record.runs = list(record.runs)
    return record


def selected(record: Record, wanted: Callable[[Key], bool]) -> list[RunRow]:
    """Purpose: the rows of a record whose key is wanted, in the order of the log. Raises Unreadable."""
    if isinstance(record.runs, KeptRows):
        return list(record.runs.select(wanted))
    return [row for row in record.runs if wanted(key_of(row))]


def count_runs(record: Record) -> int:
    """Purpose: how many runs have a verdict."""
    return record.runs.count() if isinstance(record.runs, KeptRows) else sum(1 for _ in record.current())
