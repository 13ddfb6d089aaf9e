"""Requests of operators to a campaign: files that are renamed into ``inbox/``. The driver logs each once, then removes it.

The file system says who asked (the owner of the file) and when (its last change); the content and the name of the file do not
count. While the driver polls, the time of a request is never before the previous poll, because the file did not exist then.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from shakedown.events.campaigns import refuse_rehearsal
from shakedown.events.damage import NOT_JSON
from shakedown.events.identity import user_name
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.event_kinds import EVENT_KINDS
from shakedown.model.layout import Layout
from shakedown.model.ports import Command

KNOWN = tuple(sorted(kind.request for kind in EVENT_KINDS if kind.request))
LIMIT_BYTES = 64 * 1024
REFUSED = "refused"  # as a command: a file that is none; as a directory: where such files are kept
_SUFFIX = ".json"


class _Wish(msgspec.Struct, frozen=True):
    """The content of a file."""

    what: str
    value: dict[str, Any] = {}
    reason: str = ""


class _Bad(Exception):
    """The reason why a file is not a command."""


def post(layout: Layout, what: str, value: dict[str, Any] | None = None, reason: str = "") -> str:
    """Purpose: ask the driver of a campaign for something. Returns the request's id, which the log names once the driver has logged
    it.

    Where no driver runs (``lease.holder``) the request waits. Errors: UsageError for an unknown word or where there is no campaign,
    RecordError where the request cannot be written.
    """
    if what not in KNOWN:
        raise UsageError(f"'{what}' is no command", hint=did_you_mean(what, KNOWN) or f"there are {', '.join(KNOWN)}")
    if not layout.inbox.is_dir():
        raise UsageError(f"{layout.root} is no campaign: it has no inbox")
    refuse_rehearsal(layout, "added to")
    content = msgspec.json.encode(_Wish(what, value or {}, reason))
    if len(content) > LIMIT_BYTES:
        raise UsageError(f"a command of {len(content)} bytes is too long; at most {LIMIT_BYTES} are taken")
    request = f"{time.time_ns():019d}-{os.urandom(3).hex()}"
    path = layout.inbox / f"{request}{_SUFFIX}"
    try:
        _write_durably(layout.inbox / f".{request}", path, content)
    except OSError as error:
        raise unwritable(path, error) from error
    return request


def _write_durably(draft: Path, path: Path, content: bytes) -> None:
    with draft.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    sync_directory(path.parent)


class FileInbox:
    """The Inbox port on disk.

    A file that is not a command becomes a Command "refused" with a reason. Once that is acknowledged, the file is moved to
    ``inbox/refused/``.
    """

    def __init__(self, layout: Layout, pace_s: float = 0.0) -> None:
        """``pace_s``: the least time between two polls of the directory, in seconds. The loop turns far more often
        than people ask.
        """
        self.layout, self.pace_s = layout, pace_s
        self._seen: dict[str, str] = {}  # request -> file name, of those that are not acknowledged yet
        self._bad: set[str] = set()
        self._stuck: set[str] = set()  # acknowledged, but they could not be removed
        self._looked = float("-inf")
        self._before: float | None = None  # when the look before this one began, by the clock on the wall
        self._since: dict[str, float] = {}  # file name -> when it was not there yet

    def poll(self) -> Sequence[Command]:
        """Purpose: every command that is not acknowledged yet, oldest first. Ignores names that start with a dot: those are being
        written.
        """
        now = time.monotonic()
        if now - self._looked < self.pace_s:
            return []
        self._looked, begun = now, time.time()
        try:
            names = os.listdir(self.layout.inbox)  # noqa: PTH208 - almost always empty, and asked often
        except OSError:
            return []
        before, self._before = self._before, begun
        self._since = {name: self._since.get(name, before or 0.0) for name in names}
        return [
            command
            for name in sorted(names)
            if not name.startswith(".") and name != REFUSED and name not in self._stuck
            for command in self._command(name)
        ]

    def _command(self, name: str) -> list[Command]:
        request = _request_of(name)
        try:
            wish, who, changed = _read(self.layout.inbox / name)
            self._bad.discard(request)
            said = min(time.time(), max(changed, self._since[name]))
            command = Command(request, wish.what, who, wish.value, wish.reason, said)
        except FileNotFoundError:
            return []  # its owner took it back
        except _Bad as error:
            self._bad.add(request)
            who = _owner(self.layout.inbox / name)
            command = Command(request, REFUSED, who, {"file": _shown(name)}, f"{_shown(name)}: {error}")
        self._seen[request] = name
        return [command]

    def acknowledge(self, requests: Sequence[str]) -> None:
        """Purpose: these requests are durable in the log: remove their files, or move them aside where they were not commands."""
        for request in requests:
            name = self._seen.pop(request, f"{request}{_SUFFIX}")
            path = self.layout.inbox / name
            try:
                if request in self._bad:
                    _put_aside(path, self.layout.inbox / REFUSED)
                else:
                    path.unlink(missing_ok=True)
            except OSError:
                self._stuck.add(name)
            self._bad.discard(request)


# ---- files of unknown origin -------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[_Wish, str, float]:
    """A command file's content, its owner, and when it was last changed or renamed, which the owner cannot set. Never follows a
    link and never waits, whatever kind of file it is.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _Bad(f"it cannot be read: {error.strerror}") from error
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise _Bad("it is no plain file")
        if facts.st_nlink > 1:
            raise _Bad("it has a second name elsewhere, so its owner may not have put it here")
        if facts.st_size > LIMIT_BYTES:
            raise _Bad(f"it is {facts.st_size} bytes long; at most {LIMIT_BYTES} are taken")
        return _parse(os.read(handle, LIMIT_BYTES + 1), path.name), user_name(facts.st_uid), facts.st_ctime
    except OSError as error:
        raise _Bad(f"it cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)


def _parse(content: bytes, name: str) -> _Wish:
    if not name.endswith(_SUFFIX):
        raise _Bad(f"it is no command: its name does not end in {_SUFFIX}")
    try:
        wish = msgspec.json.decode(content, type=_Wish)
    except NOT_JSON as error:
        raise _Bad(f"it is no command: {error}") from error
    if wish.what not in KNOWN:
        raise _Bad(f"'{wish.what[:40]}' is no command; there are {', '.join(KNOWN)}")
    return wish


def _owner(path: Path) -> str:
    try:
        return user_name(path.lstat().st_uid)
    except OSError:
        return "unknown"


def _request_of(name: str) -> str:
    """A request id for a file, different for every file of the inbox, so that acknowledging one file neither removes another nor
    leaves one to be logged again.
    """
    stem, place = (name[: -len(_SUFFIX)], "") if name.endswith(_SUFFIX) else (name, "./")
    shown = _shown(stem)
    if shown != stem:
        shown = f"{shown[:180]}~{hashlib.sha256(os.fsencode(stem)).hexdigest()[:12]}"
    return place + shown


def _shown(name: str) -> str:
    """A file name of unknown origin as plain text, shortened where it is too long."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)[:200]


def _put_aside(path: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    target = folder / path.name
    number = 1
    while os.path.lexists(target):
        number += 1
        target = folder / f"{path.name[:200]}~{number}"
    with suppress(FileNotFoundError):
        path.rename(target)
