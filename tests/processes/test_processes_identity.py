"""A process's name is its own for ever: neither a zombie, nor a later process, nor another boot answers to it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.processes.identity import boot_id, directory_token, identity, is_alive, living_pid
from shakedown.processes.spawn import Child, reap
from shakedown.processes.table import read_process, read_table

Start = Callable[[str, str], Child]
Until = Callable[[Callable[[], object]], None]


def test_a_living_process_answers_to_its_identity(start: Start) -> None:
    child = start("sleep 30", "t/identity")
    name = identity(child.pid)

    assert name == f"{child.pid}:{name.split(':')[1]}:{boot_id()}"
    assert is_alive(name)
    assert living_pid(name) == child.pid


def test_a_zombie_is_dead_and_what_is_reaped_has_no_identity(start: Start, until: Until) -> None:
    child = start("exit 3", "t/zombie")
    until(lambda: (process := read_process(child.pid)) is not None and not process.alive)

    assert identity(child.pid)
    assert not is_alive(identity(child.pid))
    assert reap(child) == 3
    assert identity(child.pid) == ""


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nonsense",
        f"{os.getpid()}",
        f"{os.getpid()}:1:{boot_id()}",  # the same number, started at another time
        f"-1:1:{boot_id()}",
        f"1:0:{boot_id()}",
    ],
    ids=["empty", "nonsense", "number alone", "started at another time", "negative number", "started at zero"],
)
def test_what_is_no_identity_of_a_living_process_is_dead(name: str) -> None:
    assert not is_alive(name)


def test_a_process_of_another_boot_is_dead() -> None:
    pid, start, _ = identity(os.getpid()).split(":")

    assert is_alive(f"{pid}:{start}:{boot_id()}")
    assert not is_alive(f"{pid}:{start}:0f0f0f0f-0000-0000-0000-000000000000")


def test_a_process_whose_name_looks_like_a_line_of_the_table_is_read_rightly(tmp_path: Path) -> None:
    program = tmp_path / "a) Z 1 (b"
    shutil.copy("/bin/sleep", program)
    process = subprocess.Popen([program, "30"])
    try:
        found = read_process(process.pid)
        assert found is not None
        assert (found.pid, found.parent, found.session) == (process.pid, os.getpid(), os.getsid(0))
        assert found.alive
        assert process.pid in read_table()
    finally:
        process.kill()
        process.wait()


def test_the_table_holds_neither_ourselves_nor_threads_of_the_kernel() -> None:
    table = read_table()

    assert os.getpid() not in table
    assert 1 in table
    assert all(process.parent != 2 for process in table.values())


def test_the_token_of_a_directory_stays_when_it_is_moved_and_a_copy_has_another(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "copy").mkdir()
    before = directory_token(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")

    assert directory_token(tmp_path / "b") == before
    assert directory_token(tmp_path / "copy") != before
