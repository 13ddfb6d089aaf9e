"""Finding and reading the files of a site directory, and telling whether any of them changed."""


# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH116

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shakedown.plans.schema.problems import Problems

LIMIT_BYTES = 2 * 2**20  # of one file; a plan with thousands of tests is a tenth of it
CATALOGUE = "catalogue:"  # stands before the names of files that come with the package


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was found: its name as people are shown it, where it is, and its signature."""

    name: str
    path: str
    signature: tuple[int, int, int, int]  # size, modified, changed (nanoseconds), inode


def scan(directory: str, prefix: str, problems: Problems, also: str = ".yaml") -> list[Found]:
    """Purpose: every YAML file below a directory, in the order of names; those with the suffix ``also`` too. A missing
    directory has none.

    What looks like one and cannot be read is a problem: nothing is left out in silence. Hidden names are not looked at.
    """
    found: list[Found] = []
    _scan(directory, prefix, problems, found, _identity(directory), also)
    found.sort(key=lambda file: file.name)
    return found


def _identity(directory: str) -> set[tuple[int, int]]:
    """The directory as the file system knows it, so that a link that leads back to it is not followed."""
    try:
        info = os.stat(directory)
    except OSError:
        return set()
    return {(info.st_dev, info.st_ino)}


def _scan(
    directory: str, prefix: str, problems: Problems, found: list[Found], seen: set[tuple[int, int]], also: str
) -> None:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    _look_at(entry, prefix + entry.name, problems, found, seen, also)
    except FileNotFoundError:
        return
    except OSError as error:
        problems.file(prefix.rstrip("/") or directory, f"the directory cannot be read: {error.strerror}")


def _look_at(
    entry: os.DirEntry[str], name: str, problems: Problems, found: list[Found], seen: set[tuple[int, int]], also: str
) -> None:
    suffix = entry.name[-5:]
    try:
        if entry.is_dir():
            if suffix == ".yaml":
                problems.file(name, "this is a directory, and its name is that of a file", "rename it, or take it away")
            info = entry.stat()
            if (info.st_dev, info.st_ino) not in seen:  # a link can lead back up
                seen.add((info.st_dev, info.st_ino))
                _scan(entry.path, f"{name}/", problems, found, seen, also)
        elif suffix == ".yaml" or entry.name.endswith(also):
            found.append(_found(name, entry.path, entry.stat()))
        elif suffix.lower().endswith((".yml", ".yaml")):
            stem, _, ending = entry.name.rpartition(".")
            problems.file(name, f"a file that ends in .{ending} is not read", f"rename it to {stem}.yaml")
        elif suffix.lower() == ".json" and _described(entry.path):
            problems.file(name, "a file that ends in .json is not read", f"rename it to {entry.name[:-5]}.yaml")
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not entry.is_symlink():
            return  # it was taken away, or is about to be replaced, since the directory was read
        problems.file(name, f"the file cannot be read: {error.strerror}")


_DESCRIBES = re.compile(rb'\s*\{\s*"(?:test|plan|system|contract)"\s*:')


def _described(path: str) -> bool:
    """Whether a file of JSON begins as a test, a plan, a system or a contract does, and not as data beside them."""
    with open(path, "rb") as file:  # noqa: PTH123 - a path is text here
        return _DESCRIBES.match(file.read(1000)) is not None


def look_up(path: str, name: str) -> Found:
    """One file by its path. Raises OSError."""
    return _found(name, path, os.stat(path))


def _found(name: str, path: str, info: os.stat_result) -> Found:
    if not stat.S_ISREG(info.st_mode):
        raise OSError(0, "it is not a regular file")
    return Found(name, path, signature_of(info))


def signature_of(info: os.stat_result) -> tuple[int, int, int, int]:
    """What changes when a file's content does: size, both times in nanoseconds, inode."""
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


def read_bytes(file: Found, problems: Problems) -> bytes | None:
    """Purpose: a file's content, a little more than the limit at most; or None with the reason among the problems."""
    try:
        handle = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.read(handle, min(file.signature[0], LIMIT_BYTES) + 1)
            while len(data) <= LIMIT_BYTES and (more := os.read(handle, 65536)):
                data += more  # it has grown since it was found
        finally:
            os.close(handle)
    except OSError as error:
        problems.file(file.name, f"the file cannot be read: {error.strerror}")
        return None
    return data


def digest_of(files: Iterable[Found]) -> str:
    """One digest of many signatures: another file, another order of names, another content makes another."""
    import hashlib

    lines = "\n".join([f"{file.name}\0{file.path}\0{file.signature}" for file in files])
    return hashlib.blake2b(lines.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def walk(directory: str) -> Iterator[os.DirEntry[str]]:
    """Every entry below a directory but those of version control, in the order of names. Raises OSError."""
    with os.scandir(directory) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name in _NOT_SOURCE:
            continue
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path)


_NOT_SOURCE = frozenset({".git", ".hg", ".svn", "__pycache__"})
