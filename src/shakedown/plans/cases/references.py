"""Checks that hold a run's numbers against a file beside the test: their maps into nouns, with the file's digest frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from shakedown.model.figures import Table
from shakedown.model.nouns import Check
from shakedown.model.number_rows import UnreadableNumbers, bad_reference, points_of, rows_of
from shakedown.model.references import LARGEST, Curve, Numbers, curve_of, format_of, numbers_of
from shakedown.model.units import show_bytes
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.library import Definition, Library
from shakedown.plans.schema.check_items import CURVE, EQUAL
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.plans.schema.source_positions import place

NUMBERS_KIND, CURVE_KIND = "equal-within", "curve"
_JSON = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Freezer:
    """Finds the references of one test. ``at``: where the check stands in the test's file, by its number."""

    test: Definition
    library: Library
    around: Surroundings

    def freeze(self, number: int, word: str, check: Check) -> Check:
        """Purpose: the check with the absolute path and the digest of its reference. Raises InvalidValue."""
        asked = numbers_of(check) if check.kind == NUMBERS_KIND else curve_of(check)
        mark: Any = place(self.test.root, "check", number, word, "reference").start_mark
        path, written = self.library.beside(mark.name, asked.reference), asked.reference
        try:
            data = self.around.content(path, LARGEST + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            hint = "it is looked for beside the file that names it"
            raise InvalidValue(f"the reference {written} cannot be read: {why}", hint) from error
        if len(data) > LARGEST:
            said = f"the reference {written} has more than {show_bytes(LARGEST)}, the most that is compared"
            raise InvalidValue(said, "compare a part of it, or its sums: files match golden")
        _look_into(asked, written, data)
        frozen = replace(asked, reference=path, sha256=hashlib.sha256(data).hexdigest())
        return replace(check, argument=_JSON.encode(frozen).decode())


def _look_into(asked: Numbers | Curve, written: str, data: bytes) -> None:
    """What no run could be held against is told before any runs. Raises InvalidValue."""
    form = asked.reference_format if isinstance(asked, Curve) else asked.format
    if form not in ("text", "csv"):
        return  # variables need packages that only the judging host may have
    name = f"the reference {written}"
    try:
        rows = rows_of(data.decode(errors="replace"), form, name)
        if isinstance(asked, Curve):
            wrong = bad_reference(asked.x, sorted(points_of(rows, asked.x, asked.y)), name)
            if wrong:
                raise InvalidValue(wrong, "it has a line for each point: x and y")
        for column in asked.columns if isinstance(asked, Numbers) else ():
            rows.place(column)
    except UnreadableNumbers as error:
        way = "columns: those that it has"
        if isinstance(asked, Curve):
            way = f"name its columns {asked.x} and {asked.y}, or give it two columns alone without names: x and y"
        raise InvalidValue(str(error), way) from error


def reference_check(test: Definition, number: int, word: str, written: dict[str, Any], problems: Problems) -> Check:
    """Purpose: the noun of one map, its reference still as it is written; what is wrong goes to ``problems``."""
    at = place(test.root, "check", number, word)
    if word == EQUAL:
        if not {"absolute", "relative"} & set(written):
            hint = "absolute: 1e-9, relative: 1e-6 or both; files that must be equal to the bit are golden"
            problems.at(at, f"'{EQUAL}' has no tolerance", hint)
        asked: Numbers | Curve = _numbers(written)
        subject = written["file"]
        text = f"{EQUAL}: {subject}, {written['reference']}"
        text += f", {' '.join(written['columns'])}" if "columns" in written else ""
        text += "".join(f", {key} {written[key]:g}" for key in ("absolute", "relative") if written.get(key))
        return Check(NUMBERS_KIND, subject, _JSON.encode(asked).decode(), text)
    if written["x"] == written["y"]:
        problems.at(place(test.root, "check", number, word, "y"), "x and y are the same column", "name two columns")
    subject = written.get("from", "output")
    if subject == "output" and "table" not in written:
        hint = "table: {...} as figures have it, or from: a file of columns"
        problems.at(at, f"'{CURVE}' does not say where in the output the curve is", hint)
    if format_of(written["reference"]) not in ("text", "csv"):
        hint = f"write it as CSV or columns; variables are compared by '{EQUAL}'"
        problems.at(place(test.root, "check", number, word, "reference"), "a reference curve is text", hint)
        return Check(CURVE_KIND, subject)
    asked = _curve(written)
    text = f"{CURVE}: {asked.y} over {asked.x}" + (f" of {subject}" if subject != "output" else "")
    text += f", {written['reference']}, {asked.within:.4g} of it" + (f" + {asked.absolute:g}" if asked.absolute else "")
    return Check(CURVE_KIND, subject, _JSON.encode(asked).decode(), text)


def filled(check: Check, fill: Callable[[str], str]) -> Check:
    """Purpose: the check with names filled in where its words have them; the reference still as it is written."""
    asked = numbers_of(check) if check.kind == NUMBERS_KIND else curve_of(check)
    return replace(check, argument=_JSON.encode(replace(asked, reference=fill(asked.reference))).decode())


def _numbers(written: dict[str, Any]) -> Numbers:
    return Numbers(
        reference=written["reference"],
        absolute=written.get("absolute", 0.0),
        relative=written.get("relative", 0.0),
        columns=tuple(written.get("columns", ())),
        format=written.get("format") or format_of(written["reference"]),
        nan=written.get("nan", "differs"),
    )


def _curve(written: dict[str, Any]) -> Curve:
    table = written.get("table")
    mine, theirs = format_of(written.get("from", "output")), format_of(written["reference"])
    return Curve(
        reference=written["reference"],
        x=written["x"],
        y=written["y"],
        within=written["within"],
        absolute=written.get("absolute", 0.0),
        table=None if table is None else _table(table, written["y"]),
        format="csv" if mine == "csv" else "text",
        reference_format="csv" if theirs == "csv" else "text",
        part=written.get("part", False),
    )


def _table(written: dict[str, Any], column: str) -> Table:
    return Table(
        after=written.get("after", ""),
        header=written.get("header", ""),
        until=written.get("until", ""),
        columns=tuple(written.get("columns", ())),
        separator=written.get("separator", ""),
        column=column,
        where=tuple(written.get("where", {}).items()),
        rows=written.get("rows", ""),
    )
