"""The tables of a report as Parquet files beside the CSV files. PyArrow is an optional part, imported when one is asked for."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from typing import Any

from shakedown.model.errors import UsageError
from shakedown.report.tables.csv_files import Cell, Table
from shakedown.report.words import harmless

EXTRA = "parquet"


def library() -> Any:
    """Purpose: PyArrow. Errors: UsageError where it is not installed; it names the extra that has it."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            "no Parquet file can be written here: PyArrow is not installed",
            hint=f"install it with: pip install 'shakedown[{EXTRA}]'",
        ) from error


def to_parquet(table: Table) -> bytes:
    """Purpose: a table with its values as they are: numbers as numbers, yes and no as booleans, missing ones as nulls.

    A column of whole numbers and others is one of floating-point numbers, one of numbers and words is one of words; one without
    any value is one of words. Text is as in the CSV file, without the apostrophe that spreadsheets need. The same table gives the
    same bytes. Errors: UsageError where PyArrow is not installed.
    """
    arrow, parquet = library()
    columns = [_column(arrow, [row[place] for row in table.rows]) for place in range(len(table.headings))]
    stream = io.BytesIO()
    parquet.write_table(arrow.table(columns, names=list(table.headings)), stream, compression="zstd")
    return stream.getvalue()


def _column(arrow: Any, cells: Sequence[Cell]) -> Any:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return arrow.array(cells, arrow.bool_())
    if kinds == {int} and all(cell is None or abs(int(cell)) < 2**63 for cell in cells):
        return arrow.array(cells, arrow.int64())
    if kinds and kinds <= {int, float}:
        return arrow.array([None if cell is None else float(cell) for cell in cells], arrow.float64())
    return arrow.array([None if cell is None else harmless(str(cell)) for cell in cells], arrow.string())
