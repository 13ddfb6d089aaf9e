"""Read the log: every event in order, from the first one or from any seq.

Readers need no lease and block nothing. They stop at the last new line: the bytes after it are still being written, or are torn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from shakedown.events.damage import DamagedLine
from shakedown.events.lines import decode_block, decode_line
from shakedown.events.plain_files import open_plain
from shakedown.events.segments import BLOCK_BYTES, Span, blocks, spans
from shakedown.model.events import EVENTS, Event


def read_events(directory: Path, after: int = 0) -> Iterator[Event]:
    """Purpose: the events whose seq is greater than ``after``. ``directory`` is that of the log.

    Errors: RecordError with segment and line where the record is damaged, has a gap, or has a newer version.
    """
    return Reader(directory).events(after)


def first_event(directory: Path) -> Event | None:
    """Purpose: the first event, or None; reads only its line. Errors as in ``read_events``."""
    for span in spans(directory):
        with open_plain(span.path) as file:
            file.seek(span.start)
            line = file.readline()
        if line.endswith(b"\n"):
            return decode_at(span, span.start, line)[0]
    return None


class Reader:
    """Reads the log. Yields events whose names this version does not know like any others, and counts them in ``unknown``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.unknown: Counter[str] = Counter()

    def events(self, after: int = 0) -> Iterator[Event]:
        for _, events in self._decoded(after):
            yield from events

    def lines(self, after: int = 0) -> Iterator[tuple[Event, bytes]]:
        """Each event with its line as it was written, without the new line character."""
        for block, events in self._decoded(after):
            yield from zip(events, block.split(b"\n")[-len(events) - 1 : -1], strict=True)

    def _decoded(self, after: int) -> Iterator[tuple[bytes, list[Event]]]:
        """Blocks of lines, each with its wanted events: these are always the last ones of the block."""
        expected: int | None = None
        for span in _reaching(spans(self.directory), after):
            for offset, block in blocks(span, _offset_near(span, after)):
                events = decode_at(span, offset, block)
                first = span.header.first if offset <= span.start else events[0].seq
                check_order(span, offset, events, first if expected is None else expected)
                expected = events[-1].seq + 1
                wanted = events[max(0, after + 1 - events[0].seq) :]
                if wanted:
                    self.unknown.update([event.event for event in wanted if event.event not in EVENTS])
                    yield block, wanted


def _reaching(found: list[Span], after: int) -> list[Span]:
    """The spans that can hold events after this seq: the last one that begins before it, and all later ones."""
    skipped = sum(span.header.first <= after + 1 for span in found) - 1
    return found[max(0, skipped) :]


def _offset_near(span: Span, after: int) -> int:
    """Purpose: the offset of a line at or shortly before the first wanted line. Found by halving the segment."""
    low, high = span.start, span.path.stat().st_size if span.end is None else span.end
    if after < span.header.first:
        return low
    with open_plain(span.path) as file:
        while high - low > BLOCK_BYTES:
            middle = (low + high) // 2
            file.seek(middle)
            begin = middle + len(file.readline())
            line = file.readline()
            seq = _seq_of(line) if begin < high else None
            if seq is not None and seq <= after + 1:
                low = begin
            else:
                high = middle
    return low


def _seq_of(line: bytes) -> int | None:
    try:
        return decode_line(line).seq if line.endswith(b"\n") else None
    except DamagedLine:
        return None


# ---- what a damaged record looks like --------------------------------------------------------------------------------


def decode_at(span: Span, offset: int, block: bytes) -> list[Event]:
    """Purpose: the events of a block. Raises RecordError with the segment and the line that cannot be read."""
    try:
        return decode_block(block)
    except DamagedLine as error:
        raise error.told(span.path, line_number(span, offset) + error.index) from error


def check_order(span: Span, offset: int, events: list[Event], expected: int) -> None:
    """Raise RecordError where the seq of the events does not continue from ``expected`` without a gap."""
    if [event.seq for event in events] == list(range(expected, expected + len(events))):
        return
    for index, event in enumerate(events):
        if event.seq != expected + index:
            error = DamagedLine(f"event {event.seq} is where event {expected + index} should be")
            raise error.told(span.path, line_number(span, offset) + index)


def line_number(span: Span, offset: int) -> int:
    """The number of the line that begins at ``offset``; counts from 1 and includes the header."""
    with open_plain(span.path) as file:
        return file.read(offset).count(b"\n") + 1


def line_of(directory: Path, seq: int) -> tuple[Path, int]:
    """Purpose: the segment, and the number of the line in it, of an event. The log must be in order."""
    span = next(span for span in reversed(spans(directory)) if span.header.first <= seq)
    return span.path, seq - span.header.first + 2
