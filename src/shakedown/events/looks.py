"""A cache of the read-only commands between two runs, below ``XDG_CACHE_HOME`` or ``~/.cache``: it only saves time.

``Looks`` remembers segments of a log that were read to their last byte and found undamaged. A segment is not read again while
device, inode, size, time of the last change and time of the last inode change (which nobody can set) of its file are the same.
``Shelf`` holds the files of this cache and of the kept folds. Nothing here is part of a record.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from shakedown.events.damage import NOT_JSON
from shakedown.events.plain_files import open_plain
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.own_places import NOWHERE, own_place

SETTLED_S = 60.0  # a file that changed later than this before it was read may change again without looking changed
BELIEVED_S = 86400.0  # every byte is read again after a day: a disk that rots changes no time
MOST_BYTES = 512 << 20  # on all shelves together; those that were longest not written to go first
_SUM_BYTES = 32

Signature = tuple[int, ...]


class Shelf:
    """The cached files of one campaign, by its path, each with its sum. A file that cannot be written is not kept.

    ``torn``: names of files whose bytes are not what was written.
    """

    def __init__(self, layout: Layout) -> None:
        place = hashlib.sha256(os.fsencode(layout.root.resolve())).hexdigest()[:32]
        self.folder = kept_in() / place
        self.torn: list[str] = []

    def read(self, name: str) -> bytes | None:
        """Purpose: the bytes under a name; None where there are none, or where they are not what was written."""
        try:
            with self.open(name) as file:
                data = memoryview(file.read())
        except OSError:
            return None
        if hashlib.sha256(data[_SUM_BYTES:]).digest() == data[:_SUM_BYTES]:
            return bytes(data[_SUM_BYTES:])
        self.torn.append(name)
        return None

    def open(self, name: str) -> BinaryIO:
        """Purpose: the file under a name, open for reading. Raises OSError, also where the file belongs to another user."""
        file = open_plain(self.folder / name)
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            file.close()
            raise PermissionError(name)
        return file

    def write(self, name: str, data: bytes) -> None:
        """Purpose: keep bytes under a name; replaces what was kept under it before."""
        self.write_raw(name, hashlib.sha256(data).digest() + data)

    def write_raw(self, name: str, data: bytes) -> None:
        """Purpose: as ``write``, without a sum, for a file that has sums of its own."""
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self.folder, prefix=f".{name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(draft).replace(self.folder / name)
            except OSError:
                Path(draft).unlink(missing_ok=True)
            _make_room(self.folder)


def kept_in() -> Path:
    """Purpose: the cache directory for all campaigns; a path that cannot be created where the user has no home."""
    try:
        return own_place("XDG_CACHE_HOME") / "shakedown" / "folds"
    except UsageError:
        return NOWHERE


def _make_room(but: Path) -> None:
    """Delete the files that were written longest ago until the rest is small enough. ``but``: the file that stays."""
    found = []
    for folder in but.parent.iterdir():
        sizes = [file.stat().st_size for file in folder.iterdir()] if folder != but else []
        found.append((folder.stat().st_mtime, sum(sizes), folder))
    left = MOST_BYTES
    for _, size, folder in sorted(found, reverse=True):
        left -= size
        if left < 0 and folder != but:
            for file in folder.iterdir():
                file.unlink(missing_ok=True)
            folder.rmdir()


def signature_of(*stats: os.stat_result) -> Signature:
    """Purpose: the properties of files that change whenever one of the files is changed."""
    return tuple(
        number
        for stat in stats
        for number in (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    )


class Seen(Struct, frozen=True):
    """Files that were read. ``said``: what their reader found out; ``at``: when, in seconds since 1970."""

    signature: Signature
    said: list[str]
    at: float


class Looks:
    """Which files of one campaign were read and found undamaged. ``clock``: returns seconds since 1970."""

    def __init__(self, layout: Layout, clock: Callable[[], float] = time.time) -> None:
        self.shelf, self.clock = Shelf(layout), clock
        self.changed = False
        self._seen: dict[str, Seen] = {}
        data = self.shelf.read("looks")
        if data is not None:
            with suppress(*NOT_JSON):
                self._seen = msgspec.msgpack.decode(data, type=dict[str, Seen])

    def said(self, name: str, *stats: os.stat_result) -> list[str] | None:
        """Purpose: what was noted about the files under this name; None where they must be read again."""
        seen, now = self._seen.get(name), self.clock()
        if seen is None or seen.signature != signature_of(*stats) or not 0 <= now - seen.at < BELIEVED_S:
            return None
        return seen.said

    def note(
        self, name: str, before: Sequence[os.stat_result], after: Sequence[os.stat_result], said: list[str]
    ) -> None:
        """Purpose: remember files that were read between these two stat results; does nothing where a file changed a moment ago."""
        now = self.clock()
        newest = max(max(stat.st_mtime_ns, stat.st_ctime_ns) for stat in before) / 1e9
        if signature_of(*before) == signature_of(*after) and newest + SETTLED_S < now:
            self._seen[name] = Seen(signature_of(*before), said, now)
            self.changed = True

    def save(self) -> None:
        """Purpose: write the new notes to the cache."""
        if self.changed:
            now = self.clock()
            self._seen = {name: seen for name, seen in self._seen.items() if 0 <= now - seen.at < BELIEVED_S}
            self.shelf.write("looks", msgspec.msgpack.encode(self._seen))
            self.changed = False
