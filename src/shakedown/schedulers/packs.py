"""Many small outputs in one file: thousands of runs leave a few files instead of thousands.

A pack is outputs one after the other, nothing between them; where each one lies stands in the record. Each conductor starts
packs of its own, so that two that should never have lived at once cannot write into each other's.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout

ROLL_BYTES = 64 << 20  # a pack that has grown to this is closed and the next one begun
_BUFFER_BYTES = 1 << 20  # so much is kept back at most before it is written


class PackWriter:
    """Appends outputs to packs. What ``append`` gave is true after the next ``flush``.

    A pointer is {"pack", "offset", "bytes", "crc"}, the last one the CRC-32 of the output in hexadecimal; or {"lost": why} where
    the output could not be kept: nothing is raised, since a full disk is a fact about the machine that belongs into the run's
    report.
    """

    def __init__(self, directory: Path, roll_bytes: int = ROLL_BYTES) -> None:
        self._directory = directory
        self._roll_bytes = roll_bytes
        self._descriptor = -1
        self._name = ""
        self._end = 0  # bytes in the file and in what waits for it
        self._waiting: list[tuple[bytes, dict[str, Any]]] = []
        self._waiting_bytes = 0

    def append(self, data: bytes) -> dict[str, Any]:
        """Purpose: the pointer to where these bytes will lie."""
        if self._end + len(data) > self._roll_bytes:
            self.close()
        if self._descriptor < 0:
            try:
                self._begin()
            except OSError as error:
                return {"lost": str(error.strerror)}
        pointer: dict[str, Any] = {"pack": self._name, "offset": self._end, "bytes": len(data)}
        pointer |= {"crc": f"{zlib.crc32(data):08x}"}
        self._waiting.append((data, pointer))
        self._waiting_bytes += len(data)
        self._end += len(data)
        if self._waiting_bytes > _BUFFER_BYTES:
            self.flush()
        return pointer

    def flush(self) -> None:
        """Write what waits. Where that fails, its pointers say so and the pack ends where it ended before."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        begin, self._waiting_bytes = self._end - self._waiting_bytes, 0
        try:
            _write_all(self._descriptor, b"".join([data for data, _ in waiting]))
        except OSError as error:
            self._end = begin
            os.ftruncate(self._descriptor, begin)
            os.lseek(self._descriptor, begin, os.SEEK_SET)
            for _, pointer in waiting:
                pointer.clear()
                pointer["lost"] = str(error.strerror)

    def sync(self) -> None:
        """Make what was written survive a loss of power. Raises OSError."""
        self.flush()
        if self._descriptor >= 0:
            os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Write what waits and let go of the file; the next output begins another."""
        self.flush()
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._end = -1, 0

    def _begin(self) -> None:
        """A new file under the first free number: made exclusively, so nobody else writes into it."""
        self._directory.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in self._directory.glob("*.pack") if path.stem.isdigit()]
        number = max(numbers, default=0) + 1
        while self._descriptor < 0:
            self._name = f"{number:06d}.pack"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                self._descriptor = os.open(self._directory / self._name, flags, 0o666)
            except FileExistsError:
                number += 1


def read_output(layout: Layout, output: Mapping[str, Any], start: int = 0, limit: int | None = None) -> bytes:
    """Purpose: a run's kept output, or at most ``limit`` bytes of it from ``start``; b"" where it has none.

    ``output``: the pointer in the record. Raises RecordError where it points to what is not there.
    """
    if not output:
        return b""
    path = layout.packs / output["pack"] if "pack" in output else layout.root / output["file"]
    length = max(0, int(output["bytes"]) - start)
    wanted = length if limit is None else min(length, limit)
    try:
        with path.open("rb") as file:
            file.seek(output.get("offset", 0) + start)
            data: bytes = file.read(wanted)
    except OSError as error:
        raise RecordError(f"the output in {path} cannot be read: {error.strerror}") from error
    if len(data) < wanted:
        raise RecordError(f"the output in {path} is cut short: {wanted} bytes were kept, {len(data)} are there")
    return data


def output_damage(root: Path, output: Mapping[str, Any]) -> str:
    """Purpose: why a kept output is not what was kept, "" where it is. Of some no sum is known, and others are gone: "" too.

    ``root``: the campaign's directory.
    """
    wanted, name = output.get("crc"), f"packs/{output['pack']}" if "pack" in output else str(output.get("file", ""))
    if not isinstance(wanted, str):
        return ""
    so_far, left = 0, int(output.get("bytes", 0))
    try:
        with (root / name).open("rb") as file:
            file.seek(int(output.get("offset", 0)))
            while left > 0 and (data := file.read(min(left, _BUFFER_BYTES))):
                so_far, left = zlib.crc32(data, so_far), left - len(data)
    except (OSError, ValueError, OverflowError):
        return ""
    same = left > 0 or f"{so_far:08x}" == wanted
    return "" if same else f"the output in {name} is damaged: it is not what was kept of the run"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
