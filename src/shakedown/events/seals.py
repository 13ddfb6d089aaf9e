"""A seal: a list with the digests of all files of the record. Both sides sign the digest of that list.

``seals/DIGEST.json`` is named by the digest of its content. It holds sums of the log's segments, the future line of its own event,
and every file of the record; ``seals/DIGEST.lines`` holds a sum of each line. Later seals are added beside earlier ones. A seal
gets its name only once its event is durable: a seal that was interrupted before is a draft and does not count.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shakedown.events.lines import encode_event, without_surrogates
from shakedown.events.plain_files import open_plain, read_plain
from shakedown.events.recorded_name import campaign_name
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.events.segments import Span, read_header_line
from shakedown.model.errors import RecordError
from shakedown.model.events import Event
from shakedown.model.layout import Layout

VERSION = 1
FOLDERS = ("documents", "evidence", "fingerprints", "environments", "packs", "outputs")  # what is sealed beside the log
GROWING = ("packs",)  # files that a later driver may append to: what was sealed of them must stay
NO_DIGEST = "0" * 64  # stands for the seal's own digest in the line of its event
_BLOCK = 1 << 20
_ESCAPED = re.compile(r"\\u(dc[0-9a-f]{2})")


class FileSum(Struct, frozen=True):
    """A file as it was sealed; ``path`` is inside the campaign. For a file that may grow, the sum covers its first ``bytes``.

    Bytes of a path that are not text are written as visible escapes.
    """

    path: str
    bytes: int
    sha256: str

    def under(self, root: Path) -> Path:
        """The path of the file in the campaign ``root``."""
        path = root / self.path
        if "\\udc" in self.path and not os.path.lexists(path):
            return root / _ESCAPED.sub(lambda found: chr(int(found[1], 16)), self.path)
        return path


class Closing(Struct, frozen=True):
    """The segment that the seal's own event begins: its header line, and the event's line with NO_DIGEST in place of the digest."""

    segment: int
    header: str
    event: str


class Seal(Struct, frozen=True):
    """The content of a seal. ``through`` is the last event before the seal's own; ``lines`` the file with a sum of each line.

    ``signed`` is the text that people read before they sign: plan, outcome, restrictions, parties.
    """

    campaign: str
    through: int
    segments: tuple[FileSum, ...]
    lines: FileSum
    files: tuple[FileSum, ...]
    closing: Closing
    signed: dict[str, Any]
    v: int = VERSION


def seals_of(layout: Layout) -> Path:
    return layout.root / "seals"


def make_seal(layout: Layout, spans: list[Span], event: Event, signed: dict[str, Any]) -> tuple[Seal, str]:
    """Purpose: write the seal that ``event`` announces as a durable draft. Returns it and its digest. The caller must hold the
    lease.

    ``spans``: the log, whose last segment is begun and empty. ``event``: with seq and time, and with NO_DIGEST as the digest in its
    value. Errors: RecordError where something cannot be read or written.
    """
    *past, last = spans
    folder = seals_of(layout)
    try:
        folder.mkdir(exist_ok=True)
        segments = tuple(_segment_sum(layout, span) for span in past)
        sums = b"".join(_line_sums(span.path, span.end or 0) for span in past)
        lines = _keep(layout, sums, "lines")
        files = tuple(sums_of(layout))
    except OSError as error:
        raise unwritable(folder, error) from error
    header = (read_header_line(last.path) or b"").decode()
    closing = Closing(last.number, header, encode_event(event).decode())
    seal = Seal(campaign_name(layout), event.seq - 1, segments, lines, files, closing, signed)
    kept = _keep(layout, msgspec.json.encode(seal, order="deterministic"), "json.draft")
    return seal, kept.sha256


def publish(layout: Layout, digest: str) -> None:
    """Purpose: give a draft its name, once its event is durable. Does nothing where it already has the name."""
    draft = seals_of(layout) / f"{digest}.json.draft"
    try:
        if draft.exists() and hash_file(draft, draft.stat().st_size) == digest:
            draft.replace(seals_of(layout) / f"{digest}.json")
            sync_directory(draft.parent)
    except OSError as error:
        raise unwritable(draft, error) from error


def read_seal(path: Path) -> Seal:
    """Purpose: read a seal from its file. Raises RecordError where the content does not match the name."""
    try:
        content = read_plain(path)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != path.stem:
        raise RecordError(f"{path} was changed: its bytes no longer match its name")
    try:
        return msgspec.json.decode(content, type=Seal)
    except msgspec.MsgspecError as error:
        raise RecordError(f"{path} is of another version: {error}") from error


def closing_lines(seal: Seal, digest: str) -> bytes:
    """Purpose: the bytes with which the segment of the seal's own event must begin."""
    return (seal.closing.header + seal.closing.event.replace(NO_DIGEST, digest, 1)).encode()


def sums_of(layout: Layout) -> Iterator[FileSum]:
    """Purpose: every sealed file outside the log, sorted by path."""
    for name in FOLDERS:
        for path in sorted((layout.root / name).rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                size = path.stat().st_size
                yield FileSum(without_surrogates(str(path.relative_to(layout.root))), size, hash_file(path, size))


def hash_file(path: Path, length: int) -> str:
    """Purpose: the sha256 of a file's first ``length`` bytes, or of the whole file where it is shorter. Raises OSError."""
    hashed = hashlib.sha256()
    for block in _blocks(path, length):
        hashed.update(block)
    return hashed.hexdigest()


def line_sums(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Purpose: the CRC-32 of each line, in four bytes."""
    for line in lines:
        yield zlib.crc32(line).to_bytes(4, "big")


def lines_of(path: Path, length: int) -> Iterator[bytes]:
    """Purpose: the lines of a file's first ``length`` bytes."""
    left = length
    with open_plain(path) as file:
        while left > 0 and (line := file.readline(left)):
            left -= len(line)
            yield line


def _blocks(path: Path, length: int) -> Iterator[bytes]:
    with open_plain(path) as file:
        while length > 0 and (block := file.read(min(length, _BLOCK))):
            length -= len(block)
            yield block


def _line_sums(path: Path, length: int) -> bytes:
    return b"".join(line_sums(lines_of(path, length)))


def _segment_sum(layout: Layout, span: Span) -> FileSum:
    end = span.end or 0
    return FileSum(str(span.path.relative_to(layout.root)), end, hash_file(span.path, end))


def _keep(layout: Layout, content: bytes, suffix: str) -> FileSum:
    """Write content to a file that is named by its digest, durable."""
    digest = hashlib.sha256(content).hexdigest()
    path = seals_of(layout) / f"{digest}.{suffix}"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_directory(path.parent)
    return FileSum(str(path.relative_to(layout.root)), len(content), digest)
