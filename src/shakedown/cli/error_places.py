"""Which file an error of the system is about, where the error itself names none: closing, syncing and writing do not."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

OUTPUT = "standard output"
_PRINTERS = frozenset(
    {"click.utils", "rich.console", "shakedown.cli.log", "shakedown.cli.main"}
)  # what they write goes to standard output


def place_of(error: OSError) -> str:
    """Purpose: the file of an error, ``OUTPUT`` where our own output could not be written; "the system" where nothing tells.

    Without a name in the error, it is the file that was at hand where it came up: an open one, else the only path there.
    """
    if error.filename:
        return os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    frames = _frames(error.__traceback__)
    if frames and frames[0].f_globals.get("__name__") in _PRINTERS:
        return OUTPUT
    for frame in frames:
        if found := _at_hand(frame):
            return found
    return "the system"


def _frames(trace: TracebackType | None) -> list[FrameType]:
    """Where it came up, innermost first."""
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames[::-1]


def _at_hand(frame: FrameType) -> str:
    """The one file that a function had open or named; "" where it had none, or several."""
    own = frame.f_locals
    held = own.get("self")
    for values in (list(own.values()), _attributes(held)):
        names = {name for value in values if isinstance(value, io.IOBase) and (name := _name(value))}
        names = names or {str(value) for value in values if isinstance(value, Path)}
        if len(names) == 1:
            return names.pop()
    return ""


def _name(file: Any) -> str:
    """What a file was opened by; "" of a number, and of our own input and output."""
    name = getattr(file, "name", "")
    return name if isinstance(name, str) and not name.startswith("<") else ""


def _attributes(held: object) -> list[object]:
    slots = [name for kind in type(held).__mro__ for name in getattr(kind, "__slots__", ())]
    names = [*slots, *getattr(held, "__dict__", ())]
    return [getattr(held, name, None) for name in dict.fromkeys(names) if held is not None]
