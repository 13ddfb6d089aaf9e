"""Many small outputs in one file: thousands of runs leave a few files instead of thousands.

A file of the output archive (a pack file) holds outputs one after the other, with nothing between them. The record says where each
one lies. Each conductor begins files of its own, so that two conductors, which should never live at once, cannot write into the
same file.
"""

from __future__ import annotations

import errno
import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from shakedown.events.plain_files import open_plain
from shakedown.events.segment_file import sync_directory
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.schedulers.made_directories import make_directory

ROLL_BYTES = 64 << 20  # a pack that has grown to this is closed and the next one begun
KEPT_BYTES = 64 << 20  # of outputs that wait for room on the disk
PATIENCE_S = 5.0  # for a disk that is not full and takes nothing all the same
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_BUFFER_BYTES = 1 << 20  # so much is kept back at most before it is written


class PackWriter:
    """Appends outputs to files of the output archive.

    ``append`` returns a pointer, which is filled in by the next ``flush`` that succeeds: {"pack", "offset", "bytes", "crc"}, the
    last one the CRC-32 of the output in hexadecimal; or {"lost": why} where the output could not be kept. Nothing is raised, since
    a full disk is a fact about the machine. What the disk does not take is kept in memory, up to ``KEPT_BYTES``, and written by a
    later ``flush``; ``holds`` tells for which outputs that is so.
    """

    def __init__(self, directory: Path, roll_bytes: int = ROLL_BYTES) -> None:
        self._directory = directory
        self._roll_bytes = roll_bytes
        self._descriptor = -1
        self._name = ""
        self._end = 0  # bytes in the file
        self._durable = 0  # of these, what a loss of power does not take; -1: not even the file's name
        self._waiting: list[tuple[bytes, dict[str, Any]]] = []
        self._waiting_bytes = 0
        self._trouble = ""  # why the disk did not take what waits
        self._since: float | None = None  # since when it does not

    def append(self, data: bytes) -> dict[str, Any]:
        """Purpose: a pointer to where these bytes will be; ``flush`` fills it in."""
        pointer: dict[str, Any] = {}
        self._waiting.append((data, pointer))
        self._waiting_bytes += len(data)
        if self._waiting_bytes > (KEPT_BYTES if self._trouble else _BUFFER_BYTES):
            self.flush()
        return pointer

    def holds(self, pointer: Mapping[str, Any]) -> bool:
        """Purpose: whether an output is only in memory, because the disk has not taken it."""
        return any(waiting is pointer for _, waiting in self._waiting)

    def flush(self) -> None:
        """Write what waits. If that fails it stays in memory, as far as the limit allows, and the file ends where
        it ended before.
        """
        while self._waiting:
            try:
                count = self._write_some()
            except OSError as error:
                self._trouble, now = str(error.strerror), time.monotonic()
                self._since = now if self._since is None else self._since
                hopeless = error.errno not in NO_ROOM and now - self._since > PATIENCE_S
                self._lose(0 if hopeless else KEPT_BYTES)
                return
            self._waiting_bytes -= sum(len(data) for data, _ in self._waiting[:count])
            del self._waiting[:count]
        self._trouble, self._since = "", None

    def give_up(self) -> None:
        """Try once more to write; what the disk still does not take is lost."""
        self.flush()
        self._lose(0)

    def _write_some(self) -> int:
        """Write as many outputs as fit into the file, with one write, and return how many. Raises OSError; then
        nothing is written.
        """
        if self._descriptor < 0:
            self._begin()
        batch, end = [], self._end
        for data, _ in self._waiting:
            if end and end + len(data) > self._roll_bytes:
                break
            batch.append(data)
            end += len(data)
        if not batch:
            self._leave_pack()
            return 0
        try:
            _write_all(self._descriptor, b"".join(batch))
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            os.lseek(self._descriptor, self._end, os.SEEK_SET)
            raise
        for data, pointer in self._waiting[: len(batch)]:
            pointer |= {"pack": self._name, "offset": self._end, "bytes": len(data), "crc": f"{zlib.crc32(data):08x}"}
            self._end += len(data)
        return len(batch)

    def _lose(self, most: int) -> None:
        """Drop outputs from the last on, until no more than ``most`` bytes wait. Their pointers say why."""
        while self._waiting and self._waiting_bytes > most:
            data, pointer = self._waiting.pop()
            self._waiting_bytes -= len(data)
            pointer["lost"] = self._trouble

    def sync(self) -> None:
        """Make sure that written outputs survive a loss of power. Raises OSError."""
        self.flush()
        if self._descriptor < 0 or self._durable == self._end:
            return
        try:
            os.fdatasync(self._descriptor)
        except OSError:
            self._write_again()
            raise
        if self._durable < 0:
            sync_directory(self._directory)
        self._durable = self._end

    def _write_again(self) -> None:
        """Write again what is not durable. A failed sync is reported once, and the next one succeeds although nothing is on the
        disk. Bytes that cannot be read any more differ from the sum in their pointer.
        """
        with suppress(OSError), open_plain(self._directory / self._name) as file:
            at = max(0, self._durable)
            file.seek(at)
            while block := file.read(min(_BUFFER_BYTES, self._end - at)):
                at += os.pwrite(self._descriptor, block, at)

    def close(self) -> None:
        """Write what waits and close the file. The next output begins another one."""
        self.give_up()
        self._leave_pack()

    def _leave_pack(self) -> None:
        if self._descriptor >= 0:
            if self._durable != self._end:
                with suppress(OSError):
                    os.fdatasync(self._descriptor)
            os.close(self._descriptor)
        self._descriptor, self._end, self._durable = -1, 0, 0

    def _begin(self) -> None:
        """Begin a file with the next free number. It is made exclusively, so nobody else writes into it."""
        make_directory(self._directory, self._directory.parent)
        numbers = [int(path.stem) for path in self._directory.glob("*.pack") if path.stem.isdigit()]
        number = max(numbers, default=0) + 1
        while self._descriptor < 0:
            self._name = f"{number:06d}.pack"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                self._descriptor, self._durable = os.open(self._directory / self._name, flags, 0o666), -1
            except FileExistsError:
                number += 1


def read_output(layout: Layout, output: Mapping[str, Any], start: int = 0, limit: int | None = None) -> bytes:
    """Purpose: a run's kept output, or up to ``limit`` bytes of it from ``start``; b"" where it has none. ``output``: the pointer
    in the record. Raises RecordError where the output is not there.
    """
    if not output:
        return b""
    if "lost" in output:
        raise RecordError(f"its output could not be kept: {output['lost']}")
    path = layout.packs / output["pack"] if "pack" in output else layout.root / output["file"]
    length = max(0, int(output["bytes"]) - start)
    wanted = length if limit is None else min(length, limit)
    try:
        with open_plain(path, follow=False) as file:
            file.seek(output.get("offset", 0) + start)
            data: bytes = file.read(wanted)
    except OSError as error:
        raise RecordError(f"the output in {path} cannot be read: {error.strerror}") from error
    if len(data) < wanted:
        raise RecordError(f"the output in {path} is cut short: {wanted} bytes were kept, {len(data)} are there")
    return data


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
