"""Parse a file of numbers, of a run or of its reference, into rows of fields. ``read_rows`` is the entry point."""

from __future__ import annotations

from shakedown.checks.text import Text, name_of, omission
from shakedown.model.number_rows import Rows, UnreadableNumbers, rows_of


def read_rows(text: Text, form: str, subject: str = "") -> Rows:
    """Purpose: the rows of a text in the form ``text`` or ``csv``. Raises UnreadableNumbers."""
    name = subject or name_of(text.subject)
    if len(text.parts) != 1:
        raise UnreadableNumbers(f"{name} cannot be compared: {omission(text)}", None)
    return rows_of(text.parts[0], form, name)
