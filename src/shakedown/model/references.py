"""What a check that compares numbers with a reference asks for: the frozen words of its argument, as JSON.

A reference is a file beside the test. The plan holds its absolute path and its sha256; what lies there later is compared with that.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from shakedown.model.figures import Table
from shakedown.model.nouns import Check, Document

BINARY = ("netcdf", "hdf5")
FORMATS = ("text", "csv", *BINARY)
ENDINGS = {
    ".csv": "csv",
    ".nc": "netcdf",
    ".nc4": "netcdf",
    ".cdf": "netcdf",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".he5": "hdf5",
}
LARGEST = 64 << 20  # bytes of a reference, as of what is read of a run's file

Format = Literal["text", "csv", "netcdf", "hdf5"]


class Numbers(Struct, frozen=True, omit_defaults=True):
    """Of ``files equal within``: |a - b| <= absolute + relative * |b|, ``b`` being the reference's.

    ``columns``: names, or numbers from 1; of binary files the variables; () = all. ``nan``: whether NaN equals NaN.
    """

    reference: str
    sha256: str = ""
    absolute: float = 0.0
    relative: float = 0.0
    columns: tuple[str, ...] = ()
    format: Format = "text"
    nan: Literal["differs", "equal"] = "differs"


class Curve(Struct, frozen=True, omit_defaults=True):
    """Of ``curve within``: the columns ``x`` and ``y`` of a table or a file; |y - r(x)| <= absolute + within * |r(x)|.

    ``part``: the curve need not go over the whole reference. ``format``: of the run's file.
    """

    reference: str
    x: str
    y: str
    within: float = 0.0
    absolute: float = 0.0
    sha256: str = ""
    table: Table | None = None
    format: Literal["text", "csv"] = "text"
    reference_format: Literal["text", "csv"] = "text"
    part: bool = False


class Reference(Struct, frozen=True):
    """The file alone: its absolute path, and the sha256 that it was frozen with."""

    reference: str
    sha256: str = ""


def numbers_of(check: Check) -> Numbers:
    """Purpose: what ``files equal within`` asks for. Raises msgspec.ValidationError where the record is damaged."""
    return msgspec.json.decode(check.argument, type=Numbers)


def curve_of(check: Check) -> Curve:
    """Purpose: what ``curve within`` asks for. Raises msgspec.ValidationError where the record is damaged."""
    return msgspec.json.decode(check.argument, type=Curve)


def reference_of(check: Check) -> Reference:
    """Purpose: the reference of such a check."""
    return msgspec.json.decode(check.argument, type=Reference)


def format_of(name: str) -> Format:
    """Purpose: how a file is written, by the ending of its name."""
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    found: Format = ENDINGS.get(ending, "text")  # type: ignore[assignment]
    return found


def references_in(document: Document, kinds: frozenset[str]) -> list[str]:
    """Purpose: the paths of all references of a plan, each once. ``kinds``: names of checks that have one."""
    checks = [check for test in document.tests for check in test.checks]
    checks += [own for case in document.cases if not case.unavailable for _, own in case.checks]
    paths = [reference_of(check).reference for check in checks if check.kind in kinds]
    return list(dict.fromkeys(path for path in paths if path.startswith("/")))
