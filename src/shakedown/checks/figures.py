"""Take one figure of merit: by a regular expression with a group ``value``, by a path into JSON or YAML, or from a table.

``take`` is the entry point. Every match is an entry in order: a number, or the sentence that says why it is none. ``pick`` chooses
an entry; where this entry is no number, or may lie in text that was not read, the figure has a problem and no value. Missing is
not zero. Figures with formulas are computed from the others, see ``checks.derived``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from shakedown.checks import structured
from shakedown.checks.cut_numbers import cut_number
from shakedown.checks.extract import compile_pattern, not_there
from shakedown.checks.numbers import Entry, combine, number_in
from shakedown.checks.passed_over import Seen
from shakedown.checks.printed_units import (
    all_unlike,
    before,
    behind,
    in_brackets,
    in_name,
    in_path,
    in_row,
    in_title,
    other_magnitude,
    refusal,
    refusal_behind,
    said_of,
)
from shakedown.checks.tables import Cell, TableError, cells, tag
from shakedown.checks.text import Contents, Missing, Text, name_of, omission, show, uncut
from shakedown.model.figures import FigureSpec, no_measurement
from shakedown.model.json_paths import keys_up
from shakedown.model.units import UNITS

MOST_CELLS = 1000  # numbers that one figure may have in one run: each is a figure in the record


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` in the unit of its spec, None where there is none; ``problem`` then says why ("" for an optional one)."""

    name: str
    value: float | None = None
    problem: str = ""


def take(spec: FigureSpec, contents: Contents) -> tuple[Figure, ...]:
    """Purpose: the value of one figure, or the values of all its rows. A problem begins with ``figure NAME:``."""
    if isinstance(contents, Missing):
        return (missing(spec, contents.detail if spec.required or contents.held is None else ""),)
    if spec.table is not None:
        return _from_table(spec, contents)
    return (_from_text(spec, contents),)


def _from_text(spec: FigureSpec, contents: Text) -> Figure:
    pieces = contents.pieces if spec.regex else contents.parts
    if spec.regex and uncut(contents):
        return _from_long_lines(spec, contents)
    whole = len(pieces) == 1
    if not whole:
        if spec.pick not in ("first", "last") or spec.yaml:
            every = "it" if spec.yaml else f"the {spec.pick} of all values"
            return missing(spec, f"{every} cannot be known: {omission(contents)}")
        pieces = pieces[:1] if spec.pick == "first" else pieces[-1:]
    found = _pick(spec, _entries(spec, pieces[0], _cut(spec, contents)))
    if found is None:
        return missing(spec, _nowhere(spec, contents, whole) if spec.required or not whole else "")
    if isinstance(found, str):
        return missing(spec, found)
    return Figure(spec.name, found)


def _from_long_lines(spec: FigureSpec, contents: Text) -> Figure:
    """The figure from text with very long lines: a first or last value is searched at its end of the text, then in all of it."""
    if spec.pick in ("first", "last"):
        end = contents.pieces[0 if spec.pick == "first" else -1]
        found = _pick(spec, _entries(spec, end, _cut(spec, contents)))
        if isinstance(found, float):
            return Figure(spec.name, found)
    found = _pick(spec, _entries(spec, uncut(contents), ""))
    if found is None:
        return missing(spec, _nowhere(spec, contents, whole=True) if spec.required else "")
    return missing(spec, found) if isinstance(found, str) else Figure(spec.name, found)


def _from_table(spec: FigureSpec, contents: Text) -> tuple[Figure, ...]:
    """A figure for each row that counts, under the row's tag; rows with the same tag are picked from. Where a foreign line may have
    cut the table, a last one says so and has no value.
    """
    assert spec.table is not None
    if len(contents.parts) > 1:
        return (missing(spec, f"its table cannot be read: {omission(contents)}"),)
    entries: dict[str, list[Entry]] = {}
    seen = Seen()
    try:
        for cell in cells(spec.table, spec.table.column, contents.parts[0], spec.unit, seen):
            why = _other_unit_of_cell(spec.unit, spec.table.column, cell)
            entries.setdefault(tag(spec.table.by, cell.row), []).append(why or number_in(spec.unit, cell.text))
    except TableError as error:
        return (missing(spec, str(error)),)
    if not entries:
        none = seen.no_row(spec.table) or f"no row of its table is there: {not_there(contents)}"
        return (missing(spec, none if spec.required else ""),)
    if len(entries) > MOST_CELLS:
        return (missing(spec, f"its table has {len(entries)} rows, and {MOST_CELLS} are the most; choose with where"),)
    cut = (missing(spec, seen.cut),) if seen.cut else ()
    return (*(_row(spec, key, found) for key, found in entries.items()), *cut)


def _other_unit_of_cell(unit: str, column: str, cell: Cell) -> str:
    """Why a cell is not in the figure's unit; "" where nothing is wrong. What is nearest to its number decides: the unit of its
    column, then the row, then the title of the table. A name that the test gives the column with a unit in it says the unit.
    """
    if cell.unit:
        return refusal(unit, cell.unit, f"{cell.text} {cell.unit}")
    if in_name(column):
        return ""
    words = in_row(column, cell.row)
    if words:
        word = all_unlike(unit, words)
        why = refusal(unit, word, f"{cell.text} {word}")
        return f"its row has a unit: {why}" if why else ""
    titled = _title_words(cell, column)
    word = all_unlike(unit, titled)
    why = refusal(unit, word, f"{cell.text} {word}")
    return (
        f"the line {show(cell.title, 80)} before the table has a unit: {why}, or name the column with its unit"
        if why
        else ""
    )


def _title_words(cell: Cell, column: str) -> tuple[str, ...]:
    """The units in the line before a table. Where it has a name for each column only that of this column counts."""
    title = cell.title.lstrip("#! ")
    for names in (re.split(r"\s{2,}|\t+", title), title.split()):
        if 1 < len(names) == len(cell.row):
            return in_brackets(names[list(cell.row).index(column)])
    return in_title(title)


def _row(spec: FigureSpec, key: str, entries: list[Entry]) -> Figure:
    found = _pick(spec, iter(entries))
    name = f"{spec.name}[{key}]" if key else spec.name
    if isinstance(found, str):
        return Figure(name, None, f"figure {name}: {found}")
    return Figure(name, found)


def _cut(spec: FigureSpec, text: Text) -> str:
    """The side on which the piece to search was cut: the "end" of the first one, the "begin" of the last one, or "" if not cut."""
    if spec.pick == "first":
        return "" if len(text.pieces[0]) == len(text.parts[0]) else "end"
    return "" if len(text.pieces[-1]) == len(text.parts[-1]) else "begin"


def missing(spec: FigureSpec, why: str) -> Figure:
    """A figure without a value, and the problem why; no problem where ``why`` is ""."""
    return Figure(spec.name, None, f"figure {spec.name}: {why}" if why else "")


def _nowhere(spec: FigureSpec, text: Text, whole: bool) -> str:
    what = f"a JSON line with {spec.json}" if spec.json else f"a match of {show(spec.regex)}"
    what = f"a YAML value at {spec.yaml}" if spec.yaml else what
    if whole:
        return f"{what} is missing: {not_there(text)}"
    end = "beginning" if spec.pick == "first" else "end"
    return f"{what} is not at the {end} of {name_of(text.subject)}, and {omission(text)}"


def _pick(spec: FigureSpec, entries: Iterator[Entry]) -> Entry | None:
    """The entry that ``pick`` chooses, or None where there are no entries."""
    entries = map(_measured, entries)
    if spec.pick == "first":
        return next(entries, None)
    if spec.pick == "last":
        last = deque(entries, maxlen=1)
        return last[0] if last else None
    numbers: list[float] = []
    for entry in entries:
        if isinstance(entry, str):
            return f"the {spec.pick} of all values cannot be taken: {entry}"
        numbers.append(entry)
    return _measured(combine(spec.pick, numbers)) if numbers else None


def _measured(entry: Entry) -> Entry:
    """The entry, no number where it is one that cannot be measured."""
    return entry if isinstance(entry, str) else no_measurement(entry) or entry


# ---- entries ---------------------------------------------------------------------------------------------------------


def _entries(spec: FigureSpec, text: str, cut: str) -> Iterator[Entry]:
    """The entries in a text. ``cut``: the side on which the text was cut, "begin" or "end"; "" where it is complete."""
    if spec.json:
        return _in_unit_of_key(spec, structured.json_entries(spec.json, text))
    if spec.yaml:
        return _in_unit_of_key(spec, structured.yaml_entries(spec.yaml, text, spec.unit))
    return _regex_entries(spec, text, cut)


def _in_unit_of_key(spec: FigureSpec, entries: Iterator[Entry]) -> Iterator[Entry]:
    """The entries, none of them a number where a key of the path names another unit than the figure's."""
    key, word = in_path(keys_up(spec.json or spec.yaml))
    for entry in entries:
        if isinstance(entry, structured.Lacking) and spec.pick in ("first", "last", "count"):
            continue
        if isinstance(entry, structured.InUnits) and not word:
            said = all_unlike(spec.unit, entry.units)
            yield refusal(spec.unit, said, f"{entry:g} {said}") or entry
            continue
        yield entry if isinstance(entry, str) else refusal(spec.unit, word, f"{entry:g} at {key}") or entry


def _regex_entries(spec: FigureSpec, text: str, cut: str) -> Iterator[Entry]:
    pattern = compile_pattern(spec.regex)
    if isinstance(pattern, str):
        yield pattern
    elif "value" not in pattern.groupindex:
        yield f"{show(spec.regex)} has no group named 'value'"
    else:
        for match in pattern.finditer(text):
            if _may_go_on(match, text, cut):
                yield f"{show(match[0])} lies where a very long line was cut: its value may go on"
                continue
            if match["value"] is None:
                yield f"{show(match[0])} matches without its group 'value'"
                continue
            problem = cut_number(spec.unit, match, text) or _other_unit(spec.unit, match, text)
            yield problem or number_in(spec.unit, match["value"])


def _other_unit(unit: str, match: re.Match[str], text: str) -> str:
    """Why a number is not in the figure's unit, where another one of the same kind stands beside it: some programs print MB/s for
    some amounts and GB/s for others. One behind it that the expression names is meant. "" where nothing is wrong.
    """
    if unit and unit not in UNITS:
        return other_magnitude(unit, match, text)
    word, meant = behind(unit, match, text)
    said = "" if word else all_unlike(unit, said_of(unit, match, text))
    if said:
        return refusal(unit, said, f"{match['value']} {said}")
    if meant:
        return ""
    if not word:
        word = before(match, text)
        return refusal(unit, word, f"{word} {match['value']}")
    return refusal_behind(unit, word, match["value"])


def _may_go_on(match: re.Match[str], text: str, cut: str) -> bool:
    """Whether the value touches a cut within a line: the rest of the number may lie beyond it."""
    begin, end = match.span("value")
    return (cut == "end" and end == len(text)) or (cut == "begin" and begin == 0)
