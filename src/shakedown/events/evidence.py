"""Evidence files: copies in the campaign, each named by its digest, so that a file is kept once and cannot be exchanged."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout

MOST_FILES = 10  # of one attestation: their names and digests stand in one event
LONGEST_NAME = 60
_BLOCK = 1 << 20


def keep_evidence(layout: Layout, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Purpose: copy files into the campaign, durable. Returns name, sha256 and bytes of each, in order.

    Errors: UsageError for a file that is not readable, not regular, empty or the same as another, and for too many files;
    RecordError where the campaign cannot be written.
    """
    if len(files) > MOST_FILES:
        raise UsageError(
            f"{len(files)} evidence files are too many; at most {MOST_FILES}", hint="put them into one archive"
        )
    for path in files:
        if not path.is_file():
            raise UsageError(f"{path} is no file", hint="evidence is one file, such as a log, a protocol or an archive")
        if not path.stat().st_size:
            raise UsageError(f"{path} is empty", hint="evidence shows something")
    kept = [_keep(layout, path) for path in files]
    if kept:
        sync_directory(layout.evidence)
    _say_twins(files, kept)
    return kept


def _say_twins(files: Sequence[Path], kept: Sequence[dict[str, Any]]) -> None:
    """Raise UsageError where two of the files have the same content: that is one piece of evidence."""
    seen: dict[str, Path] = {}
    for path, file in zip(files, kept, strict=True):
        first = seen.setdefault(file["sha256"], path)
        if first is not path:
            raise UsageError(f"{first} and {path} hold the same", hint="name one of them: it counts once")


def _keep(layout: Layout, path: Path) -> dict[str, Any]:
    draft = layout.evidence / f".{os.getpid()}-{os.urandom(3).hex()}"
    try:
        source = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    digest, count = hashlib.sha256(), 0
    try:
        layout.evidence.mkdir(exist_ok=True)
        with source, draft.open("xb") as file:
            while block := source.read(_BLOCK):
                digest.update(block)
                count += len(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o444)
        draft.replace(layout.evidence / digest.hexdigest())
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise unwritable(layout.evidence, error) from error
    return {"name": _plain(path.name), "sha256": digest.hexdigest(), "bytes": count}


def _plain(name: str) -> str:
    """A file's name as plain text, shortened where it is too long."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)[:LONGEST_NAME]
