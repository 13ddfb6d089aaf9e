"""What a crash can leave at the end of the log, and how the next driver goes on from it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.events import opening
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.segments import Header, segment_numbers, segment_path
from shakedown.events.verification import verify
from shakedown.model.errors import RecordError
from shakedown.model.events import Event

pytestmark = pytest.mark.usefixtures("no_syncs")

if TYPE_CHECKING:
    from tests.events.conftest import EasyLease, Events, Open


class Lease:
    epoch = 1

    def check(self) -> None: ...


def report(seq: int) -> Event:
    return Event("job_report", seq=seq, time=1000.0 + seq, run="r000001", value={"state": "running"}, reason="ünï\n")


def a_log(directory: Path, segment_bytes: int, count: int = 12) -> None:
    writer, _ = open_log(directory, Lease(), segment_bytes=segment_bytes)
    writer.append([report(seq) for seq in range(1, count + 1)])
    writer.commit()
    writer._segment.close()


@settings(max_examples=60)
@given(st.data(), st.sampled_from([400, 10**6]))
def test_a_log_torn_at_any_byte_keeps_its_whole_lines_and_goes_on(data: st.DataObject, segment_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "log"
        a_log(directory, segment_bytes)
        last = segment_path(directory, segment_numbers(directory)[-1])
        content = last.read_bytes()
        cut = data.draw(st.integers(0, len(content)), label="bytes left of the last segment")
        last.write_bytes(content[:cut])
        before = list(read_events(directory))
        assert before == [report(seq) for seq in range(1, len(before) + 1)]
        whole = content[:cut].rfind(b"\n") + 1

        writer, tail = open_log(directory, Lease(), segment_bytes=segment_bytes)
        assert tail.seq == len(before)
        assert tail.time == (before[-1].time if before else 0.0)
        assert tail.cut_bytes == (cut - whole if whole else 0)
        assert bool(tail.cut_from) == bool(tail.cut_bytes)
        writer.append([report(tail.seq + 1)])
        writer.close()

        assert list(read_events(directory)) == [*before, report(tail.seq + 1)]
        found = verify(directory)
        assert (found.problem, found.torn_bytes, found.late_bytes) == ("", 0, 0)


def test_the_torn_end_is_said(open_writer: Open, lease: EasyLease, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.append(events(2))
    writer.commit()
    with (directory / "000001.jsonl").open("ab") as log:
        log.write(b'{"v":1,"event":"verd')
    again, tail = open_log(directory, lease)
    assert (tail.seq, tail.time, tail.cut_bytes, tail.cut_from) == (2, 1002.0, 20, "000001.jsonl")
    again.close()


def test_a_segment_without_a_whole_header_never_was(open_writer: Open, directory: Path, events: Events) -> None:
    writer = open_writer()
    writer.append(events(2))
    writer.commit()
    (directory / "000002.jsonl").write_bytes(b'{"segment":2,"v"')
    assert list(read_events(directory)) == events(2)
    assert verify(directory).torn_bytes == 16
    open_writer().close()
    assert list(read_events(directory)) == events(2)
    assert verify(directory).whole


def test_a_log_without_any_event_can_be_gone_on_with(open_writer: Open, directory: Path, events: Events) -> None:
    for _ in range(3):
        open_writer().close()
    writer = open_writer()
    writer.append(events(1))
    writer.close()
    assert list(read_events(directory)) == events(1)
    assert verify(directory).whole


def test_a_damaged_last_line_is_not_written_behind(
    open_writer: Open, lease: EasyLease, directory: Path, events: Events
) -> None:
    writer = open_writer()
    writer.append(events(2))
    writer.commit()
    path = directory / "000001.jsonl"
    path.write_bytes(path.read_bytes()[:-3] + b"]}\n")
    with pytest.raises(RecordError) as error:
        open_log(directory, lease)
    assert error.value.message == (
        "the record of laptop-1 is damaged: log/000001.jsonl, line 3, event 2: the line is not what was written: "
        "lease/log-end has another sum"
    )
    assert len(list(directory.glob("*.jsonl"))) == 1


def test_a_segment_that_the_driver_before_began_at_the_last_moment_is_sealed_too(
    open_writer: Open, lease: EasyLease, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It passed its check, was stopped, and went on between our look at the end of the log and our first segment."""
    old = open_writer(segment_bytes=400)
    real = opening._mend

    def slow(directory: Path, epoch: int, durable: bool) -> tuple[Header, opening.Tail]:
        monkeypatch.setattr(opening, "_mend", real)
        found = real(directory, epoch, durable)
        old.append(events(4))
        old.commit()
        return found

    monkeypatch.setattr(opening, "_mend", slow)
    writer, tail = open_log(directory, lease)
    assert tail.seq == 4
    writer.append(events(1, after=4))
    writer.close()
    assert list(read_events(directory)) == events(5)
    assert verify(directory).whole


def test_lines_longer_than_a_block_are_found_whole(lease: EasyLease, directory: Path) -> None:
    large = [Event("finding", seq=n, value={"kind": "x" * 200_000}) for n in (1, 2)]
    writer, _ = open_log(directory, lease)
    writer.append(large)
    writer.commit()
    with (directory / "000001.jsonl").open("ab") as log:
        log.write(b"y" * 100_000)
    again, tail = open_log(directory, lease)
    again.close()
    assert (tail.seq, tail.cut_bytes) == (2, 100_000)
    assert list(read_events(directory)) == large
