"""The tables of a report as Parquet files beside the CSV files. PyArrow is optional, and imported only when it is needed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from typing import Any

from shakedown.model.errors import UsageError
from shakedown.report.tables.column_kinds import Kind, kind_of
from shakedown.report.tables.csv_files import Cell, Table
from shakedown.report.words import harmless

EXTRA = "parquet"
_FITS: dict[Kind, set[type]] = {"flag": {bool}, "whole": {int}, "number": {int, float}, "text": {str}}


def library() -> Any:
    """Purpose: PyArrow. Errors: UsageError where it is not installed; the hint names the extra to install."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            "no Parquet file can be written here: PyArrow is not installed",
            hint=f"install it with: pip install 'shakedown[{EXTRA}]'",
        ) from error


def to_parquet(table: Table, name: str = "") -> bytes:
    """Purpose: a table as Parquet, with typed values: numbers as numbers, yes and no as booleans, missing ones as nulls.

    ``name``: the name of a table of the report. Its columns have fixed types, so that tables of several campaigns can be combined;
    a value that does not fit its column turns the column into text. In any other table, a column of whole and other numbers is
    floating-point, a column of numbers and words is text, and so is a column without values. Text is as in the CSV file, without
    the apostrophe that spreadsheets need. The same table gives the same bytes. Errors: UsageError where PyArrow is not installed.
    """
    arrow, parquet = library()
    columns = []
    for place, heading in enumerate(table.headings):
        cells = [row[place] for row in table.rows]
        columns.append(_as(arrow, kind_of(name, heading) if name else "text", cells, bool(name)))
    stream = io.BytesIO()
    parquet.write_table(arrow.table(columns, names=list(table.headings)), stream, compression="zstd")
    return stream.getvalue()


def _as(arrow: Any, kind: Kind, cells: Sequence[Cell], declared: bool) -> Any:
    kinds = {type(cell) for cell in cells if cell not in (None, "")}
    if not declared or not kinds <= _FITS[kind]:
        return _column(arrow, cells)
    known = [None if cell == "" and kind != "text" else cell for cell in cells]
    if kind == "flag":
        return arrow.array(known, arrow.bool_())
    if kind == "whole" and all(cell is None or abs(int(cell)) < 2**63 for cell in known):
        return arrow.array(known, arrow.int64())
    if kind in ("whole", "number"):
        return arrow.array([None if cell is None else float(cell) for cell in known], arrow.float64())
    return _column(arrow, cells)


def _column(arrow: Any, cells: Sequence[Cell]) -> Any:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return arrow.array(cells, arrow.bool_())
    if kinds == {int} and all(cell is None or abs(int(cell)) < 2**63 for cell in cells):
        return arrow.array(cells, arrow.int64())
    if kinds and kinds <= {int, float}:
        return arrow.array([None if cell is None else float(cell) for cell in cells], arrow.float64())
    return arrow.array([None if cell is None else harmless(str(cell)) for cell in cells], arrow.string())
