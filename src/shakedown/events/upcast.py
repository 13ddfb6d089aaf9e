"""Convert lines of older versions to today's events as they are read. The files stay unchanged.

A change in the meaning of a line raises ``LINE_VERSION`` and adds one function here, from the version before it. A log of every
version that was ever released is kept under tests/events/fixtures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from shakedown.events.damage import DamagedLine, refuse_later
from shakedown.model.events import LINE_VERSION, Event

Line = dict[str, Any]

# version -> what makes a line of that version one of the next
UPCASTS: dict[int, Callable[[Line], Line]] = {}


def read_other_version(line: Line) -> Event:
    """Purpose: the event of a line whose version is not today's.

    Errors: DamagedLine where a newer Shakedown wrote it or the version is unknown; msgspec.ValidationError where it is not an
    event.
    """
    version = line["v"]
    refuse_later(version)
    while version < LINE_VERSION:
        if version not in UPCASTS:
            raise DamagedLine(f"it is of version {version}, which never was")
        line = UPCASTS[version](line)
        version += 1
    return msgspec.convert({**line, "v": LINE_VERSION}, Event)
