"""Numbers of the papers that Shakedown is drawn from, with the formulas that derive them from the papers' own tables.

One YAML file a paper, in ``papers/``. ``tables`` hold what is printed, row by row; a cell in quotes keeps its printed digits. Each
of ``numbers`` has a formula over these cells; with ``each`` it is one number for every row of a table, in which the row's columns
are names. ``TABLE.*.COLUMN`` stands for the whole column. ``because`` says why a number does not come out as printed.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml
from msgspec import Struct


class PaperTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a paper: for each row its cells in the order of ``columns``; text is a number as printed."""

    columns: tuple[str, ...]
    rows: dict[str, tuple[float | str, ...]]


class PaperNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """A derived number. ``each``: a table that has one in every row; ``name``: the column that it becomes there.

    ``printed``: as the paper prints it, or a column of ``each``; "" where no source prints it.
    """

    what: str
    formula: str
    printed: str = ""
    where: str = ""
    each: str = ""
    name: str = ""
    because: str = ""


class Paper(Struct, frozen=True, forbid_unknown_fields=True):
    paper: str
    title: str
    numbers: tuple[PaperNumber, ...]
    tables: dict[str, PaperTable] = {}


def papers() -> tuple[Paper, ...]:
    """Purpose: every paper, in the order of their numbers."""
    files = sorted((Path(__file__).parent / "papers").glob("*.yaml"))
    return tuple(msgspec.convert(yaml.load(file.read_bytes(), yaml.CSafeLoader), Paper) for file in files)
