"""The lease: one driver, and everyone else is told who; the dead and the silent are replaced, and notice when they wake."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from shakedown.events import lease as leases
from shakedown.events import sums
from shakedown.events.identity import Identity, is_alive, this_process, user_name
from shakedown.events.lease import Lease, changed_leases, holder, stays_silent
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.events.verification import verify
from shakedown.model.errors import LeaseHeld, RecordError, UsageError
from shakedown.model.layout import Layout

if TYPE_CHECKING:
    from tests.events.conftest import Events

Spawn = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def spawn(layout: Layout) -> Iterator[Spawn]:
    """Runs a few lines in a process of its own, with the campaign's layout at hand; ends it afterwards."""
    started: list[subprocess.Popen[str]] = []

    def spawning(code: str) -> subprocess.Popen[str]:
        prologue = "import sys\nfrom pathlib import Path\nfrom shakedown.model.layout import Layout\n"
        prologue += f"layout = Layout(Path({str(layout.root)!r}))\n"
        process = subprocess.Popen(
            [sys.executable, "-c", prologue + code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield spawning
    for process in started:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


DRIVER = """
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.model.errors import ShakedownError
from shakedown.model.events import Event
lease = Lease.acquire(layout)
writer, tail = open_log(layout.log, lease)
seq = tail.seq
print("driving", flush=True)
for line in sys.stdin:
    seq += 1
    writer.append([Event("finding", seq=seq, time=1000.0 + seq)])
    try:
        writer.commit()
    except ShakedownError as error:
        print(error.message, flush=True)
        break
    print("committed", flush=True)
"""


def as_if_on(layout: Layout, epoch: int = 1, **changes: object) -> Identity:
    """Rewrites an epoch file as if it had been made elsewhere. Its heartbeat stays."""
    path = layout.lease / f"{epoch:06d}.json"
    who = msgspec.structs.replace(msgspec.json.decode(path.read_bytes(), type=Identity), **changes)
    beat = path.stat().st_mtime
    path.write_bytes(msgspec.json.encode(who))
    os.utime(path, (beat, beat))
    return who


def let_go_stale(layout: Layout, age: float, epoch: int = 1) -> None:
    path = layout.lease / f"{epoch:06d}.json"
    then = time.time() - age
    os.utime(path, (then, then))


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system on which locks do not work."""

    def fail(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)


# ---- one driver ------------------------------------------------------------------------------------------------------


def test_the_first_driver_gets_epoch_1_and_the_next_the_next_number(layout: Layout) -> None:
    assert holder(layout) is None
    with Lease.acquire(layout) as first:
        assert (first.epoch, first.is_mine()) == (1, True)
    assert holder(layout) is None
    with Lease.acquire(layout) as second:
        assert (second.epoch, second.is_mine()) == (2, True)
        assert not first.is_mine()


def test_a_second_driver_is_told_who_drives_where_and_since_when(layout: Layout) -> None:
    first = Lease.acquire(layout, who=msgspec.structs.replace(this_process(), user="maria", since=1700000000.0))
    beat = time.monotonic()
    let_go_stale(layout, 3.2)
    with pytest.raises(LeaseHeld) as error:
        Lease.acquire(layout)
    most = 3.2 + time.monotonic() - beat
    message, _, age = error.value.message.rpartition("; last heartbeat ")
    assert (
        message
        == f"campaign laptop-1 is driven by maria on {os.uname().nodename} (pid {os.getpid()}) since 2023-11-14 22:13:20 UTC"
    )
    assert age.endswith(" s ago") and 3.15 <= float(age.removesuffix(" s ago")) <= most + 0.05, age
    assert error.value.hint == f"let it work, or end it first: kill {os.getpid()}"
    assert error.value.status == 2
    first.release()


def test_a_second_process_is_refused_while_the_first_one_lives(layout: Layout, spawn: Spawn) -> None:
    driver = spawn(DRIVER)
    assert said(driver) == "driving"
    with pytest.raises(LeaseHeld, match=rf"campaign laptop-1 is driven by .* \(pid {driver.pid}\)"):
        Lease.acquire(layout)
    held = holder(layout)
    assert held is not None
    assert (held.alive, held.gone, held.locked) == (True, False, True)


def test_a_killed_driver_is_replaced_at_once(layout: Layout, spawn: Spawn) -> None:
    driver = spawn(DRIVER)
    assert said(driver) == "driving"
    driver.kill()  # and nobody waits for it: it is a zombie now
    deadline = time.monotonic() + 5
    while not (held := holder(layout)) or held.alive:
        assert time.monotonic() < deadline
    with Lease.acquire(layout) as lease:
        assert lease.epoch == 2


def test_of_many_that_want_it_at_once_one_gets_it(layout: Layout, spawn: Spawn) -> None:
    contender = """
from shakedown.events.lease import Lease
from shakedown.model.errors import LeaseHeld
print("ready", flush=True)
sys.stdin.readline()
try:
    lease = Lease.acquire(layout)
    print(lease.epoch, flush=True)
    sys.stdin.readline()
except LeaseHeld as error:
    print("refused", flush=True)
"""
    contenders = [spawn(contender) for _ in range(4)]
    assert [said(each) for each in contenders] == ["ready"] * 4
    for each in contenders:
        go_on(each)
    assert sorted(said(each) for each in contenders) == ["1", "refused", "refused", "refused"]


def test_another_that_was_faster_in_between_is_asked_again(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between our look and our file another driver took the lease: it must not be robbed of it."""
    real = leases._make_epoch
    rivals: list[Lease] = []

    def slow(path: Path, who: Identity) -> int | None:
        monkeypatch.setattr(leases, "_make_epoch", real)
        rivals.append(Lease.acquire(layout))
        return real(path, who)

    monkeypatch.setattr(leases, "_make_epoch", slow)
    with pytest.raises(LeaseHeld):
        Lease.acquire(layout)
    assert rivals[0].is_mine()


def test_killed_again_and_again_nothing_that_was_committed_is_lost(layout: Layout, spawn: Spawn) -> None:
    committed = 0
    for kill in range(1, 6):
        driver = spawn(DRIVER)
        assert said(driver) == "driving"
        for _ in range(kill):
            go_on(driver)
            assert said(driver) == "committed"
            committed += 1
        go_on(driver)  # the last one is on its way when it is killed
        driver.kill()
        driver.wait()
        committed = max(committed, sum(1 for _ in read_events(layout.log)))
    assert [event.seq for event in read_events(layout.log)] == list(range(1, committed + 1))
    assert verify(layout.log).whole
    assert Lease.acquire(layout).epoch == 6


# ---- replaced while it slept -----------------------------------------------------------------------------------------


def test_a_stopped_driver_that_was_replaced_stops_at_its_next_commit(
    layout: Layout, spawn: Spawn, events: Events
) -> None:
    driver = spawn(DRIVER)
    assert said(driver) == "driving"
    go_on(driver)
    assert said(driver) == "committed"
    driver.send_signal(signal.SIGSTOP)
    with pytest.raises(LeaseHeld):
        Lease.acquire(layout)
    lease = Lease.acquire(layout, take_over=True)
    writer, tail = open_log(layout.log, lease)
    assert (lease.epoch, tail.seq) == (2, 1)
    writer.append(events(2, after=1))
    writer.commit()
    driver.send_signal(signal.SIGCONT)
    go_on(driver)
    assert said(driver).startswith(
        f"this conductor lost campaign laptop-1, which is now driven by {user_name(os.getuid())} on"
    )
    assert [event.seq for event in read_events(layout.log)] == [1, 2, 3]
    writer.close()
    lease.release()


def test_a_driver_with_nothing_to_commit_notices_at_its_next_heartbeat(layout: Layout) -> None:
    old = Lease.acquire(layout)
    old.beat(100.0)
    new = Lease.acquire(layout, take_over=True)
    old.beat(104.9)
    with pytest.raises(LeaseHeld, match="this conductor lost campaign laptop-1"):
        old.beat(105.0)
    old.release()
    held = holder(layout)
    assert held is not None
    assert held.epoch == 2
    new.release()


def test_a_lease_whose_file_was_removed_is_lost(layout: Layout) -> None:
    lease = Lease.acquire(layout)
    (layout.lease / "000001.json").unlink()
    assert not lease.is_mine()
    with pytest.raises(LeaseHeld, match="which is now no longer driven by this conductor"):
        lease.check()
    again = Lease.acquire(layout)
    assert again.epoch == 1
    assert not lease.is_mine()
    lease.release()
    assert holder(layout) is not None
    again.release()
    assert holder(layout) is None


def test_a_lease_that_was_given_back_is_not_ours(layout: Layout) -> None:
    lease = Lease.acquire(layout)
    lease.release()
    lease.release()
    with pytest.raises(LeaseHeld, match="campaign laptop-1: this conductor gave its lease back"):
        lease.check()


# ---- heartbeats ------------------------------------------------------------------------------------------------------


def test_the_heart_beats_every_five_seconds_at_most(layout: Layout) -> None:
    path = layout.lease / "000001.json"
    with Lease.acquire(layout) as lease:
        beats = []
        for now in (100.0, 102.0, 104.9, 105.0, 107.0, 110.5):
            let_go_stale(layout, 30)
            lease.beat(now)
            if time.time() - path.stat().st_mtime < 20:
                beats.append(now)
    assert beats == [100.0, 105.0, 110.5]


def test_a_driver_on_another_host_is_believed_until_its_heart_stops(layout: Layout, no_locks: None) -> None:
    Lease.acquire(layout)
    as_if_on(layout, host="login7", boot="other", pid=99, user="maria")
    let_go_stale(layout, 55)
    with pytest.raises(LeaseHeld) as error:
        Lease.acquire(layout)
    assert "driven by maria on login7 (pid 99)" in error.value.message
    assert error.value.hint == (
        "end it on login7, wait until its heartbeat is 60 s old, or add --take-over if it is dead"
    )
    let_go_stale(layout, 65)
    with Lease.acquire(layout) as lease:
        assert lease.epoch == 2


def test_a_person_may_say_that_the_driver_on_another_host_is_dead(layout: Layout) -> None:
    Lease.acquire(layout)
    as_if_on(layout, host="login7", boot="other")
    with Lease.acquire(layout, take_over=True) as lease:
        assert lease.epoch == 2


@pytest.mark.parametrize("changes", [{"host": "login7"}, {"boot": "before"}, {"space": "pid:[1]"}])
def test_a_pid_means_nothing_on_another_host_after_a_boot_or_in_another_container(
    layout: Layout, changes: dict[str, str]
) -> None:
    Lease.acquire(layout)
    as_if_on(layout, 1, **{"pid": 2**22 + 1, **changes})
    with pytest.raises(LeaseHeld):
        Lease.acquire(layout)


def test_a_silent_driver_elsewhere_that_still_holds_its_lock_is_alive(layout: Layout) -> None:
    lease = Lease.acquire(layout)
    as_if_on(layout, host="login7", boot="other")
    let_go_stale(layout, 500)
    with pytest.raises(LeaseHeld) as error:
        Lease.acquire(layout)
    assert error.value.hint == (
        "its process on login7 still holds the lock; end it there, or add --take-over if it is dead"
    )
    lease.release()


def test_staleness_goes_by_the_clock_of_the_file_system(
    layout: Layout, no_locks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two hosts' own clocks may differ by hours."""
    Lease.acquire(layout)
    as_if_on(layout, host="login7", boot="other")
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + 7200)
    with pytest.raises(LeaseHeld, match=r"last heartbeat \d+ ms ago"):
        Lease.acquire(layout)


def test_a_heartbeat_in_the_future_is_told_as_that_and_watched_as_long_as_a_driver_may_be_silent(
    layout: Layout, no_locks: None
) -> None:
    """A clock was set back since: the heartbeat has no age, and would have none for a month."""
    with Lease.acquire(layout):
        as_if_on(layout, host="login7")
        let_go_stale(layout, -30 * 86400.0 - 30)
        with pytest.raises(LeaseHeld) as error:
            Lease.acquire(layout)
        assert "its last heartbeat lies 30 d 0 h in the future: a clock was set back since" in error.value.message
        assert error.value.hint == (
            "shakedown resume --if-needed watches for 65 s whether it still beats; add --take-over if it is dead"
        )
        held = holder(layout)
        assert held is not None
        looks: list[float] = []
        assert stays_silent(layout, held, looks.append)
        assert looks == [65.0]
        assert not stays_silent(layout, held, lambda _: let_go_stale(layout, -30 * 86400.0 - 5)), "it beats"
        assert not dataclasses.replace(held, locked=True).ahead, "a lock shows that it lives"
        assert not dataclasses.replace(held, beat_age_s=-3.0).ahead, "clocks of two hosts differ by that"


def test_an_epoch_file_without_a_name_in_it_goes_stale_like_any_other(layout: Layout, no_locks: None) -> None:
    (layout.lease / "000003.json").write_bytes(b"")
    with pytest.raises(LeaseHeld, match="driven by a conductor that left no name"):
        Lease.acquire(layout)
    let_go_stale(layout, 61, epoch=3)
    with Lease.acquire(layout) as lease:
        assert lease.epoch == 4


@pytest.mark.parametrize("junk", [b"", b"junk\n", b'{"host":"x"}\n', b"\xff" * 90])
def test_a_lease_that_names_nobody_is_that_of_a_dead_driver_where_it_wrote_here_and_nobody_holds_its_lock(
    layout: Layout, events: Events, junk: bytes
) -> None:
    lease = Lease.acquire(layout)
    writer, _ = open_log(layout.log, lease)
    writer.append(events(3))
    writer.commit()
    path = layout.lease / "000001.json"
    path.write_bytes(junk)
    held = holder(layout)
    assert held is not None and (held.who, held.locked, held.gone) == (None, True, False), "it lives"
    writer.close()
    os.close(lease._handle)  # as its end by a signal does
    held = holder(layout)
    assert held is not None and (held.who, held.locked, held.gone) == (None, False, True)
    assert changed_leases(layout) == ["000001.json"]
    with Lease.acquire(layout) as later:
        assert (later.epoch, later.replaced) == (2, "")
        assert changed_leases(layout) == ["000001.json"]


def test_a_lease_that_names_nobody_may_be_of_a_driver_elsewhere(
    layout: Layout, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lock is not seen from here, so only its heartbeat tells."""
    lease = Lease.acquire(layout)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sums, "this_boot", lambda: "another machine")
        writer, _ = open_log(layout.log, lease)
        writer.append(events(3))
        writer.commit()
        writer.close()
    (layout.lease / "000001.json").write_bytes(b"junk")
    os.close(lease._handle)
    held = holder(layout)
    assert held is not None and (held.locked, held.gone) == (False, False)
    let_go_stale(layout, 61)
    held = holder(layout)
    assert held is not None and held.gone


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE])
def test_a_heartbeat_that_the_file_system_does_not_take_ends_nothing(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Some file systems want room for a time stamp, and a full disk holds the queue; the next turn tries again."""

    def fail(path: object) -> None:
        raise OSError(number, os.strerror(number))

    with Lease.acquire(layout) as lease:
        os.utime(layout.lease / "000001.json", (0, 0))
        with monkeypatch.context() as full:
            full.setattr(os, "utime", fail)
            lease.beat(100.0)
        assert (layout.lease / "000001.json").stat().st_mtime == 0
        lease.beat(100.1)
        assert (layout.lease / "000001.json").stat().st_mtime > 0


# ---- odd file systems and places -------------------------------------------------------------------------------------


def test_a_file_system_without_hard_links_has_leases_too(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*paths: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", fail)
    with Lease.acquire(layout) as lease:
        assert (lease.epoch, lease.is_mine()) == (1, True)
        with pytest.raises(LeaseHeld):
            Lease.acquire(layout)
    assert sorted(path.name for path in layout.lease.iterdir()) == ["000001.json", "000001.released"]


def test_a_directory_that_cannot_be_written_is_said(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*paths: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(RecordError) as error:
        Lease.acquire(layout)
    assert error.value.message == f"{layout.lease}/000001.json cannot be written: Read-only file system"
    assert list(layout.lease.iterdir()) == []


def test_there_is_no_lease_without_a_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        Lease.acquire(Layout(tmp_path / "nowhere"))
    assert error.value.message == f"there is no campaign in {tmp_path}/nowhere"


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    me = this_process()
    assert is_alive(me)
    assert not is_alive(msgspec.structs.replace(me, start=me.start - 1))
    assert not is_alive(msgspec.structs.replace(me, pid=2**22 + 1))


def test_a_holder_can_be_told_in_a_sentence(layout: Layout) -> None:
    with Lease.acquire(layout) as lease:
        held = holder(layout)
        assert held is not None
        assert held.who == lease.who
        assert not dataclasses.replace(held, alive=None, beat_age_s=61.0, locked=True).gone
        assert dataclasses.replace(held, alive=None, beat_age_s=61.0, locked=None).gone
        assert dataclasses.replace(held, alive=None, locked=None).replaced_after_s == 60.0
        assert dataclasses.replace(held, alive=None, locked=True).replaced_after_s == 180.0
        assert dataclasses.replace(held, alive=True, locked=None).replaced_after_s == 180.0
