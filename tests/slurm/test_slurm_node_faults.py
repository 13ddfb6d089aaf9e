"""What nodes do to jobs: each fault in a whole campaign on a real Slurm, with the verdict and the reason that it must have."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

pytestmark = pytest.mark.slurm
PASSED = ("passed", "exit status 0")
# The first attempt is there when the fault comes, the second is over at once.
LONG_AT_FIRST = "[ $attempt -gt 1 ] || sleep 100"
SHORT = "sleep 12"


def test_nodes_that_fail(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    cluster = any_fault_cluster
    payloads = [
        Payload("power", "n001", LONG_AT_FIRST),
        Payload("power-requeue", "n002", LONG_AT_FIRST, requeue=True),
        Payload("daemon-long", "n003", "[ $attempt -gt 1 ] || sleep 30", limit="200s"),
        Payload("hung", "n004", LONG_AT_FIRST),
        Payload("daemon-short", "n005", SHORT),
        Payload("drained", "n006", SHORT),
        Payload("rebooted", "n007", SHORT),
        Payload("set-down", "n008", LONG_AT_FIRST),
    ]
    with Campaign(cluster, tmp_path / "site", payloads, retry="node_fail: 1, interrupted: 1") as campaign:
        campaign.start()
        campaign.wait_running()
        cluster.fault("power-off", "n001")
        cluster.fault("power-off", "n002")
        cluster.fault("kill-slurmd", "n003")
        cluster.fault("freeze", "n004")
        cluster.fault("kill-slurmd", "n005")
        cluster.fault("start-slurmd", "n005")
        cluster.fault("drain", "n006", "bad DIMM")
        cluster.fault("reboot", "n007")
        cluster.fault("set-down", "n008")
        for name in ("power", "power-requeue", "daemon-long", "hung"):
            campaign.wait_verdict(name)
        cluster.fault("power-on", "n001")
        cluster.fault("power-on", "n002")
        cluster.fault("thaw", "n004")
        campaign.wait_until(lambda: campaign.findings().get("daemon-long"), "a late mark")
        cluster.fault("start-slurmd", "n003")
        campaign.end()

        print(campaign.tale())
        print(campaign.verdicts(), campaign.findings())
