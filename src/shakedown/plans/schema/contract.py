"""Every key and every column of a contract's file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from yaml.nodes import Node, SequenceNode

from shakedown.plans.schema.other_words import STATISTICS_ELSEWHERE
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Identifier, InvalidValue, Name, Text, YesNo
from shakedown.plans.schema.yaml_nodes import shape

BASES = ("contract", "vendor", "site", "history")
STATISTICS = ("each", "mean", "median", "min", "max", "sd")
COLUMNS = {  # column -> what stands in it
    "test": "a test's name",
    "where": "the cases it is about; empty for all of the test",
    "figure": "a figure of the test, or elapsed",
    "must": "what the figure must be",
    "basis": f"who says so: {', '.join(BASES)}",
    "clause": "where the contract, or the vendor's report, says it",
    "text": "what the clause says, in its own words",
    "statistic": "each run on its own, or one number of all that count; without it each",
    "mode": "only runs of this mode: isolated or fill; without it whatever the mode",
    "verdict": "yes: a run outside is judged performance; without it yes where the basis is contract and each run counts",
    "about": "a sentence for people",
}
REQUIRED = ("test", "figure", "must", "basis")

_NAME = Name("a test's name")
_YES = YesNo()

WHERE = MapOf(
    Identifier("a parameter"),
    Either(scalar=Text(), items=ListOf(Text(), "a list", 1)),
    "a map of parameters and their values",
    "PARAMETER",
)

# column -> what its text stands for; the function raises InvalidValue
CELLS: dict[str, Callable[[str], Any]] = {
    "test": _NAME.convert,
    "figure": str,
    "must": str,
    "basis": Choice(BASES).convert,
    "clause": str,
    "text": str,
    "statistic": Choice(STATISTICS, other_words=STATISTICS_ELSEWHERE).convert,
    "mode": Choice(("isolated", "fill")).convert,
    "verdict": _YES.convert,
    "about": str,
}


def parse_where(text: str) -> dict[str, list[str]]:
    """Purpose: ``threads=1|2; toolchain=gcc`` as a map: name -> values. Raises InvalidValue."""
    where: dict[str, list[str]] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, values = (piece.strip() for piece in part.partition("="))
        listed = [value.strip() for value in values.split("|")]
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not all(listed):
            raise InvalidValue(f"'{part}' is no parameter with its value", "write name=value, several as a=1|2; b=x")
        if name in where:
            raise InvalidValue(f"'{name}' is written twice", "several values are one list: a=1|2")
        where[name] = listed
    return where


class Row:
    """A row of a contract: as many cells as there are columns. It is read into its nodes; the columns say what the cells hold."""

    words = "a list of cells, one for each column"

    def read(self, node: Node, label: str, problems: Problems) -> list[Node] | None:
        if not isinstance(node, SequenceNode):
            problems.at(node, f"{label}: a row is {self.words}, not {shape(node)}", "write - [cell, cell, ...]")
            return None
        return list(node.value)

    def schema(self) -> dict[str, Any]:
        cell = {"anyOf": [{"type": ["string", "number", "boolean"]}, WHERE.schema()]}
        return {"type": "array", "items": {"description": "a cell: what its column says", **cell}}


CONTRACT = Record(
    "a map of keys",
    {
        "contract": Key(Name("the contract's name"), "what the contract is called; plans name it", True),
        "title": Key(Text(), "what it is called on the report's cover"),
        "about": Key(Text(), "a sentence for people"),
        "parties": Key(
            MapOf(Name("a party's part"), Text(), "names by part", "PART"),
            "who signs, by part, such as vendor and site",
        ),
        "columns": Key(
            ListOf(Choice(COLUMNS), "a list of columns", 1), "what stands where in a row: " + ", ".join(COLUMNS), True
        ),
        "rows": Key(ListOf(Row(), "a list of rows", 1), "what must be, a list of cells each", True),
    },
)
