"""One item of ``check``: a line of words, or a map that compares files with others in the test's directory."""

from __future__ import annotations

import math
import re
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from shakedown.model.references import FORMATS
from shakedown.plans.schema.check_words import inside, parse_check
from shakedown.plans.schema.figures import TABLE
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, ListOf, OneKey, Record
from shakedown.plans.schema.scalars import Choice, InvalidValue, Parsed, Text, YesNo

GOLDEN = "files match golden"
EQUAL = "files equal within"
CURVE = "curve within"

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _amount(text: str) -> float:
    """An allowed difference: a number that is not negative."""
    number = float(text) if _NUMBER.fullmatch(text.strip()) else math.inf
    if not math.isfinite(number):
        raise InvalidValue(f"'{text}' is no tolerance", "write a number such as 1e-9")
    return number


def _share(text: str) -> float:
    """A share of the reference's number: 1e-6, or 5%. A plain number of 1 or more is an error: a percentage without its sign."""
    written = text.strip()
    if written.endswith("%"):
        return _amount(written[:-1]) / 100
    share = _amount(written)
    if share >= 1:
        raise InvalidValue(
            f"'{written}' would be {share * 100:g}% of the reference", f"write {written}%, or a number below 1"
        )
    return share


def _column(text: str) -> str:
    if not text.strip() or len(text) > 200 or not text.isprintable():
        raise InvalidValue("a column's name is a short line of printable text")
    return text.strip()


_ABSOLUTE = Parsed("a number, such as 1e-9", _amount)
_SHARE = Parsed("a number or a percentage, such as 1e-6 or 5%", _share)
_REFERENCE = "the file it is held against, beside the test; it is frozen with the plan"

_GOLDEN = Record(
    "a map with glob and sums",
    {
        "glob": Key(Parsed("a pattern of files, such as RESTART/*.nc", inside), "which files of the run", True),
        "sums": Key(Text("a file"), "a file that sha256sum wrote, beside the test: what each file must be", True),
    },
)

_EQUAL = Record(
    "a map with file, reference and a tolerance",
    {
        "file": Key(Parsed("a file of the run", inside), "the file of the run, or output", True),
        "reference": Key(Text("a file"), _REFERENCE, True),
        "absolute": Key(_ABSOLUTE, "how much each number may differ by; without it 0"),
        "relative": Key(_SHARE, "how much of the reference's number it may differ by besides; without it 0"),
        "columns": Key(
            ListOf(Parsed("a column", _column), "a list of columns", 1),
            "names of columns, or their numbers from 1; of netCDF and HDF5 names of variables; without it all",
        ),
        "format": Key(Choice(FORMATS), "how both files are written; without it as the reference's name ends"),
        "nan": Key(Choice(("differs", "equal")), "whether NaN equals NaN; without it differs"),
    },
)

_CURVE = Record(
    "a map with x, y, reference and within",
    {
        "from": Key(
            Parsed("'output' or a file", inside), "where the curve is: output, or a file of the run; without it output"
        ),
        "table": Key(
            Record(
                "a map that says where the table is, and which of its rows count",
                {
                    name: TABLE.keys[name]
                    for name in ("after", "header", "columns", "until", "rows", "separator", "where")
                },
            ),
            "the table that the program prints, as figures have it; without it the file is CSV or columns between blanks",
        ),
        "x": Key(Parsed("a column", _column), "the column of x, by its name, or by its number from 1", True),
        "y": Key(Parsed("a column", _column), "the column of y", True),
        "reference": Key(
            Text("a file"), _REFERENCE + ": CSV or columns, with the same names or two columns alone", True
        ),
        "within": Key(_SHARE, "how much of the reference's y each y may differ by, such as 5%", True),
        "absolute": Key(_ABSOLUTE, "how much it may differ by besides; without it 0"),
        "part": Key(YesNo(), "the curve need not go over the whole reference; without it false"),
    },
)


class CheckItem(Either):
    """One item of ``check``: a line of words, or a map."""

    def __init__(self) -> None:
        super().__init__(
            scalar=Parsed("a check in words", parse_check),
            keys=OneKey(
                f"a map with the key '{GOLDEN}', '{EQUAL}' or '{CURVE}'",
                {
                    GOLDEN: Key(_GOLDEN, "the files of the run are, bit for bit, those that the sums were made of"),
                    EQUAL: Key(_EQUAL, "each number of the run's file equals that of the reference within a tolerance"),
                    CURVE: Key(_CURVE, "each point of a curve lies within a band around a reference curve"),
                },
            ),
        )

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        if _torn_by_a_colon(node):
            problems.at(node, f"{label}: the ': ' makes a map of this check", "put the whole check in single quotes")
            return None
        if said := _in_a_map(node):
            problems.at(
                node, f"{label}: a check of the output, a file or the exit status is one line", f"write - {said}"
            )
            return None
        return super().read(node, label, problems)


_SUBJECTS = re.compile(r"output|exit|file( .*)?")


def _in_a_map(node: Node) -> str:
    """A check in words that somebody wrote as a map, ``output: {contains: ok}``, as the line that it is; "" for none."""
    if not isinstance(node, MappingNode) or len(node.value) != 1:
        return ""
    (key, value), verb, what = node.value[0], "contains", '"..."'
    if not isinstance(key, ScalarNode) or not _SUBJECTS.fullmatch(key.value):
        return ""
    if key.value == "exit":
        return f"exit is {value.value}" if isinstance(value, ScalarNode) else "exit is 0"
    if isinstance(value, MappingNode) and value.value and isinstance(value.value[0][0], ScalarNode):
        verb, text = value.value[0][0].value, value.value[0][1]
        what = f'"{text.value}"' if isinstance(text, ScalarNode) else what
    subject = "file PATH" if key.value == "file" else key.value
    return f"{subject} {verb} {what}"


def _torn_by_a_colon(node: Node) -> bool:
    if not isinstance(node, MappingNode) or not node.value:
        return False
    key = node.value[0][0]
    return isinstance(key, ScalarNode) and bool(re.match(r"(output|file) .*[\"']", key.value))
