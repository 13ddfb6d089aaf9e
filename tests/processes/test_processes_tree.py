"""Ending a whole tree: whoever ignores the request, leaves the session or clears its environment dies with the others."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.processes import tree
from shakedown.processes.orphans import Orphans, become_subreaper
from shakedown.processes.reactor import Reactor
from shakedown.processes.spawn import MARKER, Child, reap
from shakedown.processes.table import Process, read_process
from shakedown.processes.tree import Ending, kill_tree

Start = Callable[[str, str], Child]
Until = Callable[[Callable[[], object]], None]


def lives(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.alive


def pids_in(*files: Path) -> list[int]:
    return [int(file.read_text()) for file in files]


def written(*files: Path) -> bool:
    return all(file.exists() and file.read_text().endswith("\n") for file in files)


def end(reactor: Reactor, until: Until, ending: Ending) -> None:
    over: list[bool] = []
    kill_tree(reactor, ending, lambda: over.append(True))
    until(lambda: over)


def test_a_tree_is_asked_first_and_may_clean_up(start: Start, reactor: Reactor, until: Until, tmp_path: Path) -> None:
    ready, clean = tmp_path / "ready", tmp_path / "clean"
    child = start(f"trap 'echo yes >{clean}; exit 7' TERM; echo $$ >{ready}; while :; do sleep 0.01; done", "t/ask")
    until(lambda: written(ready))

    end(reactor, until, Ending("t/ask", child.pid, grace_s=5.0))

    assert clean.read_text() == "yes\n"
    assert reap(child) == 7


def test_nothing_of_a_tree_gets_away(start: Start, reactor: Reactor, until: Until, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("deaf", "escaped", "bare", "stopped")]
    deaf, escaped, bare, stopped = files
    child = start(
        f"""trap '' TERM
        sh -c 'echo $$ >{deaf}; sleep 60; sleep 60' &
        setsid sh -c 'echo $$ >{escaped}; exec sleep 60' &
        env -i setsid sh -c 'echo $$ >{bare}; exec sleep 60' &
        sh -c 'echo $$ >{stopped}; kill -STOP $$; sleep 60' &
        wait""",
        "t/all",
    )
    until(lambda: written(*files))
    pids = [child.pid, *pids_in(*files)]
    assert all(lives(pid) for pid in pids)

    ending = Ending("t/all", child.pid, grace_s=0.1)
    end(reactor, until, ending)

    assert [pid for pid in pids if lives(pid)] == []
    assert ending.found >= len(pids)
    assert ending.stuck == ()
    assert reap(child) == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_parents_are_ended_before_their_children(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a shell whose command was ended goes on with the next one, or ends well. Process ids may have begun again at 1."""
    parents = {901: 1, 64: 901, 32: 64, 902: 64, 8: 902, 3: 901, 77: 1, 5: 77}
    table = {pid: Process(pid, "S", parent, 901, 901, pid) for pid, parent in parents.items()}
    sent: list[int] = []
    monkeypatch.setattr(tree, "read_table", lambda: table)
    monkeypatch.setattr(tree, "read_marker", lambda *_, **__: [])
    monkeypatch.setattr(os, "kill", lambda pid, what: sent.append(pid) if what == number else None)
    Ending("t/order", 901, grace_s=0.0 if number == signal.SIGKILL else 60.0).step()
    assert sorted(sent) == sorted(parents)
    assert all(sent.index(parent) < sent.index(pid) for pid, parent in parents.items() if parent in parents)


def test_a_tree_whose_first_process_is_long_gone_is_found_by_its_marker(
    start: Start, reactor: Reactor, until: Until, tmp_path: Path
) -> None:
    file = tmp_path / "escaped"
    child = start(
        f"setsid sh -c 'echo $$ >{file}; exec sleep 60' >/dev/null 2>&1 & while ! [ -s {file} ]; do :; done", "t/gone"
    )
    until(lambda: written(file))
    reap(child)
    (escaped,) = pids_in(file)

    end(reactor, until, Ending("t/other", grace_s=0.0))
    assert lives(escaped)
    end(reactor, until, Ending("t/gone", grace_s=0.0))

    assert not lives(escaped)


def test_a_dead_tree_is_over_at_once(reactor: Reactor) -> None:
    over: list[bool] = []
    ending = Ending("t/nobody")

    kill_tree(reactor, ending, lambda: over.append(True))

    assert over == [True]
    assert ending.found == 0


def test_what_cannot_be_killed_is_named_and_not_waited_for(
    start: Start, reactor: Reactor, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_signal", lambda processes, number: None)  # as deaf as a process in state D
    child = start("exec sleep 60", "t/deaf")

    ending = Ending("t/deaf", child.pid, grace_s=0.02, patience_s=0.05)
    end(reactor, until, ending)

    assert ending.stuck == (f"{child.pid} (state {read_process(child.pid).state})",)  # type: ignore[union-attr]
    os.kill(child.pid, signal.SIGKILL)
    reap(child)


def test_we_ourselves_are_never_of_the_tree(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(tree, "_signal", lambda processes, number: ended.extend(p.pid for p in processes))
    child = start("exec sleep 30", "t/us")

    Ending("t/us", group=os.getpgid(0), grace_s=0.0).step()

    assert child.pid in ended
    assert os.getpid() not in ended


def test_the_number_of_an_empty_group_is_no_longer_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks the group died out and a stranger's group got its number: it is left alone."""
    killed: list[int] = []
    looks = [
        {10: Process(10, "S", 1, 10, 10, 100), 11: Process(11, "S", 10, 11, 11, 101)},
        {11: Process(11, "S", 1, 11, 11, 101)},
        {10: Process(10, "S", 1, 10, 10, 900), 11: Process(11, "S", 1, 11, 11, 101)},
    ]
    monkeypatch.setattr(tree, "read_table", lambda: looks.pop(0))
    monkeypatch.setattr(tree, "read_marker", lambda pid, variable, strict=False: [])
    monkeypatch.setattr(tree, "_signal", lambda processes, number: killed.extend(p.pid for p in processes))
    ending = Ending("t/x", group=10, grace_s=0.0)

    for _ in range(3):
        ending.step()

    assert sorted(killed) == [10, 11, 11, 11]


def test_a_campaign_inside_a_job_belongs_to_both(start: Start, reactor: Reactor, until: Until, tmp_path: Path) -> None:
    file = tmp_path / "inner"
    child = start(f"{MARKER}=\"$MARK inner/j1\" setsid sh -c 'echo $$ >{file}; exec sleep 60' & wait", "outer/j1")
    child2 = start(f"{MARKER}='outer/j2 inner/j1' setsid sh -c 'echo $$ >{file}; exec sleep 60' & wait", "outer/j2")
    until(lambda: written(file))

    end(reactor, until, Ending("outer/j2", child2.pid, grace_s=0.0))
    reap(child2)
    assert lives(child.pid)

    end(reactor, until, Ending("outer/j1", child.pid, grace_s=0.0))
    reap(child)


# ---- orphans ---------------------------------------------------------------------------------------------------------


def test_a_living_orphan_shows_by_its_marker(start: Start, until: Until, tmp_path: Path) -> None:
    if not become_subreaper():
        pytest.skip("this system has no subreapers")
    orphans = Orphans()
    file = tmp_path / "orphan"
    go = tmp_path / "go"
    child = start(
        f"setsid sh -c 'echo $$ >{file}; exec sleep 60' & while ! [ -e {go} ]; do sleep 0.01; done", "t/orphan"
    )
    until(lambda: written(file))

    assert "t/orphan" not in orphans.markers({child.pid})
    go.touch()
    reap(child)
    (orphan,) = pids_in(file)
    found = read_process(orphan)
    assert found is not None
    assert found.parent == os.getpid()
    assert "t/orphan" in orphans.markers(set())

    os.kill(orphan, signal.SIGKILL)
    until(lambda: not lives(orphan))
    assert "t/orphan" not in orphans.markers(set())
    orphans.close()


def test_what_cannot_be_looked_at_for_want_of_files_does_not_pass_for_dead(
    start: Start, reactor: Reactor, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, real = tmp_path / "ready", os.open
    looks: list[str] = []

    def full(path: str, flags: int, *more: int) -> int:
        if str(path).startswith("/proc/") and len(looks) < 20:
            looks.append(path)
            raise OSError(errno.EMFILE, "Too many open files", path)
        return real(path, flags, *more)

    child = start(f"trap '' TERM; echo $$ >{ready}; while :; do sleep 0.01; done", "t/full")
    until(lambda: written(ready))
    monkeypatch.setattr("shakedown.processes.table.os.open", full)

    end(reactor, until, Ending("t/full", child.pid, grace_s=0.0))

    assert len(looks) == 20 and not lives(child.pid)
    assert reap(child) == -signal.SIGKILL


def test_dead_orphans_are_collected_but_nobody_elses_children(
    start: Start, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not become_subreaper():
        pytest.skip("this system has no subreapers")
    orphans = Orphans()
    ours = os.posix_spawn("/bin/true", ["true"], os.environ)  # somebody in this process will ask for its status
    file = tmp_path / "orphan"
    child = start(f"setsid sh -c 'echo $$ >{file}' & exec sleep 0.2", "t/zombie")  # sleep collects no children
    until(lambda: written(file))
    reap(child)
    (orphan,) = pids_in(file)
    until(lambda: not lives(orphan) and not lives(ours))

    orphans.markers(set())
    assert read_process(orphan) is not None  # not at once: it may be somebody's
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    orphans.markers(set())

    assert read_process(orphan) is None
    assert os.waitpid(ours, 0)[0] == ours
    orphans.close()


def test_without_the_kernels_list_of_children_orphans_are_found_all_the_same(
    start: Start, until: Until, tmp_path: Path
) -> None:
    orphans = Orphans()
    orphans.close()
    file = tmp_path / "orphan"
    child = start(f"setsid sh -c 'echo $$ >{file}; exec sleep 60' & while ! [ -s {file} ]; do :; done", "t/listless")
    until(lambda: written(file))
    reap(child)

    assert "t/listless" in orphans.markers(set())
