"""Errors that name the place, the thing and the way out, each with the exit status it ends a command with.

Exit status: 0 met, 1 not met, 2 wrong use, 3 our own fault or a damaged record, 4 undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MET, NOT_MET, WRONG_USE, OUR_FAULT, UNDECIDED = 0, 1, 2, 3, 4


class ShakedownError(Exception):
    """Anything a person is told in a sentence instead of a traceback."""

    status = OUR_FAULT

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or None  # one that says nothing is none

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class UsageError(ShakedownError):
    """Something a person typed, or left out, that we cannot work with."""

    status = WRONG_USE


class RecordError(ShakedownError):
    """The record on disk is damaged, unreadable, or cannot be written."""


class LeaseHeld(UsageError):
    """Another conductor drives this campaign."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault in a file that a person wrote. ``line`` and ``column`` count from 1; 0 means the whole file."""

    path: str
    line: int
    column: int
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        place = self.path if not self.line else f"{self.path}:{self.line}:{self.column}"
        text = f"error: {place}: {self.message}"
        return text if self.hint is None else f"{text}\nhint: {self.hint}"


class FileProblems(UsageError):
    """Every fault found in the files of a site directory, shown at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems), key=lambda p: (p.path, p.line, p.column, p.message))
        super().__init__("\n".join(map(str, self.problems)))


def there_are(names: Sequence[str], most: int = 20, says: str = "there are", newest: bool = False) -> str:
    """Purpose: a hint that lists what there is, at most so many (``newest``: the last ones), and says how many more there are."""
    if not names:
        return "there is none"
    shown = names[-most:] if newest else names[:most]
    left = len(names) - len(shown)
    return f"{says} {', '.join(shown)}{f' and {left} more' if left else ''}"


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Purpose: a hint for a misspelt word, or None when nothing known is near it."""
    import difflib  # only when something is misspelt: every command would pay for it

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else None
