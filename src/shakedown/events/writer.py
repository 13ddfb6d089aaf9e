"""Append to the log: buffered, in groups, durable when ``commit`` returns, and only while this process holds the lease.

``commit`` is the table of contents: check the lease, write, sync, check the lease again. The second check matters: a process may be
stopped for an hour between any two of these steps, and what it then writes must not count as the record.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from shakedown.events.lines import encode_event
from shakedown.events.segment_file import NoRoom, RecordAway, SegmentFile, next_path
from shakedown.events.segments import SEGMENT_BYTES, Header, Position, segment_path, sha256
from shakedown.events.sums import SUM_BYTES, EndFile
from shakedown.model.errors import UNDECIDED, LeaseHeld, RecordError
from shakedown.model.events import Event

GROUP_EVENTS = 512  # what is not urgent becomes durable after this many events...
GROUP_S = 0.1  # ... or this long, whichever comes first
RESERVE_BYTES = 1024 * 1024
RESERVE_NAME = "reserve"
_ROOM_AGAIN = 4  # the reserve is put back once this many times its size are free
_LOOK_FOR_ROOM_S = 5.0
_AT_ONCE = 4096  # events that a writer takes before it writes them, where a commit promises nothing


class Holding(Protocol):
    """The part of a lease that the writer needs."""

    epoch: int

    def check(self) -> None:
        """Raise LeaseHeld where this process no longer holds the lease."""


class DiskFull(RecordError):
    """The file system of the log is full. ``durable``: the reserve made room, so everything appended is in the record.

    Where ``durable`` is False, the lines are kept: commit again when there is room, and carry out nothing until that succeeds.
    ``room_at``: the time of the last event that was written before the disk was full.
    """

    status = UNDECIDED

    def __init__(self, directory: Path, why: str, durable: bool, room_at: float = 0.0) -> None:
        kept = "the reserve took the last events" if durable else "the last events are not in the record"
        super().__init__(
            f"the file system of {directory} is full ({why}); {kept}",
            hint="make room there; 'shakedown resume' goes on with what is left to do",
        )
        self.durable, self.room_at = durable, room_at


class LogWriter:
    """The Log port on disk. ``opening.open_log`` creates one.

    Events come with their seq and time set. ``full`` is true from the first DiskFull until the reserve exists again; ``room_at`` is
    the time of the last event that was taken while ``full`` was false. ``eager`` False is for a campaign that can be repeated at
    any time, such as a rehearsal: it writes in large pieces and is durable only after ``close``, not after ``commit``.
    """

    def __init__(
        self,
        directory: Path,
        lease: Holding,
        header: Header,
        time: float = 0.0,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        reserve_bytes: int = RESERVE_BYTES,
        eager: bool = True,
    ) -> None:
        """``header`` is that of the segment to begin, ``time`` that of the last event in the log."""
        self.directory, self.full, self._eager = directory, False, eager
        self.room_at = time
        self._lease, self._segment_bytes, self._reserve_bytes = lease, segment_bytes, reserve_bytes
        self._seq, self._time = header.first - 1, time
        self._lines: list[bytes] = []  # appended
        self._written: list[bytes] = []  # in the file, not yet durable
        self._since: float | None = None
        self.before_sync: Callable[[], object] = lambda: None  # what the lines point to is durable before they are
        self._dead: RecordError | LeaseHeld | None = None
        self._segment = self._first_segment(header)
        self._end = EndFile(directory)
        if not self.full:
            self._make_reserve()

    def _first_segment(self, header: Header) -> SegmentFile:
        """Create the first segment. On a full disk, gives up the reserve that the previous driver left."""
        path = segment_path(self.directory, header.segment)
        try:
            return SegmentFile(path, header, self._eager)
        except NoRoom as error:
            self.full = True
            if not self._free_reserve():
                raise DiskFull(self.directory, str(error), False, self.room_at) from error
        try:
            return SegmentFile(path, header, self._eager)
        except NoRoom as error:
            raise DiskFull(self.directory, str(error), False, self.room_at) from error

    # ---- what the conductor calls --------------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> None:
        """Purpose: take events, in order; ``flush``, ``tick`` or ``commit`` writes them."""
        self._raise_if_dead()
        for event in events:
            if event.seq != self._seq + 1:
                raise RecordError(f"event {event.seq} cannot follow event {self._seq} in the record")
            if event.time < self._time:
                raise RecordError(f"event {event.seq} has a time before that of event {self._seq}")
            self._lines.append(encode_event(event))
            self._seq, self._time = event.seq, event.time

    def flush(self) -> None:
        """Purpose: write what was appended, so that readers see it. It then survives the end of this process, but not yet a power
        cut.
        """
        self._work(sync=False)

    def commit(self) -> None:
        """Purpose: make everything that was appended durable, and check that it was written under our lease.

        Errors: LeaseHeld or RecordError where the record is no longer ours or another process changed it: both are final. DiskFull
        and RecordAway: see there.
        """
        if self._eager or len(self._lines) >= _AT_ONCE:
            self._work(sync=True)

    def tick(self, now: float) -> float | None:
        """Purpose: write at once, and sync in groups, what no commit has written yet. Call it before each wait.

        ``now`` is any steady clock, in seconds. Returns the time of the next call that it needs, None where it needs none.
        """
        self.flush()
        self._look_for_room()
        if not self._written:
            self._since = None
            return now + _LOOK_FOR_ROOM_S if self.full else None
        self._since = now if self._since is None else self._since
        if len(self._written) < GROUP_EVENTS and now - self._since < GROUP_S:
            return self._since + GROUP_S
        self.commit()
        return None

    def position(self) -> Position:
        """The end of the durable record: the place for a snapshot or a follower."""
        file = self._segment
        line = sha256(file.last_line) if file.durable_lines else ""
        return Position(file.header.segment, file.durable, self._durable, line, len(file.last_line), file.digest)

    @property
    def _durable(self) -> int:
        """The seq of the last durable event."""
        return self._seq - len(self._lines) - len(self._written)

    def close(self) -> None:
        """Purpose: commit, seal the last segment with the header of the next, and close the file.

        A record that is lost is only closed. Raises DiskFull only where it was not raised before.
        """
        told = self.full
        try:
            if self._dead is None:
                self._eager = self._segment.eager = True
                self.commit()
                self._check()
                self._roll()
                self._end.say(self._segment.end(self._seq))
                self._free_reserve()
        except NoRoom:
            pass  # the next driver seals it
        except DiskFull:
            if not told:
                raise
        finally:
            self._segment.close()
            self._end.close()
            self._dead = self._dead or RecordError(f"the log in {self.directory} was closed")

    # ---- how ---------------------------------------------------------------------------------------------------------

    def _work(self, sync: bool) -> None:
        self._raise_if_dead()
        if not self._lines and not (sync and self._written):
            return
        try:
            self._check()
            self._write_or_use_reserve(sync)
            self._check()
            if self._eager:
                self._end.say(self._segment.end(self._durable))
        except (DiskFull, RecordAway):
            raise
        except (LeaseHeld, RecordError) as error:
            self._dead = error
            raise
        self._look_for_room()
        if not self.full:
            self.room_at = self._time

    def _raise_if_dead(self) -> None:
        if self._dead is not None:
            raise self._dead

    def _check(self) -> None:
        self._lease.check()
        self._segment.check()

    def _write_or_use_reserve(self, sync: bool) -> None:
        try:
            self._write(sync)
        except NoRoom as error:
            self.full = True
            durable = self._free_reserve() and self._written_after_all()
            raise DiskFull(self.directory, str(error), durable, self.room_at) from error

    def _written_after_all(self) -> bool:
        try:
            self._write(sync=True)
        except NoRoom:
            return False
        self._check()
        return True

    def _write(self, sync: bool) -> None:
        while self._lines:
            if self._segment.lines and self._segment.size + len(self._lines[0]) + SUM_BYTES > self._segment_bytes:
                self._sync()
                self._roll()
            batch = self._lines[: self._fitting()]
            count = self._segment.write(batch)
            self._written += batch[:count]
            del self._lines[:count]
        if sync:
            self._sync()

    def _fitting(self) -> int:
        """How many of the waiting lines fit into this segment: at least one."""
        room = self._segment_bytes - self._segment.size
        if sum(map(len, self._lines)) + SUM_BYTES * len(self._lines) <= room:
            return len(self._lines)
        for count, line in enumerate(self._lines):
            room -= len(line) + SUM_BYTES
            if room < 0:
                return max(count, 1)
        raise AssertionError("unreachable")

    def _sync(self) -> None:
        with suppress(OSError):  # who wrote them says what the disk did not take
            self.before_sync()
        try:
            self._segment.sync()
        except NoRoom:
            self._take_back()
            raise
        except RecordError:
            self._sync_again()
        self._written, self._since = [], None

    def _sync_again(self) -> None:
        """Write the data of a failed sync once more, because the system reports such a failure only once and the data may be gone.

        Where the second sync fails too, the segment ends at its durable part: the bytes behind it are unknown.
        """
        count = self._take_back()
        try:
            while count:
                written = self._segment.write(self._lines[:count])
                self._written += self._lines[:written]
                del self._lines[:written]
                count -= written
            self._segment.sync()
        except (NoRoom, RecordError):
            self._take_back()
            raise

    def _take_back(self) -> int:
        """Cut off the lines that are not durable and queue them to be written again. Returns how many."""
        count = len(self._written)
        self._lines[:0] = self._written
        self._written = []
        self._segment.fall_back(self._end, self._durable)
        return count

    def _roll(self) -> None:
        """Begin the next segment; its header seals this one."""
        old = self._segment
        if not old.eager:  # nobody comes back to this one
            old.eager = True
            old.sync()
        header = old.next_header(self._seq - len(self._lines) + 1, self._lease.epoch)
        self._segment = SegmentFile(next_path(old), header, self._eager)
        old.close()

    # ---- the reserve -------------------------------------------------------------------------------------------------

    @property
    def _reserve(self) -> Path:
        return self.directory / RESERVE_NAME

    def _free_reserve(self) -> bool:
        try:
            self._reserve.unlink()
        except OSError:
            return False
        return True

    def _look_for_room(self) -> None:
        """Set ``full`` to false once the reserve could be created again.

        The free space of a file system says nothing about a quota, so the reserve is the test.
        """
        if not self.full:
            return
        try:
            free = os.statvfs(self.directory)
        except OSError:
            return
        if free.f_bavail * free.f_frsize >= _ROOM_AGAIN * self._reserve_bytes:
            self.full = self._make_reserve() in (errno.ENOSPC, errno.EDQUOT)

    def _make_reserve(self) -> int | None:
        """Take room on the disk in advance. It is given up when the disk is full, so that the record can still say so.

        Returns the error number where there is no such room, else None.
        """
        try:
            _allocate(self._reserve, self._reserve_bytes)
        except OSError as error:
            self._free_reserve()
            return error.errno
        return None


def _allocate(path: Path, size: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        os.posix_fallocate(handle, 0, size)
    finally:
        os.close(handle)
