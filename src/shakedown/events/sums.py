"""Sums in the lines of the log, and the place where the log ended: both show a change before a seal closes the segment.

The last field of each line, ``sum``, is the CRC-32 of everything in its segment before that field. So the last line vouches for all
lines before it; where its sum is wrong, the first line with a wrong sum is the place of the change. Older versions ignore the
field. ``lease/log-end`` says how long the log was at the last sync: nothing else shows that lines were cut off. It is created
durable before the log begins, and the log's first header says so: where it is missing later, somebody removed it, and no power cut
did.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import structs

from shakedown.events.damage import NOT_JSON
from shakedown.events.identity import this_boot
from shakedown.events.plain_files import read_plain

SUM_BYTES = len(b',"sum":"00000000"')
_END = re.compile(rb',"sum":"([0-9a-f]{8})"\}\n')
_TAIL = SUM_BYTES + len(b"}\n")
_LONGEST = 1 << 20  # bytes in which the last line with a sum is looked for
_LOOKS = 10
_WIDTH = 160  # of the file that says where the log ended: it is written over in place


def with_sum(line: bytes, before: int) -> tuple[bytes, int]:
    """Purpose: a line with its sum, and the CRC-32 up to its end. ``before`` is the CRC-32 of everything before the line."""
    body = line[:-2]
    here = zlib.crc32(body, before)
    tail = b',"sum":"%08x"}\n' % here
    return body + tail, zlib.crc32(tail, here)


def sum_of(line: bytes) -> int | None:
    """Purpose: the sum in a line, None for a line without one."""
    found = _END.fullmatch(line, max(0, len(line) - _TAIL))
    return int(found.group(1), 16) if found else None


def has_sum(line: bytes, wanted: int, before: int = 0) -> bool:
    """Purpose: whether a line with the sum ``wanted`` is unchanged. ``before``: the CRC-32 of everything before the line."""
    return zlib.crc32(line[:-_TAIL], before) == wanted


def first_broken(lines: Iterator[bytes]) -> int | None:
    """Purpose: the number, from 1, of the first line with a wrong sum; None where all are right. The header is line 1."""
    so_far = 0
    for number, line in enumerate(lines, 1):
        wanted = sum_of(line)
        if wanted is not None and not has_sum(line, wanted, so_far):
            return number
        so_far = zlib.crc32(line, so_far)
    return None


def last_sum(data: bytes) -> tuple[int, int] | None:
    """Purpose: the place and the value of the last sum in whole lines: it must be the CRC-32 of everything before that place."""
    last = None
    for found in _END.finditer(data, max(0, len(data) - _LONGEST)):
        last = (found.start(), int(found.group(1), 16))
    return last


# ---- where the log ended ---------------------------------------------------------------------------------------------------


class LogEnd(msgspec.Struct, frozen=True):
    """How far the log was durable: ``bytes`` of this segment, their CRC-32, and the last event.

    ``written`` bytes were in the file, synced or not. Killing a process does not remove them, but a power cut may. So the number
    counts only on the machine, and for the boot, that ``boot`` names.
    """

    segment: int
    bytes: int
    crc: int
    seq: int
    written: int = 0
    boot: str = ""


def end_path(log: Path) -> Path:
    return log.parent / "lease" / "log-end"


class EndFile:
    """Writes ``lease/log-end``. The file only helps to find damage: where it cannot be written, that is not an error."""

    def __init__(self, log: Path) -> None:
        self._fd = -1
        with suppress(OSError):
            flags = (
                os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            )  # a pipe is waited for by nobody
            self._fd = os.open(end_path(log), flags, 0o644)

    def say(self, end: LogEnd) -> None:
        """Purpose: note what is durable and what is written now. One system call, not synced: the note is never
        ahead of the log.
        """
        if self._fd >= 0:
            with suppress(OSError):
                os.pwrite(self._fd, _line_of(structs.replace(end, boot=this_boot())), 0)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _line_of(end: LogEnd) -> bytes:
    body = msgspec.json.encode(end)
    return b"%s %08x" % (body, zlib.crc32(body)) + b" " * (_WIDTH - len(body) - 10) + b"\n"


def begin_end(log: Path, durable: bool) -> bool:
    """Purpose: create the file for a log that is about to begin, which has no events yet. False where it cannot be created.

    ``durable``: sync it, so that it survives a power cut once this returns, as the log's header promises.
    """
    path = end_path(log)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(_line_of(LogEnd(0, 0, 0, 0)))
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(path)
        if durable:
            _sync_names(path.parent)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        return False
    return True


def _sync_names(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_end(log: Path) -> LogEnd | None:
    """Purpose: the last note; None where there is none, or where it cannot be read.

    The file is overwritten in place: a reader that sees half of a note reads again.
    """
    for _ in range(_LOOKS):
        try:
            body, _, check = read_plain(end_path(log), _WIDTH).rstrip().rpartition(b" ")
            if b"%08x" % zlib.crc32(body) == check:
                return msgspec.json.decode(body, type=LogEnd)
        except (OSError, *NOT_JSON):
            return None
    return None
