"""Limits of a quality of service: one that passes is waited for, one that cannot be met is said with its way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Payload
from slurm_cluster import Cluster
from slurm_disturbed import Disturbed

pytestmark = pytest.mark.slurm
PASSED = ("passed", "exit status 0")


def qos(cluster: Cluster, name: str, *limits: str) -> None:
    """A quality of service with these limits, which the tests' user may use."""
    cluster.attempt("sacctmgr", "-i", "-Q", "add", "qos", name)
    cluster.run("sacctmgr", "-i", "-Q", "modify", "qos", name, "set", *limits)
    where = ("modify", "user", "root", "where", f"cluster={cluster.name}", "set")
    cluster.attempt("sacctmgr", "-i", "-Q", *where, f"qos+={name}")


def test_limits_that_pass_and_one_that_does_not(limited_cluster: Cluster, tmp_path: Path) -> None:
    """Three jobs queued at most, one at once, none of more than two minutes. An administrator raises the last one in the end."""
    cluster = limited_cluster
    qos(cluster, "narrow", "MaxSubmitJobsPU=3", "MaxJobsPU=1", "MaxWall=2")
    payloads = [Payload("nap", "n001", "true"), Payload("wide", "n002", "true", limit="5min")]
    with Disturbed(cluster, tmp_path / "site", payloads, repeats=3) as campaign:
        campaign.amend_system("--partition=batch", '--partition=batch", "--qos=narrow')
        campaign.start()
        wanted = (
            "QOSMaxWallDurationPerJobLimit (a limit of its quality of service (sacctmgr show qos) binds, on time of a job); "
            "it cannot start before somebody acts: the limit has to be raised, or the test must ask for less"
        )
        campaign.wait_until(lambda: wanted in campaign.command("status", "p-1").stdout, "status says what it needs")
        assert wanted in campaign.command("why", "wide@n002", "p-1").stdout
        qos(cluster, "narrow", "MaxWall=-1")
        campaign.end()
        assert {event.reason for event in campaign.events("submit_deferred")} == {
            "QOSMaxSubmitJobPerUserLimit; Batch job submission failed: Job violates accounting/QOS policy "
            "(job submit limit, user's size and/or time limits)"
        }
        assert campaign.verdicts() == {"nap": [PASSED] * 3, "wide": [PASSED] * 3}, campaign.tale()
        assert campaign.executions() == {"nap": 3, "wide": 3}
        assert {event.value["attempt"] for event in campaign.events("verdict")} == {1}


@pytest.mark.newer_slurm
def test_limits_that_refuse_and_that_hold_are_told_and_spend_no_attempt(
    limited_cluster: Cluster, tmp_path: Path
) -> None:
    """Nothing is taken; then no job may begin; then no core may be used. Each time it goes on by itself once that is lifted."""
    cluster = limited_cluster
    qos(cluster, "tight", "MaxSubmitJobsPU=0", "MaxJobsPU=0", "GrpTRES=cpu=0")
    steps = {
        "it was not taken: QOSMaxSubmitJobPerUserLimit": "MaxSubmitJobsPU=-1",
        "QOSMaxJobsPerUserLimit (a limit of its quality of service": "MaxJobsPU=-1",
        "QOSGrpCpuLimit (a limit of its quality of service": "GrpTRES=cpu=-1",
    }
    with Disturbed(cluster, tmp_path / "site", [Payload("nap", "batch", "true")], repeats=2) as campaign:
        campaign.amend_system("    scheduler: slurm\n", "    scheduler: slurm\n    options: [--qos=tight]\n")
        campaign.start()
        for wanted, lifted in steps.items():
            campaign.wait_until(lambda word=wanted: word in campaign.command("status", "p-1").stdout, wanted)  # type: ignore[misc]
            assert not campaign.executed()
            qos(cluster, "tight", lifted)
        campaign.end()
        campaign.assert_all_passed_once(2)
        assert not campaign.findings()


def test_what_the_limits_forbid_at_once_is_refused_for_good(limited_cluster: Cluster, tmp_path: Path) -> None:
    """A site may have jobs that can never start refused (DenyOnLimit): that is no matter of patience."""
    qos(limited_cluster, "denied", "MaxWall=2", "flags=DenyOnLimit")
    with Disturbed(limited_cluster, tmp_path / "site", [Payload("wide", "n002", "true", limit="5min")]) as campaign:
        campaign.amend_system("--partition=batch", '--partition=batch", "--qos=denied')
        campaign.start()
        campaign.end()
        verdict, why = campaign.verdict("wide")
        assert verdict == "submit_failed"
        assert why.startswith("the scheduler refused it: QOSMaxWallDurationPerJobLimit"), why
