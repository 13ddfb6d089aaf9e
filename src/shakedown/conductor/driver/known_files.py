"""Comparing what is known of input files and programs at two times: what was changed, added and removed.

A file is known by its path as ``SIZE@TIME#SHA256``, a program by ``program NAME`` with its path before that, a variable by
``variable NAME``, and a directory of inputs whose files are all known by ``directory PATH``, as "" or why it cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

VARIABLE = "variable "
DIRECTORY = "directory "
# What is no input, though it lies among them: of editors, of Python, of git, of files that NFS has yet to remove.
_PASSING = ("__pycache__", "*.pyc", ".git", ".nfs*", ".*.sw?", "*~", ".#*", "#*#")


def files_changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Purpose: what differs, one line each. A file that only one of the two times asked for was not changed, unless it was added to
    an input directory or removed from it.
    """
    lines = [f"{name} was added" for name in files_removed(after, before)]
    lines += [f"{name} was removed" for name in files_removed(before, after)]
    for name in before.keys() & after.keys():
        was, now = before[name], after[name]
        if not _has_same_content(was, now):
            lines.append(f"{name} {_change_in_words(name, was, now)}")
    return sorted(lines)


def files_removed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Purpose: the files that input directories had and no longer have, for directories that could be read
    completely both times.
    """
    whole = {
        name for name in before.keys() & after.keys() if name.startswith(DIRECTORY) and not before[name] + after[name]
    }
    return {name for name in before.keys() - after.keys() if whole and _is_input_in(name, whole)}


def _is_input_in(name: str, whole: set[str]) -> bool:
    """Whether the file lies in one of these directories and is an input at all."""
    folder, names = name, []
    while "/" in folder:
        folder, _, last = folder.rpartition("/")
        names.append(last)
        if f"{DIRECTORY}{folder}" in whole:
            return not any(fnmatchcase(one, pattern) for one in names for pattern in _PASSING)
    return False


def _has_same_content(was: str, now: str) -> bool:
    """Whether two entries mean the same content: by sha256 where both have one, so a file with only a new time is the same."""
    (place, _, old), (new_place, _, new) = _parts(was), _parts(now)
    return (place, old) == (new_place, new) if old and new else was.partition("#")[0] == now.partition("#")[0]


def _parts(known: str) -> tuple[str, str, str]:
    """Where a program is; its size and time; its sha256."""
    mark, _, digest = known.partition("#")
    place, _, mark = mark.rpartition(" ")
    return place, mark, digest


def _change_in_words(name: str, was: str, now: str) -> str:
    if now.startswith("cannot be read"):
        return now
    if was.startswith("cannot be read"):
        return "can be read now"
    if name.startswith(VARIABLE) and was.partition("#")[0] != now.partition("#")[0]:
        return f"is {now.partition('#')[0]} now, and was {was.partition('#')[0]}"
    if name.startswith("program ") and was.partition(" ")[0] != now.partition(" ")[0]:
        return f"is {now.partition(' ')[0]}, and was {was.partition(' ')[0]}"
    return "was changed"


def sum_of(known: str) -> str:
    """Purpose: the sha256 in the entry of a file; "" where it was not read."""
    return _parts(known)[2]
