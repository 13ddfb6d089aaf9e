"""Lines below the header of a table that name the units of its columns: ``unit_line`` is the entry point.

Where such a line has as many words as the table columns they belong together in order; otherwise each unit belongs to the column
whose name lies above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from shakedown.checks.printed_units import unlike
from shakedown.checks.text import show
from shakedown.checks.unit_words import meanings
from shakedown.model.units import COUNTS, UNITS

_WORD = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\S+")
_NAME, _WIDE_NAME = re.compile(r"\S+"), re.compile(r"\S+(?: \S+)*")
_NO_UNIT = re.compile(r"[-=_.]*|elements?|counts?|ranks?|nodes?", re.I)  # what stands for a column without a unit
_MOST = 2000  # characters of a line of units

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class UnitLine:
    """``of``: column -> its unit. ``unsure``: units of which the line does not say to which column they belong."""

    text: str
    of: dict[str, str] = field(default_factory=dict)
    unsure: tuple[str, ...] = ()

    def problem(self, column: str, unit: str) -> str:
        """Purpose: why nobody can tell whether a column is in the unit of its figure, and the way out; "" where it is known."""
        word = next((one for one in self.unsure if unlike(unit, one)), "")
        if not word or column in self.of:
            return ""
        other = unlike(unit, word)[0]
        return (
            f"the line of units {show(self.text, 80)} does not say whether {show(word)} belongs to the column {show(column)}, and "
            f"the figure is in {unit}; say 'unit: {other}', or begin the table behind that line with 'after' and 'columns'"
        )


def unit_line(
    line: str, above: str, ways: Sequence[Sequence[str]], separator: str = "", longer: bool = False
) -> UnitLine | None:
    """Purpose: the units of a line below the header; None where it is no such line.

    ``above``: the line with the names of the columns, or the one before the table. ``ways``: the possible names of the columns;
    ``longer``: the table may have more.
    """
    if len(line) > _MOST or not any(letter.isalpha() for letter in line):
        return None
    words = _words(line, separator)
    if not _are_units([word for word, _ in words]):
        return None
    text = line.strip()
    for names in () if longer else ways:
        if len(names) == len(words):
            return UnitLine(text, {name: _bare(word) for name, (word, _) in zip(names, words, strict=True)})
    for names in () if separator else ways:
        found = _below(words, above, names, longer)
        if found:
            return UnitLine(text, found)
    return UnitLine(text, {}, tuple(_bare(word) for word, _ in words if meanings(_bare(word))))


def _words(line: str, separator: str) -> list[tuple[str, Span]]:
    """The words of a line with their places; a sign for comments before them is none."""
    if separator:
        cells = line.strip().strip("|" if separator == "|" else "").lstrip("#!").split(separator)
        return [(cell.strip().strip("\"'"), (0, 0)) for cell in cells]
    begin = len(line) - len(line.lstrip("#! \t"))
    return [(found[0], found.span()) for found in _WORD.finditer(line, begin)]


def _are_units(words: Sequence[str]) -> bool:
    """Whether all words are units, in brackets, or stand for none, and one at least is a unit."""
    known = [bool(meanings(_bare(word))) for word in words]
    if not any(known):
        return False
    return all(
        word[:1] in ("(", "[") or _NO_UNIT.fullmatch(word) or (is_one and not _counts(word))
        for word, is_one in zip(words, known, strict=True)
    )


def _counts(word: str) -> bool:
    """Whether a word without brackets is the name of what is counted (cells) rather than a unit."""
    return all(UNITS[one][0] in COUNTS for one in meanings(word))


def _bare(word: str) -> str:
    return word.strip("()[] ")


def _below(words: Sequence[tuple[str, Span]], above: str, names: Sequence[str], longer: bool) -> dict[str, str]:
    """Column -> unit by their places: each word lies below one name, and each name has one word at most; else nothing."""
    begin = len(above) - len(above.lstrip("#! \t"))
    both = [_places(kind, above, begin) for kind in (_NAME, _WIDE_NAME)]
    spans = next((one for one in both if len(one) == len(names) or (longer and len(one) > len(names))), None)
    if spans is None:
        return {}
    found: dict[int, str] = {}
    for word, (first, last) in words:
        over = [column for column, (left, right) in enumerate(spans) if left < last and first < right]
        if len(over) != 1 or over[0] in found:
            return {}
        found[over[0]] = _bare(word)
    return {names[column]: word for column, word in found.items() if column < len(names)}


def _places(kind: re.Pattern[str], line: str, begin: int) -> list[Span]:
    return [found.span() for found in kind.finditer(line, begin)]
