"""At most once: claims, conductors that die, disks that are full."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from small_disks import fill, small_disk

from shakedown.model.layout import Layout
from shakedown.model.ports import JobOrder
from shakedown.processes.identity import directory_token
from shakedown.processes.spawn import MARKER
from shakedown.processes.table import read_marker, read_process, read_table
from shakedown.schedulers.claims import CannotStart, Workplace
from shakedown.schedulers.local_host.script import CLAIM_TAKEN, claimed

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]

DIED = "its conductor died, or was replaced, while it ran; "


def lives(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.alive


def pid_in(machine: Machine, file: Path) -> int:
    machine.until(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


CONDUCTOR = """
import sys, pathlib
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.local_host.local import LocalScheduler
root, script = sys.argv[1:]
reactor = Reactor()
scheduler = LocalScheduler(Layout(pathlib.Path(root)), reactor, cores=1)
for number, text in enumerate([script, "echo ran >{campaign}/second"], 1):
    case = Case(f"case-{number}", "test", "local:all", script=text)
    scheduler.submit([JobOrder(f"j{number:06d}", f"r{number:06d}", case)])
while True:
    reactor.wait(None)
    scheduler.poll({})
"""


def conduct(machine: Machine, order: JobOrder) -> subprocess.Popen[bytes]:
    """Another conductor, in a process of its own, that starts the order."""
    return subprocess.Popen([sys.executable, "-c", CONDUCTOR, str(machine.layout.root), order.case.script])


# ---- claims ----------------------------------------------------------------------------------------------------------


def test_a_job_that_two_schedulers_start_is_executed_once(machine: Machine, tmp_path: Path) -> None:
    """There is one conductor at a time; the one that comes second takes what runs for what a dead one left, and ends it."""
    log = tmp_path / "log"
    order = machine.order(f"echo $$ >>{log}; exec sleep 60")
    other = conduct(machine, order)
    pid = pid_in(machine, log)
    machine.submit(order)

    report = machine.ended(order)

    assert (report.state, report.message) == ("interrupted", f"{DIED}what was left of it, one process, has been ended")
    assert log.read_text() == f"{pid}\n"
    assert not lives(pid)
    other.kill()
    other.wait()


def test_a_claim_that_the_conductor_took_keeps_the_job_from_ever_running(machine: Machine, tmp_path: Path) -> None:
    order = machine.order(f"touch {tmp_path}/ran")
    machine.know(order)

    assert machine.scheduler.take_claim(machine.jobs[order.job])
    assert machine.scheduler.take_claim(machine.jobs[order.job])  # it is still ours
    machine.submit(order)
    report = machine.ended(order)

    assert not (tmp_path / "ran").exists()
    assert (report.state, report.message) == ("refused", "it did not run: the conductor had taken its claim")


def test_the_claim_of_a_job_that_started_cannot_be_taken(machine: Machine, tmp_path: Path) -> None:
    order = machine.order("true")
    machine.submit(order)
    view = machine.jobs[order.job]
    machine.ended(order)

    assert not machine.scheduler.take_claim(view)


def test_a_waiting_job_whose_claim_is_taken_never_starts(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine = make_machine(cores=1)
    first, second = machine.order("sleep 0.05"), machine.order(f"touch {tmp_path}/ran")
    machine.submit(first, second)

    assert machine.scheduler.take_claim(machine.jobs.pop(second.job))
    machine.ended(first)
    assert machine.run("true").state == "completed"
    assert not (tmp_path / "ran").exists()
    assert machine.last(second) is None


def test_a_job_that_is_just_starting_goes_on_to_its_end_whoever_wants_its_claim(machine: Machine) -> None:
    """Its shell may not have reached its claim yet, and nobody has reported it as running: a pause comes at such a moment."""
    orders = [machine.order("sleep 0.05") for _ in range(machine.scheduler._slots.cores.count)]
    machine.submit(*orders)

    assert not any(machine.scheduler.take_claim(machine.jobs[order.job]) for order in orders)

    assert [machine.ended(order).state for order in orders] == ["completed"] * len(orders)


def test_a_job_that_is_over_and_not_reported_yet_keeps_its_end(machine: Machine, tmp_path: Path) -> None:
    order = machine.order(f"echo done >{tmp_path}/done")
    machine.submit(order)
    view = machine.jobs[order.job]
    while not machine.scheduler._ended:
        machine.reactor.wait(machine.reactor.now() + 0.02)

    assert not machine.scheduler.take_claim(view)

    machine.ended(order)
    ends = [report.state for report in machine.said if report.state != "running"]  # a busy machine may see it run first
    assert ends == ["completed"]


def test_a_run_that_is_taken_back_and_ordered_again_has_its_directory_to_itself(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    """The jobs stood by, their directories were made already, and all of them come again under other names."""
    machine = make_machine(cores=1)
    first = machine.order(f"until [ -e {tmp_path}/go ]; do sleep 0.01; done")
    waiting = [machine.order("pwd >here") for _ in range(3)]
    machine.submit(first, *waiting)
    machine.until(lambda: len(machine.scheduler._standby._launches) == len(waiting))
    for order in waiting:
        assert machine.scheduler.take_claim(machine.jobs.pop(order.job))
    (tmp_path / "go").touch()
    again = [replace(order, job=machine.order("").job) for order in waiting]
    machine.submit(*again)

    assert [machine.ended(order).state for order in again] == ["completed"] * len(again)
    assert all((machine.work(order) / "here").read_text() == f"{machine.work(order)}\n" for order in again)


def test_a_job_that_waits_is_taken_back_although_the_disk_is_full(
    make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = make_machine(cores=1)
    goes_on = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done"
    first, second = machine.order(goes_on), machine.order(f"touch {tmp_path}/ran")
    machine.submit(first, second)

    def fail(*words: object) -> bool:
        raise CannotStart("No space left on device", transient=True)

    monkeypatch.setattr(type(machine.scheduler._workplace), "take_claim", fail)

    assert machine.scheduler.take_claim(machine.jobs.pop(second.job))
    (tmp_path / "go").touch()
    machine.ended(first)
    assert machine.run("true").state == "completed"
    assert not (tmp_path / "ran").exists()


def test_a_restart_has_a_claim_of_its_own(machine: Machine) -> None:
    order = machine.order("true")
    machine.submit(order)
    machine.ended(order)
    machine.said.clear()

    again = replace(order, run="r000002", restart=1)
    machine.submit(again)

    report = machine.ended(again)
    assert (report.state, report.restart) == ("completed", 1)


def test_the_same_order_twice_is_one_job(machine: Machine, tmp_path: Path) -> None:
    order = machine.order(f"echo run >>{tmp_path}/log; sleep 0.05")
    (first,), (second,) = machine.submit(order), machine.submit(order)

    assert first.outcome == second.outcome == "accepted"
    assert machine.ended(order).state == "completed"
    assert (tmp_path / "log").read_text() == "run\n"


# ---- a conductor that died -------------------------------------------------------------------------------------------


def test_a_job_that_never_started_is_absent(machine: Machine) -> None:
    order = machine.order("true")
    machine.know(order)

    (report,) = machine.poll()
    assert (report.job, report.state) == (order.job, "absent")
    assert machine.poll() == []
    assert machine.scheduler.take_claim(machine.jobs[order.job])


def test_a_claim_that_a_dead_conductor_took_is_ours(make_machine: MakeMachine) -> None:
    dead, machine = make_machine(), make_machine()
    order = machine.order("true")
    machine.know(order)
    dead.scheduler.take_claim(machine.jobs[order.job])

    assert [report.state for report in machine.poll()] == ["absent"]
    assert machine.scheduler.take_claim(machine.jobs[order.job])


def test_a_shell_that_is_killed_as_it_makes_its_claim_leaves_no_doubt_about_it(make_machine: MakeMachine) -> None:
    """It opened the file, which one shell alone can, and wrote nothing: it may have run, for all that anybody can tell. So nobody
    takes its claim, it is never started again as this job, and its run is attempted again as one that a conductor's death ended.
    """
    dead, machine = make_machine(), make_machine()
    order = machine.order("echo ran >{campaign}/ran")
    machine.know(order)
    claim = Path(machine.layout.claim(order.job))
    claim.parent.mkdir(parents=True, exist_ok=True)
    claim.touch()

    assert not dead.scheduler.take_claim(machine.jobs[order.job])
    report = machine.ended(order)
    assert report.state == "interrupted"
    assert claim.read_bytes() == b""

    late = claimed("echo ran >ran", str(claim), str(machine.layout.root))
    done = subprocess.run(["sh"], input=late, text=True, check=False, capture_output=True)
    assert done.returncode == CLAIM_TAKEN and not (machine.layout.root / "ran").exists()


def test_what_is_left_of_a_dead_conductors_job_is_ended_before_anything_is_said(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    dead = make_machine(cores=1)
    main, escaped = tmp_path / "main", tmp_path / "escaped"
    order = dead.order(
        f"setsid sh -c 'trap \"\" TERM; echo $$ >{escaped}; sleep 60; sleep 60' & echo $$ >{main}; sleep 60"
    )
    dead.submit(order)
    pids = [pid_in(dead, main), pid_in(dead, escaped)]

    machine = dead.forsake()
    report = machine.ended(order)

    assert (report.state, report.exit_status) == ("interrupted", None)
    assert report.message.startswith(f"{DIED}what was left of it, ")
    assert [pid for pid in pids if lives(pid)] == []
    machine.end()


def test_a_job_that_ended_unheard_is_interrupted_and_its_large_output_is_kept(make_machine: MakeMachine) -> None:
    dead = make_machine(cores=1)
    order = dead.order("head -c 100000 /dev/zero")
    dead.submit(order)
    while dead.scheduler._running:
        dead.reactor.wait(dead.reactor.now() + 0.02)
    dead.scheduler._write_up()

    machine = dead.forsake()
    report = machine.ended(order)

    assert (report.state, report.message) == (
        "interrupted",
        "it ended while no conductor was there, so nobody knows how; nothing of it is alive",
    )
    crc = f"{zlib.crc32(bytes(100000)):08x}"
    assert report.output == {"file": "outputs/000/r000001.out", "bytes": 100000, "crc": crc}
    assert not machine.work(order).exists()
    machine.end()


@pytest.mark.parametrize("hand", ["removed", "all removed", "conductor", "a pipe"])
@pytest.mark.parametrize("known", ["ordered", "running"])
def test_a_claim_that_was_removed_or_edited_by_hand_makes_no_job_run_again(
    make_machine: MakeMachine, hand: str, known: str
) -> None:
    """What was let go, or was seen to run, is ended and interrupted; nobody takes it for a job that never started."""
    dead = make_machine(cores=1)
    dead.layout.lease.mkdir(exist_ok=True)
    order = dead.order("exec sleep 60")
    dead.submit(order)
    claim = dead.layout.claim(order.job)
    dead.until(lambda: claim.exists() and claim.read_text())
    if known == "running":
        dead.until(lambda: (said := dead.last(order)) is not None and said.state == "running")
        dead.jobs[order.job].scheduler_id = dead.said[-1].scheduler_id
        dead.layout.let_go.unlink()
    (shell,) = shells_of(dead, order.job)
    if hand == "all removed":
        shutil.rmtree(dead.layout.claims)
    elif hand == "conductor":
        claim.write_text("conductor\n")
    else:
        claim.unlink()
        if hand == "a pipe":
            os.mkfifo(claim)

    machine = dead.forsake()
    report = machine.ended(order)

    assert report.state == "interrupted" and not lives(shell)
    assert hand == "a pipe" or report.message.endswith("; its claim was removed or changed")
    machine.end()


def test_where_something_else_is_in_the_place_of_its_claim_a_job_does_not_start(
    machine: Machine, tmp_path: Path
) -> None:
    """A shell would wait at a pipe for ever, and take a device for a claim that nobody has."""
    order = machine.order(f"touch {tmp_path}/ran")
    machine.layout.claim(order.job).parent.mkdir(parents=True)
    machine.layout.claim(order.job).symlink_to("/dev/null")

    (answer,) = machine.submit(order)

    assert answer.outcome == "refused" and "no regular file is in the place of its claim" in answer.message
    assert not (tmp_path / "ran").exists()


def test_after_kill_9_of_the_conductor_its_job_is_ended_and_runs_again_once(machine: Machine, tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "pid"
    order = machine.order(f"echo run >>{log}; echo $$ >{file}; exec sleep 60")
    conductor = conduct(machine, order)
    pid = pid_in(machine, file)
    conductor.send_signal(signal.SIGKILL)
    conductor.wait()

    machine.know(order)
    report = machine.ended(order)

    assert (report.state, report.message) == ("interrupted", f"{DIED}what was left of it, one process, has been ended")
    assert not lives(pid)
    assert log.read_text() == "run\n"
    again = machine.order("echo again")
    machine.submit(again)
    assert machine.ended(again).state == "completed"


def shells_of(machine: Machine, job: str) -> list[int]:
    marker = f"{directory_token(machine.layout.root)}/{job}"
    return [pid for pid in read_table() if marker in read_marker(pid, MARKER)]


def test_the_shell_of_the_next_job_stands_by_and_has_not_begun(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=1)
    first, second = machine.order("sleep 60"), machine.order("true")
    machine.submit(first, second)
    machine.until(lambda: shells_of(machine, second.job))

    assert not machine.layout.claim(second.job).exists()
    assert machine.last(second) is None
    assert machine.scheduler.cancel([machine.jobs[second.job]]) == [second.job]

    machine.until(lambda: not shells_of(machine, second.job))
    assert machine.ended(second).message == "it was cancelled before it started"
    assert not machine.layout.claim(second.job).exists()


def test_shells_that_are_sent_home_leave_no_open_files(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=1)
    machine.run("echo the pack is open")
    before = len(list(Path("/proc/self/fd").iterdir()))
    first, *others = [machine.order("sleep 60"), *(machine.order("true") for _ in range(9))]
    machine.submit(first, *others)
    for other in others:
        machine.until(lambda job=other.job: shells_of(machine, job))  # type: ignore[misc]
        machine.scheduler.cancel([machine.jobs[other.job]])
    machine.scheduler.cancel([machine.jobs[first.job]])
    machine.ended(first)
    machine.until(lambda: not machine.scheduler._standby.is_waiting)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_shell_that_is_killed_while_it_stands_by_is_replaced(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine = make_machine(cores=1)
    first = machine.order(f"while ! [ -e {tmp_path}/go ]; do sleep 0.01; done")
    second = machine.order(f"echo ran >>{tmp_path}/log")
    machine.submit(first, second)
    machine.until(lambda: shells_of(machine, second.job))
    os.kill(shells_of(machine, second.job)[0], signal.SIGKILL)
    (tmp_path / "go").touch()

    assert machine.ended(second).state == "completed"
    assert (tmp_path / "log").read_text() == "ran\n"


def test_shells_that_stand_by_when_the_conductor_dies_end_without_a_trace(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    conductor = conduct(machine, machine.order(f"echo $$ >{file}; exec sleep 60"))
    pid_in(machine, file)
    machine.until(lambda: shells_of(machine, "j000002"))
    conductor.send_signal(signal.SIGKILL)
    conductor.wait()

    machine.until(lambda: not shells_of(machine, "j000002"))

    assert not machine.layout.claim("j000002").exists()
    assert not (machine.layout.root / "second").exists()


# ---- disks -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """A small file system of its own."""
    with ExitStack() as mounted:
        numbers = count()
        yield lambda options: mounted.enter_context(small_disk(tmp_path / f"disk{next(numbers)}", options))


def test_on_a_full_disk_a_job_waits_in_the_queue(make_machine: MakeMachine, mount: Callable[..., Path]) -> None:
    machine = make_machine(mount("size=64k,nr_inodes=4"))
    for number in range(4):
        try:
            (machine.layout.root / f"inode{number}").touch()
        except OSError:
            break
    order = machine.order("true")

    (answer,) = machine.submit(order)

    assert answer.outcome == "accepted"
    assert machine.last(order) is None
    for path in machine.layout.root.glob("inode*"):
        path.unlink()
    subprocess.run(["mount", "-o", "remount,nr_inodes=100", str(machine.layout.root)], check=True)
    assert machine.ended(order).state == "completed"


def test_a_waiting_job_is_held_until_there_is_room(make_machine: MakeMachine, mount: Callable[..., Path]) -> None:
    """Its place in the queue is kept, and nothing is said of it: nothing changed."""
    machine = make_machine(mount("size=64k,nr_inodes=100"), cores=1)
    first = machine.order("sleep 0.05")
    second, third = machine.order("echo 2 >here"), machine.order("true")
    machine.submit(first, second, third)
    claim = machine.layout.claim(first.job)
    while not (claim.is_file() and claim.read_text()):  # it runs
        time.sleep(0.001)
    subprocess.run(["mount", "-o", "remount,nr_inodes=8", str(machine.layout.root)], check=False)
    blockers = []
    for number in range(100):
        try:
            blockers.append(machine.layout.root / f"inode{number}")
            blockers[-1].touch()
        except OSError:
            break
    machine.ended(first)
    machine.scheduler._workplace._spare.clear()
    late = machine.reactor.now() + 0.1
    machine.until(lambda: machine.reactor.now() > late)
    assert machine.last(second) is None

    subprocess.run(["mount", "-o", "remount,nr_inodes=1000", str(machine.layout.root)], check=True)

    assert machine.ended(second).state == "completed"
    assert machine.ended(third).state == "completed"


def test_a_job_whose_claim_has_no_room_did_not_run(
    make_machine: MakeMachine, mount: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was not seen to be full before the job's shell was let go."""
    monkeypatch.setattr("shakedown.schedulers.local_host.local.is_full", lambda place: False)
    machine = make_machine(mount("size=1m,nr_inodes=100"), cores=1)
    machine.run("true")
    fill(machine.layout.root)
    order = machine.order("echo run")
    machine.submit(order)
    machine.until(lambda: (said := machine.last(order)) is not None and said.state == "absent")

    assert machine.layout.claim("j000002").read_text() == ""
    assert machine.scheduler.take_claim(machine.jobs[order.job])  # so its run goes back, and no attempt is spent


def test_in_a_read_only_directory_every_answer_is_a_sentence(
    make_machine: MakeMachine, mount: Callable[..., Path]
) -> None:
    machine = make_machine(mount("size=64k,ro"))
    order = machine.order("true")

    (answer,) = machine.submit(order)

    assert (answer.outcome, answer.transient) == ("refused", False)
    assert answer.message == "run r000001 cannot be started: Read-only file system (claims)"
    assert machine.scheduler.take_claim(machine.jobs[order.job]) is None, "nobody can tell"


def test_the_directory_of_a_start_that_failed_is_given_to_nobody_else_once_it_is_used(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    workplace = Workplace(layout)
    first, second = str(layout.work_directory("r000001")), str(layout.work_directory("r000002"))
    for _ in range(3):  # launched, and sent home again
        workplace.prepare("r000001", first, ())
        workplace.tidy(first, ())
    workplace.prepare("r000001", first, ())
    workplace.prepare("r000002", second, ())
    assert Path(first).is_dir()
    assert Path(second).is_dir()
