"""Every key of a figure: where to find its number, or the formula that computes it."""

from __future__ import annotations

import re
from typing import get_args

from shakedown.model import formulas, json_paths
from shakedown.model.figures import Pick
from shakedown.model.units import UNITS, USUAL
from shakedown.plans.schema.check_words import compile_pattern
from shakedown.plans.schema.other_words import STATISTICS_ELSEWHERE, in_its_place
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Choice, InvalidValue, Name, Parsed, Text, YesNo

OF_PRINTED_TABLES = ("after", "header", "columns", "until", "rows", "separator")  # where a table is in a text
SOURCES = ("regex", "json", "yaml", "table", "formula")  # a figure has one of them


def _figure_pattern(text: str) -> str:
    """A regular expression with the group that holds the number. Raises InvalidValue."""
    if "value" not in compile_pattern(text).groupindex:
        raise InvalidValue(f"'{text}' has no group named 'value'", r"mark the number: (?P<value>\S+)")
    if "(?P<value>)" in text:
        raise InvalidValue(f"'{text}': the group named 'value' is empty", r"it holds the number: (?P<value>\S+)")
    return text


def _pattern(text: str) -> str:
    compile_pattern(text)
    return text


def _unit(text: str) -> str:
    if len(text) > 40 or not text.isprintable() or re.fullmatch(r"[\d.+\-\s]*", text):
        raise InvalidValue(
            f"'{text}' is no unit", "write it as GB/s, s or years/day, or leave it out for a plain number"
        )
    text = text.strip()
    near = [one for one in USUAL if one.casefold() == text.casefold()] if text not in UNITS and len(text) > 1 else []
    if near:
        words = " or ".join(f"'{one}'" for one in near)
        raise InvalidValue(f"there is no unit '{text}'", f"did you mean {words}? Nobody could convert it")
    return text


def _path(text: str) -> str:
    try:
        json_paths.parse(text)
    except ValueError as error:
        raise InvalidValue(str(error), "keys are joined by single dots; places in lists are [0], [-1] or [*]") from None
    return text


def _formula(text: str) -> str:
    try:
        formulas.parse(text)
    except formulas.FormulaError as error:
        raise InvalidValue(str(error), error.hint) from None
    return text


_WORDS_OF_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "bar": "|"}


def _separator(text: str) -> str:
    found = _WORDS_OF_SEPARATORS.get(text, text)
    if len(found) != 1 or found.isalnum() or found in '"\n\r':
        hint = f"it is one character, or one of the words {', '.join(_WORDS_OF_SEPARATORS)}"
        raise InvalidValue(f"'{text}' is no separator", hint)
    return found


def _column(text: str) -> str:
    if not text.strip() or len(text) > 80 or not text.isprintable():
        raise InvalidValue("a column's name is a short line of printable text")
    return text.strip()


_COLUMN = Parsed("a column's name", _column)
_COLUMN_KEY = Name("a column's name", r"\S(?:.*\S)?", "write it as the table's header has it")

TABLE = Record(
    "a map that says where the table is, and which of its cells count",
    {
        "after": Key(Parsed("a regular expression", _pattern), "the table begins after each line that this matches"),
        "header": Key(
            Parsed("a regular expression", _pattern),
            "the line with the names of the columns; without it, and without columns, the first line",
        ),
        "columns": Key(
            ListOf(_COLUMN, "a list of names", 1),
            "names of the columns, from left to right, where no line has them; '_': one that is not wanted; '...' at the end: more",
        ),
        "until": Key(
            Parsed("a regular expression", _pattern),
            "the table ends before this line, and lines that are no rows are passed over; without it at the first such line",
        ),
        "rows": Key(
            Parsed("a regular expression", _pattern),
            "lines that this matches are its rows; all others are passed over, until the next table begins",
        ),
        "separator": Key(
            Parsed("a separator", _separator),
            "what is between two fields: comma, tab, semicolon, bar; without it blanks",
        ),
        "records": Key(
            _COLUMN,
            "the table is the JSON lines whose key record has this value, such as the package's kernels write; "
            "their other keys are its columns",
        ),
        "column": Key(_COLUMN, "the column of the numbers; without it the one called as the figure is"),
        "by": Key(
            Either(scalar=_COLUMN, items=ListOf(_COLUMN, "a list of columns")),
            "columns that say what a row is: each row is a number of its own, NAME[column=text]; without it the first other one "
            "of columns",
        ),
        "where": Key(
            MapOf(_COLUMN_KEY, Text(), "columns and their texts", "COLUMN"),
            "rows that count, by the text in their columns; with it and without by they give one number, as pick says",
        ),
    },
    in_its_place(("unit", "better", "from", "pick", "required"), "it stands beside table, not in it: {}: ...")
    | dict.fromkeys(("sep", "delimiter"), "here it is 'separator'"),
)

FIGURE = Record(
    "a map that says where a number is found",
    {
        "json": Key(
            Parsed("a path, such as triad.gb_s or results[0].bw", _path),
            "path into the JSON lines of the output, or into a text that is one JSON value",
        ),
        "yaml": Key(Parsed("a path, such as triad.gb_s or results[0].bw", _path), "path into a text that is YAML"),
        "regex": Key(Parsed("a regular expression", _figure_pattern), "regular expression with a group named value"),
        "table": Key(TABLE, "a table that the program prints"),
        "formula": Key(
            Parsed("a formula, such as 100 * rate / nodes", _formula),
            "computed from the test's other figures, elapsed, and names of the case such as nodes, ranks and node.peak",
        ),
        "unit": Key(Parsed("a unit", _unit), "the number's unit; without it a plain number"),
        "better": Key(Choice(("higher", "lower")), "which direction is better"),
        "from": Key(
            Text("'output' or a file"),
            "where it is looked for: output, or a file of the run, or a pattern such as HPCG-Benchmark*.txt; without it output",
        ),
        "pick": Key(
            Choice(get_args(Pick), other_words=STATISTICS_ELSEWHERE),
            "which counts where there are several; without it last",
        ),
        "required": Key(YesNo(), "a run without it is incorrect; without it true"),
    },
)
