"""The script of a job of several runs: each part once, honest ends, limits of their own, whatever the shell."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from batch_environment import batch_environment

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.model.void_starts import PAYLOAD_CHANGED
from shakedown.schedulers.cluster import parts_script
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.marks import read_marks
from shakedown.schedulers.cluster.part_marks import PartMark, claimed_parts, read_part
from shakedown.schedulers.local_host.script import CLAIM_TAKEN

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
JOB = "j000001"


@dataclass
class Node:
    """A campaign whose name no shell likes, and a node that runs its jobs."""

    places: JobPlaces
    shell: list[str]

    def prepare(self, scripts: Sequence[str], at_once: int = 1, limit_s: float = 600.0, **fields: object) -> list[str]:
        """A job with a part for each script; their runs."""
        shape = Shape(time_limit_s=limit_s)
        cases = [Case(f"c{n}", "t", "emu:batch", shape=shape, script=text, **fields) for n, text in enumerate(scripts)]  # type: ignore[arg-type]
        parts = tuple(Part(f"r{n:06}", case) for n, case in enumerate(cases, 1))
        self.places.prepare(JobOrder(JOB, parts[0].run, cases[0], parts=parts, at_once=at_once))
        return [part.run for part in parts]

    def start(self, restart: int = 0, slurm_id: str = "4711") -> subprocess.Popen[str]:
        environment = os.environ | batch_environment(self.places.layout, JOB, slurm_id)
        if restart:
            environment["SLURM_RESTART_COUNT"] = str(restart)
        return subprocess.Popen(
            [*self.shell, str(self.places.script(JOB))],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=hear_all,  # whoever runs the tests in the background is deaf; Slurm's jobs are not
        )

    def run(self) -> str:
        """One job from start to end; what it complained of."""
        process = self.start()
        complaints = process.communicate(timeout=120)[1]
        assert process.returncode == 0, complaints
        return complaints

    def mark(self, run: str) -> PartMark:
        mark = read_part(self.places, JOB, run)
        assert mark is not None
        return mark

    def states(self, runs: Sequence[str]) -> list[str]:
        return [self.mark(run).state for run in runs]

    def output(self, run: str) -> str:
        path = self.places.layout.part_output(JOB, run)
        return path.read_text() if path.exists() else ""


def hear_all() -> None:
    """Every signal means what it usually does, as in a job that Slurm starts."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(params=SHELLS, ids=" ".join)
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    root = tmp_path / "it's a $(camp) %j"
    root.mkdir()
    return Node(JobPlaces(Layout(root)), request.param)


def is_alive(pid: str) -> bool:
    """Whether a process does anything yet: one that is dead may wait for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_parts_whose_payload_a_part_before_them_changed_are_not_run(node: Node) -> None:
    """All but the last share nothing; the last is the one that the first overwrites."""
    first = (
        'for f in "$SHAKEDOWN_CAMPAIGN"/payloads/*; do grep -q "echo [h]onest" "$f" && echo "exit 0" >"$f"; done; true'
    )
    runs = node.prepare([first, "echo honest", "echo other"])
    node.run()
    assert node.states(runs) == ["completed", "refused", "completed"]
    assert (node.mark(runs[1]).message, node.output(runs[1])) == (PAYLOAD_CHANGED, "")


def test_each_part_is_a_run_of_its_own(node: Node, tmp_path: Path) -> None:
    (tmp_path / "in.put").write_text("atoms\n")
    files = (("in.put", str(tmp_path / "in.put")),)
    environment = (("GREETING", "it's"),)
    runs = node.prepare(
        ["pwd; echo $SHAKEDOWN_RUN $GREETING; cat in.put", "exit 7", "kill -9 $$", "sleep 0.3; cat"],
        at_once=2,
        files=files,
        environment=environment,
    )
    assert node.run() == ""
    layout = node.places.layout
    assert node.output(runs[0]) == f"{layout.part_work(JOB, runs[0])}\n{runs[0]} it's\natoms\n"
    marks = [node.mark(run) for run in runs]
    assert [(mark.state, mark.exit_status) for mark in marks] == [
        ("completed", 0),
        ("failed", 7),
        ("failed", 137),
        ("completed", 0),
    ]
    assert marks[3].elapsed_s is not None and 0.28 <= marks[3].elapsed_s < 60
    assert all(mark.began_uptime_s for mark in marks)
    whole = read_marks(node.places, JOB)
    assert whole is not None and (whole.exit_status, whole.left, whole.told) == (0, 0, "")


def test_parts_begin_in_order(node: Node) -> None:
    runs = node.prepare(["echo $SHAKEDOWN_RUN >>{campaign}/log"] * 9)
    node.run()
    assert (node.places.layout.root / "log").read_text().split() == runs


def test_so_many_run_side_by_side_and_no_more(node: Node) -> None:
    log = "{campaign}/log"
    together = f"while [ $(grep -c + {log}) -lt 3 ]; do sleep 0.01; done"  # the first three wait for each other
    runs = node.prepare([f"echo + >>{log}; {together}; sleep 0.1; echo - >>{log}"] * 9, at_once=3)
    node.run()
    alive = [0]
    for sign in (node.places.layout.root / "log").read_text().split():
        alive.append(alive[-1] + (1 if sign == "+" else -1))
    assert max(alive) == 3 and alive[-1] == 0
    assert node.states(runs) == ["completed"] * 9


def test_a_part_that_the_conductor_took_never_begins(node: Node) -> None:
    runs = node.prepare(["echo ran"] * 5, at_once=2)
    taken = [runs[1], runs[4]]
    assert node.places.take_parts(JOB, taken) == taken
    assert node.places.take_parts(JOB, taken[:1]) == taken[:1], "it is still ours after a crash"
    node.run()
    assert [bool(node.output(run)) for run in runs] == [True, False, True, True, False]
    assert [node.mark(run).taken for run in runs] == [False, True, False, False, True]
    assert not node.places.take_parts(JOB, runs[:1]), "it ran: nobody may order another"


def test_whatever_is_started_again_runs_nothing_twice(node: Node) -> None:
    """The same job under another number, or restarted though it was submitted so that it never is."""
    runs = node.prepare(["echo $SHAKEDOWN_RUN >>{campaign}/ran"] * 4)
    node.run()
    other = node.start(slurm_id="4712")
    other.communicate(timeout=60)
    assert other.returncode == CLAIM_TAKEN
    again = node.start(restart=1)
    again.communicate(timeout=60)
    assert again.returncode == CLAIM_TAKEN
    assert (node.places.layout.root / "ran").read_text().split() == runs


def test_a_restart_goes_on_with_what_nobody_began(node: Node) -> None:
    runs = node.prepare(["echo $SHAKEDOWN_RUN >>{campaign}/ran; [ $SHAKEDOWN_RESTART = 1 ] || sleep 100"] * 3)
    first = node.start()
    wait_until((node.places.layout.root / "ran").exists)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=60)
    node.start(restart=1).communicate(timeout=60)
    assert (node.places.layout.root / "ran").read_text().split() == runs
    assert node.states(runs) == ["running", "completed", "completed"]
    assert [node.mark(run).restart for run in runs] == [0, 1, 1]


@pytest.mark.parametrize("payload", ["sleep 61", "trap 'echo saved; exit 0' TERM; sleep 61 & wait"])
def test_what_a_signal_to_all_ends_has_no_end_of_its_own_and_nothing_more_begins(node: Node, payload: str) -> None:
    runs = node.prepare(["echo quick", f"echo on; {payload}", f"echo on; {payload}", "echo no"], at_once=2, limit_s=0)
    process = node.start()
    wait_until(
        lambda: node.output(runs[1]) == node.output(runs[2]) == "on\n" and node.states(runs[:1]) == ["completed"]
    )
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert node.states(runs[:3]) == ["completed", "running", "running"]
    assert claimed_parts(node.places, JOB) == set(runs[:3])
    if "trap" in payload:
        assert node.output(runs[1]) == "on\nsaved\n", "it had time to save what it had"
    whole = read_marks(node.places, JOB)
    assert whole is not None and (whole.told, whole.exit_status, whole.left) == ("TERM", None, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_payload_whose_child_is_killed_first_does_not_pass_for_one_that_ended_well(
    node: Node, number: signal.Signals
) -> None:
    """Slurm signals children before their parents: the payload ends, with status 0, before anybody else is told."""
    (run, *_) = node.prepare(["sleep 61 & echo $!; wait; exit 0", "sleep 5"], limit_s=0)
    process = node.start()
    wait_until(lambda: node.output(run).endswith("\n"))
    os.kill(int(node.output(run)), number)
    time.sleep(0.01)
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    assert node.mark(run).state == "running"


def test_a_part_at_its_time_limit_is_ended_with_all_it_started_and_no_other(node: Node) -> None:
    endless = "echo $$; sleep 62 & echo $!; sh -c 'echo $$; sleep 63'; echo not reached"
    saves = "trap 'echo saved; exit 0' TERM; sleep 64 & wait"
    runs = node.prepare([endless, saves, "sleep 0.1", "sleep 0.1"], at_once=2, limit_s=2.0)
    node.run()
    assert node.states(runs) == ["timeout", "timeout", "completed", "completed"]
    mark = node.mark(runs[0])
    assert (mark.exit_status, mark.message) == (None, "it was ended at its time limit of 2 s; the job went on")
    assert mark.elapsed_s is not None and mark.elapsed_s >= 2
    assert "saved" in node.output(runs[1]) and "not reached" not in node.output(runs[0])
    started = [pid for pid in node.output(runs[0]).split() if pid.isdigit()]
    assert len(started) == 3
    wait_until(lambda: not any(is_alive(pid) for pid in started))


def test_a_part_that_does_not_let_itself_be_told_is_killed(node: Node) -> None:
    script = node.places
    runs = node.prepare(["trap '' TERM; echo on; while :; do sleep 1; done", ":"], limit_s=1.0)
    path = script.script(JOB)
    path.write_text(path.read_text().replace("_sd_now + 1000", "_sd_now + 100"))  # patience of one second
    node.run()
    assert node.states(runs) == ["timeout", "completed"]


def test_a_time_in_which_the_whole_job_stood_still_counts_for_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Suspended, or stopped by a signal, for longer than the parts may take. Without the halt they are within their limit."""
    monkeypatch.setattr(parts_script, "_HALT_S", 1)
    node = Node(JobPlaces(Layout(tmp_path)), SHELLS[0])
    runs = node.prepare(
        ["for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.1; done", "sleep 60"], 1, limit_s=3.0
    )
    process = node.start()
    wait_until(lambda: claimed_parts(node.places, JOB) == set(runs[:1]))
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(3.2)
    os.killpg(process.pid, signal.SIGCONT)
    process.communicate(timeout=60)
    assert node.states(runs) == ["completed", "timeout"]


def test_what_a_part_leaves_behind_holds_up_nobody(node: Node) -> None:
    runs = node.prepare(["sleep 100 & echo $!", "echo next"])
    node.run()
    assert node.states(runs) == ["completed", "completed"]
    os.kill(int(node.output(runs[0])), signal.SIGKILL)


def test_a_payload_has_the_signals_of_a_single_job(node: Node) -> None:
    """A shell has its background processes ignore interrupts; ours are none."""
    (run,) = node.prepare(["grep SigIgn /proc/self/status"])
    node.run()
    match = re.search(r"[0-9a-f]{16}", node.output(run))
    assert match and not int(match[0], 16) & (1 << (signal.SIGINT - 1) | 1 << (signal.SIGQUIT - 1) | 1 << 14)


def test_a_place_that_cannot_be_entered_is_said_and_the_next_part_runs(node: Node) -> None:
    runs = node.prepare(["echo no", "echo yes"])
    node.places.layout.part_work(JOB, runs[0]).rmdir()
    node.run()
    assert node.states(runs) == ["refused", "completed"]
    assert "could not be opened on the node" in node.mark(runs[0]).message


def test_claims_that_cannot_be_written_do_not_use_up_the_parts(node: Node) -> None:
    runs = node.prepare(["echo $SHAKEDOWN_RUN"] * 20)
    shutil.rmtree(node.places.layout.part_marks(JOB))
    complaints = node.start().communicate(timeout=60)[1]
    assert complaints.count("parts/") == 1, "one lane, which begins nothing more"
    assert claimed_parts(node.places, JOB) == set()
    assert not any(node.output(run) for run in runs)


def test_a_mark_that_another_lane_is_about_to_write_is_no_trouble(node: Node) -> None:
    """Lanes race for each part. Who loses may find the winner's mark empty yet, and goes on with the next part."""
    runs = node.prepare([":"] * 240, at_once=16, limit_s=0)
    assert node.run() == ""
    assert node.states(runs) == ["completed"] * 240


def test_a_lane_that_is_killed_as_it_makes_a_mark_leaves_no_doubt_about_it(node: Node) -> None:
    """A mark is opened, which one lane alone can, and written by one call. What is killed in between leaves it empty: it is not the
    conductor's, nobody begins the part again in this job, and it is one that began and has no end, which is attempted again.
    """
    runs = node.prepare(["echo $SHAKEDOWN_RUN >>../../seen"] * 6, at_once=2)
    killed = node.places.layout.part_mark(JOB, runs[2])
    killed.touch()

    assert node.run() == ""
    assert node.states(runs) == ["completed"] * 2 + ["running"] + ["completed"] * 3
    assert not node.places.take_parts(JOB, runs[2:3]) and not node.mark(runs[2]).taken
    assert killed.read_bytes() == b"" and node.output(runs[2]) == ""

    again = node.start(restart=1)
    again.communicate(timeout=60)
    assert node.states(runs) == ["completed"] * 2 + ["running"] + ["completed"] * 3


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not here")
def test_the_words_of_a_mark_are_written_by_one_call(node: Node, tmp_path: Path) -> None:
    """So a mark is empty or whole, wherever its shell is killed. What is written for it fits one block of a file system."""
    (run,) = node.prepare(["true"], limit_s=0)
    calls = tmp_path / "calls"
    words = ["strace", "-f", "-y", "-e", "trace=write", "-o", str(calls), *node.shell, str(node.places.script(JOB))]
    environment = os.environ | batch_environment(node.places.layout, JOB)
    subprocess.run(words, env=environment, check=True, timeout=60, capture_output=True)
    mark = str(node.places.layout.part_mark(JOB, run))
    mine = [line for line in calls.read_text().splitlines() if f"{mark}>" in line]
    assert len(mine) == 2, "its claim, and its end"
    assert len(node.places.layout.part_mark(JOB, run).read_bytes()) < 512


def test_our_own_part_needs_no_program(node: Node, tmp_path: Path) -> None:
    (run, other) = node.prepare(["echo fine", "exit 3"], at_once=2, limit_s=0)
    environment = {"PATH": str(tmp_path / "nothing"), **batch_environment(node.places.layout, JOB)}
    words = [str(shutil.which(node.shell[0])), *node.shell[1:], str(node.places.script(JOB))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    said = (
        f"there is no sha256sum on {os.uname().nodename}: nothing says there whether a payload is what its name says\n"
    )
    assert done.stderr in (said, ""), "once for all parts; a shell may have one of its own"
    assert (done.returncode, node.output(run)) == (0, "fine\n")
    assert node.states([run, other]) == ["completed", "failed"]


def test_a_thousand_parts_share_what_is_the_same(node: Node) -> None:
    runs = node.prepare(["true"] * 1000)
    assert len(list(node.places.layout.payloads.iterdir())) == 1
    assert len(list(node.places.layout.job_work(JOB, 0).iterdir())) == len(runs)
    assert len(node.places.script(JOB).read_text()) < 100_000


def test_end_marks_wait_for_a_directory_that_is_away(node: Node) -> None:
    """A file system that is full or away just when a part ends: the part is judged by its own end all the same."""
    away = 'mv "$SHAKEDOWN_CAMPAIGN/jobs" "$SHAKEDOWN_CAMPAIGN/away"'
    back = 'mv "$SHAKEDOWN_CAMPAIGN/away" "$SHAKEDOWN_CAMPAIGN/jobs"'
    waits = 'until [ -s "$SHAKEDOWN_CAMPAIGN/room" ]; do sleep 0.05; done'
    runs = node.prepare(
        [
            f'{away}; (sleep 0.3; {back}; sleep 2; echo >"$SHAKEDOWN_CAMPAIGN/room") >/dev/null 2>&1 & exit 3',
            f"{waits}; exit 0",
        ],
        at_once=2,
    )
    node.run()
    assert (node.mark(runs[0]).state, node.mark(runs[0]).exit_status) == ("failed", 3)
    assert [node.mark(run).full for run in runs] == [True, False], "the other one ended when there was room again"


def test_what_was_waited_for_in_vain_is_waited_for_no_more(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four parts end where nothing can be written any more: the job waits once for half a minute, not for each of them."""
    if node.shell[0] == "busybox":
        pytest.skip("its sleep is its own")
    fake, waited = tmp_path / "bin/sleep", tmp_path / "waited"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\n[ "$1" = 1 ] && echo >>{waited}\nexit 0\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    gone = 'i=0; while [ $i -lt 4 ]; do i=$(ls "$SHAKEDOWN_CAMPAIGN"/began | wc -l); done; cd "$SHAKEDOWN_CAMPAIGN"; mv jobs away'
    (node.places.layout.root / "began").mkdir()
    runs = node.prepare([f'touch "$SHAKEDOWN_CAMPAIGN/began/{n}"; {gone}' for n in range(4)], at_once=4, limit_s=0.0)
    node.run()
    assert (
        len(runs) == 4 and 1 <= len(waited.read_text().splitlines()) <= 2 * 30
    )  # the scribe's, and the job's own mark
