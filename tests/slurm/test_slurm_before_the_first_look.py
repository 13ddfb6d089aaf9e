"""What happens at the scheduler between sbatch and the first look: jobs that somebody changes, renames, or submits twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Payload
from slurm_cluster import Cluster
from slurm_disturbed import Disturbed

pytestmark = [pytest.mark.slurm, pytest.mark.newer_slurm]
PASSED = ("passed", "exit status 0")
WHO = "somebody changed it at the scheduler before it was first seen there, which does not say who"
SHARED = "it is no result of its case: other jobs could run on its nodes, and it asks to have them alone"
AGAIN = "interrupted: 1"
SLOW = "poll: 3s, grace: 5s, lost_after: 20s, no_answer: 10min, dead_after: 5s"


def drained(cluster: Cluster) -> tuple[str, ...]:
    """Nodes on which nothing starts before the test says so."""
    nodes = ("n001", "n002", "n003", "n004")
    for node in nodes:
        cluster.fault("drain", node, "not yet")
    return nodes


def changing(changes: dict[str, str]) -> str:
    """An sbatch after which somebody changes jobs at once, by our own ids."""
    cases = " ".join(f"*{job}*) scontrol update JobId=$id {words} ;;" for job, words in changes.items())
    return f'id=$($REAL "$@") || exit\ncase "$*" in {cases} esac\necho $id\nexit 0'


def test_jobs_that_somebody_changes_before_they_are_first_seen(fault_cluster: Cluster, tmp_path: Path) -> None:
    """By numbers: the third one is as it was ordered."""
    nodes = drained(fault_cluster)
    payloads = [Payload(name, "n001", "sleep 1") for name in ("shared", "longer", "plain")]
    with Disturbed(fault_cluster, tmp_path / "site", payloads, retry=AGAIN) as campaign:
        campaign.wrap("sbatch", changing({"j000001": "OverSubscribe=yes", "j000002": "TimeLimit=10"}))
        campaign.start()
        campaign.wait_until(lambda: len(campaign.findings()) == 2, "both changes are told")
        (campaign.bin / "sbatch").unlink()
        for node in nodes:
            fault_cluster.fault("resume", node)
        campaign.end()
        said = {event.job: event.reason for event in campaign.events("finding")}
        assert said == {
            "j000001": f"{WHO}: shared with other jobs from none to cores",
            "j000002": f"{WHO}: time limit from 1 min 00 s to 10 min 00 s",
        }, campaign.tale()
        told = sorted(one for several in campaign.verdicts().values() for one in several)
        assert told == [("interrupted", f"{SHARED}: somebody changed it at the scheduler"), PASSED, PASSED, PASSED], (
            campaign.tale()
        )


def test_what_a_site_makes_of_every_job_is_told_once(fault_cluster: Cluster, tmp_path: Path) -> None:
    payloads = [Payload(name, "batch", "sleep 1") for name in ("one", "two", "three")]
    with Disturbed(fault_cluster, tmp_path / "site", payloads) as campaign:
        campaign.wrap("sbatch", changing({"-j00000": "TimeLimit=10"}))
        campaign.start()
        campaign.end()
        found = [(event.value["kind"], event.reason) for event in campaign.events("finding")]
        assert [kind for kind, _ in found] == ["site_rule"], campaign.tale()
        assert found[0][1].endswith("time limit from 1 min 00 s to 10 min 00 s; this counts as a rule of the site")
        campaign.assert_all_passed_once(3)


def test_a_rule_for_jobs_on_several_nodes_interrupts_none_of_them(fault_cluster: Cluster, tmp_path: Path) -> None:
    payloads = [Payload("narrow", "batch", "sleep 1"), Payload("wide", "batch", "sleep 1", nodes=2)]
    with Disturbed(fault_cluster, tmp_path / "site", payloads, repeats=2, retry=AGAIN) as campaign:
        rule = 'case "$*" in *--nodes=2*) scontrol update JobId=$id OverSubscribe=yes TimeLimit=5 ;; esac'
        campaign.wrap("sbatch", f'id=$($REAL "$@") || exit\n{rule}\necho $id\nexit 0')
        campaign.start()
        campaign.end()
        campaign.assert_all_passed_once(4)
        assert [event.value["kind"] for event in campaign.events("finding")] == ["site_rule"], campaign.tale()


def test_names_of_two_waiting_jobs_that_somebody_exchanges(fault_cluster: Cluster, tmp_path: Path) -> None:
    nodes = drained(fault_cluster)
    payloads = [Payload("good", "n001", "sleep 1"), Payload("bad", "n002", "exit 3")]
    with Disturbed(fault_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.wait_until(lambda: len(campaign.labels()) == 2, "both are queued")
        one, two = campaign.job("good"), campaign.job("bad")
        first, second = (fault_cluster.job(number)["JobName"] for number in (one, two))
        fault_cluster.run("scontrol", "update", f"JobId={one}", f"JobName={second}")
        fault_cluster.run("scontrol", "update", f"JobId={two}", f"JobName={first}")
        for node in nodes:
            fault_cluster.fault("resume", node)
        campaign.end()
        assert campaign.verdicts() == {"good": [PASSED], "bad": [("failed", "exit status 3")]}, campaign.tale()
        assert campaign.findings() == {} and len(campaign.executed()) == 2, campaign.tale()


def test_a_waiting_job_that_somebody_gives_a_name_of_no_campaign_runs(fault_cluster: Cluster, tmp_path: Path) -> None:
    nodes = drained(fault_cluster)
    with Disturbed(fault_cluster, tmp_path / "site", [Payload("nap", "n001", "sleep 1")]) as campaign:
        campaign.start()
        campaign.wait_until(campaign.labels, "it is queued")
        fault_cluster.run("scontrol", "update", f"JobId={campaign.job('nap')}", "JobName=mine")
        campaign.wait_until(lambda: any("to mine" in why for why in campaign.reports("nap", "queued")), "that is seen")
        for node in nodes:
            fault_cluster.fault("resume", node)
        campaign.end()
        campaign.assert_all_passed_once(1)


def test_the_second_of_two_jobs_of_one_name_is_cancelled_and_the_run_counted_once(
    fault_cluster: Cluster, tmp_path: Path
) -> None:
    """The first answer of sbatch was lost, and somebody's wrapper submitted again."""
    nodes = drained(fault_cluster)
    with Disturbed(fault_cluster, tmp_path / "site", [Payload("nap", "n001", "sleep 1")]) as campaign:
        campaign.wrap("sbatch", 'case "$*" in *-j000001*) $REAL "$@" >/dev/null ;; esac')
        campaign.start()
        campaign.wait_until(campaign.labels, "it is submitted twice")
        (name,) = campaign.labels()
        cancelled = ("-t", "CANCELLED", "-n", name)
        campaign.wait_until(lambda: len(fault_cluster.squeue(*cancelled)) == 1, "one of them is cancelled")
        for node in nodes:
            fault_cluster.fault("resume", node)
        campaign.end()
        campaign.assert_all_passed_once(1)
