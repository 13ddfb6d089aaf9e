"""Files of numbers as rows of fields: text whose fields are between blanks, and CSV. ``read_rows`` is the way in."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shakedown.checks.text import Text, name_of, omission, show

_EXPONENTS = str.maketrans("dDqQ", "eeee")


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
                raise UnreadableNumbers(f"{self.subject} has {self.names.count(column)} columns {show(column)}")
            return self.names.index(column)
        if column.isdecimal() and int(column) > 0:
            return int(column) - 1
        has = f"it has {', '.join(map(show, self.names[:12]))}" if self.names else "no line has names of columns"
        raise UnreadableNumbers(f"{self.subject} has no column {show(column)}; {has}")

    def called(self, place: int) -> str:
        """What a sentence calls a column: its name, or its number from 1."""
        return self.names[place] if place < len(self.names) else str(place + 1)


def read_rows(text: Text, form: str, subject: str = "") -> Rows:
    """Purpose: the rows of a text in the form ``text`` or ``csv``. Raises UnreadableNumbers.

    In text, lines that begin with # are no rows; the first line of the text that is no row, or that holds no number, has the
    names of the columns. In CSV the first line has them.
    """
    name = subject or name_of(text.subject)
    if len(text.parts) != 1:
        raise UnreadableNumbers(f"{name} cannot be compared: {omission(text)}", None)
    rows = tuple(_csv_rows(text.parts[0], name) if form == "csv" else _text_rows(text.parts[0]))
    if form == "csv":
        names = rows[0][1] if rows else ()
        return Rows(name, names, rows[1:])
    return _with_names(name, text.parts[0], rows)


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
