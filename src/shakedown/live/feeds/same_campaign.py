"""Identify the campaign of a log, whatever the name of its directory is: a renamed or copied campaign is not a new one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shakedown.events.segments import segment_path


def identity_of(log: Path) -> str:
    """Purpose: the sha256 of a log's first event; "" where there is none yet, or it cannot be read."""
    try:
        with segment_path(log, 1).open("rb") as lines:
            lines.readline()
            first = lines.readline()
    except OSError:
        return ""
    return hashlib.sha256(first).hexdigest() if first.endswith(b"\n") else ""
