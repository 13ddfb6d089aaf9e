"""What plans depend on beyond their YAML: programs on the machine and what they say, golden sums, input files, source trees.

``Surroundings`` records each look and its result, so that a cache can check whether all results are still valid.
"""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH112, PTH115, PTH116, PTH120, PTH123

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from shakedown.plans.files import signature_of, walk

_MOST_FILES = 200_000
_GONE = (0, 0, 0, 0)
_ANSWER_HOLDS_S = 600.0  # what a command said is believed this long
# For so long a command is waited for; one that says nothing may be slow on a busy machine: it is asked again.
_ANSWER_S = (5.0, 15.0)
# Why one cannot be started at this moment.
_FOR_NOW = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY)
_ANSWER_CHARACTERS = 64 << 10


class Seen(msgspec.Struct):
    """What was looked at: program -> found, path -> signature of the file, directory -> signature of the tree.

    ``places``: program -> its path, "" where there is none. ``believed_until``: when what commands said is to be asked again.
    """

    programs: dict[str, bool] = {}
    places: dict[str, str] = {}
    variables: dict[str, str] = {}
    believed_until: float = 0.0  # seconds since 1970; 0: no command was asked
    files: dict[str, tuple[int, int, int, int]] = {}
    trees: dict[str, str] = {}


class Surroundings:
    """Looks at each thing once."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._digests: dict[str, str] = {}
        self._said: dict[tuple[str, ...], str] = {}  # by command; by (path, "") for files
        self.contents: dict[str, str] = {}  # path -> sha256 of each file whose content was taken over

    def program(self, name: str) -> bool:
        """Whether a program can be run here. Programs beside our own Python count: the wheels of MPI put theirs there."""
        known = self.seen.programs.get(name)
        if known is None:
            known = self.seen.programs[name] = _runnable(name)
        return known

    def place(self, name: str) -> str:
        """The path of a program, as ``program`` finds it; "" where there is none."""
        known = self.seen.places.get(name)
        if known is None:
            known = self.seen.places[name] = _place(name)
            if known:
                self.seen.files[known] = _signature(known)
        return known

    def variable(self, name: str) -> str:
        """A variable of our environment, "" where it is not set."""
        return self.seen.variables.setdefault(name, os.environ.get(name, ""))

    def said(self, *command: str) -> str:
        """The output of a command, stdout and stderr; "" where it cannot be run, fails or takes too long.

        That nothing could be heard of it is believed now and not kept: it says more about this moment than about the command.
        """
        if command not in self._said:
            heard = _answer(command)
            self._said[command] = heard or ""
            until = time.time() + (_ANSWER_HOLDS_S if heard is not None else 0.0)
            self.seen.believed_until = min(until, self.seen.believed_until or until)
        return self._said[command]

    def there(self, path: str) -> bool:
        """Whether a file or directory exists."""
        self.seen.files[path] = signature = _signature(path)
        return signature != _GONE

    def beginning(self, path: str, limit: int) -> str:
        """The text of a file that nothing is taken over from, read once; "" where it cannot be read."""
        if (path, "") not in self._said:
            self.there(path)
            try:
                with open(path, "rb") as file:
                    self._said[path, ""] = file.read(limit).decode("utf-8", "replace")
            except OSError:
                self._said[path, ""] = ""
        return self._said[path, ""]

    def content(self, path: str, limit: int) -> bytes:
        """A file's content, at most ``limit`` bytes of it. Raises OSError."""
        self.seen.files[path] = _signature(path)
        with open(path, "rb") as file:
            data = file.read(limit)
        self.contents[path] = hashlib.sha256(data).hexdigest()
        return data

    def digest(self, path: str) -> str:
        """The sha256 of a file, or the digest of a directory's tree. Raises IsADirectoryError where not all of a tree can be
        read, and OSError where a file cannot be.
        """
        if os.path.isdir(path):
            try:
                return self.tree(path)
            except OSError as error:
                raise IsADirectoryError(error.errno, str(error)) from error
        if path not in self._digests:
            self.seen.files[path] = _signature(path)
            with open(path, "rb") as file:
                self._digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[path]

    def tree(self, directory: str) -> str:
        """The digest of everything in a source directory: names, modes, contents. Raises OSError."""
        if directory not in self._digests:
            self.seen.trees[directory] = _tree(directory, _stamp)
            self._digests[directory] = _tree(directory, _content)
        return self._digests[directory]


def still_so(seen: Seen) -> bool:
    """Purpose: whether all recorded results are still valid."""
    try:
        return (
            (not seen.believed_until or 0 < seen.believed_until - time.time() <= _ANSWER_HOLDS_S)
            and all(_runnable(name) == found for name, found in seen.programs.items())
            and all(os.environ.get(name, "") == value for name, value in seen.variables.items())
            and all(_place(name) == path for name, path in seen.places.items())
            and all(_signature(path) == signature for path, signature in seen.files.items())
            and all(_tree(directory, _stamp) == signature for directory, signature in seen.trees.items())
        )
    except OSError:
        return False


def _runnable(name: str) -> bool:
    return bool(_place(name))


def _place(name: str) -> str:
    places = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=places) or ""


def _answer(command: tuple[str, ...]) -> str | None:
    """The output of a command; "" where it cannot be run or fails, None where it gives no answer now."""
    import subprocess  # a tenth of the start of a command; few ask

    for seconds in _ANSWER_S:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            continue
        except OSError as error:
            if error.errno in _FOR_NOW:
                continue
            return ""
        except (ValueError, subprocess.SubprocessError):
            return ""
        return done.stdout.decode("utf-8", "replace")[:_ANSWER_CHARACTERS] if done.returncode == 0 else ""
    return None


def _signature(path: str) -> tuple[int, int, int, int]:
    try:
        return signature_of(os.stat(path))
    except (OSError, ValueError):
        return _GONE


def _tree(directory: str, describe: Callable[[os.DirEntry[str], Any], None]) -> str:
    """A digest over a tree; ``describe`` adds one entry to it."""
    whole = hashlib.sha256()
    for number, entry in enumerate(walk(directory)):
        if number >= _MOST_FILES:
            raise OSError(0, f"the directory holds more than {_MOST_FILES} files")
        whole.update(os.fsencode(os.path.relpath(entry.path, directory)) + b"\0")
        describe(entry, whole)
    return whole.hexdigest()


def _stamp(entry: os.DirEntry[str], whole: Any) -> None:
    whole.update(repr(signature_of(entry.stat(follow_symlinks=False))).encode())


def _content(entry: os.DirEntry[str], whole: Any) -> None:
    """The kind of an entry, and of a file its bytes and whether it can be run; links count by where they lead."""
    if entry.is_symlink():
        whole.update(b"link\0" + os.fsencode(os.readlink(entry.path)) + b"\0")
    elif entry.is_dir(follow_symlinks=False):
        whole.update(b"directory\0")
    elif entry.is_file(follow_symlinks=False):
        runnable = entry.stat(follow_symlinks=False).st_mode & 0o100
        with open(entry.path, "rb") as file:
            whole.update((b"program\0" if runnable else b"file\0") + hashlib.file_digest(file, "sha256").digest())
    else:
        whole.update(b"special\0")
