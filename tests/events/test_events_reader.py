"""Reading: in order, from anywhere, across versions; damage is named with its place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from shakedown.events import lines, upcast
from shakedown.events.reader import Reader, read_events
from shakedown.events.segments import BLOCK_BYTES
from shakedown.model.errors import RecordError
from shakedown.model.events import EVENTS, Event

if TYPE_CHECKING:
    from tests.events.conftest import Events, Open

FIXTURE = Path(__file__).parent / "fixtures" / "v1"


@pytest.fixture
def long_log(open_writer: Open, directory: Path, events: Events) -> Path:
    """5,000 events in segments of ten blocks each, so that a reader has to search inside a segment."""
    writer = open_writer(segment_bytes=10 * BLOCK_BYTES)
    writer.append(events(5000))
    writer.close()
    return directory


@pytest.mark.parametrize("after", [0, 1, 2, 999, 2500, 2894, 2895, 2896, 4998, 4999, 5000, 6000])
def test_reading_goes_on_after_any_seq(long_log: Path, events: Events, after: int) -> None:
    assert list(read_events(long_log, after)) == events(5000)[after:]


def test_no_event_is_skipped_wherever_reading_begins(
    open_writer: Open, directory: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(segment_bytes=20_000)
    writer.append(events(400))
    writer.commit()
    monkeypatch.setattr("shakedown.events.reader.BLOCK_BYTES", 500)
    assert [next(read_events(directory, after)).seq for after in range(400)] == list(range(1, 401))


def test_reading_near_the_end_does_not_read_the_beginning(
    long_log: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = 0
    real = lines.decode_block

    def count(block: bytes) -> list[Event]:
        nonlocal decoded
        decoded += len(block)
        return real(block)

    monkeypatch.setattr("shakedown.events.reader.decode_block", count)
    assert list(read_events(long_log, 2000)) == events(3000, after=2000)
    assert decoded < 3000 * 120 + 3 * BLOCK_BYTES


def test_raw_lines_come_with_their_events(long_log: Path, events: Events) -> None:
    pairs = list(Reader(long_log).lines(after=4321))
    assert [event for event, _ in pairs] == events(5000)[4321:]
    assert all(msgspec.json.decode(raw)["seq"] == event.seq for event, raw in pairs)


def test_no_log_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as error:
        list(read_events(tmp_path / "log"))
    assert error.value.message == f"there is no log in {tmp_path}/log"


def test_an_empty_log_has_no_events(tmp_path: Path) -> None:
    assert list(read_events(tmp_path)) == []


# ---- other versions --------------------------------------------------------------------------------------------------


def test_the_log_of_version_1_is_readable_for_ever() -> None:
    expected = msgspec.json.decode((FIXTURE / "expected.json").read_bytes(), type=list[dict[str, Any]])
    events = list(read_events(FIXTURE / "log"))
    assert [msgspec.to_builtins(event) for event in events] == expected
    assert {event.event for event in events} <= EVENTS.keys()


def handmade(directory: Path, *written: bytes) -> Path:
    """A log whose lines someone else wrote."""
    directory.mkdir(exist_ok=True)
    path = directory / "000001.jsonl"
    path.write_bytes(
        b'{"segment":1,"v":1,"first":1,"epoch":1,"previous":"","previous_bytes":0}\n'
        + b"".join(line + b"\n" for line in written)
    )
    return path


def test_unknown_events_are_kept_and_counted_and_unknown_fields_ignored(tmp_path: Path) -> None:
    handmade(
        tmp_path,
        b'{"v":1,"event":"campaign_start","seq":1,"mood":"good"}',
        b'{"v":1,"event":"node_repaired","seq":2,"value":{"node":"n1"}}',
        b'{"v":1,"event":"node_repaired","seq":3}',
    )
    reader = Reader(tmp_path)
    names = [event.event for event in reader.events()]
    assert names == ["campaign_start", "node_repaired", "node_repaired"]
    assert reader.unknown == {"node_repaired": 2}


def test_a_line_of_a_later_version_says_to_use_a_newer_shakedown(tmp_path: Path) -> None:
    handmade(tmp_path, b'{"v":2,"event":["other","shape"],"seq":1}')
    with pytest.raises(RecordError) as error:
        list(read_events(tmp_path))
    assert str(error.value) == (
        f"{tmp_path}/000001.jsonl: line 2: a newer Shakedown wrote this; it is of version 2, and this one reads up to 1\n"
        "hint: use the Shakedown that wrote this record, or a newer one"
    )


def test_a_segment_of_a_later_version_says_so_too(tmp_path: Path) -> None:
    (tmp_path / "000001.jsonl").write_bytes(b'{"segment":"one","v":7}\n')
    with pytest.raises(RecordError, match=r"000001\.jsonl: line 1: a newer Shakedown wrote this; it is of version 7"):
        list(read_events(tmp_path))


def test_lines_of_older_versions_are_upcast_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handmade(
        tmp_path,
        b'{"v":-1,"name":"start","seq":1}',
        b'{"v":0,"name":"campaign_start","seq":2}',
        b'{"v":1,"event":"campaign_start","seq":3}',
    )
    steps = {
        -1: lambda line: {**line, "name": f"campaign_{line['name']}"},
        0: lambda line: {**line, "event": line["name"]},
    }
    monkeypatch.setattr(upcast, "UPCASTS", steps)
    assert list(read_events(tmp_path)) == [Event("campaign_start", seq=n) for n in (1, 2, 3)]


# ---- damage ----------------------------------------------------------------------------------------------------------

GOOD = b'{"v":1,"event":"campaign_start","seq":1}'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "it is not JSON: Input data was truncated"),
        (b'{"v":1,"event":', "it is not JSON: Input data was truncated"),
        (b"\0\0\0\0", "it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b'{"v":1,"event":"\xff","seq":2}', "it is not JSON: "),
        (b"[" * 20000, "it is not JSON: "),
        (b"[1]", "it has no version"),
        (b'{"event":[],"seq":2}', "it has no version"),
        (b'{"v":1,"event":7,"seq":2}', "it is no event: Expected `str`, got `int` - at `$.event`"),
        (
            b'{"v":1,"event":"note","seq":2,"time":1e17}',
            "it is no event: Expected `float` <= 250000000000.0 - at `$.time`",
        ),
        (b'{"v":1,"event":"note","seq":2,"time":-5}', "it is no event: Expected `float` >= 0.0 - at `$.time`"),
        (b'{"v":1,"event":"a"} {"v":1,"event":"b"}', "it is not JSON: JSON is malformed: trailing characters"),
        (b'{"v":1,"event":"finding","seq":4}', "event 4 is where event 2 should be"),
        (b'{"v":1,"event":"finding","seq":1}', "event 1 is where event 2 should be"),
    ],
)
def test_damage_is_named_with_segment_and_line(tmp_path: Path, line: bytes, why: str) -> None:
    path = handmade(tmp_path, GOOD, line, b'{"v":1,"event":"finding","seq":3}')
    with pytest.raises(RecordError) as error:
        list(read_events(tmp_path))
    assert error.value.message.startswith(f"{path}: line 3 is damaged: {why}")


def test_damage_far_into_a_segment_has_the_right_line(long_log: Path) -> None:
    path = long_log / "000001.jsonl"
    content = path.read_bytes().split(b"\n")
    content[1234 - 1] = content[1234 - 1].replace(b'"seq"', b'"sex"')
    path.write_bytes(b"\n".join(content))
    with pytest.raises(RecordError, match=rf"{path}: line 1234 is damaged: event 0 is where event 1233 should be"):
        list(read_events(long_log))


def test_a_missing_segment_is_said(long_log: Path) -> None:
    (long_log / "000001.jsonl").unlink()
    with pytest.raises(RecordError) as error:
        list(read_events(long_log))
    assert error.value.message == f"{long_log}/000001.jsonl is missing, but segment 2 is there"


def test_a_segment_that_ends_before_its_seal_is_said(long_log: Path) -> None:
    path = long_log / "000001.jsonl"
    size = path.stat().st_size
    lines_of = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines_of[:-3]) + b"\n")
    with pytest.raises(RecordError) as error:
        list(read_events(long_log))
    assert error.value.message == f"{path} ends at byte {path.stat().st_size}, but 000002.jsonl seals it at byte {size}"


@pytest.mark.parametrize(
    "header", [b"[]", b"{}", b'{"v":1}', b'{"a":' + b"[" * 4000, b"\xff", b'{"v":1,"segment":"1"}']
)
def test_a_first_line_that_is_no_header_is_said(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "000001.jsonl").write_bytes(header + b"\n")
    with pytest.raises(RecordError, match=r"000001\.jsonl: line 1 is damaged: it is no header: "):
        list(read_events(tmp_path))


def test_a_damaged_header_is_said(long_log: Path) -> None:
    path = long_log / "000002.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"segment":2', b'"segment":3', 1))
    with pytest.raises(RecordError) as error:
        list(read_events(long_log))
    assert error.value.message == f"{path}: line 1 is damaged: the header says segment 3, the name says 2"
