"""Following: every event once, from a position that outlives the follower, whatever happens to the log."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from shakedown.events import chain
from shakedown.events import follower as following
from shakedown.events.follower import Follower
from shakedown.events.reader import read_events
from shakedown.events.segments import Position
from shakedown.model.errors import RecordError

if TYPE_CHECKING:
    from tests.events.conftest import Events, Open


def drain(follower: Follower) -> list[int]:
    seqs: list[int] = []
    while new := follower.new_events():
        seqs += [event.seq for event in new]
    return seqs


def test_events_come_once_as_they_are_written(open_writer: Open, directory: Path, events: Events) -> None:
    follower = Follower(directory)
    assert follower.new_events() == []
    writer = open_writer(segment_bytes=700)
    assert follower.new_events() == []
    seen = []
    for after in range(0, 40, 4):
        writer.append(events(4, after=after))
        writer.flush()
        seen += drain(follower)
    assert seen == list(range(1, 41))
    assert len(list(directory.glob("*.jsonl"))) > 3
    assert follower.rewound == 0


def test_a_position_outlives_the_follower_as_json(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer(segment_bytes=700)
    writer.append(events(9))
    writer.commit()
    first = Follower(directory)
    assert drain(first) == list(range(1, 10))
    saved = msgspec.json.encode(asdict(first.position))
    writer.append(events(9, after=9))
    writer.close()
    second = Follower(directory, msgspec.json.decode(saved, type=Position))
    assert drain(second) == list(range(10, 19))


def test_a_seal_in_the_middle_of_a_line_is_damage_and_nothing_is_read_again_and_again(
    open_writer: Open, directory: Path, events: Events
) -> None:
    """A byte more in a segment: the line at its seal has no end, so nothing of it is taken, and no place behind it would hold."""
    writer = open_writer(segment_bytes=700)
    writer.append(events(9))
    writer.close()
    first = sorted(directory.glob("*.jsonl"))[0]
    data = first.read_bytes()
    first.write_bytes(data.replace(b'"time":1', b'"time":11', 1))
    with pytest.raises(RecordError, match=rf"middle of a line at byte {len(data)}, but 000002.jsonl seals it"):
        Follower(directory).new_events()
    with pytest.raises(RecordError, match="middle of a line"):
        list(read_events(directory))


def test_a_long_backlog_comes_in_parts(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PART_BYTES", 1000)
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(2000))
    writer.commit()
    follower = Follower(directory)
    first = follower.new_events()
    assert 0 < len(first) < 2000
    assert [event.seq for event in first] + drain(follower) == list(range(1, 2001))


def test_half_a_line_is_waited_for(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.append(events(2))
    writer.commit()
    path = directory / "000001.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    follower = Follower(directory)
    assert drain(follower) == [1]
    path.write_bytes(content)
    assert drain(follower) == [2]


def test_a_log_that_was_cut_back_is_read_again_from_good_ground(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut took two events that were seen and never durable; other ones took their place."""
    writer = open_writer(segment_bytes=800)
    writer.append(events(9))
    writer.flush()
    follower = Follower(directory)
    assert drain(follower) == list(range(1, 10))
    path = directory / f"{follower.position.segment:06d}.jsonl"
    kept = path.read_bytes().split(b"\n")
    first = msgspec.json.decode(kept[1])["seq"]
    path.write_bytes(b"\n".join(kept[:-3]) + b"\n")
    monkeypatch.setattr(chain, "this_boot", lambda: "after the power cut")
    again = open_writer(segment_bytes=800)
    again.append(events(3, after=7))
    again.commit()
    assert drain(follower) == list(range(first, 11))
    assert follower.rewound == 1


def test_a_position_of_another_log_begins_at_the_beginning(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.append(events(3))
    writer.commit()
    elsewhere = Position(segment=4, offset=4711, seq=99, line="ab", length=10, header="cd")
    follower = Follower(directory, elsewhere)
    assert drain(follower) == [1, 2, 3]
    assert follower.rewound == 1
    same_segment = Position(segment=1, offset=20, seq=99, line="ab", length=10, header="cd")
    assert drain(Follower(directory, same_segment)) == [1, 2, 3]


def test_a_follower_that_saw_late_bytes_comes_back_behind_the_seal(
    open_writer: Open, directory: Path, events: Events
) -> None:
    old = open_writer(segment_bytes=10**6)
    old.append(events(3))
    old.commit()
    with (directory / "000001.jsonl").open("ab") as late:
        late.write(b'{"v":1,"event":"submit_order","seq":4,"time":2000.0}\n')
    follower = Follower(directory)
    assert drain(follower) == [1, 2, 3, 4]
    content = (directory / "000001.jsonl").read_bytes()
    (directory / "000001.jsonl").write_bytes(content[: content.rfind(b'{"v"')])
    new = open_writer(segment_bytes=10**6)
    (directory / "000001.jsonl").write_bytes(content)
    new.append(events(2, after=3))
    new.commit()
    assert drain(follower) == [1, 2, 3, 4, 5]
    assert follower.rewound == 1


def test_the_writers_position_is_one_to_follow_from(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer(segment_bytes=700)
    assert drain(Follower(directory, writer.position())) == []
    for after in range(0, 30, 3):
        writer.append(events(3, after=after))
        writer.commit()
        follower = Follower(directory, writer.position())
        assert (drain(follower), follower.rewound) == ([], 0)
    position = writer.position()
    writer.append(events(2, after=30))
    assert writer.position() == position
    writer.flush()
    assert writer.position().seq == 30
    writer.commit()
    assert drain(Follower(directory, position)) == [31, 32]
