"""Errors for lines that cannot be read, and what they tell people."""

from __future__ import annotations

from pathlib import Path

import msgspec

from shakedown.model.errors import RecordError
from shakedown.model.events import LINE_VERSION

NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what decoding raises for bytes of any kind


class LaterVersion(RecordError):
    """A newer Shakedown wrote the record. That is not damage."""


class DamagedLine(ValueError):
    """A line that is not an event. ``index`` counts lines from 0 in the decoded block; ``later``: a newer Shakedown wrote it."""

    def __init__(self, why: str, later: bool = False) -> None:
        super().__init__(why)
        self.why, self.later = why, later
        self.index = 0

    def told(self, path: Path, line: int) -> RecordError:
        """The error that names the file and the line; ``line`` counts from 1 and includes the segment's header."""
        if self.later:
            return LaterVersion(
                f"{path}: line {line}: {self.why}", hint="use the Shakedown that wrote this record, or a newer one"
            )
        return RecordError(
            f"{path}: line {line} is damaged: {self.why}",
            hint="'shakedown log --verify' says what is whole; put this segment back from a backup",
        )


def refuse_later(version: int) -> None:
    """Raise DamagedLine where a line or a segment's header has a newer version than this code knows."""
    if version > LINE_VERSION:
        why = f"a newer Shakedown wrote this; it is of version {version}, and this one reads up to {LINE_VERSION}"
        raise DamagedLine(why, later=True)
