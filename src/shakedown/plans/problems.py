"""Faults of files that people write, collected with their places so that all of them can be shown at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shakedown.model.errors import FileProblems, Problem

if TYPE_CHECKING:
    from yaml.nodes import Node  # a listing from the cache needs no parser


class Problems:
    """The faults found so far. A node knows the file, line and column it was written at."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def __len__(self) -> int:
        return len(self.found)

    def at(self, node: Node, message: str, hint: str | None = None) -> None:
        """A fault at a node."""
        mark: Any = node.start_mark
        self.file(mark.name, message, hint, mark.line + 1, mark.column + 1)

    def file(self, path: str, message: str, hint: str | None = None, line: int = 0, column: int = 0) -> None:
        """A fault of a whole file, or at a line and column that no node stands for."""
        self.found.append(Problem(path, line, column, one_line(message), one_line(hint) if hint else None))

    def stop(self, show: Callable[[str], str] = str) -> None:
        """Purpose: raise FileProblems where anything was found. ``show`` turns a file's name into what people are shown."""
        if self.found:
            raise FileProblems(Problem(show(p.path), p.line, p.column, p.message, p.hint) for p in self.found)


_LONGEST = 500


def one_line(text: str) -> str:
    """What people wrote, harmless for a terminal: control characters and new lines become escapes, endless text is cut."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
