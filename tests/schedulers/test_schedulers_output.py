"""Outputs: small ones share a pack, large ones have a file, endless ones are cut and said to be; the loop never waits for them."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.model.errors import RecordError
from shakedown.model.layout import Layout
from shakedown.schedulers.output_archive import PackWriter, read_output

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]

BINARY = bytes(range(256)) * 40
FULL = OSError(28, "No space left on device")


def test_both_outputs_are_kept_in_their_order(machine: Machine) -> None:
    report = machine.run("echo one; echo two >&2; echo three; echo four >&2")

    assert machine.output(report) == b"one\ntwo\nthree\nfour\n"
    kept = machine.output(report)
    assert report.output == {"pack": "000001.pack", "offset": 0, "bytes": 19, "crc": f"{zlib.crc32(kept):08x}"}


def test_no_output_is_no_pointer(machine: Machine) -> None:
    report = machine.run("true")

    assert report.output == {}
    assert machine.output(report) == b""
    assert not machine.layout.packs.exists()


def test_binary_output_is_kept_byte_for_byte(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(BINARY)

    assert machine.output(machine.run(f"cat {tmp_path}/data")) == BINARY


@pytest.mark.parametrize(("size", "where"), [(65536, "pack"), (65537, "file")])
def test_what_is_larger_than_64_kib_has_a_file_of_its_own(machine: Machine, size: int, where: str) -> None:
    order = machine.order(f"head -c {size} /dev/zero | tr '\\0' x")
    machine.submit(order)
    report = machine.ended(order)

    assert where in report.output
    assert machine.output(report) == b"x" * size
    assert machine.layout.output(order.run).exists() == (where == "file")
    if where == "file":
        crc = f"{zlib.crc32(b'x' * size):08x}"
        assert report.output == {"file": "outputs/000/r000001.out", "bytes": size, "crc": crc}


def test_fifty_megabytes_arrive_whole_and_without_being_held_in_memory(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(os.urandom(1 << 20))
    before = _resident_bytes()
    report = machine.run(f"for i in 1 2 3 4 5 6 7 8 9 10; do cat {' '.join([str(tmp_path / 'data')] * 5)}; done")

    crc = 0
    for _ in range(50):
        crc = zlib.crc32((tmp_path / "data").read_bytes(), crc)
    assert report.output == {"file": "outputs/000/r000001.out", "bytes": 50 << 20, "crc": f"{crc:08x}"}
    assert _resident_bytes() - before < 20 << 20
    digest = hashlib.sha256((tmp_path / "data").read_bytes() * 50).hexdigest()
    assert hashlib.sha256(machine.layout.output("r000001").read_bytes()).hexdigest() == digest


def test_while_a_job_writes_without_end_the_loop_goes_on(
    make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much there is, others are attended to between two pipes full."""
    machine = make_machine(cores=2, keep_bytes=300_000)
    endless = machine.order("cat /dev/zero", time_limit_s=0.5)
    really, read = os.read, [0]

    def count(descriptor: int, most: int) -> bytes:
        data = really(descriptor, most)
        read[-1] += len(data)
        return data

    other, end = os.pipe()
    os.write(end, b"x")  # always ready, as long as nobody reads it
    machine.reactor.watch(other, lambda: read.append(0))
    monkeypatch.setattr(os, "read", count)
    machine.submit(endless)
    while machine.jobs:
        machine.reactor.wait(machine.reactor.now() + 0.02)
        machine.poll()
    report = machine.ended(endless)
    machine.reactor.close_watched(other)
    os.close(end)

    assert sum(read) > 300_000
    assert max(read) <= 2 << 20
    assert report.state == "timeout"
    assert report.output["bytes"] == 300_000
    assert "bytes of output the first 300000 were kept: that is the most that is kept of one run" in report.message
    assert machine.output(report) == b"\0" * 300_000


def test_what_a_run_left_in_the_pipe_at_its_end_is_read(machine: Machine) -> None:
    """Sixty thousand bytes and gone, within a millisecond: nobody had looked yet."""
    report = machine.run("head -c 60000 /dev/zero")

    assert report.output["bytes"] == 60000


def full(monkeypatch: pytest.MonkeyPatch, suffix: str, room: int) -> None:
    """Files of this kind take so many bytes in all, as a file system does that is nearly full."""
    really = os.write

    def write(descriptor: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{descriptor}").readlink().suffix == suffix:
            left = room - os.fstat(descriptor).st_size
            if left <= 0:
                raise FULL
            return really(descriptor, data[:left])
        return really(descriptor, data)

    monkeypatch.setattr(os, "write", write)


def test_an_output_that_the_disk_does_not_take_waits_for_room_and_so_does_the_word_of_its_end(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.run("echo before")
    full(monkeypatch, ".pack", 9)
    orders = [machine.order("echo kept; exit 4"), machine.order("echo too")]
    machine.submit(*orders)
    machine.until(lambda: machine.scheduler._room_timer is not None)
    later = machine.reactor.now() + 0.7
    machine.until(lambda: machine.reactor.now() > later)
    assert not any(report.state in ("completed", "failed") for report in machine.said if report.job != "j000001")
    monkeypatch.undo()

    kept, too = (machine.ended(order) for order in orders)
    assert (kept.state, kept.exit_status, kept.message) == ("failed", 4, "it ended with exit status 4")
    assert (machine.output(kept), machine.output(too)) == (b"kept\n", b"too\n")
    assert kept.began is not None
    assert kept.began < later - 0.3  # not when it was heard of


def test_what_the_disk_does_not_take_until_the_conductor_leaves_is_lost_and_said_to_be(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.run("echo before")
    full(monkeypatch, ".pack", 9)
    order = machine.order("echo lost; exit 4")
    machine.submit(order)
    machine.until(lambda: machine.scheduler._room_timer is not None)
    (lost,) = machine.scheduler.end_all()
    monkeypatch.undo()

    assert (lost.state, lost.exit_status, lost.output) == ("failed", 4, {"lost": "No space left on device"})
    assert lost.message == ("it ended with exit status 4; its output could not be kept: No space left on device")
    assert machine.output(machine.run("echo after")) == b"after\n"
    assert (machine.layout.packs / "000001.pack").read_bytes() == b"before\nafter\n"


def test_a_large_output_that_does_not_fit_waits_for_room(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    full(monkeypatch, ".out", 200_000)
    order = machine.order("head -c 1000000 /dev/zero")
    machine.submit(order)
    machine.until(lambda: machine.scheduler._room_timer is not None)
    monkeypatch.undo()

    report = machine.ended(order)
    assert (report.state, report.message, report.output["bytes"]) == ("completed", "", 1_000_000)
    assert machine.output(report) == b"\0" * 1_000_000


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """An output of more than 200,000 bytes takes a disk long."""
    monkeypatch.setattr("shakedown.schedulers.local_host.capture._SYNCED_BYTES", 200_000)


def test_the_end_of_a_run_is_told_once_its_large_output_is_durable(
    machine: Machine, large: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes long keeps nobody waiting: other runs begin and end meanwhile."""
    gate, really = tmp_path / "gate", os.fdatasync
    os.mkfifo(gate)

    def slow(descriptor: int) -> None:
        if os.getpid() != here and Path(f"/proc/self/fd/{descriptor}").readlink().suffix == ".out":
            gate.read_bytes()
        really(descriptor)

    here = os.getpid()
    monkeypatch.setattr(os, "fdatasync", slow)
    order = machine.order("head -c 1000000 /dev/zero")
    machine.submit(order)
    machine.until(lambda: bool(machine.scheduler._unwritten))
    assert machine.output(machine.run("echo meanwhile")) == b"meanwhile\n"
    assert not any(report.job == order.job and report.state == "completed" for report in machine.said)
    gate.write_bytes(b"")
    report = machine.ended(order)
    assert (report.state, report.message, report.output["bytes"]) == ("completed", "", 1_000_000)


@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_an_output_that_the_disk_does_not_confirm_is_kept_and_that_is_told(
    machine: Machine, large: None, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", failing)
    report = machine.run(f"head -c {size} /dev/zero")
    monkeypatch.undo()
    assert (report.state, report.output["bytes"]) == ("completed", size)
    assert report.message == (
        "a loss of power may take its output: the disk does not confirm that it has it: Input/output error"
    )


def test_nothing_is_written_through_a_link_that_a_run_makes_where_its_output_goes(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("keep me")
    (machine.layout.outputs / "000").mkdir(parents=True)
    machine.layout.output("r000001").symlink_to(tmp_path / "precious")
    report = machine.run("head -c 1000000 /dev/zero")
    assert machine.output(report) == b"\0" * 1_000_000
    assert (tmp_path / "precious").read_text() == "keep me"


def test_what_is_more_than_memory_may_hold_is_lost_and_said_to_be(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shakedown.schedulers.local_host.capture.HELD_BYTES", 300_000)
    full(monkeypatch, ".out", 200_000)
    report = machine.run("head -c 1000000 /dev/zero")

    assert report.state == "completed"
    assert report.message.startswith("of 1000000 bytes of output the first 200000 were kept: No space left on device")
    assert (report.output["bytes"], report.output["lost"]) == (200_000, "No space left on device")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- packs -----------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    outputs=st.lists(st.binary(min_size=1, max_size=60), max_size=30),
    roll=st.integers(1, 200),
    flushes=st.sets(st.integers(0, 30)),
)
def test_whatever_was_appended_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, outputs: list[bytes], roll: int, flushes: set[int]
) -> None:
    layout = Layout(tmp_path_factory.mktemp("campaign"))
    writer = PackWriter(layout.packs, roll_bytes=roll)
    pointers = []
    for number, data in enumerate(outputs):
        pointers.append(writer.append(data))
        if number in flushes:
            writer.flush()
            assert read_output(layout, pointers[-1]) == data
    writer.close()

    assert [read_output(layout, pointer) for pointer in pointers] == outputs
    sizes = [path.stat().st_size for path in layout.packs.glob("*")] if outputs else []
    assert all(size <= max(roll, 60) for size in sizes)
    assert sum(sizes) == sum(map(len, outputs))


def test_each_conductor_writes_packs_of_its_own(tmp_path: Path) -> None:
    first, second = PackWriter(tmp_path), PackWriter(tmp_path)

    names = []
    for writer in (first, second, first):
        pointer = writer.append(b"x")
        writer.flush()
        names.append(pointer["pack"])

    assert names == ["000001.pack", "000002.pack", "000001.pack"]


def test_a_pack_is_synced_where_something_was_added_and_its_name_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power takes nothing that a verdict points to: the pack is durable before the log is."""
    done: list[str] = []
    for name in ("fdatasync", "fsync"):
        monkeypatch.setattr(os, name, lambda handle, name=name: done.append(name))
    writer = PackWriter(tmp_path / "packs")
    writer.sync()
    writer.append(b"one")
    writer.sync()
    writer.sync()
    assert done == ["fdatasync", "fsync"]
    writer.append(b"two")
    writer.flush()
    writer.close()
    assert done == ["fdatasync", "fsync", "fdatasync"]


def test_what_a_failed_sync_may_have_lost_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel tells a failed sync once, and takes the pages for clean from then on: only what is written again is synced."""
    packs, written, real = PackWriter(tmp_path / "packs"), [], os.pwrite
    packs.append(b"durable")
    packs.sync()
    pointer = packs.append(b"not yet")

    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    def note(handle: int, data: bytes, at: int) -> int:
        written.append((at, bytes(data)))
        return real(handle, data, at)

    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", fail)
        broken.setattr(os, "pwrite", note)
        with pytest.raises(OSError, match="Input/output error"):
            packs.sync()
    assert written == [(7, b"not yet")]
    packs.sync()
    packs.append(b", and more")
    packs.close()
    assert pointer["offset"] == 7 and (tmp_path / "packs/000001.pack").read_bytes() == b"durablenot yet, and more"


def test_a_part_of_an_output_can_be_read(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    writer = PackWriter(layout.packs)
    writer.append(b"somebody else's")
    pointer = writer.append(b"0123456789")
    writer.append(b"somebody else's")
    writer.close()

    assert read_output(layout, pointer, start=3, limit=4) == b"3456"
    assert read_output(layout, pointer, start=8, limit=100) == b"89"
    assert read_output(layout, pointer, start=11) == b""


def test_a_pointer_to_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with pytest.raises(
        RecordError, match=r"the output in .*/packs/000007.pack cannot be read: No such file or directory"
    ):
        read_output(layout, {"pack": "000007.pack", "offset": 0, "bytes": 5})
    writer = PackWriter(layout.packs)
    writer.append(b"abc")
    writer.close()
    with pytest.raises(RecordError, match="is cut short: 5 bytes were kept, 3 are there"):
        read_output(layout, {"pack": "000001.pack", "offset": 0, "bytes": 5})


def test_packs_that_cannot_be_begun_are_said_in_the_pointer(tmp_path: Path) -> None:
    (tmp_path / "packs").write_text("in the way")

    writer = PackWriter(tmp_path / "packs")
    pointer = writer.append(b"x")
    writer.flush()
    assert (writer.holds(pointer), pointer) == (True, {})
    writer.close()
    assert pointer == {"lost": "File exists"}
