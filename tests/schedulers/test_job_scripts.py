"""The script of a cluster's job: executed once, whatever its payload does, and honest about how it ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from batch_environment import batch_environment
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Pairs, Shape
from shakedown.model.ports import JobOrder
from shakedown.model.void_starts import PAYLOAD_CHANGED
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster.job_places import JobPlaces, is_payload
from shakedown.schedulers.cluster.job_script import RAN_AND_ENDED_SO
from shakedown.schedulers.cluster.marks import Marks, read_marks
from shakedown.schedulers.local_host.script import CLAIM_TAKEN

SHELLS = [words for words in (["sh"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(words[0])]


@dataclass
class Site:
    """A campaign whose name no shell likes, and a node that runs its jobs."""

    places: JobPlaces
    shell: list[str]

    def prepare(self, script: str, job: str = "j000001", files: Pairs = (), environment: Pairs = ()) -> Path:
        case = Case("c", "t", "emu:batch", script=script, files=files, environment=environment)
        return self.places.prepare(JobOrder(job, "r000001", case))

    def start(self, job: str = "j000001", slurm_id: str = "4711", restart: int = 0) -> subprocess.Popen[str]:
        environment = os.environ | batch_environment(self.places.layout, job, slurm_id, "n[001-002]")
        if restart:
            environment["SLURM_RESTART_COUNT"] = str(restart)
        return subprocess.Popen(
            [*self.shell, str(self.places.script(job))],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, script: str, environment: Pairs = ()) -> tuple[int, Marks, str]:
        """One job from start to end: its status, its marks, its output."""
        self.prepare(script, environment=environment)
        process = self.start()
        process.communicate(timeout=60)
        return process.returncode, self.marks(), self.output()

    def marks(self, job: str = "j000001") -> Marks:
        marks = read_marks(self.places, job)
        assert marks is not None
        return marks

    def output(self, restart: int = 0) -> str:
        return self.places.output("j000001", restart).read_bytes().decode()


@pytest.fixture(params=SHELLS, ids=lambda words: words[0])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    root = tmp_path / "it's a $(camp) %j"
    root.mkdir()
    return Site(JobPlaces(Layout(root)), request.param)


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_a_job_says_where_and_how_long_it_ran(site: Site) -> None:
    status, marks, output = site.run("echo out; echo err >&2; sleep 0.2; pwd")

    assert status == 0
    assert output == f"out\nerr\n{site.places.directory('j000001', 0)}\n"
    assert (marks.restart, marks.claimed, marks.holder, marks.scheduler_id) == (0, True, "4711", "4711")
    assert (marks.host, marks.nodes) == (os.uname().nodename, "n[001-002]")
    assert marks.exit_status == 0
    assert marks.began_uptime_s is not None
    assert marks.elapsed_s is not None
    assert 0.19 <= marks.elapsed_s < 60
    assert marks.output_bytes == len(output)


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        ("exit 7", 7),
        ("exec sh -c 'exit 5'", 5),
        ("set -e\nfalse\necho no", 1),
        ("set -u; trap 'exit 9' EXIT; exit 3", 9),
        ("kill -9 $$", 137),
        ("(", 2),
        ("cd /; rm -f marks.0; unset PATH; return 4", 4),
        ("ulimit -n 3; exit 6", 6),
        ("exec >&- 2>&-; exit 8", 8),
    ],
)
def test_nothing_that_a_payload_does_loses_its_end(site: Site, payload: str, status: int) -> None:
    ended, marks, _ = site.run(payload)

    assert (ended, marks.exit_status, marks.told) == (status, status, "")
    assert marks.elapsed_s is not None


def test_a_payload_that_ends_as_a_job_that_did_not_run_is_told_from_one(site: Site) -> None:
    """Where its mark cannot be written, the job's own status is all that is known, and must not say that nothing ran."""
    ended, marks, _ = site.run(f"exit {CLAIM_TAKEN}")

    assert (ended, marks.exit_status) == (RAN_AND_ENDED_SO, CLAIM_TAKEN)


def test_a_payload_sees_its_environment_and_nothing_of_ours(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [name for name in os.environ if name.startswith("SHAKEDOWN_TESTS_")]  # of the tests, not of the program
    for name in ours:
        monkeypatch.delenv(name)
    environment = (("GREETING", 'it\'s "$HOME" `x`\n2'), ("SHAKEDOWN_RUN_SHAPE", "1"))
    _, _, output = site.run(
        'set | grep -c _sd_; trap; env | grep -a ^SHAKEDOWN_ | sort; echo "$GREETING"; cat', environment=environment
    )

    root = site.places.layout.root
    wanted = [f"SHAKEDOWN_CAMPAIGN={root}", "SHAKEDOWN_RESTART=0", "SHAKEDOWN_RUN=r000001", "SHAKEDOWN_RUN_SHAPE=1"]
    assert output.splitlines() == ["0", *wanted, 'it\'s "$HOME" `x`', "2"]


def test_a_variable_that_a_login_shell_exported_reaches_the_payload(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever word we might have used for our own purposes."""
    words = ("status", "count", "host", "work", "restart", "output", "job", "holder", "payload", "began", "told")
    for word in words:
        monkeypatch.setenv(word, f"my {word}")
    _, _, output = site.run(f"printenv {' '.join(words)}")
    assert output.splitlines() == [f"my {word}" for word in words]


def test_a_job_runs_once_however_often_it_is_submitted(site: Site) -> None:
    site.prepare("echo once >> {campaign}/executed")
    processes = [site.start(slurm_id=str(number)) for number in range(1, 9)]
    for process in processes:
        process.communicate(timeout=60)

    assert sorted(process.returncode for process in processes) == [0] + [CLAIM_TAKEN] * 7
    assert (site.places.layout.root / "executed").read_text() == "once\n"
    winner = next(number for number, process in enumerate(processes, 1) if process.returncode == 0)
    assert site.places.claim_holder("j000001", 0) == str(winner)


def test_a_restart_of_the_same_job_has_a_place_of_its_own(site: Site, tmp_path: Path) -> None:
    (tmp_path / "in.put").write_text("atoms\n")
    site.prepare(
        "ls -R; cat in.put 'deep er/in 2'; echo $SHAKEDOWN_RESTART > mine; [ $SHAKEDOWN_RESTART = 1 ] || exit 137",
        files=(("in.put", str(tmp_path / "in.put")), ("deep er/in 2", str(tmp_path / "in.put"))),
    )
    site.start().communicate(timeout=60)
    first = site.output()
    site.start(restart=1).communicate(timeout=60)

    marks = site.marks()
    assert (marks.restart, marks.exit_status) == (1, 0)
    assert site.output(1) == first
    assert "atoms\natoms\n" in first
    assert [(site.places.directory("j000001", n) / "mine").read_text() for n in (0, 1)] == ["0\n", "1\n"]


def test_a_job_whose_place_was_taken_cannot_come_back_by_a_requeue(site: Site) -> None:
    """The conductor took claim 0 and ordered another job: whatever the scheduler restarts must not run."""
    site.prepare("echo no >> {campaign}/executed")
    assert site.places.take_claim("j000001", 0)
    assert site.places.take_claim("j000001", 0), "it is still ours after a crash"
    for restart in (0, 1, 2):
        process = site.start(restart=restart)
        process.communicate(timeout=60)
        assert process.returncode == CLAIM_TAKEN

    assert not (site.places.layout.root / "executed").exists()
    assert site.marks().holder == "conductor"


@pytest.mark.parametrize("status", [0, 3])
def test_a_restart_of_a_job_that_came_to_its_own_end_does_nothing(site: Site, status: int) -> None:
    """``scontrol requeue`` of a job that is over, or a node that Slurm lost while the job on it went on to its end."""
    site.prepare(f"echo ran >> {{campaign}}/executed; exit {status}")
    site.start().communicate(timeout=60)
    for restart in (1, 2):
        again = site.start(restart=restart)
        again.communicate(timeout=60)
        assert again.returncode == CLAIM_TAKEN

    assert (site.places.layout.root / "executed").read_text() == "ran\n"
    assert site.places.claim_holder("j000001", 1) is None, "it never began"
    assert site.marks().void == "over"


@pytest.mark.parametrize("end", ["kill -9 $$", "kill -15 $$"])
def test_a_restart_after_an_end_that_came_from_outside_runs(site: Site, end: str) -> None:
    """What ends a payload by a signal may be Slurm, which puts the job back into the queue: then the work is not done."""
    site.prepare(f"echo ran >> {{campaign}}/executed; {end}")
    for restart in (0, 1):
        site.start(restart=restart).communicate(timeout=60)
    assert (site.places.layout.root / "executed").read_text() == "ran\nran\n"


@dataclass
class Chain:
    """Three jobs, each of which follows the one before."""

    site: Site

    def prepare(self) -> None:
        before = ""
        for job in ("j000001", "j000002", "j000003"):
            case = Case("c", "t", "emu:batch", script=f"echo {job} >> {{campaign}}/executed")
            self.site.places.prepare(JobOrder(job, "r000001", case, after=(before, "")))
            before = job

    def start(self, job: str) -> int:
        process = self.site.start(job)
        process.communicate(timeout=60)
        return process.returncode

    def claimed(self, job: str, restart: int = 0, uptime: str = "1.00") -> None:
        path = self.site.places.claim(job, restart)
        path.write_text(f"job=9 host=n009 uptime={uptime} pid=9 nodes=n009 node=n009 .\n")


def test_a_job_does_not_start_beside_the_one_that_it_follows(site: Site) -> None:
    """Slurm lost the node of that one and calls it over; nobody can see whether its processes live on."""
    chain = Chain(site)
    chain.prepare()
    chain.claimed("j000001")
    assert chain.start("j000002") == CLAIM_TAKEN
    assert site.marks("j000002").void == "before"
    assert chain.start("j000003") == CLAIM_TAKEN, "nor does the one after: the one before it never ran"
    assert not (site.places.layout.root / "executed").exists()

    site.places.marks("j000001", 0).write_text("began=1.00 ended=2.00 status=143 told=TERM .\n")
    assert chain.start("j000003") == 0, "it is over now, however it ended"


def test_a_job_follows_one_that_the_conductor_knows_to_be_over_or_that_never_ran(site: Site) -> None:
    chain = Chain(site)
    chain.prepare()
    chain.claimed("j000001")
    assert site.places.take_claim("j000001", 1), "done with"
    assert site.places.take_claim("j000002", 0), "taken back before it ran"
    assert chain.start("j000003") == 0


def test_a_job_whose_predecessor_was_started_again_follows_the_last_start(site: Site) -> None:
    chain = Chain(site)
    chain.prepare()
    for restart in (0, 1):
        chain.claimed("j000001", restart, f"{restart}.00")
    site.places.marks("j000001", 0).write_text("began=1.00 ended=2.00 status=143 told=TERM .\n")
    assert chain.start("j000002") == CLAIM_TAKEN
    site.places.marks("j000001", 1).write_text("began=1.00 ended=2.00 status=0 told= .\n")
    assert chain.start("j000002") == 0


def test_a_job_does_not_start_beside_a_lost_start_of_the_one_that_it_follows(site: Site) -> None:
    """Its node was out of reach, and the job was started again elsewhere and came to its end there."""
    chain = Chain(site)
    chain.prepare()
    for restart in (0, 1):
        chain.claimed("j000001", restart, f"{restart}.00")
    site.places.marks("j000001", 1).write_text("began=1.00 ended=2.00 status=0 told= .\n")
    assert chain.start("j000002") == CLAIM_TAKEN
    assert site.marks("j000002").void == "before"
    site.places.marks("j000001", 0).write_text("began=1.00 ended=9.00 status=0 told= .\n")
    assert chain.start("j000003") == 0


def test_a_start_that_never_began_is_followed_by_nobody(site: Site) -> None:
    """A later start of the job took its claim along with its own."""
    chain = Chain(site)
    chain.prepare()
    chain.claimed("j000001", 0)
    chain.claimed("j000001", 1)
    site.places.marks("j000001", 1).write_text("began=1.00 ended=2.00 status=0 told= .\n")
    assert chain.start("j000002") == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLURM_JOB_ID", ""),
        ("SLURM_JOB_NAME", "interactive"),
        ("SLURM_JOB_NAME", "sd-01234567-j000001"),
        ("SLURMD_NODENAME", ""),
    ],
    ids=["a login shell", "an allocation of somebody's", "another campaign", "not started by slurmd"],
)
def test_a_script_that_a_person_runs_by_hand_refuses(site: Site, name: str, value: str) -> None:
    site.prepare("echo no >> {campaign}/executed")
    environment = os.environ | batch_environment(site.places.layout, "j000001") | {name: value}
    words = [*site.shell, str(site.places.script("j000001"))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == CLAIM_TAKEN
    assert "only Slurm starts it" in done.stderr
    assert not (site.places.layout.root / "executed").exists()
    assert site.places.claim_holder("j000001", 0) is None, "Slurm may still start it"


def test_a_job_that_bears_the_name_of_another_one_of_its_campaign_runs(site: Site) -> None:
    """Somebody exchanged their names while they waited, and Slurm tells each the name that it has now."""
    site.prepare("echo ran >> {campaign}/executed")
    environment = os.environ | batch_environment(site.places.layout, "j000001")
    environment["SLURM_JOB_NAME"] = environment["SLURM_JOB_NAME"].replace("j000001", "j000002")
    words = [*site.shell, str(site.places.script("j000001"))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    assert (site.places.layout.root / "executed").read_text() == "ran\n"


@pytest.mark.parametrize(
    ("word", "runs"), [("{label}", True), ("", False), ("sd-01234567-j000001", False), ("sd-0a1b2c3d-j000002", False)]
)
def test_a_job_that_somebody_gave_a_name_of_no_campaign_runs_as_it_was_submitted(
    site: Site, word: str, runs: bool
) -> None:
    """A newer Slurm tells it the name that it has now; a person who submits the script has not the word that it is told."""
    site.prepare("echo ran >> {campaign}/executed")
    environment = os.environ | batch_environment(site.places.layout, "j000001")
    word = word.format(label=environment["SLURM_JOB_NAME"])
    words = [*site.shell, str(site.places.script("j000001")), *([word] if word else [])]
    environment["SLURM_JOB_NAME"] = "mine"
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == (0 if runs else CLAIM_TAKEN), done.stderr
    assert (site.places.layout.root / "executed").exists() is runs


def test_another_job_of_the_same_name_cannot_come_in_by_a_requeue(site: Site) -> None:
    site.prepare("echo ran >> {campaign}/executed")
    site.start(slurm_id="1").communicate(timeout=60)
    stranger = site.start(slurm_id="2", restart=1)
    stranger.communicate(timeout=60)

    assert stranger.returncode == CLAIM_TAKEN
    assert (site.places.layout.root / "executed").read_text() == "ran\n"


def test_a_job_that_was_restarted_before_it_ever_ran_closes_the_door_behind_it(site: Site) -> None:
    site.prepare("echo ran >> {campaign}/executed")
    site.start(restart=2).communicate(timeout=60)

    assert site.marks().restart == 2
    assert not site.places.take_claim("j000001", 0), "it ran: nobody may order another"
    assert site.places.claim_holder("j000001", 0) == "4711"


def test_a_shell_that_is_killed_while_it_writes_its_claim_leaves_none(site: Site) -> None:
    """It had a node and did not begin. The kernel kills it at its first byte: no file may be longer than 0 bytes."""
    site.prepare("echo ran")
    limit = ["prlimit", "--fsize=0", *site.shell, str(site.places.script("j000001"))]
    environment = os.environ | batch_environment(site.places.layout, "j000001", "4711", "n001")
    done = subprocess.run(limit, env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGXFSZ
    assert site.places.claim_holder("j000001", 0) is None
    assert site.places.take_claim("j000001", 0)


@pytest.mark.parametrize("payload", ["sleep 61", "trap 'echo saved; exit 5' TERM; sleep 61 & wait"])
def test_a_job_that_is_told_to_end_leaves_the_reason_to_the_scheduler(site: Site, payload: str) -> None:
    """As at a time limit: TERM to everything at once. What the payload's status was is no verdict of its own."""
    site.prepare(f"echo on; {payload}")
    process = site.start()
    wait_until(lambda: site.places.output("j000001", 0).exists() and site.output() == "on\n")
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)

    marks = site.marks()
    assert (marks.exit_status, marks.told) == (None, "TERM")
    assert marks.elapsed_s is not None
    if "trap" in payload:
        assert site.output() == "on\nsaved\n", "it had time to save what it had"


def test_a_job_that_is_killed_says_nothing(site: Site) -> None:
    site.prepare("echo on; sleep 61")
    process = site.start()
    wait_until(lambda: site.places.output("j000001", 0).exists() and site.output() == "on\n")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)

    marks = site.marks()
    assert (marks.claimed, marks.exit_status, marks.elapsed_s, marks.told) == (True, None, None, "")


def test_a_work_directory_that_vanished_is_made_again(site: Site) -> None:
    site.prepare("pwd")
    site.places.directory("j000001", 0).rmdir()
    site.start().communicate(timeout=60)
    assert site.output() == f"{site.places.directory('j000001', 0)}\n"


@pytest.mark.parametrize("lost", ["work", "outputs", "payloads"])
def test_what_cannot_be_opened_on_the_node_is_said_and_is_no_failure_of_the_test(site: Site, lost: str) -> None:
    site.prepare("echo no >> {campaign}/executed")
    shutil.rmtree(site.places.layout.root / lost)
    (site.places.layout.root / lost).write_text("in the way")
    process = site.start()
    process.communicate(timeout=60)

    marks = site.marks()
    assert (process.returncode, marks.exit_status) == (CLAIM_TAKEN, None)
    assert marks.trouble == "its work directory, its output file or its payload could not be opened on the node"
    assert not (site.places.layout.root / "executed").exists()


@pytest.mark.parametrize("left", ["another", "a fifo"])
def test_a_payload_that_somebody_changed_is_not_run_and_is_written_anew(site: Site, left: str) -> None:
    site.prepare("echo honest")
    (payload,) = site.places.layout.payloads.iterdir()
    payload.unlink()
    if left == "a fifo":
        os.mkfifo(payload)
    else:
        payload.write_text("echo no >>$SHAKEDOWN_CAMPAIGN/executed; exit 0\n")
    process = site.start()
    process.communicate(timeout=60)
    assert (process.returncode, site.marks().exit_status) == (CLAIM_TAKEN, None)
    assert not (site.places.layout.root / "executed").exists()
    if left == "another":
        assert site.marks().trouble == PAYLOAD_CHANGED

    assert left == "a fifo" or not is_payload(payload)
    site.prepare("echo honest", job="j000002")
    assert site.start("j000002", "4712").wait(timeout=60) == 0
    assert site.places.output("j000002", 0).read_text() == "honest\n"


def test_without_a_job_directory_nothing_runs(site: Site) -> None:
    script = site.prepare("echo no >> {campaign}/executed").read_text()
    shutil.rmtree(site.places.control("j000001"))
    environment = os.environ | batch_environment(site.places.layout, "j000001")
    done = subprocess.run([*site.shell, "-c", script], env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == CLAIM_TAKEN
    assert not (site.places.layout.root / "executed").exists()
    assert read_marks(site.places, "j000001") is None


def test_payloads_are_kept_once_and_preparing_again_changes_nothing(site: Site) -> None:
    first = site.prepare("true").read_text()
    assert site.prepare("true").read_text() == first
    site.prepare("true", job="j000002")
    assert len(list(site.places.layout.payloads.iterdir())) == 1
    assert site.places.control("j000002") != site.places.control("j000001")


def test_what_a_cleaner_of_old_files_removed_is_made_again(site: Site) -> None:
    """In a campaign of weeks, on a file system that removes what is old."""
    site.prepare("echo one")
    for name in ("jobs", "work", "outputs", "payloads"):
        shutil.rmtree(site.places.layout.root / name)
    with pytest.raises(CannotStart, match="the directory of the campaign's jobs is away") as caught:
        site.prepare("echo one", job="j000002")
    assert caught.value.transient
    assert not site.places.layout.jobs.exists(), "whoever took it away brings it back"
    with pytest.raises(OSError, match="is away"):
        site.places.take_claim("j000001", 0)
    site.places.away_s = 0.0
    site.prepare("echo one", job="j000002")
    assert site.start("j000002").wait(60) == 0
    assert site.marks("j000002").exit_status == 0


def test_a_conductor_that_takes_over_does_not_make_it_anew_either(site: Site) -> None:
    """It never saw the directory, but what was written after it says that it was there."""
    site.prepare("echo one")
    shutil.rmtree(site.places.layout.jobs)
    later = Site(JobPlaces(site.places.layout), site.shell)
    with pytest.raises(CannotStart, match="the directory of the campaign's jobs is away"):
        later.prepare("echo one", job="j000002")
    with pytest.raises(OSError, match="is away"):
        later.places.take_claim("j000001", 0)
    assert not site.places.layout.jobs.exists()


def test_a_directory_that_another_thread_makes_just_now_was_never_away(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several jobs are prepared at once: one looks and finds nothing yet, another makes the directory before the first goes on."""
    really, jobs = Path.is_dir, site.places.layout.jobs
    looked: list[Path] = []

    def overtaken(self: Path) -> bool:
        there = really(self)
        if self == jobs and not looked:
            looked.append(self)
            site.prepare("true", job="j000002")
        return there

    monkeypatch.setattr(Path, "is_dir", overtaken)
    assert site.prepare("true").exists()
    assert looked


def test_what_no_shell_can_be_told_is_refused_before_it_is_submitted(site: Site) -> None:
    with pytest.raises(CannotStart, match=r"run r000001 cannot be started: 'A-B' is no name that a shell can give"):
        site.prepare("true", environment=(("A-B", "1"),))
    with pytest.raises(CannotStart, match="NUL byte"):
        site.prepare("echo \0")
    with pytest.raises(CannotStart, match=r"an input file is missing|No such file"):
        site.prepare("true", files=(("in", "/nowhere/at/all"),))


@settings(max_examples=25)
@given(name=st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20))
def test_any_directory_will_do(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("any") / f"c{name}"
    try:
        root.mkdir()
    except OSError:
        return  # too long in bytes
    for shell in SHELLS[:1]:
        status, marks, output = Site(JobPlaces(Layout(root)), shell).run("pwd")
        assert (status, marks.exit_status) == (0, 0)
        assert output == f"{root}/work/000/j000001.0\n"


def test_our_own_part_needs_no_program(site: Site, tmp_path: Path) -> None:
    """With none to be found (PATH is the user's) a job whose payload needs none still runs and has its marks."""
    site.prepare("echo fine")
    environment = {"PATH": str(tmp_path / "nothing"), **batch_environment(site.places.layout, "j000001")}
    shell = str(shutil.which(site.shell[0]))
    words = [shell, *site.shell[1:], str(site.places.script("j000001"))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    said = (
        f"there is no sha256sum on {os.uname().nodename}: nothing says there whether a payload is what its name says\n"
    )
    assert done.stderr in (said, ""), "a shell may have one of its own"
    assert site.output() == "fine\n"
    assert site.marks().exit_status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_payload_whose_child_is_killed_first_does_not_pass_for_one_that_ended_well(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Slurm signals children before their parents: ``wait`` returns, with status 0, while we are not told yet.

    The script's pause before its mark is for that: here it lasts until the script was told, however long that takes.
    """
    if site.shell[0] == "busybox":
        pytest.skip("busybox takes its own sleep before that of PATH")
    paused, told = tmp_path / "paused", tmp_path / "told"
    os.mkfifo(told)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sleep").write_text(f"#!/bin/sh\necho $1 >{paused}\nread -r _ <{told}\n")
    (tmp_path / "bin/sleep").chmod(0o755)
    really = shutil.which("sleep")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    site.prepare(f"{really} 61 & echo $! $PPID; wait; exit 0")
    process = site.start()
    wait_until(lambda: site.places.output("j000001", 0).exists() and site.output().endswith("\n"))
    child, script = map(int, site.output().split())
    os.kill(child, number)
    wait_until(lambda: process.poll() is not None or (paused.exists() and paused.read_text().endswith("\n")))
    assert process.poll() is None, "it did not pause"
    os.kill(script, number)
    told.write_text("go on\n")
    process.communicate(timeout=60)

    assert site.marks().exit_status is None
    assert float(paused.read_text()) >= 0.05, "seconds between the signals"


def test_an_end_mark_waits_for_a_directory_that_is_away(site: Site) -> None:
    """A file system that is full or away just when a payload ends: the run is judged by its own end all the same."""
    away = 'mv "$SHAKEDOWN_CAMPAIGN/jobs" "$SHAKEDOWN_CAMPAIGN/away"'
    back = 'mv "$SHAKEDOWN_CAMPAIGN/away" "$SHAKEDOWN_CAMPAIGN/jobs"'
    status, marks, _ = site.run(f"{away}; (sleep 0.3; {back}) >/dev/null 2>&1 & exit 3")
    assert (status, marks.exit_status, marks.told) == (3, 3, "")
    assert marks.full, "what it wrote meanwhile may be lost"


def test_an_end_mark_that_did_not_wait_says_nothing_of_the_disk(site: Site) -> None:
    status, marks, _ = site.run("exit 3")
    assert (status, marks.exit_status, marks.full) == (3, 3, False)


def test_an_end_mark_that_nobody_can_write_is_not_waited_for_up_to_the_time_limit(site: Site) -> None:
    case = Case("c", "t", "emu:batch", script='rm -r "$SHAKEDOWN_CAMPAIGN/jobs"; exit 3', shape=Shape(time_limit_s=5.0))
    site.places.prepare(JobOrder("j000001", "r000001", case))
    process = site.start()
    process.communicate(timeout=60)
    assert (process.returncode, site.places.control("j000001").exists()) == (3, False)
