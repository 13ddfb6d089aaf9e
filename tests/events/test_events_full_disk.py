"""A disk that takes only a part, or nothing: the log keeps whole lines, the reserve lets the last word be said."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.verification import verify
from shakedown.events.writer import DiskFull, LogWriter
from shakedown.model.events import Event

if TYPE_CHECKING:
    from tests.events.conftest import EasyLease, Events, Open


class SmallDisk:
    """An ``os.write`` that takes ``room`` bytes in all and, as file systems do, a part of what does not fit."""

    def __init__(self, reserve: Path, room: int, reserve_bytes: int) -> None:
        self.reserve, self.room, self.reserve_bytes = reserve, room, reserve_bytes
        self.real = os.write

    def __call__(self, handle: int, data: bytes) -> int:
        if self.reserve_bytes and not self.reserve.exists():
            self.room, self.reserve_bytes = self.room + self.reserve_bytes, 0
        taken = min(self.room, len(data))
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= taken
        return self.real(handle, data[:taken])


@pytest.fixture
def shrink(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], SmallDisk]:
    """Leaves this much room on the disk, and this much in the reserve."""

    def shrinking(room: int, reserve: int) -> SmallDisk:
        disk = SmallDisk(directory / "reserve", room, reserve)
        monkeypatch.setattr(os, "write", disk)
        return disk

    return shrinking


def test_a_short_write_is_cut_back_to_whole_lines_and_the_rest_goes_to_the_reserve(
    open_writer: Open, directory: Path, events: Events, shrink: Callable[[int, int], SmallDisk]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    shrink(250, 4096)  # two lines and a half
    writer.append(events(6))
    with pytest.raises(DiskFull) as error:
        writer.commit()
    assert error.value.durable
    assert error.value.message.startswith(f"the file system of {directory} is full (")
    assert error.value.message.endswith("the reserve took the last events")
    assert list(read_events(directory)) == events(6)
    assert writer.full


def test_the_finding_that_the_disk_is_full_fits_into_the_reserve(
    open_writer: Open, directory: Path, events: Events, shrink: Callable[[int, int], SmallDisk]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    shrink(0, 4096)
    writer.append(events(1))
    with pytest.raises(DiskFull):
        writer.commit()
    finding = Event("finding", seq=2, time=1001.0, value={"kind": "disk_full"}, reason="nothing is submitted any more")
    writer.append([finding])
    writer.commit()
    assert list(read_events(directory)) == [*events(1), finding]


def test_without_room_even_in_the_reserve_nothing_is_lost_while_we_live(
    open_writer: Open, directory: Path, events: Events, shrink: Callable[[int, int], SmallDisk]
) -> None:
    writer = open_writer(segment_bytes=10**6)
    disk = shrink(0, 50)
    writer.append(events(3))
    with pytest.raises(DiskFull) as error:
        writer.commit()
    assert not error.value.durable
    assert error.value.message.endswith("the last events are not in the record")
    assert (directory / "000001.jsonl").read_bytes().count(b"\n") == 1
    with pytest.raises(DiskFull):
        writer.commit()
    assert writer.full
    disk.room = 10**6
    writer.commit()
    assert list(read_events(directory)) == events(3)
    assert not writer.full
    assert (directory / "reserve").stat().st_size == 4096


def test_leaving_on_a_full_disk_is_quiet_once_it_was_said(
    open_writer: Open, directory: Path, events: Events, shrink: Callable[[int, int], SmallDisk]
) -> None:
    told, untold = open_writer(segment_bytes=10**6), open_writer(segment_bytes=10**6)
    shrink(0, 50)
    told.append(events(1))
    with pytest.raises(DiskFull):
        told.commit()
    told.close()
    untold.append(events(1))
    with pytest.raises(DiskFull):
        untold.close()
    assert list(read_events(directory)) == []


def test_room_that_is_found_again_while_nothing_happens_is_noticed_by_ticks(
    open_writer: Open, events: Events, shrink: Callable[[int, int], SmallDisk], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(segment_bytes=10**6)
    shrink(0, 4096)
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((1, 1, 100, 50, 50, 0, 0, 0, 0, 255)))
    writer.append(events(1))
    with pytest.raises(DiskFull):
        writer.commit()
    assert writer.tick(10.0) == 15.0
    assert writer.full
    monkeypatch.undo()
    assert writer.tick(15.0) is None
    assert not writer.full


def test_a_quota_is_no_room_though_the_file_system_has_some(
    open_writer: Open, events: Events, shrink: Callable[[int, int], SmallDisk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The free space says nothing: the disk is full until the reserve can be put back."""
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(2))
    writer.commit()
    disk = shrink(0, 4096)

    def over_quota(handle: int, offset: int, size: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "posix_fallocate", over_quota)
    writer.append(events(2, after=2))
    with pytest.raises(DiskFull) as error:
        writer.commit()
    assert (error.value.durable, error.value.room_at) == (True, 1002.0)
    writer.tick(10.0)
    assert writer.full and writer.room_at == 1002.0
    disk.room = 10**6
    monkeypatch.undo()
    assert writer.tick(20.0) is None
    assert not writer.full
    writer.append(events(1, after=4))
    writer.commit()
    assert writer.room_at == 1005.0


def test_a_file_system_that_promises_room_and_takes_it_back(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems say that they are full at the sync: what was written before it must be written again."""
    writer = open_writer(segment_bytes=10**6)
    writer.append(events(2))
    writer.commit()
    real, answers = os.fdatasync, [True, False]

    def sync(handle: int) -> None:
        if answers.pop(0):
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        real(handle)

    monkeypatch.setattr(os, "fdatasync", sync)
    writer.append(events(1, after=2))
    writer.flush()
    writer.append(events(1, after=3))
    with pytest.raises(DiskFull) as error:
        writer.commit()
    monkeypatch.undo()
    assert error.value.durable
    assert list(read_events(directory)) == events(4)
    writer.close()
    assert verify(directory).whole


def test_a_new_segment_that_does_not_fit_is_begun_later(
    open_writer: Open, directory: Path, events: Events, shrink: Callable[[int, int], SmallDisk]
) -> None:
    writer = open_writer(segment_bytes=600)
    disk = shrink(600, 0)
    writer.append(events(20))
    with pytest.raises(DiskFull):
        writer.commit()
    disk.room = 10**6
    writer.commit()
    assert list(read_events(directory)) == events(20)
    writer.close()
    assert verify(directory).whole


# ---- a real one ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 256 kB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a tiny file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    """A file that leaves no room at all."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return ballast


def test_a_real_full_file_system(tiny: Path, lease: EasyLease, events: Events) -> None:
    log = tiny / "log"
    writer, _ = open_log(log, lease, reserve_bytes=16384)
    writer.append(events(10))
    writer.commit()
    ballast = fill(tiny)
    done, durable = _until_full(writer, events)
    assert durable
    writer.append(events(1, after=done))
    writer.commit()
    assert list(read_events(log)) == events(done + 1)
    ballast.unlink()
    writer.append(events(1, after=done + 1))
    writer.commit()
    assert not writer.full
    writer.close()
    assert verify(log).whole


def _until_full(writer: LogWriter, events: Events) -> tuple[int, bool]:
    done = 10
    while True:
        writer.append(events(10, after=done))
        done += 10
        try:
            writer.commit()
        except DiskFull as error:
            return done, error.durable


def test_going_on_with_a_campaign_on_a_full_disk_uses_the_reserve_of_the_last_driver(
    tiny: Path, lease: EasyLease, events: Events
) -> None:
    log = tiny / "log"
    killed, _ = open_log(log, lease, reserve_bytes=16384)
    killed.append(events(3))
    killed.commit()
    fill(tiny)
    writer, tail = open_log(log, lease, reserve_bytes=16384)
    assert (tail.seq, writer.full) == (3, True)
    writer.append(events(1, after=3))
    writer.commit()
    assert list(read_events(log)) == events(4)
    for each in (killed, writer):
        each._segment.close()
