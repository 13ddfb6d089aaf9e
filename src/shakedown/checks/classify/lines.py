"""Lines of an output: cleaned for comparison, shortened for a person, and split from a text with their shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator

MATCHED = 2000  # characters of a line that are looked at: its first and last half of that
SHOWN = 300  # characters of a line in the record

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[()*+#][A-Za-z0-9]|[ -/]?[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")

_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")


def clean(line: str) -> str:
    """Purpose: a line without escape codes, control characters and double blanks, and without the middle of very long ones."""
    if len(line) > 4 * MATCHED:
        line = f"{line[: 2 * MATCHED]} ... {line[-2 * MATCHED :]}"
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    if not line.isprintable():
        line = _CONTROL.sub(" ", line)
    line = " ".join(line.split())
    return line if len(line) <= MATCHED else f"{line[: MATCHED // 2]} ... {line[-MATCHED // 2 :]}"


def shown(line: str, at: int = 0) -> str:
    """Purpose: a cleaned line for a person: printable, at most ``SHOWN`` characters around position ``at``."""
    if len(line) > SHOWN:
        begin = 0 if at < SHOWN - 60 else min(at - 60, len(line) - SHOWN + 6)
        piece = line[begin : begin + SHOWN - 6]
        line = ("..." if begin else "") + piece + ("..." if begin + len(piece) < len(line) else "")
    return line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line)


def lines_and_shapes(text: str) -> Iterator[tuple[str, str]]:
    """Purpose: yield each line without colour codes, with its shape: the line in lower case and without digits.

    Lines end at new lines and at carriage returns. Programs repeat most of their lines with other numbers, so a caller that
    looks at each shape once has little work.
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = text.replace("\r", "\n")
    yield from zip(text.split("\n"), text.lower().translate(_WITHOUT_DIGITS).split("\n"), strict=True)
