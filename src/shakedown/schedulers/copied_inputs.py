"""Copies of input files. A copy appears under its name only once it is whole, even if several copies are made at once."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

CHUNK_BYTES = 4 << 20


class Progress:
    """How far a placing has come, so that a slow copy is told from one that hangs. ``moved``: when it last went on (monotonic
    clock).
    """

    __slots__ = ("bytes", "moved")

    def __init__(self) -> None:
        self.bytes = 0
        self.moved = time.monotonic()

    def add(self, count: int = 0) -> None:
        self.bytes += count
        self.moved = time.monotonic()


def copy_input(source: Path, target: Path, progress: Progress | None = None) -> None:
    """Purpose: copy a file, or a directory with all its content; nothing is done where the target exists. Raises OSError with a
    path.
    """
    told = progress or Progress()
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    if source.is_dir():
        for file, place in _tree(source, draft):
            _copy_file(file, place, told)
    else:
        _copy_file(source, draft, told)
    try:
        draft.rename(target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        shutil.rmtree(draft, ignore_errors=True)  # somebody else's copy was first


def shared_input(inputs: Path, source: Path, progress: Progress | None = None) -> Path:
    """Purpose: the only copy of an input under ``inputs``, made if it is not there; everybody who asks gets the same. Raises
    OSError.

    It is identified by its source, size and time, so a changed file has another copy.
    """
    place = inputs / _key(source) / source.name
    with _lock_of(str(place)):
        copy_input(source, place, progress)
    return place


def _tree(source: Path, draft: Path) -> Iterator[tuple[Path, Path]]:
    """Each file below ``source`` with its place below ``draft``, where the directories are made on the way."""
    for folder, names in _walk(str(source)):
        here = draft / Path(folder).relative_to(source)
        here.mkdir(exist_ok=True)
        for name in names:
            yield Path(folder, name), here / name


def _walk(source: str) -> Iterator[tuple[str, list[str]]]:
    """Each directory at and below ``source``, also behind links, with the names of the entries that are no directories. Raises
    OSError.
    """
    above: dict[str, frozenset[tuple[int, int]]] = {}
    for folder, folders, names in os.walk(source, onerror=_fail, followlinks=True):
        status = os.stat(folder)  # noqa: PTH116
        own, outer = (status.st_dev, status.st_ino), above.pop(folder, frozenset())
        if own in outer:
            raise OSError(errno.ELOOP, "a link leads to a directory that it lies in", folder)
        above |= {os.path.join(folder, name): outer | {own} for name in folders}  # noqa: PTH118
        yield folder, names


def _copy_file(source: Path, place: Path, progress: Progress) -> None:
    if not source.is_file():
        what = "an input file is missing" if not source.exists() else "an input is neither a file nor a directory"
        raise OSError(errno.EINVAL if source.exists() else errno.ENOENT, what, str(source))
    progress.add()
    try:
        with source.open("rb") as file, place.open("wb") as copy:
            while chunk := file.read(CHUNK_BYTES):
                copy.write(chunk)
                progress.add(len(chunk))
        shutil.copymode(source, place)
    except OSError as error:
        place.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, error.filename or str(place)) from error


def _key(source: Path) -> str:
    found = [(str(source), source.stat())]
    if source.is_dir():
        found = [
            (path, os.stat(path))  # noqa: PTH116
            for folder, names in _walk(str(source))
            for path in [folder, *(os.path.join(folder, name) for name in sorted(names))]  # noqa: PTH118
        ]
    text = "\0".join(f"{path}\0{said.st_size}\0{said.st_mtime_ns}" for path, said in sorted(found))
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:32]


def _fail(error: OSError) -> None:
    raise error


_locks: dict[str, threading.Lock] = {}
_guard = threading.Lock()


def _lock_of(place: str) -> threading.Lock:
    """A lock for each place, so that threads of one process make a copy only once."""
    with _guard:
        return _locks.setdefault(place, threading.Lock())
