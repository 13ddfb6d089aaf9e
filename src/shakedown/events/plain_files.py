"""Opening the files of a record: regular files alone, without ever waiting.

A pipe, a socket, a device or a directory may lie where a file of the record should be. A pipe would make its reader wait for ever,
so every file of a record is opened here.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

LINK_CHARACTERS = 300  # that are shown, and kept, of where a link leads
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


class NotPlain(OSError):
    """Something lies there that is no regular file. ``strerror`` is the sentence for people."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind} and no regular file", str(path))


def open_plain(path: Path, follow: bool = True) -> BinaryIO:
    """Purpose: a regular file, open for reading. Raises OSError; NotPlain where it is something else.

    ``follow``: False where a symbolic link is something else too: what it leads to is not what was kept there.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # what a socket answers
            raise NotPlain(path, "a socket") from error
        if error.errno == errno.ELOOP and not follow and path.is_symlink():
            raise NotPlain(path, "a symbolic link") from error
        raise
    kind = stat.S_IFMT(os.fstat(handle).st_mode)
    if kind != stat.S_IFREG:
        os.close(handle)
        raise NotPlain(path, _KINDS.get(kind, "something else"))
    return os.fdopen(handle, "rb")


def read_plain(path: Path, limit: int = -1) -> bytes:
    """Purpose: a regular file's first ``limit`` bytes; -1: all of them. Raises OSError; NotPlain where it is something else."""
    with open_plain(path) as file:
        return file.read(limit)


def link_of(path: Path) -> str:
    """Purpose: where a symbolic link leads, "" where there is none."""
    try:
        return str(path.readlink())
    except OSError:
        return ""


def link_trouble(path: Path) -> str:
    """Purpose: why nothing is read where a symbolic link lies, in words; "" where none lies there."""
    target = link_of(path)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in target)
    shown = shown if len(shown) <= LINK_CHARACTERS else shown[: LINK_CHARACTERS - 3] + "..."
    return f"a symbolic link to {shown} lies in the place of what was kept" if target else ""
