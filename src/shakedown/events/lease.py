"""The lease: which conductor drives a campaign. Each driver creates one epoch file exclusively; the newest number holds the lease.

The epoch file identifies the driver (host, boot, process, user). Its modification time is the heartbeat. A lock on it, where locks
work, shows that its holder is alive. ``release`` leaves a mark beside it. Numbers only grow, so a driver that lost the lease finds
that out with one check.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgspec

from shakedown.events.damage import NOT_JSON
from shakedown.events.identity import Identity, is_alive, this_boot, this_process
from shakedown.events.plain_files import open_plain, read_plain
from shakedown.events.segment_file import RecordAway, is_away, unwritable
from shakedown.events.segments import parse_header, read_header_line, segment_path
from shakedown.events.sums import has_sum, read_end, sum_of, with_sum
from shakedown.model.errors import LeaseHeld, RecordError, UsageError
from shakedown.model.layout import Layout
from shakedown.model.units import show_duration

STALE_S = 60.0  # a heartbeat older than this, by the file system's own clock, is that of a dead driver
BEAT_S = 5.0
SILENT_S = 20.0  # a living driver whose heartbeat is older does not answer
HUNG_S = 180.0  # one that has not answered for so long is replaced by whoever looks after the campaign (cron)
_NAME = re.compile(r"([0-9]{6,})\.json")
_ATTEMPTS = 5
_LONGEST_WORD = 4096  # bytes of what a driver says beside its lease
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a lease that was not given back.

    ``alive`` is None where this process cannot see the holder's process and cannot tell that its lock is gone; ``locked`` is None
    where locks do not work; ``who`` is None where the epoch file cannot be read. ``beat_age_s`` is the age of the last heartbeat in
    seconds, negative where it is ahead of the file system's clock.
    """

    epoch: int
    who: Identity | None
    beat_age_s: float
    alive: bool | None
    locked: bool | None

    @property
    def gone(self) -> bool:
        """Whether any process may take the lease: the holder is known to be dead, or was silent for too long and holds no lock."""
        if self.alive is not None:
            return not self.alive
        return self.beat_age_s > STALE_S and self.locked is not True

    @property
    def ahead(self) -> bool:
        """Whether a holder that may be dead left a heartbeat in the future, because a clock was set back since. The age then says
        nothing; only waiting for as long as a heartbeat may take shows whether another one comes.
        """
        return self.alive is None and self.locked is not True and self.beat_age_s < -SILENT_S

    @property
    def silent_s(self) -> float:
        """For how many seconds a driver that may be alive has not answered; 0 where it answers."""
        return self.beat_age_s if not self.gone and self.beat_age_s > SILENT_S else 0.0

    @property
    def replaced_after_s(self) -> float:
        """After how many seconds of silence the process that looks after the campaign replaces the driver: sooner for a driver that
        may be dead and holds no lock than for one that is alive.
        """
        return STALE_S if self.alive is None and self.locked is not True else HUNG_S

    @property
    def hung(self) -> bool:
        """Whether it was silent for so long that it is to be replaced although it is alive (stopped, swapped out)."""
        return self.silent_s > HUNG_S

    def __str__(self) -> str:
        beat = f"last heartbeat {show_duration(max(0.0, self.beat_age_s))} ago"
        if self.ahead:
            beat = (
                f"its last heartbeat lies {show_duration(-self.beat_age_s)} in the future: a clock was set back since"
            )
        if self.who is None:
            return f"driven by a conductor that left no name, or its lease file is damaged (lease/{self.epoch:06d}.json); {beat}"
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.who.since))
        return f"driven by {self.who.user} on {self.who.host} (pid {self.who.pid}) since {since}; {beat}"


class Lease:
    """A lease that this process holds. ``epoch`` is its number; ``with`` gives it back at the end."""

    def __init__(self, layout: Layout, epoch: int, who: Identity, handle: int) -> None:
        self.layout, self.epoch, self.who = layout, epoch, who
        self._path = _epoch_path(layout, epoch)
        self._next = _epoch_path(layout, epoch + 1)
        self._handle, self._beaten = handle, float("-inf")
        self.replaced = ""  # who held it, where it was taken from a driver that may live

    @classmethod
    def acquire(cls, layout: Layout, *, take_over: bool = False, who: Identity | None = None) -> Lease:
        """Purpose: become the campaign's driver. Returns the lease.

        ``take_over``: a person says that the holder is dead or is to be replaced; the old holder stops at its next commit. Errors:
        LeaseHeld, which says who drives, on which host and since when; RecordError where the directory cannot be written.
        """
        who = who or this_process()
        _make_directory(layout)
        for _ in range(_ATTEMPTS):
            epoch = _newest(layout)
            held = _holder_of(layout, epoch, who)
            if held is not None and not held.gone and not take_over:
                raise LeaseHeld(f"campaign {layout.root.name} is {held}", hint=_way_out(held))
            handle = _make_epoch(_epoch_path(layout, epoch + 1), who)
            if handle is not None:
                lease = cls(layout, epoch + 1, who, handle)
                lease.replaced = str(held) if held is not None and not held.gone else ""
                return lease
        raise LeaseHeld(f"campaign {layout.root.name}: other conductors take the lease again and again")

    def is_mine(self) -> bool:
        """Whether this lease is still valid: no later epoch exists and its own file is still there. RecordError where that cannot
        be read.
        """
        if self._handle < 0:
            return False
        try:
            return os.fstat(self._handle).st_nlink > 0 and not _is_there(self._next)
        except OSError as error:
            if is_away(self.layout.lease):
                raise RecordAway(self.layout.log) from error
            raise RecordError(f"{self.layout.lease} cannot be read: {error.strerror}") from error

    def check(self) -> None:
        """Raise LeaseHeld, with the new holder, where the lease is no longer valid."""
        if self.is_mine():
            return
        name = self.layout.root.name
        if self._handle < 0:
            raise LeaseHeld(f"campaign {name}: this conductor gave its lease back")
        held = holder(self.layout)
        now = str(held) if held else "no longer driven by this conductor"
        raise LeaseHeld(
            f"this conductor lost campaign {name}, which is now {now}", hint="it stops here; the other goes on"
        )

    def beat(self, now: float) -> None:
        """Purpose: the heartbeat. The conductor's own loop calls it in each turn; it writes at most once every 5 s.

        A thread must not do this: it would go on beating for a loop that hangs. ``now`` is any steady clock, in seconds. A
        heartbeat that the file system refuses (full, read-only, away) is tried again in the next turn and is not an error.
        """
        if now - self._beaten < BEAT_S:
            return
        self.check()
        with suppress(
            OSError
        ):  # nobody sees it meanwhile; whether it is still ours is asked before anything is written
            os.utime(self._path)
            self._beaten = now

    def say_why_it_waits(self, why: str) -> None:
        """Purpose: write beside the lease why the driver cannot write the record, for other processes to read; "" once it can
        again. A full disk has no room for this text, but there everybody sees the cause.
        """
        path = _waits_path(self.layout, self.epoch)
        with suppress(OSError):
            if why:
                path.write_text(f"{why}\n", encoding="utf-8")
            else:
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Purpose: give the lease back, so that the next driver need not wait. Does nothing where the lease is no longer valid."""
        if self._handle < 0:
            return
        self.say_why_it_waits("")
        with suppress(OSError, RecordError):  # then the next driver sees that our process is gone
            if self.is_mine():
                _released_path(self.layout, self.epoch).touch()
        os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder(layout: Layout) -> Holder | None:
    """Purpose: the holder of the lease, alive or not; None where nobody holds it. Changes nothing."""
    return _holder_of(layout, _newest(layout), this_process())


def why_it_waits(layout: Layout) -> str:
    """Purpose: why the holder of the lease cannot write the record, in its own words; "" where it can."""
    held = holder(layout)
    if held is None or held.gone:
        return ""
    try:
        return read_plain(_waits_path(layout, held.epoch), _LONGEST_WORD).decode("utf-8", "replace").strip()
    except (*NOT_JSON, OSError):
        return ""


def stays_silent(layout: Layout, held: Holder, look_again: Callable[[float], None] = time.sleep) -> bool:
    """Purpose: wait for more than one heartbeat and return whether none came. A clock that was set makes a heartbeat look old.

    Where the heartbeat is in the future, only this shows anything, so it waits for as long as a driver may be silent.
    """
    path = _epoch_path(layout, held.epoch)
    try:
        before = path.stat().st_mtime_ns
        look_again(STALE_S + BEAT_S if held.ahead else 2 * BEAT_S + 1)
        return path.stat().st_mtime_ns == before and _newest(layout) == held.epoch
    except FileNotFoundError:
        return False


def began_to_drive(layout: Layout) -> float:
    """Purpose: when the campaign's last driver began, in seconds since 1970; 0 where that is not recorded."""
    try:
        who = _identity(read_plain(_epoch_path(layout, _newest(layout))))
        return who.since if who is not None else 0.0
    except (*NOT_JSON, OSError):
        return 0.0


def last_host(layout: Layout) -> str:
    """Purpose: the host of the last driver, "" where that is not recorded."""
    try:
        who = _identity(read_plain(_epoch_path(layout, _newest(layout))))
    except (*NOT_JSON, OSError):
        return ""
    return who.host if who is not None else ""


def _holder_of(layout: Layout, epoch: int, seen_from: Identity) -> Holder | None:
    if epoch == 0 or _is_there(_released_path(layout, epoch)):
        return None
    path = _epoch_path(layout, epoch)
    try:
        who = _identity(read_plain(path))
    except (*NOT_JSON, OSError):
        who = None
    locked = _locked(path)
    alive = is_alive(who) if who is not None and who.same_place(seen_from) else None
    if who is None and locked is False and _wrote_here(layout, epoch):
        alive = False
    return Holder(epoch, who, _beat_age(path), alive, locked)


def _wrote_here(layout: Layout, epoch: int) -> bool:
    """Whether the driver of this lease wrote the record on this machine since its last boot, according to ``lease/log-end`` and the
    segment that it names. If so, its lock would be visible here, and an epoch file without a lock means that the driver is gone.
    """
    end = read_end(layout.log)
    if end is None or end.boot != this_boot() or not end.boot:
        return False
    try:
        path = segment_path(layout.log, end.segment)
        return parse_header(path, read_header_line(path) or b"").epoch == epoch
    except (OSError, RecordError):
        return False


def changed_leases(layout: Layout) -> list[str]:
    """Purpose: the names of epoch files that were changed since a driver wrote them, sorted: their drivers are no longer known."""
    try:
        names = sorted(name for name in os.listdir(layout.lease) if _NAME.fullmatch(name))  # noqa: PTH208 - as above
    except OSError:
        return []
    return [name for name in names if _named_by(layout.lease / name) is None]


def _named_by(path: Path) -> Identity | None:
    """The identity in an epoch file; None where the file was changed or is missing."""
    try:
        with open_plain(path, follow=False) as file:
            return _identity(file.read(_LONGEST_WORD))
    except (*NOT_JSON, OSError):
        return None


# ---- files ---------------------------------------------------------------------------------------------------------------


def _epoch_path(layout: Layout, epoch: int) -> Path:
    return layout.lease / f"{epoch:06d}.json"


def _released_path(layout: Layout, epoch: int) -> Path:
    return layout.lease / f"{epoch:06d}.released"


def _waits_path(layout: Layout, epoch: int) -> Path:
    return layout.lease / f"{epoch:06d}.waits"


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _newest(layout: Layout) -> int:
    try:
        names = os.listdir(layout.lease)  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        return 0
    return max((int(match.group(1)) for name in names if (match := _NAME.fullmatch(name))), default=0)


def _make_directory(layout: Layout) -> None:
    if not layout.root.is_dir():
        raise UsageError(f"there is no campaign in {layout.root}")
    try:
        layout.lease.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable(layout.lease, error) from error


def _make_epoch(path: Path, who: Identity) -> int | None:
    """Purpose: create the epoch file, complete and locked from the start. Returns its handle, or None where another process was
    faster.
    """
    draft = path.with_name(f".{path.name}.{who.host}.{who.pid}")
    try:
        return _make_by_link(draft, path, who)
    except FileExistsError:
        return None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return _make_in_place(path, who)


def _make_by_link(draft: Path, path: Path, who: Identity) -> int:
    handle = _write_identity(draft, os.O_TRUNC, who)
    try:
        os.link(draft, path)
    except OSError as error:
        done = isinstance(error, FileExistsError) and os.fstat(handle).st_nlink == 2
        if not done:  # else a network file system did it and lost the answer
            os.close(handle)
            raise
    return handle


def _make_in_place(path: Path, who: Identity) -> int | None:
    """Create the epoch file where there are no hard links. A crash half-way leaves an empty file, which expires like any other."""
    try:
        return _write_identity(path, os.O_EXCL, who)
    except FileExistsError:
        return None
    except OSError as error:
        raise unwritable(path, error) from error


def _write_identity(path: Path, flag: int, who: Identity) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flag, 0o644)
    with suppress(OSError):  # locks do not work everywhere
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(handle, with_sum(msgspec.json.encode(who) + b"\n", 0)[0])
    return handle


def _identity(line: bytes) -> Identity | None:
    """The identity in a line, None where the line was changed. Files of older versions have no sum."""
    said = sum_of(line)
    return None if said is not None and not has_sum(line, said) else msgspec.json.decode(line, type=Identity)


def _beat_age(path: Path) -> float:
    """The age of the last heartbeat in seconds, by the clock of the file system, which a newly created file shows."""
    try:
        beat = path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
    probe = path.with_name(f".now.{os.getpid()}")
    try:
        probe.touch()
        now = probe.stat().st_mtime
        probe.unlink(missing_ok=True)
    except OSError:
        now = time.time()  # we may only read here
    return now - beat


def _locked(path: Path) -> bool | None:
    """Whether a process holds the lock; None where that cannot be told."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)
    return False


def _way_out(held: Holder) -> str:
    if held.ahead:
        watched = f"shakedown resume --if-needed watches for {STALE_S + BEAT_S:.0f} s whether it still beats"
        return f"{watched}; add --take-over if it is dead"
    if held.who is None:
        return f"wait until its heartbeat is {STALE_S:.0f} s old, or add --take-over if you know that it is dead"
    if held.alive:
        return f"let it work, or end it first: kill {held.who.pid}"
    if held.beat_age_s > STALE_S:
        return f"its process on {held.who.host} still holds the lock; end it there, or add --take-over if it is dead"
    return (
        f"end it on {held.who.host}, wait until its heartbeat is {STALE_S:.0f} s old, or add --take-over if it is dead"
    )
