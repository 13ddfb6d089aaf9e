"""Figures of merit: where the number of each one is found, its unit and direction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from shakedown.model.errors import did_you_mean

Pairs = tuple[tuple[str, str], ...]
MORE = "..."  # the last of a table's columns: rows may have more fields
CUT_TABLE = "its table ends before the line "  # begins the sentence on a table that a foreign line may have cut
LARGEST, SMALLEST = 1e100, 1e-100  # between these sizes lies what can be measured, and 0
Pick = Literal["last", "first", "min", "max", "mean", "median", "sum", "count", "sd", "p5", "p95", "p99"]


def no_measurement(value: float) -> str:
    """Purpose: why a number can be no value of a figure, in words; "" where it can be one.

    A loop that never ran prints the largest number that there is, memory that nobody wrote the smallest ones. Their squares are no
    numbers, so no spread is known of them.
    """
    if not abs(value) < LARGEST:
        return f"{value:g} is no measurement: its size is {LARGEST:g} or more"
    if 0 < abs(value) < SMALLEST:
        return f"{value:g} is no measurement: it is not 0, and its size is below {SMALLEST:g}"
    return ""


class Table(Struct, frozen=True):
    """A table that a program prints: where it begins and ends, how its columns are called, which rows count.

    ``after`` and ``header`` are regular expressions of the line before it and of the line with the names of the columns; without
    ``header``, ``columns`` has the names, with ``MORE`` at the end where rows may be longer. ``by``: the columns that say what a
    row is. ``where``: column -> text, of the rows that count. ``rows``: a regular expression of the lines that are rows.
    ``records``: the table is the JSON lines whose key ``record`` has this value, and its columns are their other keys.
    """

    after: str = ""
    header: str = ""
    until: str = ""
    columns: tuple[str, ...] = ()
    separator: str = ""  # one character; "": blanks
    column: str = ""  # of the numbers
    by: tuple[str, ...] = ()
    where: Pairs = ()
    rows: str = ""
    records: str = ""


class FigureSpec(Struct, frozen=True):
    """A figure of merit: where in the evidence its number is, its unit and direction.

    Exactly one of these is set: ``regex`` (with a group named ``value``), ``json`` (a path into JSON lines, or into a text that is
    one JSON value), ``yaml`` (a path into a YAML document), ``table``, ``formula`` (over the test's other figures).
    A table with ``by`` gives a number for each row, called ``NAME[column=text]``. ``pick`` says which of several matches counts.
    ``given``: names of the case in the formula, each with value and unit. ``required``: a run that completes without it is
    ``incorrect``.
    """

    name: str
    unit: str = ""
    better: Literal["higher", "lower", ""] = ""
    source: str = "output"
    regex: str = ""
    json: str = ""
    pick: Pick = "last"
    required: bool = True
    yaml: str = ""
    table: Table | None = None
    formula: str = ""
    given: tuple[tuple[str, float, str], ...] = ()

    @property
    def has_rows(self) -> bool:
        """Whether it gives a number for each row of a table, each with a name of its own."""
        return self.table is not None and bool(self.table.by)

    def named(self, name: str) -> FigureSpec:
        """The same figure under the name of one of its rows."""
        return self if name == self.name else replace(self, name=name)


def figure_of(name: str) -> str:
    """The figure that a number belongs to: ``lat`` of ``lat[size=8]``."""
    return name.partition("[")[0]


def measured_as(name: str, specs: Iterable[FigureSpec]) -> FigureSpec | None:
    """Purpose: how a number of this name is measured: by the figure of that name, or as a row of a figure's table."""
    base = figure_of(name)
    for spec in specs:
        if spec.name == name and not spec.has_rows:
            return spec
        if spec.name == base and name != base and spec.has_rows:
            return spec.named(name)
    return None


def misnamed(name: str, by: Sequence[str]) -> tuple[str, str] | None:
    """Purpose: why no row of a table that is told apart ``by`` these columns has this name, and the way out; None where one may."""
    written = name.partition("[")[2].removesuffix("]")
    if re.fullmatch(",".join(f"{re.escape(column)}=.*" for column in by), written):
        return None
    base = figure_of(name)
    pairs = dict(pair.partition("=")[::2] for pair in written.split(","))
    said = ",".join(f"{column}={pairs.get(column, MORE)}" for column in by)
    right = f"{base}[{said}]"
    foreign = [key for key in pairs if key not in by]
    if foreign:
        near = did_you_mean(foreign[0], by)
        return f"the rows of '{base}' are not told apart by '{foreign[0]}'", near or f"write {right}"
    if pairs.keys() == set(by):
        return f"'{name}' has the columns in another order than the table", f"write {right}"
    lacking = next(column for column in by if column not in pairs)
    return f"'{name}' does not say '{lacking}', and the rows of '{base}' are told apart by it", f"write {right}"


def with_rows(specs: Iterable[FigureSpec], names: Iterable[str]) -> tuple[FigureSpec, ...]:
    """Purpose: the specs with every figure that has rows replaced by the rows among ``names``, in their order."""
    rows: dict[str, dict[str, None]] = {}
    for name in names:
        if "[" in name:
            rows.setdefault(figure_of(name), {})[name] = None
    found: list[FigureSpec] = []
    for spec in specs:
        mine = rows.get(spec.name, {}) if spec.has_rows else {}
        found += [spec.named(name) for name in mine] or [spec]
    return tuple(found)
