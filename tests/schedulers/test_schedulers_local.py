"""The scheduler of this machine: who runs when and where, how it ends, what is left, and what is said of it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shakedown.processes.identity import is_alive
from shakedown.processes.table import read_process

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]

UNKNOWN_END = ", and how its payload ended is not known"
KILLS_ITSELF = f"{sys.executable} -c 'import os; os.kill(os.getpid(), 9)'"
CPUS = sorted(os.sched_getaffinity(0))
ALLOWED = "while read -r name value; do [ $name = Cpus_allowed_list: ] && echo $value; done </proc/self/status"
needs_two_cores = pytest.mark.skipif(len(CPUS) < 2, reason="this machine gives us one core only")


def lives(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.alive


def pid_in(machine: Machine, file: Path) -> int:
    machine.until(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


# ---- where and when --------------------------------------------------------------------------------------------------


def test_jobs_start_strictly_in_their_order(make_machine: MakeMachine, tmp_path: Path) -> None:
    """The third would fit beside the first, but the second, which waits for two cores, was there before it."""
    machine = make_machine(cores=2)
    log, go = tmp_path / "log", tmp_path / "go"
    first = machine.order(f"echo 1 >>{log}; while ! [ -e {go} ]; do sleep 0.01; done")
    second = machine.order(f"echo 2 >>{log}", units=2)
    third = machine.order(f"echo 3 >>{log}")
    machine.submit(first, second, third)
    machine.until(lambda: (report := machine.last(first)) is not None and report.state == "running")
    assert machine.last(second) is None
    assert machine.last(third) is None

    go.touch()
    machine.ended(third)

    assert log.read_text() == "1\n2\n3\n"


def test_jobs_that_follow_each_other_on_the_same_cores_are_not_said_to_overlap(make_machine: MakeMachine) -> None:
    """However late each of them is reported: else a machine is used for more than all of its time."""
    machine = make_machine(cores=1)
    orders = [machine.order("true") for _ in range(20)]
    machine.submit(*orders)

    reports = [machine.ended(order) for order in orders]

    times = [(one.began, one.elapsed_s) for one in reports]
    assert all(began is not None and ran is not None for began, ran in times)
    known = [(began, ran) for began, ran in times if began is not None and ran is not None]
    for (began, ran), (next_began, _) in pairwise(known):
        assert began + ran <= next_began + 1e-3  # what is rounded, and read of two clocks


@needs_two_cores
def test_jobs_side_by_side_have_cores_of_their_own(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine = make_machine(cores=2)
    script = f"echo >>{tmp_path}/here; while [ $(wc -l <{tmp_path}/here) -lt 2 ]; do sleep 0.01; done; ({ALLOWED})"
    orders = [machine.order(script), machine.order(script)]
    machine.submit(*orders)

    bound = [machine.output(machine.ended(order)).decode().strip() for order in orders]

    assert sorted(bound) == [str(cpu) for cpu in CPUS[:2]]


@needs_two_cores
def test_an_exclusive_job_has_all_cores_and_nothing_of_ours_beside_it(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    machine = make_machine(cores=2)
    log = tmp_path / "log"
    script = f"echo in >>{log}; sleep 0.05; echo out >>{log}"
    small, alone, after = machine.order(script), machine.order(script, exclusive=True), machine.order(script)
    machine.submit(small, alone, after)
    machine.ended(after)

    assert log.read_text().split() == ["in", "out"] * 3
    report = machine.run(f"({ALLOWED})", exclusive=True)
    assert machine.output(report).decode().strip() == f"{CPUS[0]}-{CPUS[1]}"


def test_a_job_that_this_machine_can_never_run_is_refused(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=2)

    (answer,) = machine.submit(machine.order("true", units=3))

    assert (answer.outcome, answer.transient) == ("refused", False)
    assert answer.message == "case-1 needs 3 cores; this machine has 2"


# ---- how it ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "state", "exit_status", "message"),
    [
        ("true", "completed", 0, ""),
        ("exit 3", "failed", 3, "it ended with exit status 3"),
        ("sh -c 'kill -SEGV $$'; exit $?", "failed", 139, "it ended with exit status 139"),
        ("sh -c 'kill -KILL $$'; exit $?", "failed", 137, "it ended with exit status 137"),
        ("kill -KILL $$", "interrupted", -9, f"its job script was ended by signal 9 (SIGKILL){UNKNOWN_END}"),
        ("kill -SEGV $$", "interrupted", -11, f"its job script was ended by signal 11 (SIGSEGV){UNKNOWN_END}"),
        (f"exec {KILLS_ITSELF}", "failed", -9, "it was ended by signal 9 (SIGKILL)"),  # no shell is left then
        ("no-such-program", "failed", 127, "it ended with exit status 127"),
        ("exit 97", "failed", 97, "it ended with exit status 97"),  # the payload's own, not that of a claim
        ("if then", "failed", 2, "it ended with exit status 2"),
    ],
)
def test_its_end_is_told_as_it_was(machine: Machine, script: str, state: str, exit_status: int, message: str) -> None:
    report = machine.run(script)

    assert (report.state, report.exit_status, report.message) == (state, exit_status, message)
    assert report.source == "local"
    assert report.elapsed_s is not None
    assert 0 < report.elapsed_s < 10


def test_a_job_is_said_to_run_once_and_then_to_have_ended(machine: Machine, tmp_path: Path) -> None:
    go = tmp_path / "go"
    order = machine.order(f"while ! [ -e {go} ]; do sleep 0.01; done")
    machine.submit(order)
    machine.until(lambda: machine.last(order))
    running = machine.last(order)
    assert running is not None
    assert running.state == "running"
    assert is_alive(running.scheduler_id)
    assert machine.poll() == []  # silence: nothing changed

    go.touch()
    ended = machine.ended(order)

    assert [report.state for report in machine.said] == ["running", "completed"]
    assert ended.elapsed_s is not None
    assert ended.elapsed_s >= 0.01
    assert not is_alive(running.scheduler_id)


def test_a_time_limit_ends_the_whole_tree(machine: Machine, tmp_path: Path) -> None:
    escaped, deaf = tmp_path / "escaped", tmp_path / "deaf"
    order = machine.order(
        f"setsid sh -c 'trap \"\" TERM; echo $$ >{escaped}; sleep 60; sleep 60' >/dev/null 2>&1 &\n"
        f"trap '' TERM; echo $$ >{deaf}; sleep 60; sleep 60",
        time_limit_s=0.4,
    )
    machine.submit(order)
    pids = [pid_in(machine, escaped), pid_in(machine, deaf)]
    assert all(lives(pid) for pid in pids)

    report = machine.ended(order)

    assert (report.state, report.exit_status) == ("timeout", -9)
    assert report.message == "it was ended at its time limit of 400 ms"
    assert [pid for pid in pids if lives(pid)] == []


def test_a_job_that_heeds_its_time_limit_may_clean_up(machine: Machine) -> None:
    report = machine.run("trap 'echo cleaned; exit 5' TERM; while :; do sleep 0.01; done", time_limit_s=0.1)

    assert (report.state, report.exit_status) == ("timeout", 5)
    assert machine.output(report).endswith(b"cleaned\n")  # its sleep was ended too, as the shell may say


def test_a_process_left_in_the_background_ends_with_its_job(machine: Machine, tmp_path: Path) -> None:
    """It holds the pipe open and would do so for a minute; the run ends when its first process ends."""
    file = tmp_path / "pid"
    report = machine.run(f"env -i /bin/sleep 60 & echo $! >{file}; echo done")

    assert (report.state, report.exit_status) == ("completed", 0)
    assert machine.output(report) == b"done\n"
    assert report.message == "it left processes behind, which were ended: 1"
    assert report.elapsed_s is not None
    assert report.elapsed_s < 30
    assert not lives(int(file.read_text()))


def test_a_process_that_left_its_session_ends_with_its_job(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = (
        f"setsid sh -c 'echo $$ >{file}; exec sleep 60' </dev/null >/dev/null 2>&1 & while ! [ -s {file} ]; do :; done"
    )

    report = machine.run(script)

    assert report.state == "completed"
    assert report.message == "it left processes behind, which were ended: 1"
    assert not lives(int(file.read_text()))


DAEMON = """import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        devnull = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(devnull, number)
        open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
        time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_a_daemon_without_environment_or_session_is_found_ended_and_named(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    """Nothing connects it with its run but its cores, its time, and that orphans are handed to us. Other runs' stay."""
    machine = make_machine(cores=2)
    (tmp_path / "daemon.py").write_text(DAEMON)
    daemon = f"env -i {sys.executable} -S -E {tmp_path}/daemon.py"
    other = machine.order(f"{daemon} {tmp_path}/other; while ! [ -e {tmp_path}/go ]; do sleep 0.01; done")
    order = machine.order(f"{daemon} {tmp_path}/pid; while ! [ -s {tmp_path}/pid ]; do sleep 0.01; done")
    machine.submit(other, order)
    kept = pid_in(machine, tmp_path / "other")

    report = machine.ended(order)

    pid = int((tmp_path / "pid").read_text())
    assert not lives(pid)
    assert (report.state, len(report.behind)) == ("completed", 1)
    assert report.behind[0].endswith(f"(pid {pid})")
    assert lives(kept), "it belongs to the run that still goes on"
    (tmp_path / "go").touch()
    assert len(machine.ended(other).behind) == 1
    assert not lives(kept)


def test_a_job_may_be_cancelled_while_it_waits_and_while_it_runs(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine = make_machine(cores=1)
    file = tmp_path / "pid"
    running, waiting, other = machine.order(f"echo $$ >{file}; sleep 60"), machine.order("true"), machine.order("true")
    machine.submit(running, waiting, other)
    pid = pid_in(machine, file)
    views = [machine.jobs[order.job] for order in (waiting, running)]

    assert machine.scheduler.cancel(views) == [waiting.job, running.job]

    assert machine.ended(running).state == "cancelled"
    assert machine.ended(running).message == "it was cancelled"
    assert machine.ended(waiting).message == "it was cancelled before it started"
    assert not machine.layout.claim(waiting.job).exists()
    assert not lives(pid)
    assert machine.ended(other).state == "completed"
    assert machine.scheduler.cancel(views) == []


def test_the_first_reason_for_ending_a_job_stands(machine: Machine, tmp_path: Path) -> None:
    order = machine.order("trap '' TERM; sleep 60; sleep 60", time_limit_s=0.1)
    machine.submit(order)
    view = machine.jobs[order.job]
    late = machine.reactor.now() + 0.2
    machine.until(lambda: machine.reactor.now() > late)

    assert machine.scheduler.cancel([view]) == []
    assert machine.ended(order).state == "timeout"


def test_when_the_conductor_leaves_all_its_jobs_are_dead_and_interrupted(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    machine = make_machine(cores=2)
    files = [tmp_path / "1", tmp_path / "2"]
    orders = [machine.order(f"echo $$ >{file}; sleep 60") for file in files]
    waiting = machine.order("true")
    machine.submit(*orders, waiting)
    pids = [pid_in(machine, file) for file in files]

    reports = {report.job: report for report in machine.scheduler.end_all()}

    assert [pid for pid in pids if lives(pid)] == []
    assert [reports[order.job].state for order in orders] == ["interrupted"] * 2
    assert reports[orders[0].job].message == "it was ended with the conductor"
    assert waiting.job not in reports
    assert [report.state for report in machine.scheduler.poll({waiting.job: machine.jobs[waiting.job]})] == ["absent"]


# ---- what it finds and what is left of it ----------------------------------------------------------------------------


def test_it_finds_its_environment_and_nothing_to_read(machine: Machine) -> None:
    order = machine.order(
        'echo "$A|$SHAKEDOWN_RUN|$SHAKEDOWN_CAMPAIGN|${SHAKEDOWN_JOB##*/}|${PATH%%:*}|$(pwd)"; cat',
        environment=(("A", "b c"), ("UMLAUT", "ä")),
    )
    machine.submit(order)

    said = machine.output(machine.ended(order)).decode().strip().split("|")

    root = machine.layout.root
    assert said == ["b c", order.run, str(root), order.job, f"{sys.prefix}/bin", str(machine.work(order))]


def test_a_run_has_no_files_until_it_writes_one(machine: Machine) -> None:
    quiet = [machine.order("echo nothing to see") for _ in range(20)]
    writer = machine.order("echo evidence >result")
    machine.submit(*quiet[:10], writer, *quiet[10:])
    for order in (*quiet, writer):
        machine.ended(order)
    machine.scheduler.close()

    left = sorted(path.relative_to(machine.layout.root) for path in machine.layout.root.rglob("*") if path.is_file())

    claims = sorted(machine.layout.claim(order.job).relative_to(machine.layout.root) for order in (*quiet, writer))
    assert left == [
        *claims,
        Path("packs/000001.pack"),
        (machine.work(writer) / "result").relative_to(machine.layout.root),
    ]
    assert [path.name for path in (machine.layout.work / "000").iterdir()] == [writer.run]


def test_a_directory_that_a_run_spoilt_is_not_given_to_another(machine: Machine) -> None:
    spoiler = machine.order("chmod 500 .")
    machine.submit(spoiler)
    machine.ended(spoiler)

    assert machine.output(machine.run("stat -c %a .")) != b"500\n"


def test_input_files_are_there_and_are_not_taken_for_results(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "in.lammps").write_text("input\n")
    files = (("in.lammps", str(tmp_path / "in.lammps")), ("deep/er.dat", str(tmp_path / "in.lammps")))
    flat, deep = machine.order("cat in.lammps", files=files[:1]), machine.order("cat deep/er.dat", files=files)
    machine.submit(flat, deep)

    assert machine.output(machine.ended(flat)) == b"input\n"
    assert machine.output(machine.ended(deep)) == b"input\n"
    machine.scheduler.close()
    assert not machine.work(flat).exists()
    assert (machine.work(deep) / "deep/er.dat").is_symlink()
    assert (tmp_path / "in.lammps").read_text() == "input\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            (("in.dat", "/nowhere/in.dat"),),
            "run r000001 cannot be started: an input file is missing (/nowhere/in.dat)",
        ),
        (
            (("../../in.dat", "/etc/passwd"),),
            "run r000001 cannot be started: the name of an input file leads out of the run's directory (../../in.dat)",
        ),
    ],
)
def test_input_files_that_cannot_be_placed_are_a_sentence(
    machine: Machine, files: tuple[tuple[str, str], ...], message: str
) -> None:
    (answer,) = machine.submit(machine.order("true", files=files))

    assert (answer.outcome, answer.transient, answer.message) == ("refused", False, message)
    assert not machine.layout.claim("j000001").exists()


def test_many_quick_jobs_each_run_once(make_machine: MakeMachine, tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    machine = make_machine(cores=2)
    log = tmp_path / "log"
    orders = [machine.order(f"echo {number} >>{log}; echo {number}") for number in range(200)]
    machine.submit(*orders)
    reports = [machine.ended(order) for order in orders]

    assert [machine.output(report) for report in reports] == [b"%d\n" % number for number in range(200)]
    assert sorted(map(int, log.read_text().split())) == list(range(200))
    assert len(machine.said) - len([report for report in machine.said if report.state == "running"]) == 200
    claims = [machine.layout.claim(order.job).read_text().strip() for order in orders]
    assert all(re.fullmatch(r"\d+", claim) for claim in claims)
    assert len(list(Path("/proc/self/fd").iterdir())) < before + 100


def test_a_script_too_long_for_an_argument_goes_through_a_file(machine: Machine) -> None:
    long = "\n".join(f"x={number}" for number in range(30000))
    order = machine.order(f"{long}\necho $x $0")
    machine.submit(order)
    report = machine.ended(order)

    value, name = machine.output(report).decode().split()
    assert value == "29999"
    assert Path(name).is_relative_to(machine.layout.claims)
    assert not Path(name).exists()


def test_an_environment_that_no_process_can_have_is_a_sentence(machine: Machine) -> None:
    (large,) = machine.submit(machine.order("true", environment=(("A", "x" * 200_000),)))
    (null,) = machine.submit(machine.order("true", environment=(("A", "x\0y"),)))
    (named,) = machine.submit(machine.order("echo \0"))

    assert large.message == "run r000001 cannot be started: its environment is larger than this system allows"
    assert null.message == "run r000002 cannot be started: embedded null byte in its script or environment"
    assert named.message == "run r000003 cannot be started: embedded null byte in its script or environment"
    assert {large.outcome, null.outcome, named.outcome} == {"refused"}
    assert machine.run("true").state == "completed"
