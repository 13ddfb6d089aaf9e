"""The register's file: a chain of lines, added to under a lock by any number of processes, whole or seen not to be."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shakedown.events import register_lock
from shakedown.events.register import BEGUN, OPENED, open_register, read_register, register_path
from shakedown.model.errors import RecordError

ADDS = """
import sys
from pathlib import Path
from shakedown.events.register import BEGUN, open_register
for number in range(int(sys.argv[3])):
    with open_register(Path(sys.argv[1])) as register:
        register.add(BEGUN, campaign=f"{sys.argv[2]}-{number}", plan="p")
"""


def opened(site: Path, *names: str) -> Path:
    with open_register(site) as register:
        register.add(OPENED, register="0123456789abcdef")
        for name in names:
            register.add(BEGUN, campaign=name, plan="p", identity=name)
    return register_path(site)


def test_each_line_holds_the_sum_of_the_one_before(tmp_path: Path) -> None:
    path = opened(tmp_path, "p-1", "p-2")
    lines = path.read_bytes().splitlines()
    said = [json.loads(line) for line in lines]
    assert [one["entry"] for one in said] == [1, 2, 3]
    assert said[0]["previous"] == ""
    for before, after in zip(lines, said[1:], strict=False):
        assert after["previous"] == hashlib.sha256(before).hexdigest()
    found = read_register(tmp_path)
    assert (found.damage, found.name, [one.campaign for one in found.campaigns()]) == (
        "",
        "0123456789abcdef",
        ["p-1", "p-2"],
    )


def test_any_changed_byte_before_the_last_line_breaks_the_chain(tmp_path: Path) -> None:
    path = opened(tmp_path, "p-1", "p-2")
    content = path.read_bytes()
    for place in range(content[:-1].rindex(b"\n")):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x01]) + content[place + 1 :])
        assert read_register(tmp_path).damage, f"byte {place} of {content!r}"


@pytest.mark.parametrize("line", [0, 1])
def test_a_line_that_is_taken_out_is_seen(tmp_path: Path, line: int) -> None:
    path = opened(tmp_path, "p-1", "p-2")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    assert read_register(tmp_path).damage == f"line {line + 1} is entry {line + 2}: lines were taken out or put in"
    with open_register(tmp_path) as register, pytest.raises(RecordError, match="the register of this site is damaged"):
        register.add(BEGUN, campaign="p-3")


@pytest.mark.parametrize("time", ["1e17", "-5"])
def test_a_last_line_whose_time_is_no_date_is_damage(tmp_path: Path, time: str) -> None:
    path = opened(tmp_path, "p-1")
    *others, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(others) + re.sub(rb'"time":[0-9.]+', f'"time":{time}'.encode(), last))
    assert read_register(tmp_path).damage == "line 2 cannot be read"


def test_a_line_without_its_end_is_seen_and_the_next_one_says_so(tmp_path: Path) -> None:
    path = opened(tmp_path, "p-1", "p-2")
    path.write_bytes(path.read_bytes()[:-20])
    found = read_register(tmp_path)
    torn = found.torn
    assert (found.damage, len(found.entries), torn > 0) == ("", 2, True)
    with open_register(tmp_path) as register:
        assert register.add(BEGUN, campaign="p-3").torn == torn
    found = read_register(tmp_path)
    assert (found.damage, found.torn, [one.campaign for one in found.campaigns()]) == ("", 0, ["p-1", "p-3"])


def test_processes_that_add_at_once_lose_no_line(tmp_path: Path) -> None:
    opened(tmp_path)
    count, each = 6, 20
    words = [sys.executable, "-c", ADDS, str(tmp_path)]
    adding = [subprocess.Popen([*words, f"p{number}", str(each)]) for number in range(count)]
    assert [process.wait(120) for process in adding] == [0] * count
    found = read_register(tmp_path)
    assert found.damage == ""
    wanted = {f"p{number}-{place}" for number in range(count) for place in range(each)}
    names = [one.campaign for one in found.campaigns()]
    assert (len(names), set(names)) == (count * each, wanted)


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)


def test_a_file_system_without_locks_has_a_file_for_it(tmp_path: Path, without_locks: None) -> None:
    path = opened(tmp_path, "p-1")
    beside = path.with_name("register.jsonl.lock")
    with open_register(tmp_path) as register:
        assert beside.read_text() == f"{os.uname().nodename} {os.getpid()}\n"
        register.add(BEGUN, campaign="p-2")
    assert not beside.exists()
    assert len(read_register(tmp_path).campaigns()) == 2


def test_a_lock_that_stays_is_told_with_the_way_out(
    tmp_path: Path, without_locks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(tmp_path)
    beside = path.with_name("register.jsonl.lock")
    beside.write_text("elsewhere 17\n")
    monkeypatch.setattr(register_lock, "PATIENCE_S", 0.0)
    with pytest.raises(RecordError) as told, open_register(tmp_path):
        pass
    assert str(told.value) == (
        f"{beside} is there for 0 s: another process holds the register, or was killed\n"
        f"hint: it says who made it; where that process is gone, remove it: rm {beside}"
    )


def test_a_lock_that_is_held_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = opened(tmp_path)
    monkeypatch.setattr(register_lock, "PATIENCE_S", 0.0)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(RecordError, match=r"register.jsonl is locked by another process"), open_register(tmp_path):
            pass


def test_a_full_disk_leaves_the_register_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = opened(tmp_path, "p-1")
    before, write = path.read_bytes(), os.pwrite

    def half(handle: int, data: bytes, offset: int) -> int:
        write(handle, data[: len(data) // 2], offset)
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_register(tmp_path) as register:
        monkeypatch.setattr(os, "pwrite", half)
        with pytest.raises(RecordError) as told:
            register.add(BEGUN, campaign="p-2")
    assert str(told.value) == (
        f"the register of this site, {path}, cannot be written: No space left on device\n"
        "hint: free space on its file system and give the command again"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "number, hint",
    [
        (
            errno.EACCES,
            "whoever runs campaigns here must be able to write it: its owner gives the right (chmod g+w), or you make a site "
            "directory of your own: shakedown init",
        ),
        (errno.EROFS, "this file system is mounted read-only: run from a site directory that can be written"),
        (errno.EIO, "no campaign begins without its line there: mend that first"),
    ],
)
def test_what_cannot_be_written_says_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    path = opened(tmp_path)

    def refuse(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        with pytest.raises(RecordError) as told, open_register(tmp_path):
            pass
    wanted = f"the register of this site, {path}, cannot be written: {os.strerror(number)}\nhint: {hint}"
    assert str(told.value) == wanted


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    register_path(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordError, match="hint: it is a link: put the file itself there"), open_register(tmp_path):
        pass
    assert (tmp_path / "elsewhere").read_text() == ""


def test_who_shares_the_directory_shares_the_register(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    assert opened(tmp_path).stat().st_mode & 0o020
    other = tmp_path / "own"
    other.mkdir(mode=0o755)
    assert not opened(other).stat().st_mode & 0o022


def test_a_register_of_a_newer_version_is_no_damage(tmp_path: Path) -> None:
    path = opened(tmp_path, "p-1")
    path.write_bytes(path.read_bytes().replace(b'{"v":1,"entry":2', b'{"v":9,"entry":2'))
    with pytest.raises(RecordError, match=r"was written by a newer Shakedown \(line 2 is of version 9\)"):
        read_register(tmp_path)


def test_a_pipe_in_its_place_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(register_path(tmp_path))
    assert read_register(tmp_path).damage == "it is a pipe and no regular file"
