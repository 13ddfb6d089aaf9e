"""Sums in the lines of the log, and where the log ended: a change is found before any seal closes the segment.

Each line carries in its last field, ``sum``, the CRC-32 of everything in its segment before that field. So the last line vouches
for all lines before it, and where it does not, the first line that disagrees is the place. Older versions take the field for one
that they do not know. ``lease/log-end`` says how long the log was when something was last made durable: lines that were cut
off leave no other trace. It is made before the log begins, durable, and the log's first header says so: where it is missing later,
it was removed, and no power cut took it.
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
    """Purpose: a line with its sum, and the CRC-32 up to its end. ``before`` is that of everything before the line."""
    body = line[:-2]
    here = zlib.crc32(body, before)
    tail = b',"sum":"%08x"}\n' % here
    return body + tail, zlib.crc32(tail, here)


def sum_of(line: bytes) -> int | None:
    """Purpose: the sum that a line carries, None for a line without one."""
    found = _END.fullmatch(line, max(0, len(line) - _TAIL))
    return int(found.group(1), 16) if found else None


def has_sum(line: bytes, wanted: int, before: int = 0) -> bool:
    """Purpose: whether a line that carries the sum ``wanted`` is what it was."""
    return zlib.crc32(line[:-_TAIL], before) == wanted


def first_broken(lines: Iterator[bytes]) -> int | None:
    """Purpose: the number, from 1, of the first line whose sum does not agree; None where all agree. The header is line 1."""
    so_far = 0
    for number, line in enumerate(lines, 1):
        wanted = sum_of(line)
        if wanted is not None and not has_sum(line, wanted, so_far):
            return number
        so_far = zlib.crc32(line, so_far)
    return None


def last_sum(data: bytes) -> tuple[int, int] | None:
    """Purpose: the place of the last sum in whole lines, and the sum: what stands before that place must have it."""
    last = None
    for found in _END.finditer(data, max(0, len(data) - _LONGEST)):
        last = (found.start(), int(found.group(1), 16))
    return last


# ---- where the log ended ---------------------------------------------------------------------------------------------------


class LogEnd(msgspec.Struct, frozen=True):
    """How far the log was durable: ``bytes`` of this segment, their CRC-32, and the last event.

    ``written`` bytes were in the file, synced or not: whoever kills a process does not take them, a power cut may. So they count
    only on the machine, and since the boot, that ``boot`` names.
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
    """Keeps ``lease/log-end``. It only helps to find damage: where it cannot be written, nothing is said."""

    def __init__(self, log: Path) -> None:
        self._fd = -1
        with suppress(OSError):
            flags = (
                os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            )  # a pipe is waited for by nobody
            self._fd = os.open(end_path(log), flags, 0o644)

    def say(self, end: LogEnd) -> None:
        """Purpose: note what is durable and what is written now. One system call, not synced: it is never ahead of the log."""
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
    """Purpose: make the file of a log that is about to begin, with nothing in the log yet. False where it cannot be made.

    ``durable``: it survives a power cut once this returns, as all that the log's header promises.
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
    """Purpose: what was noted last. None where nothing was, or where it cannot be read.

    It is written over in place: who reads it in that very moment may see half of it, and looks again.
    """
    for _ in range(_LOOKS):
        try:
            body, _, check = read_plain(end_path(log), _WIDTH).rstrip().rpartition(b" ")
            if b"%08x" % zlib.crc32(body) == check:
                return msgspec.json.decode(body, type=LogEnd)
        except (OSError, *NOT_JSON):
            return None
    return None
