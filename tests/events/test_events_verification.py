"""Verification: a record that is whole is said to be; a single changed byte is found, and where it is."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.events.opening import open_log
from shakedown.events.verification import verify
from shakedown.model.errors import RecordError
from shakedown.model.events import Event

pytestmark = pytest.mark.usefixtures("no_syncs")

if TYPE_CHECKING:
    from tests.events.conftest import Events, Open


@pytest.fixture
def sealed(open_writer: Open, directory: Path, events: Events) -> Path:
    writer = open_writer(segment_bytes=1000)
    writer.append(events(20))
    writer.close()
    return directory


def test_a_whole_record_is_counted_and_has_a_digest(sealed: Path) -> None:
    found = verify(sealed)
    paths = sorted(sealed.glob("*.jsonl"))
    assert found.whole
    assert (found.segments, found.events) == (len(paths), 20)
    assert found.bytes == sum(path.stat().st_size for path in paths)
    assert found.digest == hashlib.sha256(paths[-1].read_bytes()).hexdigest()


class Lease:
    epoch = 1

    def check(self) -> None: ...


@settings(max_examples=80)
@given(st.data())
def test_one_flipped_bit_anywhere_is_found_in_its_segment(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "log"
        writer, _ = open_log(directory, Lease(), segment_bytes=600)
        writer.append([Event("finding", seq=n, time=float(n), reason="x" * 30) for n in range(1, 13)])
        writer.close()
        paths = sorted(directory.glob("*.jsonl"))
        number = data.draw(st.integers(1, len(paths) - 1), label="segment")
        content = bytearray(paths[number - 1].read_bytes())
        at = data.draw(st.integers(0, len(content) - 1), label="byte")
        content[at] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        paths[number - 1].write_bytes(content)
        found = verify(directory)
        assert not found.whole
        assert f"{number:06d}.jsonl" in found.problem or f"segment {number} is broken" in found.problem


def test_a_byte_that_breaks_a_line_is_found_to_the_line(sealed: Path) -> None:
    path = sealed / "000002.jsonl"
    content = path.read_bytes().split(b"\n")
    content[3] = content[3].replace(b'"v":1', b'"v";1')
    path.write_bytes(b"\n".join(content))
    found = verify(sealed)
    assert (found.segment, found.line) == (2, 4)
    assert found.problem.startswith(f"{path}: line 4: it is not JSON: ")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"seq":9,', b'"seq":8,', "event 8 is where event 9 should be"),
        (b'"time":1009.0', b'"time":1001.0', "event 9 has a time before that of event 8"),
        (
            b'"v":1,"event":"job_report","seq":9',
            b'"v":2,"event":"job_report","seq":9',
            "a newer Shakedown wrote this; it is of version 2",
        ),
    ],
)
def test_order_and_versions_are_checked_line_by_line(sealed: Path, old: bytes, new: bytes, why: str) -> None:
    path = next(path for path in sorted(sealed.glob("*.jsonl")) if old in path.read_bytes())
    content = path.read_bytes()
    path.write_bytes(content.replace(old, new))
    found = verify(sealed)
    assert found.line == content[: content.index(old)].count(b"\n") + 1
    assert why in found.problem


def test_a_changed_byte_that_makes_sense_breaks_the_seal(sealed: Path) -> None:
    path = sealed / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"exit":0', b'"exit":1', 1))
    found = verify(sealed)
    assert (found.segment, found.line) == (2, 1)
    assert found.problem == (
        f"{sealed}/000002.jsonl: line 1: the seal of segment 1 is broken: a byte in that segment, or this seal, was changed"
    )


def test_a_record_rewritten_with_all_its_seals_has_another_digest(tmp_path: Path) -> None:
    digests = []
    for name, reason in (("a", "passed"), ("b", "failed")):
        writer, _ = open_log(tmp_path / name, Lease(), segment_bytes=10**6)
        writer.append([Event("finding", seq=1, reason=reason)])
        writer.close()
        digests.append(verify(tmp_path / name).digest)
    assert digests[0] != digests[1]


def test_a_shortened_segment_a_missing_one_and_a_bad_header_are_located(sealed: Path) -> None:
    second, third = sealed / "000002.jsonl", sealed / "000003.jsonl"
    whole = second.read_bytes()
    second.write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
    assert "its lines end at byte" in verify(sealed).problem
    second.write_bytes(whole)
    header = third.read_bytes()
    third.write_bytes(b"x" + header[1:])
    assert verify(sealed).problem.startswith(f"{third}: line 1: it is no header: ")
    third.write_bytes(header)
    second.unlink()
    assert verify(sealed).problem == f"{second} is missing, but segment 3 is there"


def test_unknown_events_and_fields_are_counted(tmp_path: Path) -> None:
    (tmp_path / "000001.jsonl").write_bytes(
        b'{"segment":1,"v":1,"first":1,"epoch":1,"previous":"","previous_bytes":0}\n{"v":1,"event":"node_repaired","seq":1,"mood":1}\n{"v":1,"event":"finding","seq":2,"mood":2}\n{"v'
    )
    found = verify(tmp_path)
    assert found.whole
    assert (found.unknown_events, found.unknown_fields) == ({"node_repaired": 1}, {"mood": 2})
    assert found.torn_bytes == 3


def test_no_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no log in"):
        verify(tmp_path / "log")
