"""Files of numbers as rows of fields: text whose fields are between blanks, and CSV. ``rows_of`` is the way in.

A run's file, a reference that is looked at before anything runs, and the same reference when a run is judged are read alike.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_EXPONENTS = str.maketrans("dDqQ", "eeee")
_MOST_NAMES, _LONGEST = 12, 120  # of columns that a sentence names, and the characters of each


class UnreadableNumbers(ValueError):
    """Why a file is no file of numbers, in a sentence. ``held`` False: the file is wrong; None: it could not be read whole."""

    def __init__(self, message: str, held: bool | None = False) -> None:
        super().__init__(message)
        self.held = held


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines that hold fields. ``names``: of the columns, () where no line has them. ``lines``: (number of the line, its fields)."""

    subject: str
    names: tuple[str, ...]
    lines: tuple[tuple[int, tuple[str, ...]], ...]

    def place(self, column: str) -> int:
        """Where a column is, from 0: by its name, or by its number from 1. Raises UnreadableNumbers."""
        if column in self.names:
            if self.names.count(column) > 1:
                raise UnreadableNumbers(f"{self.subject} has {self.names.count(column)} columns {_quoted(column)}")
            return self.names.index(column)
        if column.isdecimal() and int(column) > 0:
            return int(column) - 1
        names = ", ".join(map(_quoted, self.names[:_MOST_NAMES]))
        has = f"it has {names}" if self.names else "no line has names of columns"
        raise UnreadableNumbers(f"{self.subject} has no column {_quoted(column)}; {has}")

    def called(self, place: int) -> str:
        """What a sentence calls a column: its name, or its number from 1."""
        return self.names[place] if place < len(self.names) else str(place + 1)


def rows_of(text: str, form: str, name: str) -> Rows:
    """Purpose: the rows of a text in the form ``text`` or ``csv``; ``name`` is what sentences call it. Raises UnreadableNumbers.

    In text, lines that begin with # are no rows; the first line of the text that is no row, or that holds no number, has the
    names of the columns. In CSV the first line has them, unless it holds numbers alone.
    """
    if form != "csv":
        return _with_names(name, text, tuple(_text_rows(text)))
    rows = tuple(_csv_rows(text, name))
    if not rows or all(value(field) is not None for field in rows[0][1]):
        return Rows(name, (), rows)
    return Rows(name, rows[0][1], rows[1:])


def places_of(rows: Rows, x: str, y: str) -> tuple[int, int]:
    """Purpose: where the columns of a curve are: by their names; the two that there are, where they have none of these names.

    Raises UnreadableNumbers.
    """
    unnamed = not {x, y} & set(rows.names) and all(len(fields) == 2 for _, fields in rows.lines)
    return (0, 1) if unnamed and not (x + y).isdecimal() else (rows.place(x), rows.place(y))


def points_of(rows: Rows, x: str, y: str) -> list[tuple[float, float]]:
    """Purpose: the points of a curve. Raises UnreadableNumbers for a column that is not there, or a field that is no number."""
    places, points = places_of(rows, x, y), []
    for position, (number, fields) in enumerate(rows.lines):
        if position == 0 and fields == rows.names:
            continue
        line = f"line {number} of {rows.subject}"
        if max(places) >= len(fields):
            raise UnreadableNumbers(f"{line} has {len(fields)} fields, and column {max(places) + 1} is asked for")
        points.append((finite(fields[places[0]], x, line), finite(fields[places[1]], y, line)))
    return points


def bad_reference(x: str, points: Sequence[tuple[float, float]], name: str) -> str:
    """Purpose: why points, in the order of x, are no curve to go from one to the next of; "" where they are."""
    if len(points) < 2:
        return f"{name} has {len(points)} {'point' if len(points) == 1 else 'points'}; a line needs two"
    twice = next((first for (first, _), (after, _) in pairwise(points) if first == after), None)
    return "" if twice is None else f"{name} has two points at {x} = {twice:.6g}"


def finite(field: str, column: str, line: str) -> float:
    """The number of a field that must hold one. Raises UnreadableNumbers."""
    number = value(field)
    if number is None or number - number != 0:
        raise UnreadableNumbers(f"{line}, column {column}: {_quoted(field[:40])} is no finite number")
    return number


def value(field: str) -> float | None:
    """Purpose: the number that a field holds, as programs write them (1.5E+03, 1.5D+03, inf, NaN); None where it is a word."""
    try:
        return float(field) if "_" not in field else None
    except ValueError:
        pass
    try:
        return float(field.translate(_EXPONENTS)) if field[:1] in "+-.0123456789" else None
    except ValueError:
        return None


def _quoted(text: str) -> str:
    """Text of unknown origin inside a sentence: in quotation marks, printable, short."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _text_rows(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in enumerate(text.split("\n"), 1):
        fields = tuple(line.split())
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _csv_rows(text: str, name: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    reader = csv.reader(text.split("\n"), skipinitialspace=True)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, tuple(field.strip() for field in fields)
    except csv.Error as error:
        raise UnreadableNumbers(f"{name} is no CSV in line {reader.line_num}: {error}") from error


def _with_names(name: str, text: str, rows: Sequence[tuple[int, tuple[str, ...]]]) -> Rows:
    """Text with the names of its columns: from its first line, where that is a comment or holds words alone."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    fields = tuple(first.strip().lstrip("#").split())
    words = bool(fields) and all(value(field) is None for field in fields)
    return Rows(name, fields if words else (), tuple(rows))
