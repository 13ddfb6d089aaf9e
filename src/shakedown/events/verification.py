"""Verify a record: every line, the order, the seals. Reports what is right and the first place where something is not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from shakedown.events.chain import damage_of
from shakedown.events.damage import NOT_JSON, DamagedLine, LaterVersion
from shakedown.events.lines import decode_line
from shakedown.events.plain_files import open_plain
from shakedown.events.seal_check import Damage
from shakedown.events.segments import Span, sealed_at, segment_path, spans
from shakedown.model.errors import RecordError
from shakedown.model.events import EVENTS, Event
from shakedown.model.layout import Layout

_FIELDS = frozenset({*Event.__struct_fields__, "sum"})


@dataclass(slots=True)
class Verification:
    """The result. ``problem`` is "" for an undamaged record, else a sentence.

    ``path``, inside the campaign, ``segment``, ``line`` and ``event`` name the place; the numbers are 0 where they are not known.

    ``digest`` is the sha256 of the last segment: through the chain it stands for the whole record. ``torn_bytes`` come after the
    last new line; ``late_bytes`` are behind seals: drivers that had lost the lease wrote them, and they are not part of the record.
    """

    segments: int = 0
    events: int = 0
    bytes: int = 0
    digest: str = ""
    torn_bytes: int = 0
    late_bytes: int = 0
    unknown_events: Counter[str] = field(default_factory=Counter)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    problem: str = ""
    path: str = ""
    segment: int = 0
    line: int = 0
    event: int = 0

    @property
    def whole(self) -> bool:
        return not self.problem


class _Damage(Exception):
    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


@dataclass(slots=True)
class _Before:
    """What the next line must continue: the last seq and time, and the digest of the segment before."""

    seq: int = 0
    time: float = 0.0
    digest: str = ""


def verify(directory: Path) -> Verification:
    """Purpose: read the whole log; check each line, seq, time and seal; stop at the first problem. Returns what was found.

    Errors: RecordError where there is no log.
    """
    result = Verification()
    try:
        found = spans(directory)
    except RecordError as error:
        damage = None if isinstance(error, LaterVersion) else damage_of(Layout(directory.parent))
        if damage is None and not directory.is_dir():
            raise
        if damage is not None:
            _say(result, directory, damage)
        if directory.is_dir() and not (damage is not None and damage.line):  # else the place is told as everywhere
            result.problem = error.message
        return result
    before = _Before()
    for span in found:
        try:
            _verify_segment(span, before, result)
        except _Damage as damage:
            result.segment, result.line = span.number, damage.line
            result.path = f"{directory.name}/{span.path.name}"
            result.event = before.seq + 1 if damage.line > 1 else 0  # the line where that event should be
            place = f"{span.path}: line {damage.line}" if damage.line else str(span.path)
            result.problem = f"{place}: {damage.why}"
            return result
    headless = segment_path(directory, len(found) + 1)
    result.torn_bytes += headless.stat().st_size if headless.exists() else 0
    more = damage_of(Layout(directory.parent))  # the sums of lines, the log's end, and seals
    if more is not None:
        _say(result, directory, more)
    return result


def _say(result: Verification, directory: Path, damage: Damage) -> None:
    result.path, result.segment, result.line, result.event = damage.path, damage.segment, damage.line, damage.event
    place = f"{directory.parent / damage.path}{f': line {damage.line}' if damage.line else ''}"
    result.problem = f"{place}: {damage.why}"


def _verify_segment(span: Span, before: _Before, result: Verification) -> None:
    if span.header.previous != before.digest:
        raise _Damage(
            1, f"the seal of segment {span.number - 1} is broken: a byte in that segment, or this seal, was changed"
        )
    if span.header.first != before.seq + 1:
        raise _Damage(
            1, f"the header says that event {span.header.first} comes next, but the last one was {before.seq}"
        )
    hashed = hashlib.sha256()
    length = 0
    for number, line in enumerate(_lines(span), start=1):
        if number > 1:
            _verify_line(number, line, before, result)
        hashed.update(line)
        length += len(line)
    _measure(span, length, result)
    before.digest = result.digest = hashed.hexdigest()


def _lines(span: Span) -> Iterator[bytes]:
    """Whole lines up to the seal, including the header."""
    offset = 0
    with open_plain(span.path) as file:
        for line in file:
            offset += len(line)
            if not line.endswith(b"\n") or (span.end is not None and offset > span.end):
                return
            yield line


def _verify_line(number: int, line: bytes, before: _Before, result: Verification) -> None:
    try:
        event = decode_line(line)
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw]).keys()
    except DamagedLine as error:
        raise _Damage(number, error.why) from error
    except NOT_JSON as error:  # in the name of a field that nobody reads
        raise _Damage(number, f"it is not JSON: {error}") from error
    if event.seq != before.seq + 1:
        raise _Damage(number, f"event {event.seq} is where event {before.seq + 1} should be")
    if event.time < before.time:
        raise _Damage(number, f"event {event.seq} has a time before that of event {before.seq}")
    before.seq, before.time = event.seq, event.time
    result.events += 1
    if event.event not in EVENTS:
        result.unknown_events[event.event] += 1
    result.unknown_fields.update(fields - _FIELDS)


def _measure(span: Span, length: int, result: Verification) -> None:
    """Compare the segment's length with its seal, and count the bytes behind the last line."""
    size = span.path.stat().st_size
    if span.end is not None and length != span.end:
        raise _Damage(0, f"its lines end at byte {length}, {sealed_at(span)}")
    result.segments += 1
    result.bytes += length
    if span.end is None:
        result.torn_bytes += size - length
    else:
        result.late_bytes += size - length
