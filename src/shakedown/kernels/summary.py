"""The records of a kernel as tables for people. Knows the convention of records, not the kernels: a new one needs nothing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.kernels.launch import Record

MOST_COLUMNS = 12
FRAME = frozenset({"start", "end", "result", "matrix"})


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def summarise(records: Sequence[Record]) -> list[Table]:
    """Purpose: tables of the records' lists (ranks, histograms, I/O), of small matrices, and of the results, in this order."""
    kinds = dict.fromkeys(r["record"] for r in records if r["record"] not in FRAME)
    tables = [_kind(kind, [r for r in records if r["record"] == kind]) for kind in kinds]
    tables += [_matrix(r) for r in records if r["record"] == "matrix" and len(r.get("labels", ())) <= MOST_COLUMNS]
    return [t for t in tables + _results(records) if t.rows]


def _kind(kind: str, records: Sequence[Record]) -> Table:
    values = all(isinstance(r.get("labels"), list) and isinstance(r.get("values"), list) for r in records)
    return _series(kind, records) if values else _fields(kind, records)


def _series(kind: str, records: Sequence[Record]) -> Table:
    """One row a label, one column a record; nothing where there is but one label, whose value is a result too."""
    labels = [str(label) for label in records[0]["labels"]]
    headings = ("", *(f"{r.get('name', '')} {r.get('unit', '')}".strip() for r in records))
    rows = tuple((label, *(_text(r["values"][i]) for r in records)) for i, label in enumerate(labels))
    return Table(kind, headings, rows if len(labels) > 1 else ())


def _fields(kind: str, records: Sequence[Record]) -> Table:
    """One row a record, one column a plain field; lists such as the bins of a histogram are left to pictures."""
    names = dict.fromkeys(k for r in records for k, v in r.items() if k != "record" and not isinstance(v, dict | list))
    rows = tuple(tuple(_text(r.get(name)) for name in names) for r in records)
    return Table(kind, tuple(names), rows if names else ())


def _matrix(record: Record) -> Table:
    labels = [str(label) for label in record["labels"]]
    rows = tuple((label, *map(_text, row)) for label, row in zip(labels, record.get("rows", ()), strict=False))
    title = f"{record.get('name', 'matrix')}, {record.get('unit', '')}".rstrip(", ")
    return Table(title, (f"{record.get('row', '')}", *labels), rows)


def _results(records: Sequence[Record]) -> list[Table]:
    """Objects with the same keys become rows of one table; what stands alone becomes a table of two columns."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    single: list[tuple[str, ...]] = []
    for record in (r for r in records if r["record"] == "result"):
        for key, value in record.items():
            if isinstance(value, dict):
                flat = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
                groups.setdefault(tuple(flat), []).append((key, *map(_text, flat.values())))
            elif key not in ("record", "complete"):
                single.append((key, _text(value)))
    tables = [Table("result", ("", *keys), tuple(rows)) for keys, rows in groups.items()]
    return [*tables, Table("result", ("", "value"), tuple(single))]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
