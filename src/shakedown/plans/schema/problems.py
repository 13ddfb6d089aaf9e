"""Faults in files that people write, collected with their places so that all of them can be shown at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shakedown.model.errors import FileProblems, Problem

if TYPE_CHECKING:
    from yaml.nodes import Node  # a listing from the cache needs no parser


class Problems:
    """The faults found so far. A node knows the file, line and column where it was written.

    ``about``: the cause of a fault, such as an undefined name. Many places may use that name; they are reported once, as one
    mistake.
    """

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.abouts: dict[Problem, str] = {}

    def __len__(self) -> int:
        return len(self.found)

    def at(self, node: Node, message: str, hint: str | None = None, about: str = "") -> None:
        """Add a fault at a node."""
        mark: Any = node.start_mark
        self.file(mark.name, message, hint, mark.line + 1, mark.column + 1, about)

    def file(
        self, path: str, message: str, hint: str | None = None, line: int = 0, column: int = 0, about: str = ""
    ) -> None:
        """Add a fault of a whole file, or at a line and column without a node."""
        problem = Problem(path, line, column, one_line(message), one_line(hint) if hint else None)
        self.found.append(problem)
        if about:
            self.abouts[problem] = about

    def told(self) -> list[Problem]:
        """Each fault once, sorted by place; faults with the same cause as one, at the first of their places."""
        together: dict[str, list[Problem]] = {}
        for problem in sorted(set(self.found), key=lambda p: (p.path, p.line, p.column, p.message)):
            about = self.abouts.get(problem, "")
            together.setdefault(about or f"\n{problem}", []).append(problem)
        return [_merged(alike) for alike in together.values()]

    def stop(self, show: Callable[[str], str] = str) -> None:
        """Purpose: raise FileProblems where there are faults. ``show`` turns a file's name into the one that people see."""
        if self.found:
            raise FileProblems(Problem(show(p.path), p.line, p.column, p.message, p.hint) for p in self.told())


_LONGEST = 500
_PLACES = 3  # places that a fault names beside its own


def _merged(alike: list[Problem]) -> Problem:
    """Merge several faults with one cause into the first, with a list of the other places."""
    first, *others = alike
    places = list(
        dict.fromkeys(place for p in others if (place := f"{p.path}:{p.line}") != f"{first.path}:{first.line}")
    )
    if not places:
        return first
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    where = f"{', '.join(places[:_PLACES])}{more}"
    return Problem(first.path, first.line, first.column, f"{first.message} (also in {where})", first.hint)


def one_line(text: str) -> str:
    """A person's text, made safe for a terminal: control characters and new lines become escapes, long text is cut
    in the middle.
    """
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
