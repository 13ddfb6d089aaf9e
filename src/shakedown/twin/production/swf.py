"""Reading the Standard Workload Format (Parallel Workloads Archive, version 2.2): lines of 18 numbers, comments after ``;``.

Nothing is decided here about which jobs count; a line that is no record stops the reading, or is counted where the caller says so.
"""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from shakedown.model.errors import UsageError
from shakedown.twin.production.columns import Floats

FIELDS = 18
# name -> place in the line, from 0
COLUMNS = {
    "job": 0,
    "submit": 1,
    "wait": 2,
    "run": 3,
    "allocated": 4,
    "processors": 7,
    "time": 8,
    "status": 10,
    "user": 11,
    "queue": 14,
}
_HEADER = re.compile(r"^\s*;+\s*([A-Za-z][A-Za-z ]*?)\s*:\s*(.*?)\s*$")
_COUNT = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+")
_LONGEST_LINE, _LARGEST = 10_000, 1e15
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Records:
    """A file as it is written. ``columns``: those of COLUMNS, -1 where the file does not know; ``header``: the first value of each
    header comment, its name in small letters without blanks; ``bad``: what is wrong with lines that were passed over."""

    header: dict[str, str]
    columns: dict[str, Floats]
    bad: tuple[str, ...]
    wide: int

    def __len__(self) -> int:
        return len(self.columns["job"])

    def count_of(self, name: str) -> int | None:
        """The number in a header comment ("128", "1,152", "128 (64 of them fat)"); None where it begins with none, or 0."""
        found = _COUNT.match(self.header.get(name.lower(), ""))
        count = int(found.group().replace(",", "")[:15]) if found else 0
        return count or None


def read_records(path: Path, pass_over_bad: bool = False) -> Records:
    """Purpose: all records of a file, plain or compressed with gzip.

    Raises UsageError with file and line for the first line that is no record (unless ``pass_over_bad``), and for a file without
    any; OSError where it cannot be read.
    """
    header: dict[str, str] = {}
    columns = {name: array("d") for name in COLUMNS}
    bad: list[str] = []
    wide = 0
    for number, line in _lines(path):
        if line.lstrip().startswith(";"):
            _take_header(line, header)
            continue
        words = line.split()
        if not words:
            continue
        wrong = _append(words, columns)
        if wrong:
            _complain(path, f"line {number}: {wrong}", bad, pass_over_bad)
        elif len(words) > FIELDS:
            wide += 1
    if not columns["job"]:
        raise UsageError(f"{path}: there is no record of a job in it", "a record is a line of 18 numbers")
    return Records(header, {name: np.array(column) for name, column in columns.items()}, tuple(bad), wide)


def _append(words: list[str], columns: dict[str, array[float]]) -> str:
    """Take a record's numbers into the columns; what is wrong with it where they cannot be taken."""
    if len(words) < FIELDS:
        return f"{len(words)} fields instead of {FIELDS}"
    try:
        numbers = [float(words[place]) for place in COLUMNS.values()]
    except ValueError:
        return f"field {_first_wrong(words)} is not a number"
    if any("_" in word for word in words[:FIELDS]):  # Python takes 1_000 for a number
        return "a field with '_' is not a number"
    if not all(-_LARGEST < number < _LARGEST for number in numbers):
        return f"field {_first_wrong(words)} is not a number that can be meant"
    for column, number in zip(columns.values(), numbers, strict=True):
        column.append(number)
    return ""


def _first_wrong(words: list[str]) -> str:
    for place in COLUMNS.values():
        try:
            number = float(words[place])
        except ValueError:
            number = math.nan
        if not -_LARGEST < number < _LARGEST:
            return f"{place + 1} ({words[place][:20]!r})"
    return "?"


def _complain(path: Path, wrong: str, bad: list[str], pass_over: bool) -> None:
    if not pass_over:
        raise UsageError(f"{path}, {wrong}", "mend the line, or leave such lines out with --leave-out-bad-lines")
    bad.append(wrong)


def _take_header(line: str, header: dict[str, str]) -> None:
    found = _HEADER.match(line)
    if found is not None:
        header.setdefault(found.group(1).replace(" ", "").lower(), found.group(2))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1. What is said in comments may be of any encoding."""
    try:
        with _opened(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace") as text:
            number = 0
            while line := text.readline(_LONGEST_LINE):
                number += 1
                if len(line) >= _LONGEST_LINE:
                    raise UsageError(
                        f"{path}, line {number}: this line is too long for a job record",
                        "give a job log in the Standard Workload Format",
                    )
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{path}: it cannot be unpacked: {error}", "is the file complete?") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        magic = file.read(2)
        file.seek(0)
        if magic != _GZIP:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as packed:
            yield io.BufferedReader(packed)
