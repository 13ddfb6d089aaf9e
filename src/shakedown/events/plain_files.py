"""Open the files of a record: only regular files, and without waiting.

A pipe, a socket, a device or a directory may be where a file of the record should be. A pipe would make its reader wait for ever,
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
    """The path is not a regular file. ``strerror`` is the sentence for people."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind} and no regular file", str(path))


def open_plain(path: Path, follow: bool = True) -> BinaryIO:
    """Purpose: a regular file, open for reading. Raises OSError; NotPlain where the path is something else.

    ``follow``: False refuses a symbolic link too, because its target is not the file that was kept there.
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
    """Purpose: the first ``limit`` bytes of a regular file; -1: all of them. Raises OSError; NotPlain where the path is something
    else.
    """
    with open_plain(path) as file:
        return file.read(limit)


def link_of(path: Path) -> str:
    """Purpose: the target of a symbolic link, "" where the path is not a link."""
    try:
        return str(path.readlink())
    except OSError:
        return ""


def link_trouble(path: Path) -> str:
    """Purpose: the sentence that says why a symbolic link is not read; "" where the path is not a link."""
    target = link_of(path)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in target)
    shown = shown if len(shown) <= LINK_CHARACTERS else shown[: LINK_CHARACTERS - 3] + "..."
    return f"a symbolic link to {shown} lies in the place of what was kept" if target else ""
