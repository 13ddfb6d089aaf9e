"""The records in an output that the report draws: matrices, histograms, I/O rates, values of nodes. Pure: bytes in, plain data out.

A malformed record is left out and mentioned in ``Found.troubles``; lines that are not such records are ignored.
"""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shakedown.report.words import one_line

LABEL_LIMIT = 60
MATRIX_LIMIT = 2048  # nodes along one side
BINS_LIMIT = 4096
NODES_LIMIT = 100_000
RECORD_LIMIT = 4096  # records of one output
_SAYS_RECORD = re.compile(rb'\{\s*"record"\s*:\s*"(matrix|histogram|io|nodes)"')


@dataclass(frozen=True, slots=True)
class Matrix:
    """``rows[i][j]`` is the value measured from ``labels[i]`` to ``labels[j]``; NaN where there is none."""

    name: str
    unit: str
    labels: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts[i]`` values are between ``edges[i]`` and ``edges[i + 1]``.

    ``who`` names the host and core, or whatever else distinguishes histograms of one name.
    """

    name: str
    unit: str
    who: str
    edges: tuple[float, ...]
    counts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IoRate:
    """One rate of a file-system test. ``transfer`` is in bytes, 0 where it has no meaning."""

    operation: str
    mode: str
    transfer: int
    unit: str
    value: float


@dataclass(frozen=True, slots=True)
class NodeValues:
    """``values[i]`` was measured on the node ``labels[i]``; NaN where there is none."""

    name: str
    unit: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(slots=True)
class Found:
    """The pictures of one output."""

    matrices: list[Matrix] = field(default_factory=list)
    histograms: list[Histogram] = field(default_factory=list)
    rates: list[IoRate] = field(default_factory=list)
    nodes: list[NodeValues] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


class _BadRecordError(ValueError):
    """A record whose kind is that of a picture, but whose content is not valid."""


def find_pictures(data: bytes, wanted: Collection[str]) -> Found:
    """Purpose: the records named in ``wanted`` (matrix, histogram, io, nodes) among the lines of an output."""
    found = Found()
    for number, (kind, record) in enumerate(_records(data, wanted)):
        if number >= RECORD_LIMIT:
            found.troubles.append(f"more than {RECORD_LIMIT} records to draw; the rest is left out")
            break
        try:
            if record is None:
                raise _BadRecordError("its line is damaged or cut off")
            _READERS[kind](found, record)
        except _BadRecordError as error:
            found.troubles.append(f"a {kind} record is left out: {error}")
    return found


def _records(data: bytes, wanted: Collection[str]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Every line that is a record of a wanted kind, as (kind, record); the record is None where the line is damaged."""
    for line in io.BytesIO(data):
        if not line.startswith(b"{") or b'"record"' not in line:
            continue
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, ValueError, RecursionError):
            said = _SAYS_RECORD.match(line)
            if said and (kind := said.group(1).decode()) in wanted:
                yield kind, None
            continue
        kind = record.get("record")
        if isinstance(kind, str) and kind in wanted and kind in _READERS:
            yield kind, record


def _matrix(found: Found, record: dict[str, Any]) -> None:
    rows = record.get("rows")
    if not isinstance(rows, list) or not rows:
        raise _BadRecordError("it has no rows")
    size = len(rows)
    if size > MATRIX_LIMIT:
        raise _BadRecordError(f"it has {size} rows, of which {MATRIX_LIMIT} would be drawn at most")
    if any(not isinstance(row, list) or len(row) != size for row in rows):
        raise _BadRecordError("it is not square")
    labels = record.get("labels")
    if not isinstance(labels, list) or len(labels) != size:
        labels = list(range(size))
    name, unit = _word(record, "name", "matrix"), _word(record, "unit")
    values = tuple(tuple(_cell(value) for value in row) for row in rows)
    found.matrices.append(Matrix(name, unit, tuple(one_line(str(label), LABEL_LIMIT) for label in labels), values))


def _cell(value: Any) -> float:
    return math.nan if value is None else _number(value)


def _histogram(found: Found, record: dict[str, Any]) -> None:
    edges, counts = _numbers(record, "edges"), _numbers(record, "counts")
    if len(edges) != len(counts) + 1 or not counts:
        raise _BadRecordError(f"{len(edges)} edges do not hold {len(counts)} counts")
    if any(high <= low for low, high in itertools.pairwise(edges)):
        raise _BadRecordError("its edges do not rise")
    if min(counts) < 0:
        raise _BadRecordError("a count is negative")
    core = _word(record, "core")
    who = " ".join(part for part in (_word(record, "host"), f"core {core}" if core else "") if part)
    found.histograms.append(Histogram(_word(record, "name", "histogram"), _word(record, "unit"), who, edges, counts))


def _rate(found: Found, record: dict[str, Any]) -> None:
    value = _number(record.get("value"))
    if value < 0:
        raise _BadRecordError("its value is negative")
    transfer = record.get("transfer", 0)
    size = transfer if isinstance(transfer, int) and 0 < transfer < 2**62 else 0
    operation, mode = _word(record, "operation", "?"), _word(record, "mode")
    found.rates.append(IoRate(operation, mode, size, _word(record, "unit"), value))


def _nodes(found: Found, record: dict[str, Any]) -> None:
    values, labels = record.get("values"), record.get("labels")
    if not isinstance(values, list) or not isinstance(labels, list) or len(values) != len(labels) or not values:
        raise _BadRecordError("its labels and values do not fit each other")
    if len(values) > NODES_LIMIT:
        raise _BadRecordError(f"it has {len(values)} nodes, of which {NODES_LIMIT} would be drawn at most")
    names = tuple(one_line(str(label), LABEL_LIMIT) for label in labels)
    name, unit = _word(record, "name", "nodes"), _word(record, "unit")
    found.nodes.append(NodeValues(name, unit, names, tuple(map(_cell, values))))


def _numbers(record: dict[str, Any], key: str) -> tuple[float, ...]:
    values = record.get(key)
    if not isinstance(values, list):
        raise _BadRecordError(f"'{key}' is no list")
    if len(values) > BINS_LIMIT:
        raise _BadRecordError(f"'{key}' has more than {BINS_LIMIT} numbers")
    return tuple(map(_number, values))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e30:
        raise _BadRecordError(f"'{one_line(str(value), 20)}' is no believable number")
    return float(value)


def _word(record: dict[str, Any], key: str, default: str = "") -> str:
    value = record.get(key, default)
    return one_line(str(value), LABEL_LIMIT) if isinstance(value, str | int | float) else default


_READERS: dict[str, Callable[[Found, dict[str, Any]], None]] = {
    "matrix": _matrix,
    "histogram": _histogram,
    "io": _rate,
    "nodes": _nodes,
}
