"""The result of folding a log, kept with its place in the log, and used only while the log is unchanged up to that place.

``KeptFolds.load`` is the main function. Kept bytes are used only where their sums are correct, where the same code wrote them under
the same Python with the same packages, and where the log, byte for byte up to their place, is what was folded. For that, the header
of the place's segment stands for all earlier segments (``chain`` has checked their bytes), and the sha256 of the segment up to the
place is compared.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

import shakedown
from shakedown.events.damage import NOT_JSON
from shakedown.events.looks import Looks
from shakedown.events.plain_files import open_plain
from shakedown.events.segments import Position, Span, holds, spans
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout

_HEAD_BYTES = 1 << 16  # that the first line may have
_BLOCK = 1 << 20


class _Head(Struct, frozen=True):
    """The first line of a file. ``prefix``: the sha256 of the segment up to the place; ``parts``: name, length and sum of each
    part.
    """

    code: str
    position: Position
    prefix: str
    parts: list[tuple[str, int, int]]


class Torn(ValueError):
    """A part was changed since it was kept."""


class Parts(Mapping[str, memoryview]):
    """The kept parts, by name. Each is compared with its sum when it is read: raises Torn where it was changed."""

    def __init__(self, data: memoryview, places: Mapping[str, tuple[int, int, int]]) -> None:
        self._data, self._places = data, places

    def __getitem__(self, name: str) -> memoryview:
        begin, end, total = self._places[name]
        if zlib.crc32(self._data[begin:end]) != total:
            raise Torn(name)
        return self._data[begin:end]

    def with_own_sums(self, name: str) -> memoryview:
        """Purpose: a part without a check of its sum, for a reader that checks sums of its pieces."""
        begin, end, _ = self._places[name]
        return self._data[begin:end]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Kept(Struct, frozen=True):
    """The kept parts and their place in the log."""

    position: Position
    parts: Parts


class KeptFolds:
    """The kept folds of one campaign. ``trouble``: sentences about kept files that were not used."""

    def __init__(self, layout: Layout, looks: Looks | None = None) -> None:
        self.layout, self.looks = layout, looks or Looks(layout)
        self.shelf = self.looks.shelf
        self.trouble: list[str] = []

    def load(self, name: str) -> Kept | None:
        """Purpose: what was kept under a name; None where there is nothing that can be used."""
        try:
            with self.shelf.open(name) as file:
                data = memoryview(file.read())  # not mapped: another host may take the file away meanwhile
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return self._no(name, "it cannot be read")
        head, parts = _read(data)
        if head is None or parts is None:
            return self._no(name, "it is not what was written")
        if head.code != code_signature():
            return None
        if not self._is_of_this_log(head):
            return self._no(name, "the log is another one than it was")
        self.looks.save()
        return Kept(head.position, parts)

    def keep(self, name: str, position: Position, parts: Mapping[str, bytes]) -> None:
        """Purpose: keep parts that were folded from the log up to a place, under a name."""
        with suppress(OSError, RecordError, IndexError):
            span = spans(self.layout.log)[position.segment - 1]
            prefix = self._prefix(span, position.offset)
            if not prefix or not holds(span, position):
                return
            listed = [(part, len(data), zlib.crc32(data)) for part, data in parts.items()]
            head = msgspec.json.encode(_Head(code_signature(), position, prefix, listed))
            self.shelf.write_raw(name, b"".join([b"%08x " % zlib.crc32(head), head, b"\n", *parts.values()]))
            self.looks.save()

    def not_believed(self, name: str) -> None:
        """Purpose: note that what was kept under a name cannot be read, and delete it."""
        self._no(name, "it is not what was written")

    def _no(self, name: str, why: str) -> Kept | None:
        """Note why a kept file is not used, and delete it. Returns None."""
        self.trouble.append(f"what {self.shelf.folder / name} keeps of {self.layout.root.name} is not believed: {why}")
        with suppress(OSError):
            (self.shelf.folder / name).unlink()
        return None

    def _is_of_this_log(self, head: _Head) -> bool:
        try:
            found = spans(self.layout.log)
            position = head.position
            if not 0 < position.segment <= len(found) or not holds(found[position.segment - 1], position):
                return False
            return self._prefix(found[position.segment - 1], position.offset) == head.prefix
        except (OSError, RecordError):
            return False

    def _prefix(self, span: Span, end: int) -> str:
        """The sha256 of a segment's first bytes, "" where it has fewer. Remembers the answer while the file does not change."""
        # What ``chain`` says of a segment up to its seal has the plans that it names as well: nobody else says anything of that.
        name = f"{'log' if span.end == end else 'prefix'}/{span.path.name} {end}"
        hashed, left = hashlib.sha256(), end
        with open_plain(span.path) as file:
            before = os.fstat(file.fileno())
            known = self.looks.said(name, before)
            if known is not None:
                return known[0]
            while left > 0 and (block := file.read(min(_BLOCK, left))):
                hashed.update(block)
                left -= len(block)
            if left:
                return ""
            if span.end != end:
                self.looks.note(name, [before], [os.fstat(file.fileno())], [hashed.hexdigest()])
        return hashed.hexdigest()


def _read(data: memoryview) -> tuple[_Head | None, Parts | None]:
    """The head and the parts of a kept file; None, None where they are not what was written."""
    first = bytes(data[:_HEAD_BYTES])
    line, newline, _ = first.partition(b"\n")
    said, _, body = line.partition(b" ")
    if not newline or said != b"%08x" % zlib.crc32(body):
        return None, None
    try:
        head = msgspec.json.decode(body, type=_Head)
    except NOT_JSON:
        return None, None
    places, at = dict[str, tuple[int, int, int]](), len(line) + 1
    for name, length, total in head.parts:
        places[name] = at, at + length, total
        at += length
    return (head, Parts(data, places)) if at == len(data) else (None, None)


@cache
def code_signature() -> str:
    """Purpose: a digest that changes with any file of this package, with Python, with the versions of installed packages and with
    the kind of machine. Any of these may change the result of a fold.
    """
    root = Path(shakedown.__file__).parent
    beside = [sys.implementation.name, sys.version, sys.byteorder, os.uname().machine, *_installed()]
    hashed = hashlib.sha256("\n".join(beside).encode("utf-8", "surrogateescape"))
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if entry.name != "__pycache__" else []
                elif entry.name.endswith((".py", ".yaml")):
                    stat = entry.stat()
                    hashed.update(f"{entry.path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return hashed.hexdigest()


def _installed() -> list[str]:
    """The names and versions of installed packages, from the names of their metadata directories. Reading the metadata would take
    longer.
    """
    found: list[str] = []
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")):
            with suppress(OSError):
                found += [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]  # noqa: PTH208
    return sorted(found)
