"""Workers that are slow, hang, die or are killed: every run gets its evidence, and the conductor never waits."""

from __future__ import annotations

import os
import signal
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conductor.workers.conftest import Room

from shakedown.conductor.workers import worker
from shakedown.conductor.workers import worker_process as hiring
from shakedown.conductor.workers.collector import WorkerCollector
from shakedown.conductor.workers.worker import TimeUp, within
from shakedown.model.errors import ShakedownError
from shakedown.model.nouns import Check, FigureSpec, Test

EXPLODING = Check("matches", "output", "(a+)+$", 'output matches "(a+)+$"')
DONE = Check("contains", "output", "done", 'output contains "done"')
BAIT = b"a" * 64 + b"b\ndone\n"
TOO_SLOW = "it took more than the 0.6 s of processor time that all checks and figures of a run may take"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_regular_expression_that_explodes_is_not_checked_and_takes_nothing_from_the_others(room: Room) -> None:
    speed = FigureSpec("speed", regex="(?P<value>(a+)+)$")
    test = Test("t", checks=(EXPLODING, DONE), figures=(speed, FigureSpec("n", regex=r"(?P<value>\d)")))
    evidence = room.one(room.order(test, b"7\n" + BAIT), seconds=0.6, quick=0.1)
    assert [(check.held, check.detail) for check in evidence.checks] == [(None, TOO_SLOW), (True, "")]
    assert evidence.figures == (("n", 7.0),)
    assert evidence.problems == (f"figure speed: {TOO_SLOW}",)


def test_the_conductor_goes_on_while_a_worker_is_stuck_and_so_do_the_other_runs(room: Room) -> None:
    collector = room.open(seconds=1.0)
    slow = room.order(Test("slow", checks=(EXPLODING,)), BAIT)
    quick = [room.order(Test("quick", checks=(DONE,)), BAIT) for _ in range(30)]
    collector.start([slow, *quick])
    others = room.until(collector, 30)
    assert slow.run not in others
    assert all(evidence.checks[0].held for evidence in others.values())
    assert room.until(collector, 1)[slow.run].checks[0].held is None


def test_starting_and_polling_never_wait_for_a_worker(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, "r000001", lambda: time.sleep(60))
    collector = room.open(workers=1)
    huge = Test("huge", checks=(Check("contains", "output", "x" * (3 << 20), "huge"),))  # no pipe holds that
    collector.start([room.order(Test("t")), room.order(huge, b"x"), room.order(Test("t"))])
    assert collector.poll() == []


def test_an_order_that_is_larger_than_a_pipe_arrives(room: Room) -> None:
    huge = Test("huge", checks=(Check("lacks", "output", "x" * (3 << 20), "huge"),))
    assert room.one(room.order(huge, b"x")).checks[0].held is True


def stop_at(monkeypatch: pytest.MonkeyPatch, run: str, what: Callable[[], object]) -> None:
    """Workers forked from now on do this to themselves when they come to a run."""
    take = worker.take_evidence

    def stopping(name: str, *others: object) -> object:
        if name == run:
            what()
        return take(name, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "take_evidence", stopping)


def hang() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
    time.sleep(60)


def test_a_worker_that_hangs_is_ended_and_the_rest_of_its_orders_are_done_by_another(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, "r000003", hang)
    look = hiring.Worker.at_work

    def at_work(self: hiring.Worker) -> tuple[int, float]:
        """As if it had hung for 130 s, and the others answered at once, however busy this machine is."""
        number, _ = look(self)
        hangs = number in self.tasks and self.tasks[number].order.run == "r000003"
        return number, 130.0 if hangs else 0.0

    monkeypatch.setattr(hiring.Worker, "at_work", at_work)
    collector = room.open(workers=1)
    (first,) = collector.pids()
    got = room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(8)])
    assert [run for run, evidence in got.items() if not evidence.checks[0].held] == ["r000003"]
    detail = "the worker that read it gave no answer for 130 s and was ended"
    assert got["r000003"].checks[0].detail == detail
    assert got["r000003"].problems == (detail,)
    assert got["r000003"].trouble == detail
    assert collector.pids() != [first]


def test_a_worker_that_is_stopped_takes_no_time_from_its_run_and_its_run_no_blame(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, "r000001", lambda: time.sleep(1.5))
    collector = room.open(workers=1, seconds=0.3, quick=0.1, excerpt=0.1, classify=0.1, grace=0.1)
    evidence = room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT)])["r000001"]
    assert (evidence.checks[0].held, evidence.trouble) == (True, "")


def test_what_works_without_an_end_and_heeds_no_signal_is_the_tests_own(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        while True:
            pass

    stop_at(monkeypatch, "r000001", work)
    collector = room.open(workers=1, seconds=0.2, excerpt=0.1, classify=0.1, grace=0.1)
    evidence = room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT)])["r000001"]
    detail = "reading it took more than 0.5 s of processor time without an end, and was ended"
    assert (evidence.checks[0].held, evidence.checks[0].detail, evidence.trouble) == (None, detail, "")


def test_what_a_busy_worker_gave_up_is_done_once_and_by_another(
    room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    take = worker.take_evidence

    def noting(run: str, *others: object) -> object:
        with (tmp_path / "done").open("a") as file:
            file.write(f"{run}\n")
        if run == "r000001":
            time.sleep(0.6)
        return take(run, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "take_evidence", noting)
    collector = room.open()
    room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(10)])
    assert len(collector.pids()) == 2
    room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(20)])  # some for each of them
    assert sorted((tmp_path / "done").read_text().split()) == [f"r{number:06d}" for number in range(1, 31)]


def test_a_worker_that_dies_again_at_the_same_run_is_told_so_of_that_run_alone(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, "r000002", lambda: os.kill(os.getpid(), signal.SIGKILL))
    got = room.collect(room.open(), [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(5)])
    detail = "the worker that read it ended unexpectedly (signal 9 (SIGKILL), perhaps for lack of memory)"
    assert [run for run, evidence in got.items() if not evidence.checks[0].held] == ["r000002"]
    assert (got["r000002"].problems, got["r000002"].trouble) == ((detail,), detail)


def test_a_worker_that_is_killed_once_costs_no_run_its_evidence(
    room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = tmp_path / "once"

    def once() -> None:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    stop_at(monkeypatch, "r000002", once)
    got = room.collect(room.open(), [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(5)])
    assert mark.exists()
    assert all(evidence.checks[0].held for evidence in got.values())


def test_an_idle_worker_that_is_killed_is_replaced(room: Room) -> None:
    collector = room.open(workers=1)
    for _ in range(2):
        (pid,) = collector.pids()
        os.kill(pid, signal.SIGKILL)
        assert room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT)])
        assert collector.pids() != [pid]


def test_a_fault_of_ours_is_told_of_its_run_and_the_worker_lives_on(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(monkeypatch, "r000001", lambda: {"a": 1}["figure"])
    collector = room.open(workers=1)
    before = collector.pids()
    got = room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT) for _ in range(2)])
    assert got["r000001"].checks[0].detail == "a fault of Shakedown itself: KeyError: 'figure'"
    assert got["r000001"].trouble == got["r000001"].checks[0].detail
    assert got["r000002"].checks[0].held is True
    assert collector.pids() == before


def test_workers_that_cannot_even_begin_stop_the_conductor_instead_of_failing_every_run(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hiring, "serve", lambda *_: os._exit(7))
    collector = room.open()
    with pytest.raises(ShakedownError, match=r"end before they begin \(exit status 7\)") as caught:
        room.collect(collector, [room.order(Test("t"), b"x")])
    assert caught.value.hint == (
        "nothing is lost; 'shakedown resume' goes on once they can run (memory, process limits)"
    )


def test_a_regular_expression_that_wants_all_the_memory(room: Room) -> None:
    test = Test("t", checks=(Check("matches", "output", "(?:.|\n)*x", "greedy"), DONE))
    evidence = room.one(room.order(test, b"ab\n" * (3 << 20) + b"done"), memory=256 << 20, seconds=20.0, quick=9.0)
    assert evidence.checks[0].detail == "it takes more memory than the 256.0 MiB that a run may take"
    assert evidence.checks[1].held is True


def test_workers_heed_no_signal_that_a_terminal_or_a_service_manager_sends_to_everyone(room: Room) -> None:
    collector = room.open(workers=1)
    before = collector.pids()
    room.collect(collector, [room.order(Test("t"), b"x")])  # it has settled in
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        os.kill(before[0], number)
    assert room.collect(collector, [room.order(Test("t", checks=(DONE,)), BAIT)])["r000002"].checks[0].held
    assert collector.pids() == before


def test_a_worker_holds_none_of_the_conductors_files(room: Room, tmp_path: Path) -> None:
    with (tmp_path / "lease").open("w"):
        collector = room.open(workers=1)
        room.collect(collector, [room.order(Test("t"), b"x")])
        held = [str(entry.readlink()) for entry in Path(f"/proc/{collector.pids()[0]}/fd").iterdir()]
    assert sorted(name.partition(":")[0].replace(str(room.layout.root), "") for name in held) == [
        *["/dev/null"] * 3,
        "/packs/000001.pack",
        *["pipe"] * 2,
    ]


def test_workers_end_with_their_conductor_however_it_ends(room: Room) -> None:
    read, write = os.pipe()
    conductor = os.fork()
    if conductor == 0:
        try:
            os.write(write, str(WorkerCollector(room.layout, room.reactor).pids()[0]).encode())
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.close(write)
    assert os.waitpid(conductor, 0)[1] == signal.SIGKILL
    pid = int(os.read(read, 100))
    os.close(read)
    end = time.monotonic() + 10
    while alive(pid) and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end, "the worker outlived its conductor"
        time.sleep(0.01)


def test_closing_ends_all_workers(room: Room) -> None:
    collector = room.open()
    collector.start([room.order(Test("t", checks=(EXPLODING,)), BAIT)])
    pids = collector.pids()
    collector.close()
    collector.close()
    assert not any(map(alive, pids))


def test_a_machine_that_gives_no_process_is_named(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", no_process)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ShakedownError) as caught:
        room.open()
    assert str(caught.value) == ("no worker process can be started to check outputs: Resource temporarily unavailable")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_conductor_keeps_no_output_in_its_memory(room: Room) -> None:
    path = room.layout.outputs / "000" / "r000001.out"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(16 << 20)
    collector = room.open(workers=1, seconds=20.0)
    order = room.order(Test("t", checks=(DONE,)), {"file": "outputs/000/r000001.out", "bytes": 16 << 20})
    tracemalloc.start()
    try:
        evidence = room.collect(collector, [order])[order.run]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert evidence.checks[0].held is False
    assert peak < 1 << 20
    path.unlink()


def test_work_within_its_time_is_returned_and_an_alarm_that_comes_late_harms_nothing() -> None:
    old = signal.signal(signal.SIGPROF, worker._alarm)
    try:
        assert within(5.0, lambda: 7) == 7
        assert within(0.02, lambda: time.sleep(5)) is None
        os.kill(os.getpid(), signal.SIGPROF)
        with pytest.raises(TimeUp):
            worker._armed = True
            os.kill(os.getpid(), signal.SIGPROF)
    finally:
        worker._armed = False
        signal.signal(signal.SIGPROF, old)
