"""Snapshots only save time: one that fits is used, any other is ignored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.events import snapshots
from shakedown.events.reader import read_events
from shakedown.events.segments import Position
from shakedown.model.events import Event
from shakedown.model.nouns import SCHEMA

if TYPE_CHECKING:
    from tests.events.conftest import Events, Open

FOLD = 3
STATE = b"state after 10\n\x00\xff"


def vouching(seq: int, digest: str) -> Event:
    """What the log says of a snapshot, right behind its place."""
    return Event("snapshot", seq=seq, time=1000.0 + seq, value={"digest": digest, "through": seq - 1})


@pytest.fixture
def snapshot(open_writer: Open, directory: Path, events: Events) -> Path:
    """A log of 20 events with a snapshot after the 10th."""
    writer = open_writer(segment_bytes=700)
    writer.append(events(10))
    writer.commit()
    digest = snapshots.save(directory, writer.position(), FOLD, STATE)
    writer.append([vouching(11, digest)])
    writer.append(events(9, after=11))
    writer.close()
    (path,) = (directory / "snapshots").iterdir()
    return path


def _loaded(directory: Path) -> tuple[int, bytes]:
    """The seq and the state of the snapshot that is believed."""
    found = snapshots.load(directory, FOLD)
    assert found is not None
    return found[0].seq, found[1]


def test_a_snapshot_and_the_tail_are_the_whole_log(snapshot: Path, directory: Path, events: Events) -> None:
    found = _loaded(directory)
    assert found == (10, STATE)
    assert list(read_events(directory, after=found[0]))[1:] == events(20)[11:]


def test_a_state_that_was_changed_digest_and_all_is_not_believed(snapshot: Path, directory: Path) -> None:
    """The log names the digest of what was saved there; what has another one is told, and not used."""
    head, _, _ = snapshot.read_bytes().partition(b"\n")
    other = STATE.replace(b"10", b"99")
    made = head.replace(hashlib.sha256(STATE).hexdigest().encode(), hashlib.sha256(other).hexdigest().encode())
    snapshot.write_bytes(made + b"\n" + other)
    refused: list[Path] = []
    assert snapshots.read_snapshot(snapshot) is not None, "it is whole in itself"
    assert snapshots.load(directory, FOLD, refused=refused) is None
    assert refused == [snapshot]


def test_one_that_the_log_does_not_name_is_not_used(open_writer: Open, directory: Path, events: Events) -> None:
    """As an older version left it, or a driver that was killed before it could say so."""
    writer = open_writer()
    writer.append(events(2))
    writer.commit()
    assert snapshots.save(directory, writer.position(), FOLD, STATE)
    refused: list[Path] = []
    assert snapshots.load(directory, FOLD, refused=refused) is None
    writer.append(events(1, after=2))
    writer.commit()
    assert snapshots.load(directory, FOLD, refused=refused) is None
    assert refused == []


def test_another_fold_or_schema_cannot_use_it(snapshot: Path, directory: Path) -> None:
    assert snapshots.load(directory, FOLD + 1) is None
    assert snapshots.load(directory, FOLD, schema=SCHEMA + 1) is None


def flip(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[20:],
        lambda content: b"[" * 5000,
        lambda content: b"\xff" + content,
        lambda content: content.replace(b'"segment":', b'"segment":-'),
        flip,
    ],
)
def test_a_damaged_one_is_ignored(snapshot: Path, directory: Path, damage: Callable[[bytes], bytes]) -> None:
    snapshot.write_bytes(damage(snapshot.read_bytes()))
    assert snapshots.load(directory, FOLD) is None


def test_one_of_lines_that_are_no_longer_there_is_ignored(snapshot: Path, directory: Path) -> None:
    """The log was cut before the 10th event, and another one took its place."""
    path = next(path for path in directory.glob("*.jsonl") if b'"seq":10,' in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"run":"r000010"', b'"run":"r000011"'))
    assert snapshots.load(directory, FOLD) is None


def test_an_older_one_serves_where_the_newer_is_damaged_and_two_are_kept(
    open_writer: Open, directory: Path, events: Events
) -> None:
    writer = open_writer()
    for n in (1, 3, 5, 7):
        writer.append(events(1, after=n - 1))
        writer.commit()
        writer.append([vouching(n + 1, snapshots.save(directory, writer.position(), FOLD, b"%d" % n))])
        writer.commit()
    kept = sorted((directory / "snapshots").iterdir())
    assert [path.name for path in kept] == ["000000000005.snapshot", "000000000007.snapshot"]
    assert _loaded(directory) == (7, b"7")
    kept[1].write_bytes(b"")
    assert _loaded(directory) == (5, b"5")


def test_where_it_cannot_be_written_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_bytes(b"in the way")
    assert not snapshots.save(tmp_path, Position(seq=1), FOLD, STATE)
    assert snapshots.load(tmp_path, FOLD) is None
    assert snapshots.load(tmp_path / "nowhere", FOLD) is None
