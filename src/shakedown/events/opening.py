"""Open a log in order to continue it: repair its end, seal the last segment, begin a new segment."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shakedown.events.chain import refuse_damaged
from shakedown.events.plain_files import open_plain
from shakedown.events.reader import decode_at
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.events.segments import SEGMENT_BYTES, Header, Span, first_header, segment_numbers, segment_path, spans
from shakedown.events.set_back import refuse_set_back
from shakedown.events.sums import begin_end
from shakedown.events.writer import RESERVE_BYTES, Holding, LogWriter
from shakedown.model.errors import LeaseHeld
from shakedown.model.events import LINE_VERSION, Event
from shakedown.model.layout import Layout

_ATTEMPTS = 3
_STEP = 64 * 1024


@dataclass(frozen=True, slots=True)
class Tail:
    """How the log ended when it was opened: seq and time of the last event, 0 where there is none.

    ``cut_bytes``: how many bytes of an incomplete line, left by a crash, were cut off; no process relied on them. ``cut_from``
    names the segment. The conductor reports it in a finding.
    """

    seq: int = 0
    time: float = 0.0
    cut_bytes: int = 0
    cut_from: str = ""


def open_log(
    directory: Path,
    lease: Holding,
    *,
    segment_bytes: int = SEGMENT_BYTES,
    reserve_bytes: int = RESERVE_BYTES,
    eager: bool = True,
    read_first: Callable[[], object] = lambda: None,
) -> tuple[LogWriter, Tail]:
    """Purpose: a writer that continues behind the last whole line, in a new segment, and how the log ended.

    Every driver writes to segments of its own: a driver that was stopped and lost the lease may still write when it wakes up, but
    only behind the seal. ``eager``: as in ``LogWriter``. ``read_first`` is called once the sums are checked and before anything is
    added: where it raises an error the log stays unchanged. Nothing is added to a damaged record. Errors: LeaseHeld where the lease
    is not ours, RecordError for damage, DiskFull.
    """
    refuse_damaged(Layout(directory.parent))
    refuse_set_back(Layout(directory.parent))
    read_first()
    _make_directory(directory)
    for attempt in range(1, _ATTEMPTS + 1):
        lease.check()
        header, tail = _mend(directory, lease.epoch, eager)
        try:
            sizes = {"segment_bytes": segment_bytes, "reserve_bytes": reserve_bytes}
            return LogWriter(directory, lease, header, tail.time, **sizes, eager=eager), tail
        except LeaseHeld:
            if attempt == _ATTEMPTS:  # before: the driver before us began a segment just before it noticed us
                raise
    raise AssertionError("unreachable")


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable(directory, error) from error


def _mend(directory: Path, epoch: int, durable: bool) -> tuple[Header, Tail]:
    """Cut off an incomplete line. Returns the header of the next segment, and how the log ended."""
    found = spans(directory)
    numbers = segment_numbers(directory)
    if len(numbers) > len(found):
        _remove_headless(segment_path(directory, numbers[-1]))
    if not found:
        return first_header(epoch, begin_end(directory, durable)), Tail()
    last = found[-1]
    size = last.path.stat().st_size
    end = _behind_newline(last, size)
    if end < size:
        _cut(last.path, end)
    event = _last_event(found, end)
    seq, time = (event.seq, event.time) if event else (0, 0.0)
    header = Header(last.number + 1, LINE_VERSION, seq + 1, epoch, _digest(last.path, end), end)
    return header, Tail(seq, time, size - end, last.path.name if end < size else "")


def _remove_headless(path: Path) -> None:
    """Delete a segment whose header is incomplete: it holds nothing that was durable."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
    sync_directory(path.parent)


def _behind_newline(span: Span, offset: int) -> int:
    """The offset behind the last new line before ``offset``, or that of the segment's first event where there is none."""
    with open_plain(span.path) as file:
        while offset > span.start:
            begin = max(span.start, offset - _STEP)
            file.seek(begin)
            newline = file.read(offset - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            offset = begin
    return span.start


def _cut(path: Path, size: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(handle, size)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error


def _last_event(found: list[Span], end: int) -> Event | None:
    """The last event of the log, or None; ``end`` is where the last segment's lines end."""
    for span in reversed(found):
        bound = end if span.end is None else span.end
        if bound > span.start:
            return _event_before(span, bound)
    return None


def _event_before(span: Span, end: int) -> Event:
    begin = _behind_newline(span, end - 1)
    with open_plain(span.path) as file:
        file.seek(begin)
        line = file.read(end - begin)
    return decode_at(span, begin, line)[0]


def _digest(path: Path, length: int) -> str:
    hashed = hashlib.sha256()
    with open_plain(path) as file:
        while length > 0 and (block := file.read(min(length, 1 << 20))):
            hashed.update(block)
            length -= len(block)
    return hashed.hexdigest()
