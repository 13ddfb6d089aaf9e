"""The emulated cluster itself: what its verbs do is what Slurm's users see."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from left_processes import MARKER
from slurm_cluster import SCRIPT, Cluster
from slurm_pool import Pool, left_on

SLEEP = "sleep 300"


def running_on(cluster: Cluster, node: str, *options: str, script: str = SLEEP) -> str:
    job = cluster.sbatch(script, "-w", node, *options)
    cluster.wait_for_job(job, "RUNNING")
    return job


class TestJobs:
    def test_sixteen_nodes_each_with_a_name_of_its_own(self, accounting_cluster: Cluster) -> None:
        names = accounting_cluster.run("srun", "-N16", "hostname").split()
        assert sorted(names) == [f"n{number:03d}" for number in range(1, 17)]

    @pytest.mark.newer_slurm
    def test_a_job_runs_and_its_end_is_known(self, any_cluster: Cluster, tmp_path: Path) -> None:
        output = tmp_path / "output"
        good = any_cluster.sbatch("hostname; echo $SLURM_JOB_PARTITION", "-o", str(output), "-w", "n002")
        bad = any_cluster.sbatch("exit 7")
        assert any_cluster.wait_for_job(good) == "COMPLETED"
        assert any_cluster.wait_for_job(bad) == "FAILED"
        assert output.read_text() == "n002\nbatch\n"
        any_cluster.wait_until(lambda: f"JobId={bad} " in any_cluster.jobcomp.read_text())

    def test_partitions_licences_and_a_small_partition(self, plain_cluster: Cluster) -> None:
        partitions = dict(line.split() for line in plain_cluster.run("sinfo", "-h", "-o", "%R %D").splitlines())
        assert partitions == {"batch": "8", "low": "8", "urgent": "8", "debug": "2"}
        licences = plain_cluster.run("scontrol", "-o", "show", "licenses")
        assert "LicenseName=scratch Total=4" in licences and "LicenseName=mds Total=8" in licences

    def test_a_forgetful_cluster_forgets(self, forgetful_cluster: Cluster) -> None:
        job = forgetful_cluster.sbatch("true", "--comment=mine")
        forgetful_cluster.wait_for_job(job)
        forgetful_cluster.wait_until(lambda: not forgetful_cluster.job(job), what="forgotten")
        done = forgetful_cluster.attempt("sacct", "-n", "-X", "-P", "-j", job, "-o", "State,Comment")
        assert done.stdout.strip() == "COMPLETED|"

    def test_the_database_shares_no_temporary_tables_with_others(self, accounting_cluster: Cluster) -> None:
        """A server of another cluster removes, when it starts, what it finds in /tmp: accounting fails at random then."""
        database = accounting_cluster.directory / "database"
        words = ("mariadb", "--no-defaults", "-uroot", "-S", str(database / "socket"), "-N", "-e", "select @@tmpdir")
        assert accounting_cluster.run(*words).split() == [str(database / "temporary")]

    def test_a_plain_cluster_has_no_accounting(self, plain_cluster: Cluster) -> None:
        done = plain_cluster.attempt("sacct")
        assert done.returncode and "accounting storage is disabled" in done.stderr

    def test_urgent_jobs_take_nodes_from_others(self, plain_cluster: Cluster) -> None:
        low = running_on(plain_cluster, "n001", "-p", "low", "--exclusive")
        running_on(plain_cluster, "n001", "-p", "urgent", "--exclusive")
        assert plain_cluster.job(low)["JobState"] == "PENDING"
        assert plain_cluster.job(low)["Restarts"] == "1"

    def test_a_limit_on_queued_jobs(self, limited_cluster: Cluster) -> None:
        for _ in range(20):
            limited_cluster.sbatch("true", "-H")
        done = limited_cluster.attempt("sbatch", "-H", "--wrap", "true")
        assert done.returncode == 1 and "AssocMaxSubmitJobLimit" in done.stderr


class TestFaults:
    def test_power_loss_and_a_hung_node_look_alike_until_the_node_is_back(self, fault_cluster: Cluster) -> None:
        lost, hung = (running_on(fault_cluster, node, "--no-requeue") for node in ("n003", "n004"))
        fault_cluster.fault("power-off", "n003")
        fault_cluster.fault("freeze", "n004")
        for job, node in ((lost, "n003"), (hung, "n004")):
            assert fault_cluster.wait_for_job(job) == "NODE_FAIL"
            assert fault_cluster.job(job)["Reason"] == "NodeDown"
            fault_cluster.wait_for_node(node, "down*")
        fault_cluster.fault("thaw", "n004")
        fault_cluster.wait_for_node("n004", "idle")
        assert fault_cluster.node_state("n003") == "down*"
        fault_cluster.fault("power-on", "n003")
        fault_cluster.wait_for_node("n003", "idle")

    def test_slurmd_dies_briefly_and_the_job_does_not_notice(self, fault_cluster: Cluster) -> None:
        job = running_on(fault_cluster, "n005", script="sleep 4")
        fault_cluster.fault("kill-slurmd", "n005")
        assert fault_cluster.status()["nodes"]["n005"]["slurmd"] is False
        fault_cluster.fault("start-slurmd", "n005")
        assert fault_cluster.wait_for_job(job) == "COMPLETED"

    def test_drain_and_resume(self, plain_cluster: Cluster) -> None:
        running_on(plain_cluster, "n006")
        plain_cluster.fault("drain", "n006", "bad DIMM")
        assert plain_cluster.node_state("n006") == "draining"
        assert "bad DIMM" in plain_cluster.run("sinfo", "-h", "-n", "n006", "-o", "%E")
        plain_cluster.run("scancel", *plain_cluster.squeue())
        plain_cluster.wait_for_node("n006", "drained")
        plain_cluster.fault("resume", "n006")
        plain_cluster.wait_for_node("n006", "idle")

    def test_a_reboot_waits_for_the_job(self, plain_cluster: Cluster) -> None:
        job = running_on(plain_cluster, "n007", script="sleep 2")
        path = plain_cluster.directory / plain_cluster.name / "nodes" / "n007.pid"
        before = path.read_text()
        plain_cluster.fault("reboot", "n007")
        assert plain_cluster.wait_for_job(job) == "COMPLETED"
        plain_cluster.wait_until(lambda: path.exists() and path.read_text() != before, what="n007 rebooted")
        plain_cluster.wait_for_node("n007", "idle")

    def test_set_down_kills_the_job_at_once(self, plain_cluster: Cluster) -> None:
        job = running_on(plain_cluster, "n008", "--no-requeue")
        plain_cluster.fault("set-down", "n008")
        assert plain_cluster.wait_for_job(job) == "NODE_FAIL"
        plain_cluster.wait_for_node("n008", "idle")

    @pytest.mark.parametrize("verb", ["kill-slurmctld", "stop-slurmctld"])
    def test_jobs_outlive_their_controller(self, plain_cluster: Cluster, verb: str) -> None:
        job = running_on(plain_cluster, "n001", script="sleep 6")
        if verb == "kill-slurmctld":
            plain_cluster.wait_until(lambda: saved(plain_cluster, job), what="state saved")
        plain_cluster.fault(verb)
        done = plain_cluster.attempt("squeue")
        assert done.returncode == 1 and "Unable to contact slurm controller" in done.stderr
        plain_cluster.fault("start-slurmctld")
        assert plain_cluster.wait_for_job(job) == "COMPLETED"

    def test_accounting_arrives_when_slurmdbd_is_back(self, accounting_cluster: Cluster) -> None:
        def accounted() -> str:
            return accounting_cluster.run("sacct", "-n", "-X", "-P", "-j", job, "-o", "State").strip()

        accounting_cluster.fault("kill-slurmdbd")
        job = accounting_cluster.sbatch("true")
        accounting_cluster.wait_until(lambda: accounting_cluster.job(job)["JobState"] == "COMPLETED")
        assert accounting_cluster.attempt("sacct", "-j", job).returncode == 1
        accounting_cluster.fault("start-slurmdbd")
        accounting_cluster.wait_until(lambda: accounted() == "COMPLETED", what="accounted")

    def test_a_slow_node_computes_slowly(self, plain_cluster: Cluster) -> None:
        """Processor time is the proof: the clock on the wall depends on who else computes here."""
        plain_cluster.fault("slow", "n002", "20")
        took = float(plain_cluster.run("srun", "-w", "n002", sys.executable, "-c", COMPUTE))
        assert took > 1.5

    def test_a_clock_that_steps_under_a_running_program(self, plain_cluster: Cluster, tmp_path: Path) -> None:
        plain_cluster.fault("step-clock", "n003", "0")
        (tmp_path / "look.py").write_text(LOOK)
        command = ["srun", "-w", "n003", sys.executable, str(tmp_path / "look.py"), str(tmp_path)]
        with subprocess.Popen(command, env=plain_cluster.environment, stdout=subprocess.PIPE, text=True) as looking:
            plain_cluster.wait_until((tmp_path / "started").exists)
            plain_cluster.fault("step-clock", "n003", "-3600")
            (tmp_path / "stepped").touch()
            wall, monotonic = map(float, looking.communicate(timeout=60)[0].split())
        assert abs(wall - monotonic + 3600) < 5
        assert abs(float(plain_cluster.run("srun", "-w", "n003", "date", "+%s")) + 3600 - time.time()) < 60
        assert abs(float(plain_cluster.run("srun", "-w", "n004", "date", "+%s")) - time.time()) < 60


COMPUTE = """
import time
wall, computed = time.time(), time.process_time()
while time.process_time() - computed < 0.5:
    pass
print(time.time() - wall)
"""

LOOK = """
import pathlib, sys, time
here = pathlib.Path(sys.argv[1])
wall, monotonic = time.time(), time.monotonic()
(here / "started").touch()
while not (here / "stepped").exists():
    time.sleep(0.05)
print(time.time() - wall, time.monotonic() - monotonic)
"""


def saved(cluster: Cluster, job: str) -> bool:
    """Whether slurmctld has the job's start on disk: a kill earlier would lose the job, as it does on any machine."""
    started = cluster.job(job).get("StartTime", "")
    state = cluster.directory / cluster.name / "state" / "job_state"
    return (
        bool(started)
        and state.exists()
        and state.stat().st_mtime > time.mktime(time.strptime(started, "%Y-%m-%dT%H:%M:%S")) + 1
    )


class TestUpAndDown:
    def cluster(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=300)

    def test_down_leaves_no_process_whatever_died_before(self, slurm_here: None, short_directory: Path) -> None:
        place = ["--dir", str(short_directory), "--config", "plain"]
        assert self.cluster("up", "4", *place).returncode == 0
        assert self.cluster("up", "2", "--name", "emu2", *place).returncode == 0
        for name in ("munge/pid", "emu/slurmctld.pid", "emu/nodes/n002.pid"):
            os.kill(int((short_directory / name).read_text()), signal.SIGKILL)
        self.cluster("freeze", "n003", *place[:2])
        assert self.cluster("down", "--all", "--remove", *place[:2]).returncode == 0
        assert left_of(short_directory) == []
        assert not short_directory.exists()

    def test_up_again_starts_what_is_missing(self, slurm_here: None, short_directory: Path) -> None:
        place = ["--dir", str(short_directory)]
        assert self.cluster("up", "4", "--config", "plain", *place).returncode == 0
        self.cluster("power-off", "n002", *place)
        self.cluster("kill-slurmctld", *place)
        assert self.cluster("status", *place).returncode == 1
        assert self.cluster("up", "4", "--config", "plain", *place).returncode == 0
        assert self.cluster("status", *place).returncode == 0

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (["freeze", "n001"], "there is no cluster 'emu' in {}"),
            (["up", "0"], "0 nodes cannot be emulated here"),
            (["up", "2", "--name", "../x"], "'../x' cannot be a cluster's name"),
            (["up", "2", "--config", "plain", "--max-submit", "3"], "--max-submit needs accounting"),
        ],
    )
    def test_wrong_use_is_told(self, slurm_here: None, short_directory: Path, words: list[str], error: str) -> None:
        done = self.cluster(*words, "--dir", str(short_directory))
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {error.format(short_directory)}") and "\nhint: " in done.stderr

    def test_a_directory_that_no_node_sees(self, slurm_here: None, tmp_path: Path) -> None:
        done = self.cluster("up", "2", "--dir", f"/dev/shm/{tmp_path.name}")
        assert done.returncode == 2 and not Path(f"/dev/shm/{tmp_path.name}").exists()
        assert done.stderr == (
            f"error: no node would see /dev/shm/{tmp_path.name}: each has a /dev/shm of its own\n"
            "hint: take another directory with --dir\n"
        )


def left_of(directory: Path) -> list[str]:
    """Processes whose command or environment names the directory, but for the warden that takes it down with the session."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if b"slurm_warden.py" in text:
            continue
        if str(directory).encode() in text and int(process.name) != os.getpid():
            left.append(text.decode(errors="replace"))
    return left


def test_what_a_test_left_is_ended_with_its_cluster_and_nothing_else(tmp_path: Path) -> None:
    """A command that hangs outlives the driver that was killed: it and all that it started are ended and told, no daemon is."""

    def started(**environment: str) -> subprocess.Popen[bytes]:
        hangs = ["sh", "-c", "sleep 1000 & exec sleep 1000"]
        return subprocess.Popen(hangs, env={**os.environ, **environment}, start_new_session=True)

    pool, cluster = Pool(), Cluster(tmp_path, "emu")
    mine, other = str(cluster.slurm_conf), str(tmp_path / "other/slurm.conf")
    left = started(SLURM_CONF=mine)
    spared = [
        started(SLURM_CONF=other),
        started(SLURM_CONF=mine, EMULATED_CLUSTER=str(tmp_path / "emu")),
        started(SLURM_CONF=mine, **{MARKER: "of another session"}),
    ]
    try:
        pool.end_left(cluster)
        assert left.wait(60.0) == -signal.SIGKILL
        assert left_on(tmp_path / "emu", os.environ[MARKER]) == {}
        [note] = pool.notes
        assert note.startswith("emu: ended what a test left: ") and "sleep 1000" in note
        assert [one.poll() for one in spared] == [None] * 3
    finally:
        for one in (left, *spared):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
