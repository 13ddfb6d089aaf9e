"""Folded states kept beside the log. They only save time: what is damaged, old or of another log is ignored."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from shakedown.events.damage import NOT_JSON
from shakedown.events.segments import Position, holds, spans
from shakedown.model.errors import RecordError
from shakedown.model.nouns import SCHEMA

_NAME = re.compile(r"(\d{12})\.snapshot")
_KEPT = 2
_LIMIT = 4096  # bytes of the first line


class _Head(msgspec.Struct, frozen=True):
    """The first line of a snapshot; the state's bytes follow. ``fold`` is the version of what folds events into that state."""

    position: Position
    schema: int
    fold: int
    bytes: int
    sha256: str


def save(directory: Path, position: Position, fold_version: int, state: bytes, schema: int = SCHEMA) -> bool:
    """Purpose: keep the state folded up to ``position`` (``LogWriter.position`` after a commit), and forget all but the last two.

    ``directory`` is that of the log. False where it could not be written: nothing is lost but time.
    """
    head = _Head(position, schema, fold_version, len(state), hashlib.sha256(state).hexdigest())
    folder = directory / "snapshots"
    draft = folder / f".{position.seq:012d}.{os.getpid()}"
    try:
        folder.mkdir(exist_ok=True)
        draft.write_bytes(msgspec.json.encode(head) + b"\n" + state)
        draft.replace(folder / f"{position.seq:012d}.snapshot")
    except OSError:
        with suppress(OSError):
            draft.unlink()
        return False
    for old in _newest_first(directory)[_KEPT:]:
        with suppress(OSError):
            old.unlink()
    return True


def load(directory: Path, fold_version: int, schema: int = SCHEMA) -> tuple[int, bytes] | None:
    """Purpose: the newest snapshot that fits this log, this fold and this schema: (seq, state), or None.

    Go on with ``read_events(directory, after=seq)``.
    """
    for path in _newest_first(directory):
        found = _read(path)
        if found is not None:
            head, state = found
            if (head.schema, head.fold) == (schema, fold_version) and _fits(directory, head.position):
                return head.position.seq, state
    return None


def _newest_first(directory: Path) -> list[Path]:
    try:
        names = os.listdir(directory / "snapshots")  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []
    return [directory / "snapshots" / name for name in sorted(names, reverse=True) if _NAME.fullmatch(name)]


def _read(path: Path) -> tuple[_Head, bytes] | None:
    try:
        with path.open("rb") as file:
            head = msgspec.json.decode(file.readline(_LIMIT), type=_Head)
            state = file.read()
    except (OSError, *NOT_JSON):
        return None
    whole = len(state) == head.bytes and hashlib.sha256(state).hexdigest() == head.sha256
    return (head, state) if whole else None


def _fits(directory: Path, position: Position) -> bool:
    try:
        found = spans(directory)
        return 0 < position.segment <= len(found) and holds(found[position.segment - 1], position)
    except (OSError, RecordError, ValueError):
        return False
