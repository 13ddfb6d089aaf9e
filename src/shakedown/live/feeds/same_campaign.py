"""Which campaign a log is of, whatever its directory is called: a campaign that was renamed or copied is no new one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shakedown.events.segments import segment_path


def identity_of(log: Path) -> str:
    """Purpose: the sha256 of a log's first event; "" where it has none yet, or cannot be read."""
    try:
        with segment_path(log, 1).open("rb") as lines:
            lines.readline()
            first = lines.readline()
    except OSError:
        return ""
    return hashlib.sha256(first).hexdigest() if first.endswith(b"\n") else ""
