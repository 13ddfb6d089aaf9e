"""Whatever a message shows in brackets behind a key is YAML: who pastes it is not told of a mistake of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
import yaml

import shakedown

ROOM = Path(shakedown.__file__).parent
SHOWN = re.compile(r"\b[a-z][a-z_]*: (?=[{\[])")
PAIRS = {"{": "}", "[": "]"}


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a file with a word for each value that is filled in; what describes functions and modules is left out."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, as_filled_in(node.value) if "{{" in node.value else node.value


def as_filled_in(template: str) -> str:
    """What ``str.format`` makes of a text, with a word for each value."""
    return "".join(text + ("" if field is None else "x") for text, field, _, _ in Formatter().parse(template))


def in_brackets(text: str) -> Iterator[str]:
    """``key: {...}`` and ``key: [...]`` of a text, to the bracket that closes."""
    for found in SHOWN.finditer(text):
        open_ones = []
        for place, letter in enumerate(text[found.end() :], found.end()):
            if letter in PAIRS:
                open_ones.append(PAIRS[letter])
            elif open_ones and letter == open_ones[-1]:
                open_ones.pop()
                if not open_ones:
                    yield text[found.start() : place + 1]
                    break


def test_the_brackets_of_a_text_are_found() -> None:
    assert list(in_brackets("write run: {a: [1, 2]}; or b: [x] here, c: {")) == [
        "run: {a: [1, 2]}",
        "a: [1, 2]",
        "b: [x]",
    ]


@pytest.mark.parametrize(
    "folder", ["plans", "metrics", "cli", "rehearsal", "conductor", "machine", "audit", "report", "model"]
)
def test_what_a_message_shows_in_brackets_is_yaml(folder: str) -> None:
    wrong, seen = [], 0
    for path in sorted((ROOM / folder).rglob("*.py")):
        for line, text in texts(ast.parse(path.read_text())):
            for shown in in_brackets(text):
                seen += 1
                try:
                    yaml.safe_load(shown)
                except yaml.YAMLError:
                    wrong.append(f"{path.relative_to(ROOM)}:{line}: {shown}")
    assert wrong == []
    assert seen > 20 or folder != "plans", "the messages of plans show some"
