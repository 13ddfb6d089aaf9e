"""Check that everything is as it was sealed, and find the first place that is not: file, line, byte, event.

``check_seals`` is the table of contents. It trusts only the names of the seals, so it also finds changes that were made to several
files together.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shakedown.events.plain_files import open_plain, read_plain
from shakedown.events.seals import GROWING, FileSum, Seal, closing_lines, hash_file, lines_of, read_seal, seals_of
from shakedown.events.segments import parse_header, segment_path, sha256
from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout

SEAL_GONE = "the log says that the record was sealed under this digest, and the seal is gone"


class Damage(Struct, frozen=True):
    """Where a file was changed. ``line`` is 0 and ``byte`` (from 0, of the line's beginning) is -1 where they are not known."""

    path: str
    why: str
    segment: int = 0
    line: int = 0
    byte: int = -1
    event: int = 0

    def __str__(self) -> str:
        parts = [self.path]
        parts += [f"line {self.line}"] if self.line else []
        parts += [f"at byte {self.byte}"] if self.byte >= 0 else []
        parts += [f"event {self.event}"] if self.event else []
        return f"{', '.join(parts)}: {self.why}"


class SealCheck(Struct):
    """The result. ``digests``: the seals that are valid, oldest first; ``through``: the last event that one of them covers."""

    digests: list[str] = []
    through: int = 0
    files: int = 0
    bytes: int = 0
    damage: Damage | None = None
    newest: Seal | None = None


def check_seals(layout: Layout) -> SealCheck:
    """Purpose: compare a campaign with all of its seals. Stops at the first damage."""
    found = SealCheck()
    seals: list[tuple[str, Seal]] = []
    for path in sorted(seals_of(layout).glob("*.json")):
        try:
            seals.append((path.stem, read_seal(path)))
        except RecordError as error:
            found.damage = Damage(_inside(layout, path), error.message)
            return found
    seals.sort(key=lambda pair: pair[1].through)
    hashes: dict[tuple[str, int], str] = {}
    for digest, seal in reversed(seals):  # the newest covers most
        found.damage = _check(layout, digest, seal, hashes)
        if found.damage is not None:
            return found
        found.digests.insert(0, digest)
        if found.newest is None:
            found.newest, found.through = seal, seal.through + 1
            found.files = len(seal.files)
            found.bytes = sum(item.bytes for item in (*seal.files, *seal.segments))
    return found


Hash = Callable[[FileSum], str]


def _check(layout: Layout, digest: str, seal: Seal, hashes: dict[tuple[str, int], str]) -> Damage | None:
    def hashed(item: FileSum) -> str:
        key = (item.path, item.bytes)
        if key not in hashes:
            hashes[key] = hash_file(item.under(layout.root), item.bytes)
        return hashes[key]

    lines_trouble = file_damage(layout, seal.lines, hashed)
    for number, segment in enumerate(seal.segments, 1):
        trouble = file_damage(layout, segment, hashed, growing=True)
        if trouble is not None:
            sums = b"" if lines_trouble else read_plain(layout.root / seal.lines.path)
            return _locate(layout, seal, number, sums) or trouble
    for item in seal.files:
        growing = item.path.partition("/")[0] in GROWING
        trouble = file_damage(layout, item, hashed, growing)
        if trouble is not None:
            return trouble
    return lines_trouble or closing_damage(layout, digest, seal)


def file_damage(layout: Layout, item: FileSum, hashed: Hash, growing: bool = False) -> Damage | None:
    """Purpose: the damage of a file that differs from its seal, or None. ``growing``: bytes added behind the sealed ones are no
    damage.
    """
    path = item.under(layout.root)
    try:
        size = path.stat().st_size
        if size < item.bytes or (size > item.bytes and not growing):
            return Damage(item.path, f"it was sealed with {item.bytes} bytes and has {size}")
        if hashed(item) == item.sha256:
            return None
    except FileNotFoundError:
        return Damage(item.path, "it was sealed and is gone")
    except OSError as error:
        return Damage(item.path, f"it was sealed and cannot be read: {error.strerror}")
    return Damage(item.path, "it was changed after it was sealed: its bytes no longer match its sum in the seal")


# ---- which line ------------------------------------------------------------------------------------------------------------


def _locate(layout: Layout, seal: Seal, number: int, sums: bytes) -> Damage | None:
    """The first line of segment ``number`` that was changed; None where that cannot be told."""
    segment = seal.segments[number - 1]
    path, place = layout.root / segment.path, _lines_before(layout, seal, number)
    if not sums or place is None or not path.is_file():
        return None
    offset = 0
    for line_number, line in enumerate(lines_of(path, segment.bytes), 1):
        wanted = sums[4 * place : 4 * place + 4]
        if zlib.crc32(line).to_bytes(4, "big") != wanted:
            event = (
                place - number + 1 if line_number > 1 else 0
            )  # each segment has one line that is no event: its header
            at = _flipped(line, int.from_bytes(wanted, "big"))
            return _damaged_line(path, segment, Damage(segment.path, "", number, line_number, offset, event), line, at)
        offset, place = offset + len(line), place + 1
    return None


def _lines_before(layout: Layout, seal: Seal, number: int) -> int | None:
    """The number of lines in all segments before this one; None where it is not known."""
    try:
        return sum(
            sum(1 for _ in lines_of(layout.root / segment.path, segment.bytes))
            for segment in seal.segments[: number - 1]
        )
    except OSError:
        return None


def _damaged_line(path: Path, segment: FileSum, place: Damage, line: bytes, flip: tuple[int, int] | None) -> Damage:
    """The damage in this line. It names a byte where restoring that byte gives the segment's sum again."""
    if flip is not None:
        at, before = flip
        hashed, offset = hashlib.sha256(), 0
        for other in lines_of(path, segment.bytes):
            if offset == place.byte:
                other = other[:at] + bytes([before]) + other[at + 1 :]
            hashed.update(other)
            offset += len(other)
        if hashed.hexdigest() == segment.sha256:
            why = f"one byte was changed after it was sealed: {bytes([line[at]])!r} was {bytes([before])!r}"
            return replace(place, byte=place.byte + at, why=why)
    return replace(place, why="the line was changed after it was sealed")


_LONGEST = 20_000  # bytes of a line in which one changed byte is looked for
_DIGITS = 20  # how much longer a header may be with another number in it


def _flipped(line: bytes, wanted: int) -> tuple[int, int] | None:
    """The one byte whose change explains the sum, as (place, old value); None where no single change does.

    CRC-32 is linear: how a change alters the sum depends only on its distance from the end, not on the other bytes.
    """
    if len(line) > _LONGEST:
        return None
    difference = zlib.crc32(line) ^ wanted
    changes = [zlib.crc32(bytes([value])) ^ zlib.crc32(b"\0") for value in range(256)]  # by the bits that differ
    for distance in range(len(line)):  # from the end
        for bits, change in enumerate(changes):
            if change == difference and bits:
                at = len(line) - 1 - distance
                return at, line[at] ^ bits
        changes = [_one_byte_on(change) for change in changes]
    return None


def _one_byte_on(value: int) -> int:
    """The difference of two sums after one more byte that is the same in both."""
    return _TABLE[value & 0xFF] ^ (value >> 8)


_TABLE = [zlib.crc32(bytes([value])) ^ zlib.crc32(b"\0") for value in range(256)]


# ---- the seal's own event ------------------------------------------------------------------------------------------------------


def closing_damage(layout: Layout, digest: str, seal: Seal) -> Damage | None:
    """Purpose: the damage where the segment after the sealed ones does not begin with the seal's header and event, or None."""
    path = segment_path(layout.log, seal.closing.segment)
    wanted, name = closing_lines(seal, digest), _inside(layout, path)
    try:
        with open_plain(path) as file:
            there = file.read(len(wanted))
    except OSError:
        return Damage(name, f"it is gone, and with it the event of the seal {digest[:16]}", seal.closing.segment)
    if there == wanted:
        return _behind(layout, seal, wanted)
    at = _first_difference(there, wanted)
    line = 1 if at < len(seal.closing.header.encode()) else 2
    if len(there) < len(wanted) and wanted.startswith(there):
        why = (
            f"it ends before the event of the seal {digest[:16]}: the log's end was cut, or the sealing was interrupted"
        )
    else:
        why = f"it is not as the seal {digest[:16]} says: {there[at : at + 1]!r} should be {wanted[at : at + 1]!r}"
    return Damage(name, why, seal.closing.segment, line, at, seal.through + 1 if line == 2 else 0)


def _behind(layout: Layout, seal: Seal, closing: bytes) -> Damage | None:
    """Check the header that closes the seal's segment, where there is one yet. No other sum covers it, but all of its fields are
    known.

    It was written under the same lease, or by the first driver after a crash.
    """
    path = segment_path(layout.log, seal.closing.segment + 1)
    if not path.exists():
        return None
    before = parse_header(path, seal.closing.header.encode())
    following = replace(before, segment=before.segment + 1, first=seal.through + 2, previous=sha256(closing))
    following = replace(following, previous_bytes=len(closing))
    wanted = msgspec.json.encode(following) + b"\n"
    there = read_plain(path, len(wanted) + _DIGITS)
    there = there[: there.find(b"\n") + 1] or there
    for lease in layout.lease.glob("*.json"):
        if lease.stem.isdigit() and int(lease.stem) > before.epoch:
            later = msgspec.json.encode(replace(following, epoch=int(lease.stem))) + b"\n"
            wanted = later if there == later else wanted
    if there == wanted or (b"\n" not in there and wanted.startswith(there)):  # or a driver died while it was written
        return None
    at = _first_difference(there, wanted)
    return Damage(_inside(layout, path), "it is not the header that follows the seal", following.segment, 1, at)


def _first_difference(one: bytes, other: bytes) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(one), len(other)))


def _inside(layout: Layout, path: Path) -> str:
    return str(path.relative_to(layout.root))
