"""The register of a site: which campaigns were begun, sealed and ended, in a chain of lines that only grows.

``register.jsonl`` is beside ``campaigns/``. Each line is one fact, and holds the sha256 of the line before it. A process locks the
file to add a line, so several hosts and users may add to it. The first event of a campaign names the line by which the campaign was
entered, so register and campaigns confirm each other.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from shakedown.events.damage import NOT_JSON
from shakedown.events.identity import user_name
from shakedown.events.plain_files import NotPlain, read_plain
from shakedown.events.register_lock import hold
from shakedown.events.segment_file import sync_directory
from shakedown.model.errors import RecordError
from shakedown.model.events import MOMENTS

FILE = "register.jsonl"
VERSION = 1
OPENED, FOUND, BEGUN, SEALED, ENDED = "opened", "found", "begun", "sealed", "ended"
_HINTS = {
    errno.EACCES: "whoever runs campaigns here must be able to write it: its owner gives the right (chmod g+w), "
    "or you make a site directory of your own: shakedown init",
    errno.EROFS: "this file system is mounted read-only: run from a site directory that can be written",
    errno.ENOSPC: "free space on its file system and give the command again",
    errno.ELOOP: "it is a link: put the file itself there",
}
_HINTS |= {errno.EPERM: _HINTS[errno.EACCES], errno.EDQUOT: _HINTS[errno.ENOSPC]}
LOST = (
    "put it back from a copy; where it is lost for good, 'shakedown register --anew --by WHO --because WHY' begins another one, "
    "and every later page says so"
)


class Entry(Struct, frozen=True, omit_defaults=True):
    """One line. ``entry`` counts 1, 2, 3...; ``previous`` is the sha256 of the line before, "" in the first one.

    ``register`` (only in the line ``opened``) is the random name of the register. ``first`` is the sha256 of the first event of a
    campaign that was found; ``identity`` the random name of a campaign that was begun; ``event`` the number of the fact's event,
    and ``log`` the sha256 of all event lines up to it; ``digest`` that of a seal; ``torn``: bytes of an unfinished line that were
    cut off before this one. ``ad_hoc``: the campaign has no plan file, because its tests were named on the command line.
    """

    v: int
    entry: int
    previous: str
    time: Annotated[float, MOMENTS]
    fact: str
    who: str
    register: str = ""
    campaign: str = ""
    plan: str = ""
    document: str = ""
    identity: str = ""
    first: str = ""
    event: int = 0
    log: str = ""
    outcome: str = ""
    digest: str = ""
    by: str = ""
    because: str = ""
    before: str = ""
    torn: int = 0
    ad_hoc: bool = False


class Register(Struct):
    """The content of a register. ``sums``: the sha256 of each line; ``bytes``: length of its whole lines; ``torn``: bytes behind
    them.

    ``damage`` is the first thing that is wrong, "" where nothing is; ``entries`` end where the chain is broken.
    """

    path: Path
    entries: list[Entry] = []
    sums: list[str] = []
    bytes: int = 0
    torn: int = 0
    damage: str = ""

    @property
    def name(self) -> str:
        """The random name that campaigns know the register by; "" where there is none."""
        return self.entries[0].register if self.entries else ""

    @property
    def head(self) -> dict[str, Any]:
        """What a seal says about the register: its name, the number of its last line and the sum of that line."""
        return {"register": self.name, "entry": len(self.entries), "sha256": self.sums[-1] if self.sums else ""}

    def entered(self, campaign: str) -> tuple[int, Entry] | None:
        """Purpose: the line by which a campaign of this name was entered, with its index from 0; None where there is none."""
        found = ((place, one) for place, one in enumerate(self.entries) if one.fact in (BEGUN, FOUND))
        return next((pair for pair in found if pair[1].campaign == campaign), None)

    def alike(self, campaign: str) -> Entry | None:
        """Purpose: the line of a campaign of this name, ignoring upper and lower case; None where there is none."""
        return next((one for one in self.campaigns() if one.campaign.casefold() == campaign.casefold()), None)

    def campaigns(self) -> list[Entry]:
        """Purpose: the lines by which campaigns were entered, in order."""
        return [one for one in self.entries if one.fact in (BEGUN, FOUND)]

    def facts(self, campaign: str, *kinds: str) -> list[Entry]:
        """Purpose: the lines about one campaign, of these kinds."""
        return [one for one in self.entries if one.campaign == campaign and one.fact in kinds]


def register_path(site: Path) -> Path:
    return site / FILE


def read_register(site: Path) -> Register:
    """Purpose: the register of a site; one without entries where there is none. Changes nothing.

    Errors: RecordError where it cannot be read, or a newer Shakedown wrote it.
    """
    path = register_path(site)
    try:
        return _read(path, read_plain(path))
    except FileNotFoundError:
        return Register(path)
    except NotPlain as error:
        return Register(path, damage=str(error.strerror))
    except OSError as error:
        raise RecordError(f"the register {path} cannot be read: {error.strerror}") from error


def _read(path: Path, content: bytes) -> Register:
    found = Register(path)
    *lines, rest = content.split(b"\n")
    found.torn = len(rest)
    previous = ""
    for number, line in enumerate(lines, 1):
        entry = _entry(line)
        found.damage = _trouble(entry, number, previous)
        if found.damage or entry is None:
            break
        previous = hashlib.sha256(line).hexdigest()
        found.entries.append(entry)
        found.sums.append(previous)
        found.bytes += len(line) + 1
    return found


def _entry(line: bytes) -> Entry | None:
    try:
        return msgspec.json.decode(line, type=Entry)
    except NOT_JSON:
        return None


def _trouble(entry: Entry | None, number: int, previous: str) -> str:
    """What is wrong with a line, "" where nothing is."""
    if entry is None:
        return f"line {number} cannot be read"
    if entry.v > VERSION:
        raise RecordError(
            f"the register was written by a newer Shakedown (line {number} is of version {entry.v})",
            hint="use that version, or a newer one",
        )
    if entry.entry != number:
        return f"line {number} is entry {entry.entry}: lines were taken out or put in"
    if entry.previous != previous:
        return f"line {number} does not follow line {number - 1}: a line before it was changed"
    if (entry.fact == OPENED) != (number == 1):
        return f"line {number} is not what a register has there"
    return ""


# ---- adding to it ----------------------------------------------------------------------------------------------------------


class OpenRegister:
    """A register that this process has locked. ``add`` appends one line, durable."""

    def __init__(self, handle: int, found: Register) -> None:
        self._handle, self.found = handle, found

    def add(self, fact: str, **said: Any) -> Entry:
        """Purpose: append one line and return it. First cuts off a line that a crash left unfinished; the new line says so.

        Errors: RecordError where the register is damaged, or cannot be written.
        """
        found = self.found
        if found.damage:
            raise damaged(found)
        entry = Entry(
            VERSION, len(found.entries) + 1, found.sums[-1] if found.sums else "", round(time.time(), 3), fact,
            user_name(os.getuid()), torn=found.torn, **said,
        )  # fmt: skip
        line = msgspec.json.encode(entry)
        try:
            if found.torn:
                os.ftruncate(self._handle, found.bytes)
            self._write(line + b"\n")
        except OSError as error:
            raise unwritable_register(found.path, error) from error
        found.entries.append(entry)
        found.sums.append(hashlib.sha256(line).hexdigest())
        found.bytes += len(line) + 1
        found.torn = 0
        return entry

    def _write(self, line: bytes) -> None:
        """Write the whole line or nothing: a part that a full disk took is cut off again."""
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(self._handle, line[written:], self.found.bytes + written)
            os.fsync(self._handle)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self.found.bytes)
            raise


@contextmanager
def open_register(site: Path) -> Iterator[OpenRegister]:
    """Purpose: the locked register, created where there is none. Errors: RecordError where it cannot be written or locked."""
    path = register_path(site)
    try:
        handle = _open(path)
    except OSError as error:
        raise unwritable_register(path, error) from error
    try:
        with hold(handle, path):
            yield OpenRegister(handle, _read(path, _whole(handle, path)))
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        handle = os.open(path, flags | os.O_CREAT, 0o666)
        with suppress(OSError):  # who shares the directory shares the register
            os.fchmod(handle, os.fstat(handle).st_mode | (path.parent.stat().st_mode & 0o020))
        sync_directory(path.parent)
    return handle


def _whole(handle: int, path: Path) -> bytes:
    try:
        parts, at = [], 0
        while block := os.pread(handle, 1 << 20, at):
            parts.append(block)
            at += len(block)
        return b"".join(parts)
    except OSError as error:
        raise RecordError(f"the register {path} cannot be read: {error.strerror}") from error


def new_name() -> str:
    """Purpose: a random name for a register, or for a campaign in it."""
    return secrets.token_hex(8)


def damaged(found: Register) -> RecordError:
    return RecordError(f"the register of this site is damaged: {found.path}: {found.damage}", hint=LOST)


def unwritable_register(path: Path, error: OSError) -> RecordError:
    """Purpose: the error for a register that cannot be written, with a way out: no campaign begins without its line."""
    hint = _HINTS.get(error.errno or 0, "no campaign begins without its line there: mend that first")
    return RecordError(f"the register of this site, {path}, cannot be written: {error.strerror or error}", hint=hint)
