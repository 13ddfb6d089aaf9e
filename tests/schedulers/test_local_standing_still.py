"""A conductor that stood still: what ended meanwhile is told as it ended, and limits are enforced as if it had been there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.model.ports import OVERRAN
from shakedown.processes import witness
from shakedown.processes.table import read_process
from shakedown.schedulers.local_host import running

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]


def stand_still_until(happened: Callable[[], object], then_s: float) -> None:
    """This process attends to nothing until something has happened, and a while longer."""
    end = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    time.sleep(then_s)


def test_a_run_that_ended_in_time_is_not_judged_by_when_we_noticed(machine: Machine, tmp_path: Path) -> None:
    order = machine.order(f"date +%s.%N >{tmp_path}/began; sleep 0.1; touch {tmp_path}/done; exit 3", time_limit_s=1.0)
    machine.submit(order)
    stand_still_until((tmp_path / "done").exists, 1.2)

    report = machine.ended(order)

    began = float((tmp_path / "began").read_text())
    assert report.began is not None and abs(report.began - began) < 0.5, "not by how long we stood still too late"

    assert (report.state, report.exit_status) == ("failed", 3)
    assert report.elapsed_s is not None and 0.1 <= report.elapsed_s < 1.0


@pytest.mark.parametrize("other", ["stopped too", "killed before"])
def test_where_nobody_saw_the_end_its_run_time_is_not_known_and_it_is_no_timeout(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setattr(witness, "_TICK_S", 0.05)
    monkeypatch.setattr(witness, "_STILL_S", 0.1)
    order = machine.order(
        f"while ! [ -e {tmp_path}/go ]; do sleep 0.01; done; touch {tmp_path}/done; exit 3", time_limit_s=1.0
    )
    machine.submit(order)
    watcher = machine.scheduler._witness.pid
    stand_still_until(lambda: (process := read_process(watcher)) and process.session == watcher, 0.1)
    os.kill(watcher, signal.SIGSTOP if other == "stopped too" else signal.SIGKILL)
    (tmp_path / "go").touch()
    stand_still_until((tmp_path / "done").exists, 3.5)
    if other == "stopped too":
        os.kill(watcher, signal.SIGCONT)

    report = machine.ended(order)

    assert (report.state, report.exit_status, report.elapsed_s) == ("failed", 3, None)
    assert report.unseen_s is not None
    first, last = report.unseen_s
    assert 0 <= first < last - 1.0 and last > 3.0


def test_a_watcher_that_was_killed_is_replaced_and_sees_what_still_runs(machine: Machine, tmp_path: Path) -> None:
    order = machine.order(f"while ! [ -e {tmp_path}/go ]; do sleep 0.01; done; touch {tmp_path}/done; exit 3")
    begun = time.monotonic()
    machine.submit(order)
    killed = machine.scheduler._witness.pid
    os.kill(killed, signal.SIGKILL)
    machine.until(lambda: machine.scheduler._witness.pid not in (0, killed))
    watcher = machine.scheduler._witness.pid
    stand_still_until(lambda: (process := read_process(watcher)) and process.session == watcher, 0.1)
    (tmp_path / "go").touch()
    stand_still_until((tmp_path / "done").exists, 2.5)
    before = time.monotonic()

    report = machine.ended(order)

    assert (report.state, report.exit_status) == ("failed", 3) and report.unseen_s is None
    assert report.elapsed_s is not None
    assert report.elapsed_s < before - begun - 1.5, "the time in which we stood still is not its own"


def test_a_run_that_went_on_past_its_limit_is_a_timeout_although_nobody_ended_it(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_LATE_S", 0.05)
    go = tmp_path / "go"
    order = machine.order(f"while ! [ -e {go} ]; do sleep 0.01; done; touch {tmp_path}/done", time_limit_s=0.2)
    machine.submit(order)
    watcher = machine.scheduler._witness.pid
    stand_still_until(lambda: (process := read_process(watcher)) and process.session == watcher, 0.6)
    go.touch()
    stand_still_until((tmp_path / "done").exists, 0.3)

    report = machine.ended(order)

    assert (report.state, report.exit_status) == ("timeout", 0)
    assert report.message.startswith(OVERRAN)
    assert "it ended by itself after" in report.message


def test_time_in_which_the_whole_machine_stood_still_is_not_the_runs(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process stands still with us, as under a virtual machine that is paused: only its limit is looked at here."""
    monkeypatch.setattr(witness, "_TICK_S", 0.05)
    monkeypatch.setattr(witness, "_STILL_S", 0.1)
    go = tmp_path / "go"
    order = machine.order(f"while ! [ -e {go} ]; do sleep 0.01; done", time_limit_s=1.0)
    machine.submit(order)
    other = machine.scheduler._witness.pid
    stand_still_until(lambda: (process := read_process(other)) and process.session == other, 0.1)
    os.kill(other, signal.SIGSTOP)
    time.sleep(3.0)
    os.kill(other, signal.SIGCONT)
    machine.until(lambda: machine.scheduler._running[order.job].forgiven_s > 2.0)
    go.touch()

    assert machine.ended(order).state == "completed"


def test_the_other_process_ends_with_us_and_holds_nothing_of_ours(make_machine: MakeMachine) -> None:
    machine = make_machine()
    machine.run("true")
    other = machine.scheduler._witness.pid
    stand_still_until(lambda: (process := read_process(other)) and process.session == other, 0.05)

    held = {str(entry.readlink()).partition(":")[0] for entry in Path(f"/proc/{other}/fd").iterdir()}
    assert held <= {"socket", "anon_inode"}
    machine.scheduler.close()
    assert read_process(other) is None


def test_where_it_was_killed_runs_are_told_as_we_see_them(machine: Machine) -> None:
    machine.run("true")
    os.kill(machine.scheduler._witness.pid, signal.SIGKILL)

    assert [machine.run("true").state for _ in range(3)] == ["completed"] * 3
