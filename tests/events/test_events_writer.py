"""What the writer promises: order, durability, segments that seal each other, and to stop when the record is not its own."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from shakedown.events.chain import damage_of
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.segment_file import RecordAway
from shakedown.events.verification import verify
from shakedown.model.errors import UNDECIDED, LeaseHeld, RecordError
from shakedown.model.events import Event
from shakedown.model.layout import Layout

if TYPE_CHECKING:
    from tests.events.conftest import EasyLease, Events, Open


def test_what_was_committed_is_read_back(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.append(events(3))
    writer.append(events(2, after=3))
    writer.commit()
    assert list(read_events(directory)) == events(5)


def test_a_line_says_its_version_and_is_one_json_object(open_writer: Open, directory: Path) -> None:
    writer = open_writer()
    writer.append([Event("finding", seq=1, time=2.5, value={"kind": "new\nline"}, reason="ä")])
    writer.commit()
    header, line = (directory / "000001.jsonl").read_bytes().splitlines()
    said = '{"v":1,"event":"finding","seq":1,"time":2.5,"value":{"kind":"new\\nline"},"reason":"ä"'.encode()
    assert line == said + b',"sum":"%08x"}' % zlib.crc32(header + b"\n" + said)


def test_text_that_utf8_cannot_hold_is_kept_with_visible_escapes(open_writer: Open, directory: Path) -> None:
    writer = open_writer()
    writer.append([Event("finding", seq=1, value={"file\udcff": ["a\udc80b"]}, reason="\udc80")])
    writer.commit()
    (event,) = read_events(directory)
    assert (event.value, event.reason) == ({"file\\udcff": ["a\\udc80b"]}, "\\udc80")


@pytest.mark.parametrize(
    ("seq", "time", "message"),
    [
        (5, 2000.0, "event 5 cannot follow event 3 in the record"),
        (3, 2000.0, "event 3 cannot follow event 3 in the record"),
        (4, 1002.9, "event 4 has a time before that of event 3"),
    ],
)
def test_gaps_and_a_clock_that_goes_back_are_refused(
    open_writer: Open, events: Events, seq: int, time: float, message: str
) -> None:
    writer = open_writer()
    writer.append(events(3))
    with pytest.raises(RecordError) as error:
        writer.append([Event("finding", seq=seq, time=time)])
    assert error.value.message == message


# ---- when it becomes durable -----------------------------------------------------------------------------------------


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often data was synced."""
    done: list[int] = []
    real = os.fdatasync

    def sync(handle: int) -> None:
        done.append(handle)
        real(handle)

    monkeypatch.setattr(os, "fdatasync", sync)
    return done


def test_commit_syncs_once_for_a_whole_group_and_not_for_nothing(
    open_writer: Open, events: Events, syncs: list[int]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    syncs.clear()
    writer.append(events(300))
    writer.commit()
    writer.commit()
    assert len(syncs) == 1


def test_what_the_lines_point_to_is_durable_before_they_are(
    open_writer: Open, events: Events, syncs: list[int]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    syncs.clear()
    told: list[int] = []
    writer.before_sync = lambda: told.append(len(syncs))
    writer.append(events(3))
    writer.flush()
    assert told == []
    writer.commit()
    assert (told, len(syncs)) == ([0], 1)


def test_flush_shows_events_to_readers_without_a_sync(
    open_writer: Open, directory: Path, events: Events, syncs: list[int]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    syncs.clear()
    writer.append(events(3))
    assert list(read_events(directory)) == []
    writer.flush()
    assert list(read_events(directory)) == events(3)
    assert not syncs


def test_ticks_write_at_once_and_sync_every_tenth_of_a_second(
    open_writer: Open, directory: Path, events: Events, syncs: list[int]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    syncs.clear()
    assert writer.tick(50.0) is None
    writer.append(events(3))
    assert writer.tick(50.0) == pytest.approx(50.1)
    assert list(read_events(directory)) == events(3)
    assert writer.tick(50.05) == pytest.approx(50.1)
    assert not syncs
    assert writer.tick(50.11) is None
    assert len(syncs) == 1


def test_ticks_sync_512_events_at_once(open_writer: Open, events: Events, syncs: list[int]) -> None:
    writer = open_writer(segment_bytes=10**6)
    syncs.clear()
    writer.append(events(511))
    assert writer.tick(50.0) is not None
    writer.append(events(1, after=511))
    assert writer.tick(50.0) is None
    assert len(syncs) == 1


# ---- segments --------------------------------------------------------------------------------------------------------


def test_segments_hold_their_size_and_seal_each_other(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer(segment_bytes=2000)
    writer.append(events(50))
    writer.commit()
    paths = sorted(directory.glob("*.jsonl"))
    assert [path.name for path in paths] == [f"{n:06d}.jsonl" for n in range(1, len(paths) + 1)]
    assert len(paths) > 3
    assert all(path.stat().st_size <= 2000 for path in paths)
    for before, after in itertools.pairwise(paths):
        header = msgspec.json.decode(after.read_bytes().splitlines()[0])
        assert header["previous"] == hashlib.sha256(before.read_bytes()).hexdigest()
        assert header["previous_bytes"] == before.stat().st_size
        assert header["v"] == 1
    assert list(read_events(directory)) == events(50)


def test_a_line_larger_than_a_segment_still_gets_one(open_writer: Open, directory: Path) -> None:
    writer = open_writer(segment_bytes=500)
    large = [Event("finding", seq=n, value={"kind": "x" * 600}) for n in (1, 2, 3)]
    writer.append(large)
    writer.commit()
    assert list(read_events(directory)) == large
    assert verify(directory).segments == 3


def test_closing_seals_the_last_segment_so_that_later_changes_show(
    open_writer: Open, directory: Path, events: Events
) -> None:
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(5))
    writer.close()
    path = directory / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"done"', b'"dome"', 1))
    assert verify(directory).problem.endswith(
        "000002.jsonl: line 1: the seal of segment 1 is broken: a byte in that segment, or this seal, was changed"
    )


def test_every_driver_writes_to_segments_of_its_own(open_writer: Open, directory: Path, events: Events) -> None:
    first = open_writer(segment_bytes=10**6)
    first.append(events(3))
    first.close()
    second = open_writer(segment_bytes=10**6)
    second.append(events(2, after=3))
    second.close()
    assert list(read_events(directory)) == events(5)
    assert verify(directory).whole


def test_a_closed_writer_writes_no_more(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.close()
    with pytest.raises(RecordError, match="was closed"):
        writer.append(events(1))
    assert not (directory / "reserve").exists()


# ---- a record that is not ours any more ------------------------------------------------------------------------------


def test_a_lost_lease_stops_the_writer_for_good(
    open_writer: Open, lease: EasyLease, directory: Path, events: Events
) -> None:
    writer = open_writer(lease)
    writer.append(events(1))
    writer.commit()
    writer.append(events(1, after=1))
    lease.lost = True
    with pytest.raises(LeaseHeld):
        writer.commit()
    lease.lost = False
    with pytest.raises(LeaseHeld):
        writer.commit()
    writer.close()
    assert list(read_events(directory)) == events(1)
    assert len(list(directory.glob("*.jsonl"))) == 1


def test_a_lease_lost_during_the_write_is_noticed_before_commit_returns(
    open_writer: Open, lease: EasyLease, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(lease)
    real = os.write

    def write_slowly(handle: int, data: bytes) -> int:
        lease.lost = True
        return real(handle, data)

    monkeypatch.setattr(os, "write", write_slowly)
    writer.append(events(1))
    with pytest.raises(LeaseHeld):
        writer.commit()


def test_what_a_driver_writes_after_it_was_replaced_is_no_part_of_the_record(
    open_writer: Open, directory: Path, events: Events
) -> None:
    """Stopped between the check and the write, replaced, then continued: its bytes land behind the seal."""
    old = open_writer(segment_bytes=10**6)
    old.append(events(3))
    old.commit()
    new = open_writer(segment_bytes=10**6)
    new.append(events(2, after=3))
    new.commit()
    with (directory / "000001.jsonl").open("ab") as late:
        late.write(b'{"v":1,"event":"submit_order","seq":4,"time":2000.0}\n')
    assert list(read_events(directory)) == events(5)
    found = verify(directory)
    assert found.whole
    assert found.late_bytes == 53


def test_a_log_that_someone_else_wrote_to_is_left_alone(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    path = directory / "000001.jsonl"
    with path.open("ab") as other:
        other.write(b"x")
    size = path.stat().st_size
    writer.append(events(1))
    with pytest.raises(RecordError) as error:
        writer.commit()
    assert error.value.message == (
        f"{path} was changed by someone else: it is {size} bytes long and was left at {size - 1}"
    )
    assert path.stat().st_size == size


def test_a_log_whose_directory_is_away_is_kept_and_written_when_it_is_back(
    open_writer: Open, directory: Path, events: Events
) -> None:
    """As where its file system is not mounted for a while. What was appended meanwhile follows once it is back."""
    path = directory / "000001.jsonl"
    writer = open_writer()
    writer.append(events(1))
    size = path.stat().st_size
    away = directory.rename(directory.with_name("away"))
    for _ in range(2):
        with pytest.raises(RecordAway, match=r"is away: .* cannot be reached") as error:
            writer.commit()
    assert error.value.status == UNDECIDED
    assert error.value.hint is not None and error.value.hint.startswith("'shakedown resume ")
    assert (away / path.name).stat().st_size == size
    away.rename(directory)
    writer.commit()
    assert path.stat().st_size > size


def test_a_log_that_was_replaced_or_removed_is_noticed(open_writer: Open, directory: Path, events: Events) -> None:
    path = directory / "000001.jsonl"
    writer = open_writer()
    writer.append(events(1))
    copy = path.read_bytes()
    path.rename(directory / "elsewhere")
    with pytest.raises(RecordError, match=r"000001\.jsonl was removed while it was written to"):
        writer.commit()
    (directory.parent / "lease" / "log-end").unlink()  # nothing says now that there was a log
    again = open_writer()
    again.append(events(1))
    (directory / "fresh").write_bytes(copy)
    (directory / "fresh").rename(path)
    with pytest.raises(RecordError, match=r"000001\.jsonl was replaced by another file while it was written to"):
        again.commit()


def test_a_driver_that_was_replaced_cannot_begin_the_segment_of_the_next(
    open_writer: Open, directory: Path, events: Events
) -> None:
    old = open_writer(segment_bytes=300)
    open_writer()
    old.append(events(20))
    with pytest.raises(LeaseHeld) as error:
        old.commit()
    assert error.value.message == (
        f"{directory}/000002.jsonl is there already: another conductor went on with this campaign"
    )


def test_a_broken_disk_is_said_in_a_sentence(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer()

    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    writer.append(events(1))
    with pytest.raises(RecordError) as error:
        writer.commit()
    assert error.value.message == f"{directory}/000001.jsonl cannot be written: Input/output error"
    monkeypatch.undo()
    with pytest.raises(RecordError):
        writer.commit()


class ForgetfulDisk:
    """Syncs that fail so many times; what was written since the last one that did not is zeros then, as some kernels leave it."""

    def __init__(self, path: Path, failures: int) -> None:
        self.path, self.failures, self.durable, self.real = path, failures, path.stat().st_size, os.fdatasync

    def __call__(self, handle: int) -> None:
        size = self.path.stat().st_size
        if self.failures:
            self.failures -= 1
            with self.path.open("r+b") as file:
                file.seek(self.durable)
                file.write(bytes(size - self.durable))
            raise OSError(errno.EIO, "Input/output error")
        self.real(handle)
        self.durable = size


def test_what_a_failed_sync_may_have_lost_is_written_again(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(3))
    writer.commit()
    monkeypatch.setattr(os, "fdatasync", ForgetfulDisk(directory / "000001.jsonl", failures=1))
    writer.append(events(2, after=3))
    writer.flush()
    writer.append(events(2, after=5))
    writer.commit()
    assert list(read_events(directory)) == events(7)
    writer.close()
    monkeypatch.undo()
    assert verify(directory).whole


def test_a_log_whose_syncs_go_on_failing_ends_where_it_is_durable_and_is_no_damage(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(3))
    writer.commit()
    monkeypatch.setattr(os, "fdatasync", ForgetfulDisk(directory / "000001.jsonl", failures=9))
    writer.append(events(2, after=3))
    writer.flush()
    with pytest.raises(RecordError):
        writer.commit()
    writer.close()
    monkeypatch.undo()
    assert list(read_events(directory)) == events(3)
    assert damage_of(Layout(directory.parent)) is None


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path, lease: EasyLease) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError) as error:
        open_log(tmp_path / "file" / "log", lease)
    assert error.value.message == f"{tmp_path}/file/log cannot be written: Not a directory"
