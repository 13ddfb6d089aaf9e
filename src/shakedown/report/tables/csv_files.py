"""A CSV file from rows: every digit of a number, nothing that a spreadsheet would run, no control characters."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from shakedown.report.words import harmless

Cell = str | float | int | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Table(bytes):
    """A table as the bytes of its CSV file. ``headings`` and ``rows`` keep its values, for other formats."""

    headings: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()


def to_csv(headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    """Purpose: headings and rows as UTF-8. Numbers read back to the same bits; a cell that looks like a formula
    gets an apostrophe.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    kept = tuple(tuple(row) for row in rows)
    for row in kept:
        writer.writerow([_cell(cell) for cell in row])
    table = Table(text.getvalue().encode("utf-8", "backslashreplace"))
    table.headings, table.rows = tuple(headings), kept
    return table


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        text = harmless(cell)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return repr(cell if cell else abs(cell))  # a zero has no sign
