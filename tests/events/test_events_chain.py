"""What every reader asks of the log before it believes a number: changes are found, sealed or not, and a living log is whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from more_damages import remake_raw

from shakedown.events import chain
from shakedown.events.campaigns import write_document
from shakedown.events.chain import Unwhole, bytes_lost, damage_of
from shakedown.events.lines import encode_event
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.segments import first_header, segment_path
from shakedown.events.sums import begin_end, end_path, first_broken, read_end, with_sum
from shakedown.events.verification import verify
from shakedown.events.writer import DiskFull
from shakedown.model.events import Event
from shakedown.model.layout import Layout

if TYPE_CHECKING:
    from tests.events.conftest import EasyLease, Events, Open


@pytest.fixture
def interrupted(open_writer: Open, layout: Layout, events: Events) -> Path:
    """The last segment of a log whose driver was killed: nothing seals it."""
    writer = open_writer(segment_bytes=100_000)
    writer.append(events(20))
    writer.commit()
    assert damage_of(layout) is None
    return segment_path(layout.log, 1)


def test_a_log_that_is_being_written_is_whole_at_every_byte(interrupted: Path, layout: Layout) -> None:
    """As a reader may find it, and as a crash may leave it; what was durable is not cut."""
    whole = interrupted.read_bytes()
    assert begin_end(layout.log, durable=False)  # nothing was promised yet
    for length in (*range(0, len(whole), 7), len(whole)):
        interrupted.write_bytes(whole[:length])
        assert damage_of(layout) is None, length


def test_any_changed_byte_of_the_open_segment_is_found(interrupted: Path, layout: Layout) -> None:
    whole = interrupted.read_bytes()
    for at in (*range(0, len(whole), 5), *range(len(whole) - 30, len(whole))):
        interrupted.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        damage = damage_of(layout)
        assert damage is not None, at
        if damage.line > 1 and whole[at : at + 1] != b"\n":
            line = max(2, whole.count(b"\n", 0, at) + 1)  # the first line's sum covers the header
            assert damage.line in (line, line + 1)  # the next one's, where the sum itself is no longer one
            assert damage.event == damage.line - 1


def test_without_the_end_a_changed_digit_is_still_found_with_its_line(interrupted: Path, layout: Layout) -> None:
    begin_end(layout.log, durable=False)
    whole = interrupted.read_bytes()
    interrupted.write_bytes(whole.replace(b'"run":"r000007"', b'"run":"r000008"'))
    damage = damage_of(layout)
    assert damage is not None
    assert str(damage) == "log/000001.jsonl, line 8, event 7: the line is not what was written: its sum is broken"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[:5] + lines[6:],
        lambda lines: [*lines[:5], lines[5], *lines[5:]],
        lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]],
        lambda lines: lines[:1],
        lambda lines: [],
    ],
    ids=["the last line cut off", "a line dropped", "a line doubled", "lines swapped", "only the header", "emptied"],
)
def test_lines_that_go_come_or_change_places_are_found(
    interrupted: Path, layout: Layout, spoil: Callable[[list[bytes]], list[bytes]]
) -> None:
    interrupted.write_bytes(b"".join(spoil(interrupted.read_bytes().splitlines(keepends=True))))
    assert damage_of(layout) is not None


def test_nothing_is_added_to_a_damaged_record(interrupted: Path, layout: Layout, lease: EasyLease) -> None:
    interrupted.write_bytes(interrupted.read_bytes().replace(b'"exit":0', b'"exit":1', 1))
    before = interrupted.read_bytes()
    with pytest.raises(Unwhole, match=r"the record of laptop-1 is damaged: log/000001\.jsonl, line 2, event 1: "):
        open_log(layout.log, lease)
    assert interrupted.read_bytes() == before and not segment_path(layout.log, 2).exists()


def test_in_a_sealed_segment_the_line_is_named_too(open_writer: Open, layout: Layout, events: Events) -> None:
    writer = open_writer(segment_bytes=100_000)
    writer.append(events(9))
    writer.close()
    path = segment_path(layout.log, 1)
    path.write_bytes(path.read_bytes().replace(b'"run":"r000004"', b'"run":"r000005"'))
    damage = damage_of(layout)
    assert damage is not None and (damage.path, damage.line, damage.event) == ("log/000001.jsonl", 5, 4)


def test_lines_of_older_versions_have_no_sum_and_are_whole(layout: Layout, interrupted: Path, events: Events) -> None:
    header = msgspec.json.encode(first_header(1)) + b"\n"
    interrupted.write_bytes(header + b"".join(map(encode_event, events(5))))
    end_path(layout.log).unlink()
    assert damage_of(layout) is None
    assert first_broken(iter(interrupted.read_bytes().splitlines(keepends=True))) is None


def test_a_reason_that_looks_like_a_sum_is_none(layout: Layout, open_writer: Open) -> None:
    writer = open_writer()
    writer.append([Event("finding", seq=1, value={"sum": "00000000"}, reason='x","sum":"00000000"}')])
    writer.commit()
    assert damage_of(layout) is None


# ---- a log that is gone ----------------------------------------------------------------------------------------------


def test_a_campaign_that_did_not_start_is_whole(layout: Layout, lease: EasyLease) -> None:
    assert damage_of(layout) is None
    (layout.lease / "000001.json").write_text("")  # a driver was killed before it wrote anything
    assert damage_of(layout) is None


@pytest.mark.parametrize("gone", ["its files", "all of it"])
def test_a_log_that_is_gone_is_damage_where_the_lease_proves_a_past(
    interrupted: Path, layout: Layout, gone: str
) -> None:
    if gone == "its files":
        interrupted.unlink()
    else:
        shutil.rmtree(layout.log)
    damage = damage_of(layout)
    assert damage is not None
    assert str(damage) == "log: it is empty or missing, and lease/log-end says that it held 20 events"


@pytest.mark.parametrize("boot", ["this one", "another", "unknown"])
def test_lines_that_were_written_and_not_synced_are_missed_until_the_machine_is_booted(
    open_writer: Open, layout: Layout, events: Events, monkeypatch: pytest.MonkeyPatch, boot: str
) -> None:
    """Who kills a driver takes no written line; a power cut does, and then nobody can tell."""
    writer = open_writer(segment_bytes=100_000)
    writer.append(events(5))
    writer.commit()
    writer.append(events(5, after=5))
    writer.flush()
    path = segment_path(layout.log, 1)
    whole = path.read_bytes()
    end = read_end(layout.log)
    assert end is not None and (end.seq, end.written) == (5, len(whole)) and damage_of(layout) is None
    assert bytes_lost(layout) == 0
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    if boot != "this one":
        monkeypatch.setattr(chain, "this_boot", lambda: "" if boot == "unknown" else "0123")
    damage = damage_of(layout)
    assert (damage is not None) is (boot == "this one")
    assert bytes_lost(layout) == len(whole.splitlines(keepends=True)[-1])
    assert (
        damage is None
        or f"were written to byte {len(whole)} (lease/log-end) since this machine was booted" in damage.why
    )
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))  # an event that was durable is missed by everybody
    damage = damage_of(layout)
    assert damage is not None and "event 5 (lease/log-end)" in damage.why


def test_the_log_of_another_campaign_is_not_taken_for_this_ones_though_it_went_on(
    open_writer: Open, layout: Layout, events: Events
) -> None:
    """What the lease knows lies in a segment that is sealed in the log that took its place."""
    writer = open_writer(segment_bytes=100_000)
    writer.append(events(5))
    writer.commit()
    end = end_path(layout.log).read_bytes()
    writer.close()
    end_path(layout.log).write_bytes(end)
    assert damage_of(layout) is None  # a driver that was killed before it said more
    path = segment_path(layout.log, 1)
    content = path.read_bytes().replace(b"r000003", b"r000004")
    path.write_bytes(content)
    header = segment_path(layout.log, 2)
    kept = msgspec.json.decode(header.read_bytes())
    kept |= {"previous": hashlib.sha256(content).hexdigest()}
    header.write_bytes(msgspec.json.encode(kept) + b"\n")
    damage = damage_of(layout)
    assert damage is not None
    assert str(damage) == "log/000001.jsonl: it does not begin with what was durable up to event 5 (lease/log-end)"


def test_lines_that_the_disk_takes_back_at_the_sync_are_not_missed(
    open_writer: Open, layout: Layout, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(segment_bytes=100_000, reserve_bytes=0)
    writer.append(events(5))
    writer.flush()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", full)
    with pytest.raises(DiskFull):
        writer.commit()
    assert damage_of(layout) is None
    monkeypatch.undo()
    writer.commit()
    assert damage_of(layout) is None and [event.seq for event in read_events(layout.log)] == [1, 2, 3, 4, 5]


def test_a_log_that_is_gone_is_damage_where_claims_prove_a_past(interrupted: Path, layout: Layout) -> None:
    """As an older version left it, which kept no end."""
    interrupted.unlink()
    assert damage_of(layout) is not None
    end_path(layout.log).unlink()
    assert damage_of(layout) is None
    layout.claim("j000001").parent.mkdir()
    layout.claim("j000001").touch()
    damage = damage_of(layout)
    assert damage is not None and "claims/000/j000001.claim.0 shows that this campaign has a past" in str(damage)


def test_an_end_that_cannot_be_read_proves_nothing_of_a_log_that_an_older_version_began(
    interrupted: Path, layout: Layout, events: Events
) -> None:
    header = msgspec.json.encode(first_header(1)) + b"\n"
    interrupted.write_bytes(header + b"".join(map(encode_event, events(5))))
    end_path(layout.log).write_bytes(b'{"segment":9,"bytes":1,"crc":1,"seq":99} 00000000\n')
    assert read_end(layout.log) is None and damage_of(layout) is None


@pytest.mark.parametrize("spoil", ["removed", "all of lease/", "garbled", "a pipe", "a directory", "emptied"])
def test_the_end_that_went_together_with_the_last_lines_is_missed(
    interrupted: Path, layout: Layout, spoil: str, lease: EasyLease
) -> None:
    """It was durable before the log began, so no power cut takes it; nothing is added, and so nothing is executed again."""
    interrupted.write_bytes(b"".join(interrupted.read_bytes().splitlines(keepends=True)[:-3]))
    end = end_path(layout.log)
    if spoil == "garbled":
        end.write_bytes(b'{"segment":9,"bytes":1,"crc":1,"seq":99} 00000000\n')
    elif spoil == "emptied":
        end.write_bytes(b"")
    elif spoil == "all of lease/":
        shutil.rmtree(layout.lease)
    else:
        end.unlink()
        if spoil != "removed":
            os.mkfifo(end) if spoil == "a pipe" else end.mkdir()
    damage = damage_of(layout)
    assert damage is not None and damage.path == "lease/log-end"
    with pytest.raises(Unwhole, match="lease/log-end: it is missing or damaged"):
        open_log(layout.log, lease)


def test_a_log_that_was_about_to_begin_is_whole(layout: Layout, open_writer: Open) -> None:
    """Killed between the file that says where the log ends and the log."""
    assert begin_end(layout.log, durable=True)
    assert damage_of(layout) is None
    open_writer()
    assert damage_of(layout) is None


@pytest.mark.parametrize("name", ["log/000001.jsonl", "log", "lease", "documents", "claims", "documents/plan"])
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a directory"])
def test_what_is_no_file_makes_nobody_wait_and_is_damage(
    layout: Layout, open_writer: Open, name: str, kind: str
) -> None:
    plan = write_document(layout, b"{}")
    writer = open_writer()
    writer.append([Event("campaign_start", seq=1, value={"document": plan})])
    writer.close()
    path = layout.document(plan) if name == "documents/plan" else layout.root / name
    if path.is_dir():
        if kind == "a directory":
            return
        shutil.rmtree(path)
    else:
        path.unlink()
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as there, contextlib.chdir(path.parent):
            there.bind(path.name)
    else:
        path.mkdir()
    damage = damage_of(layout)
    assert damage is not None and damage.path == str(path.relative_to(layout.root))
    if path.parent == layout.log or path == layout.document(plan):
        assert kind in damage.why
    assert not verify(layout.log).whole


@pytest.mark.parametrize("spoil", ["removed", "changed"])
def test_frozen_plans_that_the_log_names_are_looked_at(layout: Layout, open_writer: Open, spoil: str) -> None:
    """Every one, also where its name lies across two blocks that are read."""
    plans = [write_document(layout, b"{}"), write_document(layout, b"[]")]
    writer = open_writer(segment_bytes=10_000_000)
    writer.append([Event("campaign_start", seq=1, value={"document": plans[0]})])
    writer.append([Event("finding", seq=2, reason="x" * ((1 << 20) - 600))])
    for seq in range(3, 23):
        writer.append([Event("finding", seq=seq, reason="x" * 40)])
    writer.append([Event("amended", seq=23, value={"document": plans[1]})])
    writer.close()
    assert damage_of(layout) is None
    for plan in plans:
        kept = layout.document(plan).read_bytes()
        if spoil == "removed":
            layout.document(plan).unlink()
        else:
            layout.document(plan).write_bytes(b"{} ")
        damage = damage_of(layout)
        assert damage is not None and damage.path == f"documents/{plan}.json"
        layout.document(plan).write_bytes(kept)


def test_verify_names_the_event_that_was_changed(interrupted: Path, layout: Layout) -> None:
    interrupted.write_bytes(interrupted.read_bytes().replace(b'"run":"r000007"', b'"run":"r000008"'))
    found = verify(layout.log)
    assert (found.path, found.line, found.event) == ("log/000001.jsonl", 8, 7)


def test_the_end_of_a_log_on_another_host_may_be_seen_before_its_last_segment(
    interrupted: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a network file system; once that is too long ago to be the reason, it is damage."""
    interrupted.write_bytes(b"".join(interrupted.read_bytes().splitlines(keepends=True)[:-3]))
    monkeypatch.setattr(chain, "last_host", lambda layout: "elsewhere")
    assert damage_of(layout) is None
    os.utime(end_path(layout.log), (0, 0))
    assert damage_of(layout) is not None


@pytest.mark.parametrize("kept", [1, 4, 20])
def test_lines_that_were_cut_off_are_named_by_the_first_event_that_is_gone(
    interrupted: Path, layout: Layout, kept: int
) -> None:
    """``kept``: lines, with the header. So the event that is gone first has that number."""
    interrupted.write_bytes(b"".join(interrupted.read_bytes().splitlines(keepends=True)[:kept]))
    damage = damage_of(layout)
    assert damage is not None and (damage.path, damage.event) == ("log/000001.jsonl", kept)
    found = verify(layout.log)
    assert (found.path, found.event) == ("log/000001.jsonl", kept)


def test_where_all_sums_were_made_again_no_line_is_blamed(interrupted: Path, layout: Layout) -> None:
    lines, crc = interrupted.read_bytes().splitlines(keepends=True), 0
    made = []
    for line in lines:
        if b'"sum":"' in line:
            line, crc = with_sum(line[:-19].replace(b"r000007", b"r000008") + b"}\n", crc)
        else:
            crc = zlib.crc32(line, crc)
        made.append(line)
    assert made != lines and first_broken(iter(made)) is None
    interrupted.write_bytes(b"".join(made))
    damage = damage_of(layout)
    assert damage is not None and (damage.line, damage.event) == (0, 0)
    assert damage.why == "one of its lines up to event 20 is not what was written: lease/log-end has another sum"


@pytest.mark.parametrize("by", [1, -1, 1000])
def test_a_segment_whose_header_counts_otherwise_is_damage_though_the_chain_was_made_again(
    open_writer: Open, layout: Layout, events: Events, by: int
) -> None:
    """Also where the numbers rise: every reader counts the lines of the segment before it, and not ``verify`` alone."""
    writer = open_writer(segment_bytes=700)
    writer.append(events(20))
    writer.close()
    remake_raw(layout.log)
    one = sorted(layout.log.glob("*.jsonl"))[2]
    found = re.search(rb'"first":([0-9]+)', one.read_bytes())
    assert found is not None and damage_of(layout) is None
    first = int(found[1])
    one.write_bytes(one.read_bytes().replace(found[0], b'"first":%d' % (first + by), 1))
    remake_raw(layout.log)
    damage = damage_of(layout)
    assert damage is not None and damage.path == f"log/{one.name}"
    assert damage.why == (
        f"its header says that event {first + by} comes first, and the segment before it ends with event {first - 1}"
    )


def test_a_segment_that_begins_before_the_one_before_it_is_damage_though_the_chain_was_made_again(
    open_writer: Open, layout: Layout, events: Events
) -> None:
    """Nothing is added to such a log: who opens it to write would begin a segment, and then find that it cannot be read."""
    writer = open_writer(segment_bytes=700)
    writer.append(events(20))
    writer.close()
    last = sorted(layout.log.glob("*.jsonl"))[-1]
    remake_raw(layout.log)
    assert damage_of(layout) is None
    last.write_bytes(re.sub(rb'"first":[0-9]+', b'"first":0', last.read_bytes(), count=1))
    remake_raw(layout.log)
    found = damage_of(layout)
    assert found is not None and found.path == f"log/{last.name}"
    assert "its header says that event 0 comes first, and the segment before it ends with event" in found.why
