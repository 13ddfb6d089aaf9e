"""Read tables that programs print: the cells of a column, each with its row. ``cells`` is the entry point.

Where ``records`` names a kind of JSON lines, these are the rows, and their keys the columns.

A table begins after a line that ``after`` or ``header`` matches (without either at the first line), and ends before the first line
that is no row of it, or before a line that ``until`` matches. Where ``rows`` says which lines are its rows no other line ends it,
such as a warning among them, but the beginning of the next table does.

Rows are cut at blanks (at two and more where a name holds single blanks), or at a separator, with quotes as in CSV. A line of
units below the header and a header that comes again are no rows.
Columns that end with ``...`` let rows be longer. Of columns with one name the second is called ``name#2``.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from shakedown.checks.extract import compile_pattern
from shakedown.checks.passed_over import Seen
from shakedown.checks.printed_units import in_name
from shakedown.checks.text import printable, show
from shakedown.checks.unit_lines import UnitLine, unit_line
from shakedown.model.figures import CUT_TABLE, MORE, Table

MOST_ROWS = 100_000  # of all tables of one text together
_LOOKED_AHEAD = 10_000  # lines behind the end of a table
_RULE = re.compile(r"[\s\-=+|:_*#]*")  # a line that only separates: -----, +---+---+
_WIDE = re.compile(r"\s{2,}|\t+")
_RUN_TIME = re.compile(r"(\b\d+[dhm])\s(?=\s?\d+(?:\.\d*)?[hms]\b)")  # the blank in 24m 9.90s and in 1h 5m
_TAG = 100  # characters
_SIGN = re.compile(r"(?<=[\d.])\s*[%xX]")  # 95.2%, 3.6X
_LIKE_A_NUMBER = re.compile(
    r"[+-]?(?:[\d.*]|nan|inf)|-", re.IGNORECASE
)  # also what programs print where they have none
Names = tuple[str, ...]


class TableError(ValueError):
    """Why a table cannot be read, in a sentence."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text as printed, without % or X at its end, and its row: column -> text.

    ``unit``: the unit that a line of units below the header, or the name of the column, gives; "" where neither does.
    ``title``: the line that ``after`` matched.
    """

    text: str
    row: dict[str, str]
    unit: str = ""
    title: str = ""


def cells(table: Table, column: str, text: str, unit: str = "", seen: Seen | None = None) -> Iterator[Cell]:
    """Purpose: the cells of one column of every table in the text, in order; ``unit`` is the figure's. Raises TableError.

    ``seen`` is told what was passed over.
    """
    seen = seen or Seen()
    if table.records:
        yield from _of_records(table, column, text, unit, seen)
        return
    reader = _Reader(table, column, text.split("\n"), seen)
    of_name = "" if table.columns else in_name(column)
    for found, row in enumerate(reader.rows(), 1):
        if found > MOST_ROWS:
            raise TableError(f"the table has more than {MOST_ROWS} rows")
        if _fits(table, row, seen):
            of_column = reader.unit_of(column, "" if of_name else unit) or of_name
            yield Cell(_without_sign(row[column]), row, of_column, reader.title)


def _of_records(table: Table, column: str, text: str, unit: str, seen: Seen) -> Iterator[Cell]:
    """The cells of one key of every JSON line of a kind. A record that is not asked for need not have the key."""
    wanted = dict.fromkeys((*table.by, column))
    of_name = in_name(column)
    found = 0
    for line in text.split("\n"):
        record = _record(line, table.records)
        if record is None or not _fits(table, record, seen):
            continue
        found += 1
        if found > MOST_ROWS:
            raise TableError(f"there are more than {MOST_ROWS} records {show(table.records)}")
        lacking = next((name for name in wanted if name not in record), None)
        if lacking is not None:
            raise TableError(f"the record {show(line.strip(), 80)} has no key {show(lacking)}")
        yield Cell(record[column], record, of_name)


def _fits(table: Table, row: dict[str, str], seen: Seen) -> bool:
    """Whether a row meets every condition of ``where``; ``seen`` is told of the first that it misses."""
    for number, (name, wanted) in enumerate(table.where):
        if not _alike(row.get(name, ""), wanted):
            if name in row:
                seen.miss(number, row[name])
            return False
    return True


def _record(line: str, kind: str) -> dict[str, str] | None:
    """The texts and numbers of a JSON line of this kind, each as text; None for any other line. Raises TableError."""
    if not line.startswith("{") or '"record"' not in line:
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        if f'"{kind}"' in line:
            raise TableError(f"the record {show(line, 80)} is damaged or cut off") from None
        return None
    if not isinstance(value, dict) or value.get("record") != kind:
        return None
    return {name: _as_text(found) for name, found in value.items() if not isinstance(found, dict | list)}


def _as_text(value: Any) -> str:
    """A value of JSON as JSON writes it; a text without its quotes."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def tag(by: Sequence[str], row: dict[str, str]) -> str:
    """The tag of a row, as a part of a figure's name: ``size=8,ranks=4``."""
    return ",".join(f"{name}={_short(printable(row[name])).replace(']', ')').replace('[', '(')}" for name in by)


def _short(text: str) -> str:
    """A text made short; different long texts with the same beginning stay different."""
    if len(text) <= _TAG:
        return text
    return f"{text[: _TAG - 11]}...{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _alike(text: str, wanted: str) -> bool:
    """Equal as text, or as numbers: 8 and 8.0. A colon at the end is no part of a label: it is taken off cells, too."""
    if text.strip() == wanted.strip() or text.strip().rstrip(": ") == wanted.strip().rstrip(": ") != "":
        return True
    try:
        return float(text) == float(wanted)
    except ValueError:
        return False


def _without_sign(text: str) -> str:
    """The number of ``95.2%`` or ``3.6X``; anything else as it is."""
    sign = _SIGN.search(text)
    return text[: sign.start()] if sign and sign.end() == len(text.rstrip()) else text


class _Reader:
    """Reads the tables of a text, line by line; ``names`` are the columns of the current table."""

    def __init__(self, table: Table, column: str, lines: list[str], seen: Seen) -> None:
        self.table, self.column, self.lines, self.seen = table, column, lines, seen
        self.open = table.columns[-1:] == (MORE,)  # rows may have more fields
        self.after = _compiled(table.after)
        self.header = _compiled(table.header)
        self.until = _compiled(table.until)
        self.units: UnitLine | None = None  # of the current table
        self.title = ""  # the line that ``after`` matched for the current table
        self.begun = False  # whether a header was found
        self.only = _compiled(table.rows)

    def rows(self) -> Iterator[dict[str, str]]:
        number = 0
        while number < len(self.lines):
            begin = self._begin(number)
            if begin is None:
                return
            number, ways = begin
            found, number = self._body(number, ways)
            yield from found
            if self.after is None and self.header is None:
                return

    def _begin(self, number: int) -> tuple[int, list[Names]] | None:
        """The first line after the beginning of the next table, and the possible names of its columns; None without another table.
        Raises TableError.
        """
        if self.after is not None:
            number = self._next(number, self.after)
            if number >= len(self.lines):
                return None
            self.title = self.lines[number].strip()
            number += 1
        if self.table.columns:
            return number, self._with_columns([self.table.columns[:-1] if self.open else self.table.columns])
        return self._begin_with_header(number)

    def _begin_with_header(self, number: int) -> tuple[int, list[Names]] | None:
        """The same for a table with a header. A line that matches but lacks a wanted column is skipped, as where a
        program explains its columns before it prints them; only where no line has all of them the first one is an error.
        """
        unlike: TableError | None = None
        while number < len(self.lines):
            number = self._next(number, self.header) if self.header else self._first(number)
            if number >= len(self.lines):
                break
            try:
                ways = self._with_columns(self._header_names(self.lines[number]))
            except TableError as error:
                unlike = unlike or error
                if self.header is None:
                    break
                number += 1
                continue
            self.begun = True
            return number + 1, ways
        if unlike is not None and not self.begun:
            raise unlike
        return None

    def _next(self, number: int, pattern: re.Pattern[str]) -> int:
        while number < len(self.lines) and not pattern.search(self.lines[number]):
            number += 1
        return number

    def _first(self, number: int) -> int:
        """The number of the next line that is not empty or only a rule."""
        while number < len(self.lines) and _RULE.fullmatch(self.lines[number]):
            number += 1
        return number

    def _header_names(self, line: str) -> list[Names]:
        """The possible readings of a header: names cut at two blanks and more, or at each blank. A leading # is no name."""
        whole = line.strip()
        line = whole.lstrip("#!").strip()
        if self.table.separator:
            return [_numbered([name.strip() for name in _separated(line, self.table.separator)])]
        wide, narrow = _numbered(_WIDE.split(line)), _numbered(line.split())
        ways = [wide, narrow] if 1 < len(wide) < len(narrow) else [narrow]
        marked = whole.split()[0] if whole else ""
        if (
            narrow and marked.endswith(narrow[0]) and marked != narrow[0]
        ):  # #bytes: with its sign, too, as the others have theirs
            ways += [(way[0].replace(narrow[0], marked, 1), *way[1:]) for way in ways]
        return ways

    def _with_columns(self, ways: list[Names]) -> list[Names]:
        """The readings of a header that have every wanted column. Raises TableError where there are none."""
        wanted = dict.fromkeys((self.column, *self.table.by, *(name for name, _ in self.table.where)))
        fine = [names for names in ways if all(names.count(name) == 1 for name in wanted)]
        if fine:
            return fine
        names = max(ways, key=lambda way: sum(way.count(name) == 1 for name in wanted))
        lacking = [name for name in wanted if names.count(name) != 1]
        name = next((name for name in lacking if f"{name}#2" in names), lacking[0])
        same = [show(other) for other in names if other.rpartition("#")[0] == name]
        if f"{name}#2" in names:
            raise TableError(f"the table has {len(same)} columns {show(name)}; say which: {' or '.join(same[:4])}")
        raise TableError(f"the table has no column {show(name)}; it has {', '.join(map(show, names[:12]))}")

    def _body(self, number: int, ways: list[Names]) -> tuple[list[dict[str, str]], int]:
        """The rows from a line on, and the number of the line after them. The first row decides how the header is read."""
        names = ways[0]
        rows: list[dict[str, str]] = []
        self.units = None
        head = number - 1
        while number < len(self.lines):
            line = self.lines[number]
            if self.until is not None and self.until.search(line):
                break
            if (number == head + 1 or not rows) and self._is_of_units(line, head, ways):
                number += 1
                continue
            if self.only is not None and not self.only.search(line):
                if self._begins_another(line):
                    break
                number += 1
                continue
            if not rows:
                names = next((way for way in ways if self._fields(line, way) is not None), ways[0])
            fields = self._fields(line, names)
            if self._is_header(line, ways):
                head = number
            elif fields is not None:
                rows.append(dict(zip(names, fields, strict=True)))
            elif self.only is not None:
                raise TableError(self._no_row(line, names))
            elif rows and self.until is None:
                if not _is_rule(line):
                    self.seen.cut = self.seen.cut or self._cut(number, rows[-1])
                    break
            elif not rows and not self._may_come(line):
                raise TableError(self._no_row(line, names))
            number += 1
        return rows, number

    def _is_of_units(self, line: str, head: int, ways: list[Names]) -> bool:
        """Whether a line before the first row names the units of the columns; they are kept. ``head``: the number of the line with
        the names of the columns, or of the one that ``after`` matches.
        """
        above = self.lines[head] if head >= 0 else ""
        found = unit_line(line, above, ways, self.table.separator, self.open)
        self.units = found or self.units
        return found is not None

    def unit_of(self, column: str, unit: str) -> str:
        """Purpose: the unit of a column by the line of units, "" for none; ``unit`` is the figure's. Raises TableError where the
        line has another unit of its kind, and does not say whether it is this column's.
        """
        if self.units is None:
            return ""
        problem = self.units.problem(column, unit)
        if problem:
            raise TableError(problem)
        return self.units.of.get(column, "")

    def _cut(self, number: int, row: dict[str, str]) -> str:
        """That lines like the last row follow the one that ends the table, up to a blank line or the next table; "" for none."""
        names, shape = tuple(row), _shape(row.values())
        line = self.lines[number].strip()
        follow = 0
        for later in self.lines[number : number + _LOOKED_AHEAD] if _LIKE_A_NUMBER.match(row[self.column]) else ():
            if not later.strip() or self._begins_another(later):
                break
            fields = self._fields(later, names)
            follow += fields is not None and _shape(fields) == shape
        if not follow:
            return self._shorter(line, row)
        lines = "a line like its rows follows" if follow == 1 else f"{follow} lines like its rows follow"
        return f"{CUT_TABLE}{show(line, 80)}, and {lines}; 'rows' can say which lines are its rows"

    def _shorter(self, line: str, row: dict[str, str]) -> str:
        """That a line of numbers which ends a table may be a row of it with too few or too many fields; "" where it is unlike."""
        shape, fields = _shape(row.values()), self._split(line)[0]
        alike = all(one == other for one, other in zip(shape, _shape(fields), strict=False))
        if len(fields) < 2 or not shape[0] or not alike:
            return ""
        return f"{CUT_TABLE}{show(line, 80)}, which has {len(fields)} fields like its rows, and they have {len(shape)}"

    def _begins_another(self, line: str) -> bool:
        begin = self.header if self.after is None else self.after
        return begin is not None and begin.search(line) is not None

    def _may_come(self, line: str) -> bool:
        """Whether rows may still follow a line before the first of them: it is blank, a rule, a comment, or units."""
        return bool(_RULE.fullmatch(line)) or line.lstrip().startswith(("#", "[", "(")) or self.until is not None

    def _no_row(self, line: str, names: Names) -> str:
        fields = self._split(line)[0]
        if self.open and len(fields) >= len(names):
            return f"the line {show(line.strip(), 80)} has no number in its column {show(self.column)}"
        said = f"the line {show(line.strip(), 80)} has {len(fields)} fields, and the table {len(names)} columns"
        if self.only is not None:
            return said
        named = "" if self.table.columns else ", or 'after' and 'columns' how its columns are called"
        return f"{said}; 'rows' can say which lines are its rows{named}"

    def _is_header(self, line: str, ways: list[Names]) -> bool:
        """Whether a line repeats the header of the current table, as programs do in long tables."""
        if self.table.columns or (self.header is not None and not self.header.search(line)):
            return False
        return any(names in ways for names in self._header_names(line))

    def _fields(self, line: str, names: Names) -> list[str] | None:
        """The fields of a row; None where the line is no row: another number of fields, or words in an open table."""
        if _RULE.fullmatch(line):
            return None
        if not self.open:
            return next((fields for fields in self._split(line) if len(fields) == len(names)), None)
        fields = next((fields for fields in self._split(line) if len(fields) >= len(names)), None)
        if fields is None or not _LIKE_A_NUMBER.match(fields[names.index(self.column)]):
            return None
        return fields[: len(names)]

    def _split(self, line: str) -> list[list[str]]:
        """The ways in which a line can be cut."""
        if self.table.separator:
            return [[field.strip() for field in _separated(line, self.table.separator)]]
        narrow, wide = line.split(), [field.strip() for field in _WIDE.split(line.strip())]
        ways = [narrow, wide, [field for field in wide if field != ":"], [field for field in narrow if field != ":"]]
        joined = _RUN_TIME.sub(r"\1", line)
        if joined != line:
            ways.insert(0, joined.split())
        return [[field.rstrip(": ") or field for field in way] for way in ways]


def _shape(fields: Iterable[str]) -> list[bool]:
    """Which fields of a line are like numbers."""
    return [_LIKE_A_NUMBER.match(field) is not None for field in fields]


def _is_rule(line: str) -> bool:
    """A line of dashes within a table; a blank one ends it."""
    return bool(line.strip()) and bool(_RULE.fullmatch(line))


def _numbered(names: Sequence[str]) -> Names:
    """Columns with one name get numbers: ``busbw#1``, ``busbw#2``."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(f"{name}#{seen[name]}" if names.count(name) > 1 else name)
    return tuple(found)


def _separated(line: str, separator: str) -> list[str]:
    if separator == "|":  # a table drawn with bars has them at its edges too
        line = line.strip().removeprefix("|").removesuffix("|")
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error as error:
        raise TableError(f"the line {show(line, 80)} cannot be cut at '{printable(separator)}': {error}") from error


def _compiled(text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    pattern = compile_pattern(text)
    if isinstance(pattern, str):
        raise TableError(pattern)
    return pattern
