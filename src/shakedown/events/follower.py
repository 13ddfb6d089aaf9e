"""Follow a growing log from a saved position. Survives restarts of the follower and repairs of the log."""

from __future__ import annotations

from pathlib import Path

from shakedown.events.reader import check_order, decode_at
from shakedown.events.segments import Position, Span, blocks, holds, segment_path, sha256, spans
from shakedown.model.events import Event

PART_BYTES = 4 * 1024 * 1024  # about as much as one call hands out


class Follower:
    """Yields every event once, in order.

    ``position`` can be saved at any time and given back later. If the log has changed before that position (it was cut back, or is
    another log), the follower goes back to a place that is still valid and counts this in ``rewound``. Some events then come again,
    so consumers must compare seq.
    """

    def __init__(self, directory: Path, position: Position | None = None) -> None:
        self.directory = directory
        self.position = position or Position()
        self.rewound = 0

    def new_events(self) -> list[Event]:
        """Purpose: the next events; [] where there are none yet. A long backlog comes in parts: call again until
        the answer is [].
        """
        return [event for event, _ in self.new_lines()]

    def new_lines(self) -> list[tuple[Event, bytes]]:
        """As ``new_events``, but each event comes with its line as it was written. Errors: RecordError for a damaged record."""
        if self._nothing_new():
            return []
        found = spans(self.directory)
        if not found:
            self._go_back(Position())
            return []
        for span in found[self._start_in(found).number - 1 :]:
            lines = self._next_lines(span)
            if lines:
                return lines
        return []

    def _nothing_new(self) -> bool:
        """Whether the segment has its old length and no successor. This is the usual case, and needs no reading."""
        if not self.position.header or segment_path(self.directory, self.position.segment + 1).exists():
            return False
        try:
            return segment_path(self.directory, self.position.segment).stat().st_size == self.position.offset
        except FileNotFoundError:
            return False

    def _start_in(self, found: list[Span]) -> Span:
        """The span of the position. Goes back to a valid place first where the position is no longer valid."""
        position = self.position
        if not position.header:
            self.position = _beginning(found[0])
            return found[0]
        if position.segment > len(found):
            self._go_back(_beginning(found[0]))
            return found[0]
        span = found[position.segment - 1]
        if not holds(span, position):
            same = span.digest == position.header
            span = span if same else found[0]
            self._go_back(_beginning(span))
        return span

    def _go_back(self, position: Position) -> None:
        self.rewound += 1 if self.position.seq else 0
        self.position = position

    def _next_lines(self, span: Span) -> list[tuple[Event, bytes]]:
        """The new lines of one segment, in order; moves the position behind them."""
        if self.position.segment != span.number:
            self.position = _beginning(span, self.position.seq)
        new: list[tuple[Event, bytes]] = []
        begin = self.position.offset
        for offset, block in blocks(span, begin):
            events = decode_at(span, offset, block)
            check_order(span, offset, events, self.position.seq + 1)
            lines = block.split(b"\n")[:-1]
            new += zip(events, lines, strict=True)
            line = lines[-1] + b"\n"
            end = offset + len(block)
            self.position = Position(span.number, end, events[-1].seq, sha256(line), len(line), span.digest)
            if end - begin > PART_BYTES:
                break
        return new


def _beginning(span: Span, seq: int | None = None) -> Position:
    """The position just behind a segment's header."""
    return Position(span.number, span.start, span.header.first - 1 if seq is None else seq, header=span.digest)
