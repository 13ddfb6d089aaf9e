"""Honest ends that Slurm tells otherwise: a controller that was away until the limit had passed, steps that a script killed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from slurm_campaigns import Payload
from slurm_cluster import Cluster
from slurm_disturbed import Disturbed, wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.newer_slurm]
PASSED = ("passed", "exit status 0")
LIMIT_S = 60.0  # of Slurm's, in whole minutes, for a test of 30 s
SERVER = """srun -n1 --overlap sh -c 'sleep 9; kill -9 $$' &
sleep 3
srun -n1 --overlap sh -c 'sleep 2; echo measured'
wait
exit 0"""
MEASUREMENT = "srun -n1 --overlap sh -c 'sleep 2; kill -9 $$'\nexit 0"
LOST = "ranks of a step were lost, although its exit status is 0: srun: error: "


def test_a_run_that_ended_while_the_controller_was_away_until_its_time_limit(
    fault_cluster: Cluster, tmp_path: Path
) -> None:
    """Slurm calls it TIMEOUT. What it knows of its script agrees with its mark. The other one came to no end."""
    payloads = [
        Payload("honest", "n001", "sleep 2"),
        Payload("endless", "n002", "trap '' TERM; sleep 1000; sleep 1000"),
    ]
    with Disturbed(fault_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.wait_running("honest", "endless")
        began, number = time.time(), campaign.job("honest")
        fault_cluster.fault("stop-slurmctld")
        wait_until(lambda: "marks.0" in campaign.marks("honest"), "it came to its own end")
        wait_until(lambda: time.time() > began + LIMIT_S + 5.0, "its time limit is past")
        fault_cluster.fault("start-slurmctld")
        campaign.end()
        assert fault_cluster.wait_for_job(number) == "TIMEOUT", "else nothing is shown here"
        told = campaign.verdicts()
        assert told["honest"] == [PASSED], campaign.tale()
        assert [verdict for verdict, _ in told["endless"]] == ["timeout"], campaign.tale()
        assert not [event for event in campaign.events("finding") if event.value["kind"] == "marks_doubted"], (
            campaign.tale()
        )


def test_steps_that_a_script_kills_and_steps_that_it_loses(accounting_cluster: Cluster, tmp_path: Path) -> None:
    payloads = [Payload("server", "n001", SERVER), Payload("measurement", "n002", MEASUREMENT)]
    with Disturbed(accounting_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.end()
        told = campaign.verdicts()
        assert told["server"] == [PASSED], campaign.tale()
        [(verdict, why)] = told["measurement"]
        assert verdict == "failed" and why.startswith(LOST) and "Killed" in why, campaign.tale()
        [event] = [event for event in campaign.events("verdict") if campaign.name(event) == "server"]
        assert event.value["output"]["ended_steps"] == ["0"]
