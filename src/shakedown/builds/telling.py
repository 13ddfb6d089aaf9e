"""What to say of a build that failed: how it ended, and the line of its log that tells most."""

from __future__ import annotations

import os
from pathlib import Path

from shakedown.events.plain_files import open_plain

_TAIL_BYTES = 16 << 10  # of a log that are looked at
_TELLING = ("error", "fatal", "undefined", "not found", "no such file", "cannot", "failed", "***")
_LONGEST = 200


def why_it_failed(status: int | None, log: Path) -> str:
    """Purpose: a sentence. The first line of the log's end that names an error tells more than the later ones it led to."""
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
    """A compiler may colour its messages, and a test may write anything."""
    return "".join(character if character.isprintable() else " " for character in line)[:_LONGEST]
