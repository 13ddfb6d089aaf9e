"""A campaign that is found again: its conductor was away while jobs ended, were cancelled, lost their marks, or while it moved."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from slurm_campaigns import LIMIT_S, SCRIPT_KILLED, Payload
from slurm_cluster import Cluster
from slurm_disturbed import GATE, Disturbed, wait_until

pytestmark = pytest.mark.slurm
PASSED = ("passed", "exit status 0")
CANCELLED = "someone else cancelled it at the scheduler"
BARE = (
    "nothing shows that it ran: Slurm says that it ended well on n007, but its claim and marks are gone: "
    "nothing proves that it ran"
)
# A job waits for the place of its end mark until 5 s before its limit. Slurm, whose limits are minutes, ends none of these.
SHORT = "10s"
DIES = f'{GATE}; kill -9 "$PPID"'


def test_all_kinds_of_ends_while_nobody_looked(any_cluster: Cluster, tmp_path: Path) -> None:
    """Marks, the queue, accounting and the list of finished jobs: on every configuration one of them tells.

    Without its claim and marks, its output proves that a job began; with nothing at all left of it, the reason says so.
    """
    payloads = [
        Payload("nap", "batch", GATE),
        Payload("bad", "batch", f"{GATE}; exit 139"),
        Payload("dies", "batch", DIES),
        Payload("gone", "batch", "sleep 1000"),
        Payload("robbed", "n008", GATE, limit=SHORT),
        Payload("bare", "n007", GATE, limit=SHORT),
    ]
    with Disturbed(any_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.wait_running()
        campaign.wait_until(lambda: len(campaign.labels()) == 6, "their ids are known")
        campaign.kill()
        for name in ("robbed", "bare"):
            shutil.rmtree(campaign.control(name))
        (campaign.root / f"outputs/000/{campaign.control('bare').name}.0.out").unlink()
        campaign.let_go()
        any_cluster.run("scancel", campaign.job("gone"))
        wait_until(lambda: not any_cluster.squeue(), "all is over")
        if any_cluster.configuration == "forgetful":
            wait_until(lambda: not any_cluster.squeue("-t", "all"), "and forgotten")
        campaign.start("resume", "p-1")
        campaign.end()
        by = "" if any_cluster.configuration == "plain" else ": by user id 0"
        assert campaign.verdicts() == {
            "nap": [PASSED],
            "bad": [("failed", "exit status 139 (a command was ended by signal 11 (SIGSEGV))")],
            "dies": [SCRIPT_KILLED],
            "gone": [("cancelled", f"{CANCELLED}{by}")],
            "robbed": [PASSED],
            "bare": [("submit_failed", BARE)],
        }
        assert campaign.executions() == dict.fromkeys(campaign.payloads, 1)


def test_submissions_that_nobody_waited_for(forgetful_cluster: Cluster, tmp_path: Path) -> None:
    """Killed while sbatch had accepted and not answered: adopted by name, running or over; what was not accepted is replaced."""
    payloads = [Payload("over", "batch", "exit 0"), Payload("runs", "batch", GATE), Payload("never", "batch", "exit 0")]
    hang = 'case "$*" in *j000003*) sleep 1000; exit 1 ;; *) $REAL "$@" >/dev/null; sleep 1000 ;; esac'
    with Disturbed(forgetful_cluster, tmp_path / "site", payloads) as campaign:
        campaign.wrap("sbatch", hang)
        campaign.start()
        campaign.wait_running("over", "runs")
        campaign.kill()
        assert campaign.events("submit_accepted") == []
        (campaign.bin / "sbatch").unlink()
        wait_until(lambda: len(forgetful_cluster.squeue()) == 1, "one is over")
        campaign.start("resume", "p-1")
        campaign.wait_verdict("over")
        campaign.wait_verdict("never")
        campaign.let_go()
        campaign.end()
        campaign.assert_all_passed_once(3)


@pytest.mark.newer_slurm
def test_the_campaign_moved_while_a_job_ran(plain_cluster: Cluster, tmp_path: Path) -> None:
    """The job's end mark finds no place, but Slurm knows its end; a job that had not begun did nothing, and is submitted again.

    Where slurmd makes the directory of a job's output, the script itself begins there, and gives up.
    """
    gate = f"until [ -e {tmp_path}/site/go ]; do sleep 0.2; done"
    payloads = [Payload("nap", "n001", f"{gate}; exit 7", limit=SHORT), Payload("waits", "n002", "exit 0")]
    with Disturbed(plain_cluster, tmp_path / "site", payloads) as campaign:
        blocker = plain_cluster.sbatch("sleep 1000", "-w", "n002", "--exclusive")
        plain_cluster.wait_for_job(blocker, "RUNNING")
        campaign.start()
        campaign.wait_running("nap")
        campaign.wait_until(lambda: campaign.job("nap") and campaign.job("waits"), "ids are known")
        nap, waits = campaign.job("nap"), campaign.job("waits")
        campaign.kill()
        campaign.root = campaign.root.rename(campaign.site / "campaigns/moved")
        plain_cluster.run("scancel", blocker)
        campaign.let_go()
        wait_until(lambda: plain_cluster.job_state(waits) == "FAILED", "it cannot begin")
        wait_until(lambda: plain_cluster.job_state(nap) == "FAILED", "it ended")
        driver = campaign.start("resume", "moved")
        assert driver.wait(LIMIT_S) in (0, 1), (campaign.site / "said").read_text()
        assert campaign.verdict("nap") == ("failed", "exit status 7"), campaign.tale()
        assert campaign.verdict("waits") == ("passed", "exit status 0"), campaign.tale()
        assert campaign.executions() == {"nap": 1, "waits": 1}
