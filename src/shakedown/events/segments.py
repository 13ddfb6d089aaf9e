"""The files of the log: ``000001.jsonl``, ``000002.jsonl``... Each starts with a header that seals the one before it.

A header holds the length and the hash of the segment before it. So the bytes that a driver writes into an old segment after it lost
the lease are behind the seal: readers never see them, and ``verify`` reports them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from shakedown.events.damage import NOT_JSON, DamagedLine, refuse_later
from shakedown.events.plain_files import NotPlain, open_plain
from shakedown.model.errors import RecordError
from shakedown.model.events import LINE_VERSION

SEGMENT_BYTES = 64 * 1024 * 1024
BLOCK_BYTES = 32 * 1024  # decoded at once: larger blocks keep the garbage collector busy
_NAME = re.compile(r"(\d{6,})\.jsonl")
_HEADER_LIMIT = 4096


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line of a segment.

    ``first`` is the seq of its first event; ``epoch`` that of the lease it was written under. ``previous`` and ``previous_bytes``
    are the sha256 and the length of the segment before, as it was sealed. ``end``: 1 in the first segment of a log whose
    ``lease/log-end`` was durable before the log began. Where that file is missing although ``end`` is 1, somebody removed it. Logs
    of older versions do not have the field.
    """

    segment: int
    v: int
    first: int
    epoch: int
    previous: str
    previous_bytes: int
    end: int = 0


def first_header(epoch: int, end: bool = False) -> Header:
    """The header of a log's first segment, which seals no other. ``end``: whether ``lease/log-end`` is durable."""
    return Header(1, LINE_VERSION, 1, epoch, "", 0, int(end))


@dataclass(frozen=True, slots=True)
class Span:
    """A segment for readers: its lines are between the offsets ``start`` and ``end``, in bytes. ``end`` None: not sealed yet."""

    number: int
    path: Path
    header: Header
    start: int
    end: int | None
    digest: str  # of the header line: it stands for everything before it


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the log, just behind a line. It is kept as JSON (``dataclasses.asdict``) and checked when it is used again.

    ``offset`` is in bytes; ``line`` is the sha256 of the line before it ("" for none), ``length`` the length of that line, and
    ``header`` the sha256 of the segment's header. The default is the beginning of the log.
    """

    segment: int = 1
    offset: int = 0
    seq: int = 0
    line: str = ""
    length: int = 0
    header: str = ""


def segment_path(directory: Path, number: int) -> Path:
    return directory / f"{number:06d}.jsonl"


def segment_numbers(directory: Path) -> list[int]:
    """Purpose: the numbers of the segments, 1, 2, 3... Raises RecordError where one is missing or there is no log."""
    try:
        names = os.listdir(directory)  # noqa: PTH208 - names are all that is wanted
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RecordError(
            f"there is no log in {directory}", hint="is this a campaign? 'shakedown status' shows the newest"
        ) from error
    numbers = sorted(int(match.group(1)) for name in names if (match := _NAME.fullmatch(name)))
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            raise RecordError(
                f"{segment_path(directory, expected)} is missing, but segment {number} is there",
                hint="put it back from a backup: the record is a chain and cannot be read across a gap",
            )
    return numbers


def spans(directory: Path) -> list[Span]:
    """Purpose: every segment with the bounds of its lines. Leaves out a last segment whose header is incomplete.

    Errors: RecordError for a missing segment, a damaged header, or a newer version.
    """
    numbers = segment_numbers(directory)
    found: list[Span] = []
    for number in numbers:
        path = segment_path(directory, number)
        line = read_header_line(path)
        if line is None and number == numbers[-1]:
            break
        found.append(_span(number, path, line))
    followers: list[Span | None] = [*found[1:], None]
    return [
        replace(span, end=later.header.previous_bytes if later else None)
        for span, later in zip(found, followers[: len(found)], strict=True)
    ]


def _span(number: int, path: Path, line: bytes | None) -> Span:
    header = parse_header(path, line or b"")
    if header.segment != number:
        raise DamagedLine(f"the header says segment {header.segment}, the name says {number}").told(path, 1)
    return Span(number, path, header, len(line or b""), None, sha256(line or b""))


def read_header_line(path: Path) -> bytes | None:
    """The first line with its new line character; None where it is incomplete, or where the file was just removed
    for that reason.
    """
    try:
        with open_plain(path) as file:
            line = file.readline(_HEADER_LIMIT)
    except FileNotFoundError:
        return None
    except NotPlain as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    return line if line.endswith(b"\n") else None


def parse_header(path: Path, line: bytes) -> Header:
    """Purpose: decode a header line. Raises RecordError with the place where it is damaged or has a newer version."""
    try:
        version = msgspec.json.decode(line, type=dict[str, object]).get("v")
        if isinstance(version, int):
            refuse_later(version)
        return msgspec.json.decode(line, type=Header)
    except DamagedLine as error:
        raise error.told(path, 1) from error
    except NOT_JSON as error:
        raise DamagedLine(f"it is no header: {error}").told(path, 1) from error


def blocks(span: Span, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Purpose: the segment's whole lines in blocks, each with its offset, from ``offset`` (0: the first event) on.

    Stops at the last new line, and at the seal. Errors: RecordError where the file ends before its seal, or within a line.
    """
    offset = max(offset, span.start)
    with open_plain(span.path) as file:
        file.seek(offset)
        while span.end is None or offset < span.end:
            wanted = BLOCK_BYTES if span.end is None else min(BLOCK_BYTES, span.end - offset)
            block = file.read(wanted)
            if span.end is None or offset + len(block) < span.end:
                block = _whole_lines(block, file.readline() if len(block) == wanted else b"")
            if not block:
                break
            if not block.endswith(b"\n"):
                raise RecordError(f"{span.path} is in the middle of a line at byte {span.end}, {sealed_at(span)}")
            yield offset, block
            offset += len(block)
            file.seek(offset)
    if span.end is not None and offset != span.end:
        raise RecordError(f"{span.path} ends at byte {offset}, {sealed_at(span)}")


def sealed_at(span: Span) -> str:
    """A phrase that says where, according to the next segment, this one ends. Either of the two may have been changed."""
    return f"but {segment_path(span.path.parent, span.number + 1).name} seals it at byte {span.end}"


def _whole_lines(block: bytes, rest: bytes) -> bytes:
    """The block with its last line completed by ``rest``, or without that line where its end is missing."""
    if rest.endswith(b"\n") or (not rest and block.endswith(b"\n")):
        return block + rest
    return block[: block.rfind(b"\n") + 1]


def holds(span: Span, position: Position) -> bool:
    """Purpose: whether the log up to this position is unchanged since the position was taken."""
    if span.digest != position.header or position.offset < span.start:
        return False
    if span.end is not None and position.offset > span.end:
        return False
    if not position.line:
        return position.offset == span.start
    with open_plain(span.path) as file:
        file.seek(position.offset - position.length)
        return sha256(file.read(position.length)) == position.line


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
