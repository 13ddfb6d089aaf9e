"""slurmctld and slurmdbd die, stop, come back, and come back with a wrong memory, while a campaign submits and runs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from slurm_campaigns import SCRIPT_KILLED, Payload
from slurm_cluster import Cluster
from slurm_disturbed import GATE, Disturbed, is_saved, wait_until
from slurm_port import port

pytestmark = pytest.mark.slurm
SHORT = "poll: 1s, grace: 5s, lost_after: 10s, no_answer: 10min, dead_after: 5s"
NAP = Payload("nap", "batch", f"{GATE}; sleep 1")
PASSED = ("passed", "exit status 0")
# It ends, and with it the job's script, with no mark: what is left is what Slurm says.
DIES = f'{GATE}; kill -9 "$PPID"'


def test_controller_killed_while_jobs_run_and_while_we_submit(plain_cluster: Cluster, tmp_path: Path) -> None:
    """What runs ends without it and is judged by its marks; what is to be submitted waits and spends no attempt."""
    the_controller_is_away(plain_cluster, tmp_path, "kill-slurmctld")


def test_accounting_and_controller_away_together(accounting_cluster: Cluster, tmp_path: Path) -> None:
    the_controller_is_away(accounting_cluster, tmp_path, "kill-slurmdbd", "stop-slurmctld")


def the_controller_is_away(cluster: Cluster, tmp_path: Path, *faults: str) -> None:
    with Disturbed(cluster, tmp_path / "site", [NAP], repeats=8, limits="queued: 4") as campaign:
        campaign.start()
        campaign.wait_until(lambda: len(campaign.executed()) == 4, "four runs began")
        wait_until(lambda: is_saved(cluster, *campaign.labels()), "slurmctld has saved them")
        for fault in faults:
            cluster.fault(fault)
        campaign.let_go()
        campaign.wait_until(lambda: len(campaign.events("verdict")) == 4, "marks alone say how they ended")
        campaign.wait_until(lambda: put_off(campaign) >= 1, "no submission succeeds")
        cluster.up()
        campaign.end()
        campaign.assert_all_passed_once(8)


def put_off(campaign: Disturbed) -> int:
    return len(campaign.events("submit_deferred") + campaign.events("submit_unknown"))


def test_accounting_gone_while_jobs_end(fault_cluster: Cluster, tmp_path: Path) -> None:
    """Marks and the queue do without it; who cancelled a job is not known then."""
    payloads = [
        NAP,
        Payload("gone", "batch", "sleep 1000"),
        Payload("dies", "batch", DIES),
        Payload("bad", "batch", "exit 200"),
    ]
    with Disturbed(fault_cluster, tmp_path / "site", payloads, patience=SHORT) as campaign:
        campaign.start()
        campaign.wait_running()
        campaign.wait_until(lambda: campaign.job("gone"), "its id is known")
        fault_cluster.fault("kill-slurmdbd")
        campaign.let_go()
        fault_cluster.run("scancel", campaign.job("gone"))
        campaign.end()
        assert campaign.verdict("nap") == ("passed", "exit status 0")
        assert campaign.verdict("bad") == ("failed", "exit status 200")
        assert campaign.verdict("gone") == ("cancelled", "someone else cancelled it at the scheduler")
        assert campaign.verdict("dies") == SCRIPT_KILLED


def test_a_record_that_says_running_for_ever(forgetful_cluster: Cluster, tmp_path: Path) -> None:
    """slurmctld dies while slurmdbd is down: how its jobs ended is lost. The end mark wins; without one the job is lost."""
    payloads = [Payload("nap", "n001", GATE), Payload("dies", "n002", DIES)]
    with Disturbed(forgetful_cluster, tmp_path / "site", payloads, patience=SHORT) as campaign:
        campaign.start()
        campaign.wait_running()
        campaign.wait_until(
            lambda: Counter(e.value["state"] for e in campaign.events("job_report"))["running"] == 2, "seen running"
        )
        job = campaign.job("dies")
        wait_until(
            lambda: forgetful_cluster.run("sacct", "-nXj", job, "-o", "State").split() == ["RUNNING"], "recorded"
        )
        campaign.kill()
        forgetful_cluster.fault("kill-slurmdbd")
        campaign.let_go()
        wait_until(lambda: not forgetful_cluster.squeue("-t", "all"), "the controller has forgotten both")
        saved = campaign.labels()[0]
        forgetful_cluster.sbatch("true")  # something changes, and the state is saved
        wait_until(lambda: not is_saved(forgetful_cluster, saved), "and saved that")
        forgetful_cluster.fault("kill-slurmctld")
        forgetful_cluster.up()
        assert forgetful_cluster.run("sacct", "-nXj", job, "-o", "State").split() == ["RUNNING"]
        campaign.start("resume", "p-1")
        campaign.end()
        assert campaign.verdict("nap") == ("passed", "exit status 0")
        assert campaign.verdict("dies") == (
            "lost",
            f"marks, queue and accounting were asked for 10 s and none could tell what became of it (scheduler id {job}, on n002)",
        )
        assert campaign.reports("dies", "absent") == [
            "the queue does not know it; accounting still calls it RUNNING; it began on n002 and left no end mark"
        ]
        (lost,) = [event for event in campaign.events("verdict") if event.value["verdict"] == "lost"]
        left = lost.value["output"]
        assert (campaign.root / left["file"]).is_file() and (campaign.root / left["directory"]).is_dir()
        assert "no output" not in campaign.command("show", lost.run).stdout or not left["bytes"]


# slurmdbd ends the jobs that a forgetful controller's successor does not know, if it had heard of them
FORGOTTEN = (
    ("lost", "marks, queue and accounting were asked for 10 s and none could tell what became of it"),
    ("cancelled", "it was cancelled: a test"),
)


def test_a_controller_without_memory_whose_ids_strangers_get(fault_cluster: Cluster, tmp_path: Path) -> None:
    """Its state is gone: nodes end what it does not know. A stranger's job with the id of ours is neither ours nor touched."""
    cluster = fault_cluster
    payloads = [Payload("long", "batch", "sleep 1000"), Payload("ends", "batch", f"{GATE}; exit 0")]
    try:
        with Disturbed(cluster, tmp_path / "site", payloads, patience=SHORT) as campaign:
            campaign.start()
            campaign.wait_running()
            campaign.wait_until(lambda: campaign.job("long") and campaign.job("ends"), "ids are known")
            ids = {campaign.job("long"), campaign.job("ends")}
            cluster.fault("kill-slurmctld")
            campaign.let_go()
            campaign.wait_verdict("ends")
            forget_everything(cluster)
            strangers = occupy(cluster, max(int(identity) for identity in ids))
            assert strangers >= ids
            assert campaign.command("cancel", "--all", "--because", "a test").returncode == 0
            campaign.end()
            assert campaign.verdict("ends") == ("passed", "exit status 0")
            verdict, why = campaign.verdict("long")
            assert (verdict, why.partition(" (scheduler id ")[0]) in FORGOTTEN
            assert campaign.events("cancel_order")
            assert set(cluster.squeue()) == strangers, "strangers' jobs are not touched"
    finally:
        cluster.restart()  # its nodes remember ids that it will give again


def test_a_controller_without_memory_whose_ids_another_job_of_ours_gets(fault_cluster: Cluster, tmp_path: Path) -> None:
    """What is done to the job that it lost is not done to the one that has its number now; nor does anything wait for that one."""
    cluster, truth = fault_cluster, tmp_path / "truth"
    say = "echo {} {} $SLURM_JOB_ID $SHAKEDOWN_RESTART >>{}"
    begin, end = (say.format(word, "second", truth) for word in ("begin", "end"))
    waits = f"{begin}; until [ -e {tmp_path}/go ]; do sleep 0.2; done; {end}"
    try:
        with port(tmp_path / "c", cluster) as opened:
            first = opened.order(cluster.name, 1, script=f"{say.format('begin', 'first', truth)}; sleep 1000", node=1)
            opened.wait_until(truth.exists, "it runs")
            number = first.scheduler_id
            cluster.fault("kill-slurmctld")
            forget_everything(cluster)
            occupy(cluster, int(number) - 1)
            second = opened.order(cluster.name, 2, script=waits, node=2)
            third = opened.order(cluster.name, 3, node=3, after=(first.id, number))
            assert second.scheduler_id == number, "else nothing is shown here"
            assert not cluster.job(third.scheduler_id).get("Dependency", "(null)").startswith("afterany")
            opened.wait_until(lambda: "begin second" in truth.read_text(), "it runs")
            assert (list(opened.scheduler.cancel([first])), list(opened.scheduler.hold([first]))) == ([], [])
            (tmp_path / "go").touch()
            opened.wait(second, "completed")
            opened.wait(first, "absent")
            told = [f"begin first {number} 0", f"begin second {number} 0", f"end second {number} 0"]
            assert truth.read_text().splitlines() == told
    finally:
        cluster.restart()


def test_a_job_that_an_older_state_brings_back_when_all_is_over(fault_cluster: Cluster, tmp_path: Path) -> None:
    """It waits at Slurm again, held, as it did before it ran: status names it, and whoever drives the campaign cancels it."""
    cluster, state = fault_cluster, fault_cluster.directory / fault_cluster.name / "state"
    try:
        with Disturbed(cluster, tmp_path / "site", [Payload("nap", "batch", "sleep 1")], patience=SHORT) as campaign:
            cluster.run("scontrol", "update", "partition=batch", "state=down")
            campaign.start()
            campaign.wait_until(lambda: campaign.job("nap"), "its id is known")
            number = campaign.job("nap")
            cluster.run("scontrol", "hold", number)
            cluster.fault("stop-slurmctld")
            shutil.copytree(state, tmp_path / "older")
            cluster.up()
            cluster.run("scontrol", "release", number)
            cluster.run("scontrol", "update", "partition=batch", "state=up")
            campaign.end()
            cluster.fault("kill-slurmctld")
            shutil.rmtree(state)
            shutil.copytree(tmp_path / "older", state)
            cluster.up()
            assert number in cluster.squeue(), "else nothing is shown here"
            told = json.loads(campaign.command("status", "p-1", "--json").stdout)["over"]
            assert [job["waits"] for job in told if job["number"] == number] == [True]
            campaign.start("resume", "p-1")
            campaign.end()
            wait_until(
                lambda: not cluster.squeue(), "nothing is left, neither of its runs nor of what asks nodes for facts"
            )
            [left] = [event.value for event in campaign.events("finding") if event.value["kind"] == "left_at_scheduler"]
            assert number in left["jobs"]
            assert not left["kept"]
            campaign.assert_all_passed_once(1)
    finally:
        cluster.restart()


def forget_everything(cluster: Cluster) -> None:
    """A dead controller comes back without a state."""
    shutil.rmtree(cluster.directory / cluster.name / "state")
    (cluster.directory / cluster.name / "state").mkdir()
    cluster.fault("start-slurmctld")


def occupy(cluster: Cluster, last: int) -> set[str]:
    """Somebody else's jobs with all ids up to ``last``; they wait."""
    jobs: set[str] = set()
    while max(map(int, jobs), default=0) < last:
        jobs.add(cluster.sbatch("sleep 1000", "--hold", "--job-name=stranger"))
    return jobs


def test_a_controller_with_an_old_memory(fault_cluster: Cluster, tmp_path: Path) -> None:
    """It comes back with jobs waiting that run by now, and begins them again: that finds the claims taken."""
    cluster = fault_cluster
    state = cluster.directory / cluster.name / "state"
    naps = [Payload("nap", "batch", f"{GATE}; sleep 1", limit="2min")]
    nodes = f"nodename=n[001-{cluster.nodes:03}]"
    try:
        with Disturbed(cluster, tmp_path / "site", naps, repeats=3) as campaign:
            cluster.run("scontrol", "update", nodes, "state=drain", "reason=test")
            campaign.start()
            wait_until(
                lambda: len(campaign.labels()) == 3 and is_saved(cluster, *campaign.labels()), "they wait, saved"
            )
            shutil.copytree(state, tmp_path / "old", ignore=shutil.ignore_patterns("*.new"))
            cluster.run("scontrol", "update", nodes, "state=resume")
            campaign.wait_until(lambda: len(campaign.executed()) == 3, "they run")
            cluster.fault("kill-slurmctld")
            shutil.rmtree(state)
            shutil.copytree(tmp_path / "old", state)
            cluster.fault("start-slurmctld")
            cluster.attempt("scontrol", "update", nodes, "state=resume")
            campaign.end()
            why = (
                "it was ended from outside: Slurm started it a second time, as a controller does that lost its memory; "
                "that start found the claim taken and ended, and the first one left no end mark"
            )
            assert campaign.verdicts() == {"nap": [("interrupted", why)] * 3}
            assert len(campaign.executed()) == 3
    finally:
        cluster.restart()


def test_a_start_that_an_old_memory_copies_elsewhere_does_nothing_and_the_first_one_counts(
    fault_cluster: Cluster, tmp_path: Path
) -> None:
    """The node of the first start is out of its reach, so nothing ends that one; the copy finds the claim taken."""
    cluster = fault_cluster
    state = cluster.directory / cluster.name / "state"
    nap = Payload("nap", "batch", GATE, limit="4min")
    try:
        with Disturbed(cluster, tmp_path / "site", [nap]) as campaign:
            cluster.run("scontrol", "update", f"nodename=n[001-{cluster.nodes:03}]", "state=drain", "reason=test")
            campaign.start()
            wait_until(lambda: campaign.labels() and is_saved(cluster, *campaign.labels()), "it waits, saved")
            shutil.copytree(state, tmp_path / "old", ignore=shutil.ignore_patterns("*.new"))
            cluster.run("scontrol", "update", "nodename=n001", "state=resume")
            campaign.wait_running()
            cluster.fault("kill-slurmd", "n001")
            cluster.fault("kill-slurmctld")
            shutil.rmtree(state)
            shutil.copytree(tmp_path / "old", state)
            cluster.fault("start-slurmctld")
            cluster.attempt("scontrol", "update", f"nodename=n[002-{cluster.nodes:03}]", "state=resume")
            campaign.wait_until(lambda: "the first one is waited for" in campaign.tale(), "the copy did nothing")
            campaign.let_go()
            campaign.end()
            assert campaign.verdicts() == {"nap": [PASSED]}, campaign.tale()
            assert len(campaign.executed()) == 1
    finally:
        cluster.restart()
