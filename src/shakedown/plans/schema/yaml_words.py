"""Explain YAML errors in words for people who write plans, not parsers."""

from __future__ import annotations

from typing import Any

import yaml

# the parser's words -> (ours, the way out)
_WORDS: dict[str, tuple[str, str | None]] = {
    "mapping values are not allowed in this context": (
        "a ':' that begins a value is not allowed here",
        "is the indentation right? text that holds ': ' is put in quotes",
    ),
    "block sequence entries are not allowed in this context": (
        "a list cannot begin here",
        "begin it on a line of its own, or write [a, b]",
    ),
    "did not find expected key": ("a key is expected here", "is the indentation right, and every quote closed?"),
    "could not find expected ':'": ("the key before this has no ':'", "write 'key: value'"),
    "did not find expected ',' or ']'": ("the list in [...] is not closed before here", "write a ',' or a ']'"),
    "did not find expected ',' or '}'": (
        "the map in {...} is not closed before here",
        "write a ',' or a '}'; text that begins with '{' is put in quotes",
    ),
    "did not find expected '-' indicator": ("the list goes on here without a '-'", "is the indentation right?"),
    "did not find expected node content": (
        "a value is expected here",
        "write one, or take away what leads to it",
    ),
    "found unexpected end of stream": (
        "the quote that is opened here is never closed",
        "close it in the line in which it is opened",
    ),
    "found unknown escape character": (
        "double quotes know no such escape",
        "put it in single quotes: there a backslash is a backslash",
    ),
    "found undefined alias": ("no anchor of this name stands before it", "text that begins with '*' is put in quotes"),
    "found undefined tag handle": ("tags have no meaning here", "text that begins with '!' is put in quotes"),
    "but found another document": ("a second document begins here", "a file holds one; give it a file of its own"),
    "did not find expected <document start>": (
        "this line begins further left than the first one",
        "all keys of a file begin in one column",
    ),
    "second occurrence": ("the anchor is already in use", None),
    "found a tab character where an indentation space is expected": (
        "a tab indents this line",
        "YAML is indented with spaces",
    ),
    "found a tab character that violates indentation": ("a tab indents this line", "YAML is indented with spaces"),
    "did not find expected comment or line break": (
        "nothing but a comment can follow '|' or '>' here",
        "put text that begins with it in quotes",
    ),
}
_AT_THE_START = {"found unexpected end of stream"}  # shown where the trouble began, not where it was noticed


def in_words(error: yaml.MarkedYAMLError, text: str) -> tuple[str, str | None, Any]:
    """Purpose: (what is wrong, the hint or None, the mark where)."""
    problem: str = error.problem or error.context or "it cannot be read"
    mark: Any = error.problem_mark or error.context_mark
    if problem in _AT_THE_START:
        mark = error.context_mark or mark
    if problem == "found character that cannot start any token":
        return (*_character(_character_at(text, mark)), mark)
    message, hint = _WORDS.get(problem, (f"this is not YAML: {problem}", None))
    return message, hint, mark


def _character_at(text: str, mark: Any) -> str:
    lines = text.split("\n")
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    return line[mark.column : mark.column + 1]


def _character(character: str) -> tuple[str, str]:
    if character == "\t":
        return "a tab indents this line", "YAML is indented with spaces"
    return f"text cannot begin with '{character}'", "put it in quotes"
