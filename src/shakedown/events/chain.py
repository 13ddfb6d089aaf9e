"""Check that the log is still what was written: the chain of segments, the sums of the lines, and the end of the log.

Every reader makes this check before it trusts a number. ``damage_of`` is the table of contents. It reads each byte of the log once
and decodes nothing, so it costs little; ``verification`` also checks every line. A log that is being written, or whose driver was
killed, is undamaged: its last segment has no seal yet and may end in an incomplete line.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from shakedown.events.damage import DamagedLine, LaterVersion
from shakedown.events.identity import this_boot
from shakedown.events.lease import last_host
from shakedown.events.lines import decode_line
from shakedown.events.looks import Looks
from shakedown.events.plain_files import link_trouble, open_plain, read_plain
from shakedown.events.seal_check import SEAL_GONE, Damage, closing_damage, file_damage
from shakedown.events.seals import hash_file, lines_of, read_seal, seals_of
from shakedown.events.segments import Span, sealed_at, segment_numbers, segment_path, spans
from shakedown.events.sums import LogEnd, end_path, first_broken, last_sum, read_end
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout

# What only a campaign that ran has: each is made after the log began.
_PROOFS = (
    *("claims", "jobs", "packs", "outputs", "seals", "fingerprints"),
    *("environments", "builds", "payloads", "work"),
)
_FOLDERS = ("log", "lease", "documents", "claims")  # nothing goes on where one of them is something else
_NO_LINKS = ("log", "lease", "documents", "seals", "lease/log-end")  # nor where one of them is a link
_SEALED = b'"event":"sealed"'
_BLOCK = 1 << 20
_NAMED = b'"document":"'  # how an event names a frozen plan; in a text the quotes have backslashes before them
_DIGEST = re.compile(rb"[0-9a-f]{64}")
_DIGEST_BYTES = 64
SEEN_LATE_S = 120.0


RESTORE = "put that file back from a backup; 'shakedown verify' says more"  # the way out of a record that is damaged


class Unwhole(RecordError):
    """The record is not what was written. ``damage`` says where."""

    def __init__(self, layout: Layout, damage: Damage) -> None:
        super().__init__(
            f"the record of {layout.root.name} is damaged: {damage}",
            hint=RESTORE,
        )
        self.damage = damage


def refuse_damaged(layout: Layout) -> None:
    """Raise Unwhole where the log is not what was written. Callers use it before they add to the log."""
    damage = damage_of(layout)
    if damage is not None:
        raise Unwhole(layout, damage)


def damage_of(layout: Layout, looks: Looks | None = None) -> Damage | None:
    """Purpose: the first place where the log is not what was written, or None. Changes nothing in the record.

    ``looks``: remembers undamaged segments; those that did not change since are not read again. Where damage is found, the check is
    repeated without it. A caller that adds to the record, or makes something lasting from it, passes None.

    Errors: RecordError where a newer Shakedown wrote the log; OSError where it cannot be read.
    """
    if looks is not None and _damage(layout, looks) is None:
        looks.save()
        return None
    return _damage(layout, None)


def _damage(layout: Layout, looks: Looks | None) -> Damage | None:
    end = read_end(layout.log)  # before the log: it is never ahead of what is read after it
    damage = _first_damage(layout, end, looks=looks)
    if (
        damage is not None and (now := read_end(layout.log)) != end
    ):  # it was written to meanwhile, or cut back on a full disk
        damage = _first_damage(layout, now, looks=looks)
    if damage is not None and is_news_from_elsewhere(layout):
        return _first_damage(layout, None, compares_end=False, looks=looks)
    return damage


def is_news_from_elsewhere(layout: Layout) -> bool:
    """Purpose: whether another host wrote a moment ago. On a network file system the newest segment may show up later than
    ``lease/log-end``.
    """
    path = end_path(layout.log)
    try:
        age = time.time() - (path if path.exists() else layout.log).stat().st_mtime
    except OSError:
        return False
    return age < SEEN_LATE_S and last_host(layout) not in ("", os.uname().nodename)


def _first_damage(
    layout: Layout, end: LogEnd | None, compares_end: bool = True, looks: Looks | None = None
) -> Damage | None:
    strange = _no_folder(layout) or _linked(layout, _NO_LINKS)
    if strange is not None:
        return strange
    try:
        linked = _linked(layout, _segments(layout))
        if linked is not None:
            return linked
        found = spans(layout.log) if layout.log.is_dir() else []
    except LaterVersion:
        raise
    except RecordError as error:
        return _as_damage(layout, error.message)
    if not found:
        return _gone(layout, end)
    digests: list[str] = []
    plans: dict[str, None] = {}
    counts: list[int] = []  # lines of each sealed segment, its header among them
    for place, span in enumerate(found):
        last = found[place - 1].header.first + counts[-1] - 2 if place else 0
        damage = _segment(layout, span, digests, end, plans, looks, counts)
        if damage is not None:
            return damage
        if place and span.header.first != last + 1:
            why = (
                f"its header says that event {span.header.first} comes first, and the segment before it ends with event"
            )
            return Damage(_name(span), f"{why} {last}", span.number, 1)
    if compares_end and end is None and found[0].header.end:
        return Damage(str(end_path(layout.log).relative_to(layout.root)), _NO_END)
    return _too_short(found, end) or _other_log(found, end) or _seals(layout, found, digests) or _plans(layout, plans)


def _segments(layout: Layout) -> list[str]:
    """Paths inside the campaign of all segments, including one whose header is incomplete."""
    numbers = segment_numbers(layout.log) if layout.log.is_dir() else []
    return [f"log/{segment_path(layout.log, number).name}" for number in numbers]


def _linked(layout: Layout, names: Iterable[str]) -> Damage | None:
    """Damage for the first of these paths that is a symbolic link, or None: the target of a link can change at any time."""
    for name in names:
        trouble = link_trouble(layout.root / name)
        if trouble:
            return Damage(name, trouble)
    return None


_NO_END = "it is missing or damaged; it says how long the log was, and without it nobody sees whether the log's end was cut off"


def _no_folder(layout: Layout) -> Damage | None:
    for name in _FOLDERS:
        path = layout.root / name
        if os.path.lexists(path) and not path.is_dir():
            return Damage(name, "it is no directory")
    return None


def bytes_lost(layout: Layout) -> int:
    """Purpose: how many bytes were written to the log, were not durable yet, and are gone; 0 where that is not known.

    If the machine was not rebooted since, that is damage; otherwise a power cut or a person may have removed them.
    """
    end = read_end(layout.log)
    last = spans(layout.log)[-1:]
    if end is None or not last or last[0].number != end.segment:
        return 0
    data = read_plain(last[0].path)
    return max(0, end.written - data.rfind(b"\n") - 1)


# ---- a log that is not there -----------------------------------------------------------------------------------------------


def past_of(layout: Layout) -> str:
    """Purpose: what shows that a campaign has run before, in words; "" where nothing does."""
    end = read_end(layout.log)
    if end.seq if end is not None else os.path.lexists(end_path(layout.log)):
        return str(end_path(layout.log).relative_to(layout.root))
    for name in _PROOFS:
        found = next((path for path in _files(layout.root / name)), None)
        if found is not None:
            return str(found.relative_to(layout.root))
    if not layout.log.is_dir() and next(_files(layout.documents), None) is not None:
        return "documents/"
    return ""


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place) / name for name in sorted(names) if not name.startswith("."))
    yield from (path for path in folder.glob("*/*.claim.*") if path.is_dir())


def _gone(layout: Layout, end: LogEnd | None) -> Damage | None:
    if end is not None and end.seq:
        return Damage("log", f"it is empty or missing, and lease/log-end says that it held {end.seq} events")
    past = past_of(layout)
    return Damage("log", f"it is empty or missing, but {past} shows that this campaign has a past") if past else None


# ---- one segment ---------------------------------------------------------------------------------------------------------


def _segment(
    layout: Layout,
    span: Span,
    digests: list[str],
    end: LogEnd | None,
    plans: dict[str, None],
    looks: Looks | None,
    counts: list[int],
) -> Damage | None:
    """Compare a segment's bytes with the seal in the next header or, where there is none yet, with the sums of its lines.

    ``plans`` receives the digests of frozen plans that the events name, ``counts`` the number of lines.
    """
    if digests and span.header.previous != digests[-1]:
        return _broken_seal(layout, span)
    if not digests and (span.header.previous, span.header.first) != ("", 1):
        return Damage(_name(span), "it is the first segment, and its header is not that of one", span.number, 1)
    if span.end is None:
        return _open_segment(span, end, plans)
    with open_plain(span.path) as file:
        before, name = os.fstat(file.fileno()), f"{_name(span)} {span.end} with its lines"
        known = looks.said(name, before) if looks is not None else None
        if known is not None:
            digests.append(known[0])
            counts.append(int(known[1]))
            plans.update(dict.fromkeys(known[2:]))
            return None
        length, digest, named, lines = _hashed(file, span.end)
        if length < span.end:
            return Damage(_name(span), f"it ends at byte {length}, {sealed_at(span)}", span.number)
        if looks is not None:
            looks.note(name, [before], [os.fstat(file.fileno())], [digest, str(lines), *named])
    digests.append(digest)
    counts.append(lines)
    plans.update(named)
    return None


def _hashed(file: BinaryIO, end: int) -> tuple[int, str, dict[str, None], int]:
    """Read a segment up to its seal: how many of those bytes exist, their sha256, the digests of frozen plans that they name, and
    the number of lines.
    """
    hashed, length, last, named, lines = hashlib.sha256(), 0, b"", dict[str, None](), 0
    while length < end and (block := file.read(min(_BLOCK, end - length))):
        hashed.update(block)
        length += len(block)
        lines += block.count(b"\n")
        _note_plans(last + block[: len(_NAMED) + _DIGEST_BYTES], named)
        _note_plans(block, named)
        last = block[-len(_NAMED) - _DIGEST_BYTES :]
    return length, hashed.hexdigest(), named, lines


def _note_plans(block: bytes, plans: dict[str, None]) -> None:
    at = block.find(_NAMED)
    while at >= 0:
        at += len(_NAMED)
        found = _DIGEST.fullmatch(block[at : at + _DIGEST_BYTES])
        if found:
            plans[found.group().decode()] = None
        at = block.find(_NAMED, at)


def _broken_seal(layout: Layout, span: Span) -> Damage:
    """Find out whether the segment or its seal was changed, and in which line, as far as the sums of the lines show it."""
    before = layout.log / f"{span.number - 1:06d}.jsonl"
    length = span.header.previous_bytes
    line = first_broken(lines_of(before, length))
    if line is not None:
        why = "the line is not what was written: its sum, and the seal of the segment, are broken"
        return Damage(f"log/{before.name}", why, span.number - 1, line, event=_event_of(before, line))
    why = f"the seal of segment {span.number - 1} is broken: a byte in that segment, or this seal, was changed"
    return Damage(_name(span), why, span.number, 1)


def _open_segment(span: Span, end: LogEnd | None, plans: dict[str, None]) -> Damage | None:
    data = read_plain(span.path)
    data = data[: data.rfind(b"\n") + 1]
    _note_plans(data, plans)
    found = last_sum(data)
    if found is not None and zlib.crc32(data[: found[0]]) != found[1]:
        line = first_broken(iter(data.splitlines(keepends=True))) or 0
        event = _event_of(span.path, line)
        return Damage(
            _name(span), "the line is not what was written: its sum is broken", span.number, line, event=event
        )
    if end is None or end.segment != span.number:
        return None
    return _against_end(span, data, end, found)


def _against_end(span: Span, data: bytes, end: LogEnd, last: tuple[int, int] | None) -> Damage | None:
    """Compare the lines of the open segment with ``lease/log-end``. ``last``: place and value of their last sum,
    which is correct.
    """
    gone = ""
    if len(data) < end.bytes:
        gone = f"but they went on to byte {end.bytes}, event {end.seq} (lease/log-end)"
    elif len(data) < end.written and end.boot == this_boot() != "":
        gone = f"but were written to byte {end.written} (lease/log-end) since this machine was booted"
    if gone:
        first = _event_of(span.path, data.count(b"\n") + 1)
        return Damage(_name(span), f"its lines end at byte {len(data)}, {gone}", span.number, event=first)
    if zlib.crc32(data[: end.bytes]) == end.crc:
        return None
    summed = data.count(b"\n", 0, last[0]) + 1 if last is not None else 0  # all up to this line have their sum
    behind = last is not None and data.find(b"\n", last[0]) + 1 < end.bytes
    line = summed + 1 if behind else 0  # where all have one, somebody made the sums again
    why = (
        "the line is not what was written"
        if line
        else f"one of its lines up to event {end.seq} is not what was written"
    )
    return Damage(
        _name(span), f"{why}: lease/log-end has another sum", span.number, line, event=_event_of(span.path, line)
    )


def _event_of(path: Path, line: int) -> int:
    """The number of the event in a line, computed from the segment's header."""
    from shakedown.events.segments import parse_header, read_header_line

    try:
        header = parse_header(path, read_header_line(path) or b"")
    except (OSError, RecordError):
        return 0
    return header.first + line - 2 if line > 1 else 0


# ---- its end, and its seals ------------------------------------------------------------------------------------------------


def _too_short(found: list[Span], end: LogEnd | None) -> Damage | None:
    """Damage where durable lines are missing, or None: a crash removes only lines that were not durable yet."""
    last = found[-1]
    if end is None or end.segment <= last.number:
        return None
    why = f"it is the last segment, but the log went on to segment {end.segment}, event {end.seq} (lease/log-end)"
    return Damage(_name(last), why, last.number)


def _other_log(found: list[Span], end: LogEnd | None) -> Damage | None:
    """Damage where a segment that was sealed after ``lease/log-end`` was written no longer begins with what was durable then, or
    None.
    """
    span = next((span for span in found if end is not None and end.segment == span.number), None)
    if end is None or span is None or span.end is None:
        return None
    crc, left = 0, end.bytes
    with open_plain(span.path) as file:
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            crc, left = zlib.crc32(block, crc), left - len(block)
    if left == 0 and crc == end.crc:
        return None
    return Damage(
        _name(span), f"it does not begin with what was durable up to event {end.seq} (lease/log-end)", span.number
    )


def _seals(layout: Layout, found: list[Span], digests: list[str]) -> Damage | None:
    """Compare the log with every seal; returns the damage or None. A person who changes a line and rebuilds the chain cannot
    rebuild the seal's sums. The seals that the log names must exist, with their sums of lines.
    """
    for path in sorted(seals_of(layout).glob("*.json")):
        linked = _linked(layout, [f"seals/{path.name}"])
        if linked is not None:
            return linked
        try:
            seal = read_seal(path)
        except RecordError as error:
            return Damage(f"seals/{path.name}", error.message.removeprefix(f"{path} "))
        for item, digest in zip(seal.segments, [*digests, None], strict=False):
            if digest != item.sha256:
                return Damage(item.path, f"it is not as it was sealed ({path.stem[:16]})")
        if len(seal.segments) > len(digests):
            return Damage("log", f"it ends before what was sealed ({path.stem[:16]})")
        damage = (
            closing_damage(layout, path.stem, seal)
            or _linked(layout, [seal.lines.path])
            or file_damage(layout, seal.lines, lambda item: hash_file(layout.root / item.path, item.bytes))
        )
        if damage is not None:
            return damage
    for digest, event in _sealed(found):
        if not _has_seal(layout, digest):
            return Damage(f"seals/{digest}.json", SEAL_GONE, event=event)
    return None


def _sealed(found: list[Span]) -> Iterator[tuple[str, int]]:
    """Digest and event number of every seal that the log names. Such an event is always the first of its segment."""
    for span in found:
        with open_plain(span.path) as file:
            file.seek(span.start)
            line = file.readline()
        if _SEALED not in line or not line.endswith(b"\n"):
            continue
        try:
            event = decode_line(line)
        except DamagedLine:
            continue  # its sum holds: a later version wrote it, and whoever reads the events says so
        digest = str(event.value.get("digest", ""))
        if event.event == "sealed" and _DIGEST.fullmatch(digest.encode()):
            yield digest, event.seq


def _has_seal(layout: Layout, digest: str) -> bool:
    """Whether a seal exists, under its name or still as a draft: a process may be killed after it writes the event and before it
    names the file.
    """
    path = seals_of(layout) / f"{digest}.json"
    if path.is_file():
        return True
    try:
        return hashlib.sha256(read_plain(path.with_name(f"{path.name}.draft"))).hexdigest() == digest
    except OSError:
        return path.is_file()  # it got its name just now


def _plans(layout: Layout, named: Iterable[str]) -> Damage | None:
    """Damage where a frozen plan that the log names is missing or changed, or None: the plans were the basis of the verdicts."""
    for digest in named:
        path = layout.document(digest)
        linked = _linked(layout, [f"documents/{path.name}"])
        if linked is not None:
            return linked
        try:
            changed = hashlib.sha256(read_plain(path)).hexdigest() != digest
        except OSError as error:
            return Damage(
                f"documents/{path.name}", f"the log names this frozen plan, and it cannot be read: {error.strerror}"
            )
        if changed:
            return Damage(
                f"documents/{path.name}", "it was changed after it was frozen: its bytes no longer match its name"
            )
    return None


def _name(span: Span) -> str:
    return f"log/{span.path.name}"


def _as_damage(layout: Layout, message: str) -> Damage:
    """Turn an error message that names a file into the damage of that file."""
    path, _, why = message.partition(": ")
    inside = path.removeprefix(f"{layout.root}/")
    if inside == path or " " in inside:
        return Damage("log", message.replace(f"{layout.root}/", ""))
    line, _, rest = why.partition(": ")
    number = line.removeprefix("line ").removesuffix(" is damaged")
    if number.isdigit():
        return Damage(inside, rest, line=int(number))
    return Damage(inside, why)
