"""One segment, open for writing. It knows its intended length, and cuts off a write that did not fit."""

from __future__ import annotations

import errno
import hashlib
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from shakedown.events.segments import Header, segment_path, sha256
from shakedown.events.sums import EndFile, LogEnd, with_sum
from shakedown.model.errors import UNDECIDED, LeaseHeld, RecordError
from shakedown.model.events import LINE_VERSION

_AWAY = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # the last: a limit on the size of files (ulimit -f)


_SEALED = b'{"v":%d,"event":"sealed",' % LINE_VERSION


class NoRoom(Exception):
    """The file system took only a part of a write, or nothing. The segment ends at its last whole line again."""


class RecordAway(RecordError):
    """The directory of the log cannot be reached. Appended lines are kept: commit again when the directory is back."""

    status = UNDECIDED

    def __init__(self, directory: Path) -> None:
        name = directory.parent.name
        super().__init__(
            f"the directory of campaign {name} is away: {directory} cannot be reached; perhaps its file system is not mounted",
            hint=f"'shakedown resume {name}' goes on with what is left to do, once it is back",
        )


class SegmentFile:
    """A segment that this process created and that no other process may write to.

    ``size`` is its intended length in bytes and ``lines`` its number of events; ``durable`` and ``durable_lines`` say how much of
    that is synced. ``eager`` False: nothing is synced until the caller sets it to True.
    """

    def __init__(self, path: Path, header: Header, eager: bool = True) -> None:
        """Purpose: create the file, exclusively, with its header durable. LeaseHeld where it exists already,
        NoRoom on a full disk.
        """
        self.path, self.header, self.eager = path, header, eager
        line = msgspec.json.encode(header) + b"\n"
        self.digest = sha256(line)
        self.size = self.durable = self.lines = self.durable_lines = 0
        self._hash = hashlib.sha256()
        self._crc = self._durable_crc = 0
        self._fresh: list[bytes] = []  # written as they are in the file, not yet durable
        self.last_line = b""
        self._fd = _create(path)
        self._inode = os.fstat(self._fd).st_ino
        try:
            if self._add([line], zlib.crc32(line)) != 1:
                raise NoRoom(f"{path}: not even its header fits")
            self.sync()
            sync_directory(path.parent)
        except (NoRoom, RecordError):
            self.close()
            with suppress(OSError):
                path.unlink()
            raise
        self.lines = self.durable_lines = 0
        self.last_line = b""

    def check(self) -> None:
        """Raise RecordError where another process wrote to the file, cut it, or replaced it."""
        try:
            here, there = os.fstat(self._fd), self.path.stat()
        except OSError as error:
            if is_away(self.path.parent):
                raise RecordAway(self.path.parent) from error
            if isinstance(error, FileNotFoundError):
                raise RecordError(f"{self.path} was removed while it was written to") from error
            raise unwritable(self.path, error) from error
        if there.st_ino != self._inode:
            raise RecordError(f"{self.path} was replaced by another file while it was written to")
        if here.st_size != self.size:
            raise RecordError(
                f"{self.path} was changed by someone else: it is {here.st_size} bytes long and was left at {self.size}",
                hint="'shakedown log --verify' shows what it holds; nothing was added to it since",
            )

    def write(self, lines: Sequence[bytes]) -> int:
        """Purpose: add lines with one system call; returns how many are in the file now, not yet durable.

        Fewer than all: the write fell short and was cut back to the last whole line. Errors: NoRoom where not even one line fitted,
        RecordError for every other failure.
        """
        summed, so_far = [], self._crc
        for line in lines:
            if not line.startswith(_SEALED):
                line, so_far = with_sum(line, so_far)
            else:
                so_far = zlib.crc32(line, so_far)
            summed.append(line)
        return self._add(summed, so_far)

    def _add(self, lines: Sequence[bytes], crc: int) -> int:
        """Write lines unchanged; ``crc`` is the sum of the segment including them."""
        data = b"".join(lines)
        try:
            done = os.write(self._fd, data)
        except OSError as error:
            self._cut(self.size)
            if error.errno in _NO_ROOM:
                raise NoRoom(error.strerror) from error
            raise unwritable(self.path, error) from error
        count = len(lines) if done == len(data) else self._cut_back(lines, done)
        self._crc = crc if count == len(lines) else _crc_of(lines[:count], self._crc)
        self._fresh += lines[:count]
        self.size += sum(map(len, lines[:count]))
        self.lines += count
        return count

    def _cut_back(self, lines: Sequence[bytes], done: int) -> int:
        count, whole = 0, 0
        while whole + len(lines[count]) <= done:
            whole += len(lines[count])
            count += 1
        self._cut(self.size + whole)
        if not count:
            raise NoRoom(f"only {done} of {len(lines[0])} bytes could be written")
        return count

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def sync(self) -> None:
        """Purpose: make everything that was written since the last call durable.

        Errors: NoRoom where the disk has less room than it promised (network file systems); call ``fall_back`` next.
        """
        try:
            if self.eager:
                os.fdatasync(self._fd)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise unwritable(self.path, error) from error
            raise NoRoom(error.strerror) from error
        self.durable, self.durable_lines, self._durable_crc = self.size, self.lines, self._crc
        for line in self._fresh:
            self._hash.update(line)
        if self._fresh:
            self.last_line = self._fresh[-1]
        self._fresh = []

    def fall_back(self, end: EndFile, seq: int) -> None:
        """Purpose: cut the segment back to its durable part. Writes ``end`` first, so that no reader takes the cut for damage."""
        self.size, self.lines, self._crc, self._fresh = self.durable, self.durable_lines, self._durable_crc, []
        end.say(self.end(seq))
        self._cut(self.durable)

    def end(self, seq: int) -> LogEnd:
        """Where the durable part of this segment ends, and how much is written; ``seq`` is that of the last durable event."""
        return LogEnd(self.header.segment, self.durable, self._durable_crc, seq, self.size)

    def next_header(self, first: int, epoch: int) -> Header:
        """The header of the segment after this one; everything in this segment must be durable."""
        return Header(self.header.segment + 1, LINE_VERSION, first, epoch, self._hash.hexdigest(), self.durable)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _crc_of(lines: Sequence[bytes], before: int) -> int:
    for line in lines:
        before = zlib.crc32(line, before)
    return before


def _create(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError as error:
        raise LeaseHeld(
            f"{path} is there already: another conductor went on with this campaign",
            hint="'shakedown status' shows which",
        ) from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise NoRoom(error.strerror) from error
        raise unwritable(path, error) from error


def next_path(file: SegmentFile) -> Path:
    return segment_path(file.path.parent, file.header.segment + 1)


def unwritable(path: Path, error: OSError) -> RecordError:
    """Purpose: the error for a log that cannot be written, with a way out. A full disk is no fault, and decides nothing."""
    said = f"{path} cannot be written: {error.strerror or error}"
    if error.errno not in _NO_ROOM:
        return RecordError(said)
    full = RecordError(said, hint="make room on its file system, then give the command again; nothing of it was taken")
    full.status = UNDECIDED
    return full


def is_away(directory: Path) -> bool:
    """Purpose: whether a directory that existed cannot be reached: it was moved, or its file system is not mounted or does not
    answer.
    """
    try:
        directory.stat()
    except OSError as error:
        return error.errno in _AWAY
    return False


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable. Some network file systems cannot sync a directory; there, names are
    durable at once.
    """
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise unwritable(directory, error) from error
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise unwritable(directory, error) from error
    finally:
        os.close(handle)
