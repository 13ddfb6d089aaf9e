"""Folded states beside the log. They only save time: a snapshot that is damaged, old or of another log is ignored.

A snapshot is used only where the log confirms it: the event right behind its place names its digest. So a state that somebody
changed together with its digest is not used.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from shakedown.events.damage import NOT_JSON
from shakedown.events.plain_files import open_plain
from shakedown.events.reader import read_events
from shakedown.events.segments import Position, holds, spans
from shakedown.model.errors import RecordError
from shakedown.model.nouns import SCHEMA

_NAME = re.compile(r"(\d{12})\.snapshot")
_KEPT = 2
_LIMIT = 4096  # bytes of the first line


class _Head(msgspec.Struct, frozen=True):
    """The first line of a snapshot; the state's bytes follow. ``fold`` is the version of the fold that produced the state."""

    position: Position
    schema: int
    fold: int
    bytes: int
    sha256: str


def save(directory: Path, position: Position, fold_version: int, state: bytes, schema: int = SCHEMA) -> str:
    """Purpose: keep the state folded up to ``position`` (``LogWriter.position`` after a commit), and delete all but the last two.

    ``directory`` is that of the log. Returns the digest that the next event must name (``snapshot``); "" where the snapshot could
    not be written, which only costs time later.
    """
    digest = hashlib.sha256(state).hexdigest()
    head = _Head(position, schema, fold_version, len(state), digest)
    folder = directory / "snapshots"
    draft = folder / f".{position.seq:012d}.{os.getpid()}"
    try:
        folder.mkdir(exist_ok=True)
        draft.write_bytes(msgspec.json.encode(head) + b"\n" + state)
        draft.replace(folder / f"{position.seq:012d}.snapshot")
    except OSError:
        with suppress(OSError):
            draft.unlink()
        return ""
    for old in snapshot_files(directory)[_KEPT:]:
        with suppress(OSError):
            old.unlink()
    return digest


def load(
    directory: Path, fold_version: int, schema: int = SCHEMA, refused: list[Path] | None = None
) -> tuple[Position, bytes] | None:
    """Purpose: the newest snapshot that fits this log, this fold and this schema: its place in the log and the state, or None.

    Continue with ``read_events(directory, after=place.seq)``. ``refused`` receives the files that the log contradicts: it names
    another digest, or none of the file can be read.
    """
    for path in snapshot_files(directory):
        found = read_snapshot(path)
        if found is None:
            if refused is not None:
                refused.append(path)
            continue
        head, state = found
        if (head.schema, head.fold) != (schema, fold_version) or not _fits(directory, head.position):
            continue
        named = _named(directory, head.position.seq)
        if named == head.sha256:
            return head.position, state
        if named and refused is not None:
            refused.append(path)
    return None


def _named(directory: Path, seq: int) -> str:
    """The digest that the event behind a snapshot's place names; "" where that event names none, as in older versions."""
    event = next(iter(read_events(directory, after=seq)), None)
    return str(event.value.get("digest", "")) if event is not None and event.event == "snapshot" else ""


def snapshot_files(directory: Path) -> list[Path]:
    """The files of all snapshots, the newest first."""
    try:
        names = os.listdir(directory / "snapshots")  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []
    return [directory / "snapshots" / name for name in sorted(names, reverse=True) if _NAME.fullmatch(name)]


def read_snapshot(path: Path) -> tuple[_Head, bytes] | None:
    """A snapshot's head and state, None where the two do not match."""
    try:
        with open_plain(path) as file:
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
