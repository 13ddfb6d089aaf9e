"""Read a contract's file, YAML or CSV, into cells that know their places in the file."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Pairs
from shakedown.plans.files import LIMIT_BYTES, Found, read_bytes
from shakedown.plans.schema.contract import COLUMNS, CONTRACT, REQUIRED, WHERE, parse_where
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, Name
from shakedown.plans.schema.source_positions import key_place, place
from shakedown.plans.schema.yaml_nodes import decode_text, read_nodes

_NAME = Name("a contract's name")


@dataclass(slots=True)
class Written:
    """One row as written: its number in the file, the text of its cells by column, empty ones left out, and where they stand."""

    number: int
    path: str
    line: int
    column: int = 1
    cells: dict[str, str] = field(default_factory=dict)
    where: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    faulty: bool = False  # something is wrong with it, and said

    def wrong(self, problems: Problems, column: str, message: str, hint: str | None = None, about: str = "") -> None:
        """Report a fault of one cell."""
        self.faulty = True
        if column in self.nodes:
            problems.at(self.nodes[column], f"{column}: {message}", hint, about)
        else:
            problems.file(self.path, f"{column}: {message}", hint, self.line, self.column, about)

    def where_node(self, key: str, value: bool) -> Node | None:
        """The node of a key of ``where``, or of its value; None where it has no node, as in CSV."""
        node = self.nodes.get("where")
        if not isinstance(node, MappingNode):
            return None
        return place(node, key) if value else key_place(node, key)


@dataclass(slots=True)
class Paper:
    """A contract's file with its rows as text, before the rows are parsed."""

    name: str
    rows: list[Written]
    file: Found
    sha256: str
    title: str = ""
    about: str = ""
    parties: Pairs = ()


def read_paper(file: Found, problems: Problems) -> Paper | None:
    """Purpose: the file's rows, or None where ``problems`` has grown so far that there are none."""
    data = read_bytes(file, problems)
    if data is None:
        return None
    sha256 = hashlib.sha256(data).hexdigest()
    if file.path.endswith(".csv"):
        return _from_csv(file, data, sha256, problems)
    root = read_nodes(data, file.name, problems, "contract")
    return None if root is None else _from_yaml(file, root, sha256, problems)


def name_in(file: Found) -> str:
    """The name of a contract as its file says it, or as its file is called; without a word about what is wrong."""
    stem = file.name.rpartition("/")[2].rpartition(".")[0]
    if file.path.endswith(".csv"):
        return stem
    data = read_bytes(file, Problems())
    root = None if data is None else read_nodes(data, file.name, Problems())
    found = None if root is None else place(root, "contract")
    return found.value if isinstance(found, ScalarNode) and found.value else stem


# ---- YAML ------------------------------------------------------------------------------------------------------------


def _from_yaml(file: Found, root: MappingNode, sha256: str, problems: Problems) -> Paper | None:
    before = len(problems)
    values = CONTRACT.read(root, "", problems)
    if values is None or len(problems) > before:
        return None
    columns: list[str] = values["columns"]
    at = place(root, "columns")
    for message, hint in _column_faults(columns):
        problems.at(at, message, hint)
    if len(problems) > before:
        return None
    rows = []
    for number, nodes in enumerate(values["rows"], 1):
        row = _yaml_row(number, place(root, "rows", number - 1), nodes, columns, problems)
        if row is not None:
            rows.append(row)
    text = {key: values.get(key, "") for key in ("title", "about")}
    return Paper(values["contract"], rows, file, sha256, parties=tuple(values.get("parties", {}).items()), **text)


def _yaml_row(number: int, at: Node, nodes: list[Node], columns: list[str], problems: Problems) -> Written | None:
    mark: Any = at.start_mark
    row = Written(number, mark.name, mark.line + 1, mark.column + 1)
    if len(nodes) != len(columns):
        problems.at(at, *_wrong_count(len(nodes), columns), _one_mistake(mark.name, len(nodes)))
        return None
    for column, node in zip(columns, nodes, strict=True):
        row.nodes[column] = node
        if isinstance(node, ScalarNode):
            _put(row, column, node.value, problems)
        elif column == "where":
            before = len(problems)
            row.where = _where_map(node, problems)
            row.faulty = row.faulty or len(problems) > before
        else:
            row.wrong(problems, column, "a cell is text", "put it in quotes where YAML takes it for something else")
    return row


def _where_map(node: Node, problems: Problems) -> dict[str, list[str]]:
    before = len(problems)
    where = WHERE.read(node, "where", problems) or {}
    if len(problems) > before:
        return {}
    return {key: [value] if isinstance(value, str) else list(value) for key, value in where.items()}


# ---- CSV -------------------------------------------------------------------------------------------------------------


def _from_csv(file: Found, data: bytes, sha256: str, problems: Problems) -> Paper | None:
    """Read a CSV file: its first line that is no comment names the columns; the file's name is the contract's name."""
    before = len(problems)
    if len(data) > LIMIT_BYTES:
        problems.file(file.name, f"the file has more than {LIMIT_BYTES} bytes, the most that is read")
        return None
    text = decode_text(data, file.name, problems)
    if text is None:
        return None
    lines = list(_lines(file, text, problems))
    if not lines and len(problems) == before:
        problems.file(file.name, "the file is empty", f"its first line names the columns: {','.join(REQUIRED)},...")
    name = name_in(file)
    try:
        _NAME.convert(name)
    except InvalidValue as error:
        problems.file(file.name, f"the contract is called as its file: {error}", error.hint)
    if len(problems) > before:
        return None
    rows = _csv_rows(file, lines, problems)
    return None if rows is None else Paper(name, rows, file, sha256)


def _csv_rows(file: Found, lines: list[tuple[int, list[str]]], problems: Problems) -> list[Written] | None:
    first, columns = lines[0]
    faults = list(_column_faults(columns))
    for message, hint in faults:
        problems.file(file.name, message, hint, first, 1)
    if len(lines) == 1:
        problems.file(file.name, "the contract has no rows", "each line below the columns is one", first, 1)
    if faults or len(lines) == 1:
        return None
    rows = []
    for number, (line, cells) in enumerate(lines[1:], 1):
        row = Written(number, file.name, line)
        if len(cells) != len(columns):
            about = _one_mistake(file.name, len(cells))
            problems.file(file.name, *_wrong_count(len(cells), columns), line, 1, about)
            continue
        for column, cell in zip(columns, cells, strict=True):
            _put(row, column, cell, problems)
        rows.append(row)
    return rows


def _lines(file: Found, text: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number in the file and its cells."""
    plain = _without_comments(text)
    header = next((line for line in plain if line.strip()), "")
    delimiter = next((mark for mark in (",", ";", "\t") if mark in header), ",")
    reader = csv.reader(plain, delimiter=delimiter, strict=True)
    start = 1
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        problems.file(file.name, f"the line is no CSV: {error}", "double a quote inside quotes", start, 1)


def _without_comments(text: str) -> list[str]:
    """The lines with comment lines (#) made empty, so that line numbers stay; a # within a quoted cell is no comment."""
    lines, quotes = [], 0
    for line in io.StringIO(text, newline=""):
        comment = line.startswith("#") and quotes % 2 == 0
        quotes += 0 if comment else line.count('"')
        lines.append("\n" if comment else line)
    return lines


# ---- both ------------------------------------------------------------------------------------------------------------


def _put(row: Written, column: str, text: str, problems: Problems) -> None:
    """Store the text of a cell with single blanks; an empty cell is left out."""
    text = " ".join(text.split())
    if not text:
        return
    if column != "where":
        row.cells[column] = text
        return
    try:
        row.where = _flow_map(row, text, problems) if text.startswith("{") else parse_where(text)
    except InvalidValue as error:
        row.wrong(problems, column, str(error), error.hint)


def _flow_map(row: Written, text: str, problems: Problems) -> dict[str, list[str]]:
    """The map that a cell holds in YAML's flow style; faults are reported at the row."""
    found = Problems()
    root = read_nodes(text.encode(), row.path, found)
    where = {} if root is None else _where_map(root, found)
    for problem in found.found:
        row.wrong(problems, "where", problem.message, problem.hint)
    return where


def _column_faults(columns: list[str]) -> Iterator[tuple[str, str | None]]:
    for column in dict.fromkeys(columns):
        if column not in COLUMNS:
            yield f"there is no column '{column}'", did_you_mean(column, COLUMNS) or f"there are: {', '.join(COLUMNS)}"
        elif columns.count(column) > 1:
            yield f"the column '{column}' is there {columns.count(column)} times", "keep one"
    for column in REQUIRED:
        if column not in columns:
            yield f"the column '{column}' is missing", f"it holds {COLUMNS[column]}"


def _one_mistake(file: str, count: int) -> str:
    """What the faults of rows with the same count of cells are about: it may be a column that is missing."""
    return f"rows of {count} cells in {file}"


def _wrong_count(count: int, columns: list[str]) -> tuple[str, str]:
    message = f"the row has {count} cell{'' if count == 1 else 's'}, and there are {len(columns)} columns"
    return message, f'the columns are {", ".join(columns)}; write "" for a cell that says nothing'
