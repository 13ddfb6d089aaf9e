"""What to say of a build that failed: how it ended, and the most telling line of its log."""

from __future__ import annotations

import os
from pathlib import Path

from shakedown.events.plain_files import open_plain

_TAIL_BYTES = 16 << 10  # of a log that are looked at
_TELLING = ("error", "fatal", "undefined", "not found", "no such file", "cannot", "failed", "***")
_LONGEST = 200


def why_it_failed(status: int | None, log: Path) -> str:
    """Purpose: a sentence on how it ended, with the first line near the end of the log that names an error: later errors often
    follow from it.
    """
    if status is None:
        how = "how it ended is not known"
    else:
        how = f"exit status {status}" if status >= 0 else f"signal {-status}"
    lines = _last_lines(log)
    telling = next((line for line in lines if any(word in line.lower() for word in _TELLING)), "")
    shown = _printable(telling or (lines[-1] if lines else ""))
    return f"{how}: {shown}" if shown else how


def _last_lines(log: Path) -> list[str]:
    try:
        with open_plain(log) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]


def _printable(line: str) -> str:
    """The line without control characters and of limited length: compilers may colour their messages."""
    return "".join(character if character.isprintable() else " " for character in line)[:_LONGEST]
