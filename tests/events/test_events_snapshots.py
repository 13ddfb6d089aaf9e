"""Snapshots only save time: one that fits is used, any other is ignored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.events import snapshots
from shakedown.events.reader import read_events
from shakedown.events.segments import Position
from shakedown.model.nouns import SCHEMA

if TYPE_CHECKING:
    from tests.events.conftest import Events, Open

FOLD = 3
STATE = b"state after 10\n\x00\xff"


@pytest.fixture
def snapshot(open_writer: Open, directory: Path, events: Events) -> Path:
    """A log of 20 events with a snapshot after the 10th."""
    writer = open_writer(segment_bytes=700)
    writer.append(events(10))
    writer.commit()
    assert snapshots.save(directory, writer.position(), FOLD, STATE)
    writer.append(events(10, after=10))
    writer.close()
    (path,) = (directory / "snapshots").iterdir()
    return path


def test_a_snapshot_and_the_tail_are_the_whole_log(snapshot: Path, directory: Path, events: Events) -> None:
    found = snapshots.load(directory, FOLD)
    assert found == (10, STATE)
    assert list(read_events(directory, after=found[0])) == events(20)[10:]


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
    for n in range(1, 5):
        writer.append(events(1, after=n - 1))
        writer.commit()
        assert snapshots.save(directory, writer.position(), FOLD, b"%d" % n)
    kept = sorted((directory / "snapshots").iterdir())
    assert [path.name for path in kept] == ["000000000003.snapshot", "000000000004.snapshot"]
    assert snapshots.load(directory, FOLD) == (4, b"4")
    kept[1].write_bytes(b"")
    assert snapshots.load(directory, FOLD) == (3, b"3")


def test_where_it_cannot_be_written_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_bytes(b"in the way")
    assert not snapshots.save(tmp_path, Position(seq=1), FOLD, STATE)
    assert snapshots.load(tmp_path, FOLD) is None
    assert snapshots.load(tmp_path / "nowhere", FOLD) is None
