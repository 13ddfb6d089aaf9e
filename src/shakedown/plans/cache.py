"""Keep resolved listings between commands. A faulty cache makes commands slower but does not change their results."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH103, PTH105, PTH108, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable

from shakedown.model.errors import UsageError
from shakedown.model.own_places import NOWHERE, own_place
from shakedown.plans.files import Found

_MAGIC = b"shakedown listing 1\n"
_SETTLED_NS = 50_000_000  # a file changed again within one tick of the file system's clock may look unchanged
_SETTLED_COARSE_NS = 2_000_000_000  # file systems whose clock counts seconds


def load(name: str) -> bytes | None:
    """Purpose: the data stored under a name, or None where there is none that can be trusted."""
    try:
        with open(_path(name), "rb") as file:
            head, stored, data = file.read(len(_MAGIC)), file.read(32), file.read()
    except OSError:
        return None
    return data if head == _MAGIC and hashlib.blake2b(data, digest_size=32).digest() == stored else None


def store(name: str, data: bytes) -> None:
    """Purpose: store ``data`` under a name; a directory that cannot be written, or a full disk, raises no error."""
    path = _path(name)
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.blake2b(data, digest_size=32).digest() + data)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)


def settled(files: Iterable[Found], now_ns: int) -> bool:
    """Whether every file last changed long enough before ``now_ns`` that another change would show."""
    newest = max((max(file.signature[1], file.signature[2]) for file in files), default=0)
    return newest + (_SETTLED_NS if newest % 1_000_000_000 else _SETTLED_COARSE_NS) < now_ns


def now() -> int:
    return time.time_ns()


def _path(name: str) -> str:
    try:
        home = own_place("XDG_CACHE_HOME")
    except UsageError:
        home = NOWHERE
    return os.path.join(home, "shakedown", "listings", name)
