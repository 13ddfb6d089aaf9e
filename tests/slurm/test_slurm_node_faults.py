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


def lost(node: str) -> tuple[str, str]:
    return "node_fail", f"a node it ran on failed: Slurm lost a node of {node}; {node} is down* (Not responding)"


def test_nodes_that_fail(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """One fault for each node at the same time. A lost node costs an attempt, and nothing that only looks like one does."""
    cluster = any_fault_cluster
    beyond = 3 * cluster.silent_s  # its node is down by then
    payloads = [
        Payload("power", "n001", LONG_AT_FIRST, more="loads: {one: 1}"),
        Payload("power-requeue", "n002", LONG_AT_FIRST, requeue=True),
        Payload("daemon-long", "n003", f"[ $attempt -gt 1 ] || sleep {beyond}", limit="200s", more="loads: {two: 1}"),
        Payload("hung", "n004", LONG_AT_FIRST),
        Payload("daemon-short", "n005", SHORT),
        Payload("drained", "n006", SHORT),
        Payload("rebooted", "n007", SHORT),
        Payload("set-down", "n008", LONG_AT_FIRST),
    ]
    site = tmp_path / "site"
    with Campaign(cluster, site, payloads, retry="node_fail: 1", budgets="one: 1, two: 1") as campaign:
        campaign.start()
        campaign.wait_running()
        for fault, node in (("power-off", "n001"), ("power-off", "n002"), ("kill-slurmd", "n003"), ("freeze", "n004")):
            cluster.fault(fault, node)
        cluster.fault("kill-slurmd", "n005")
        cluster.fault("start-slurmd", "n005")
        cluster.fault("drain", "n006", "bad DIMM")
        cluster.fault("reboot", "n007")
        cluster.fault("set-down", "n008")
        for name in ("power", "power-requeue", "daemon-long", "hung"):
            campaign.wait_verdict(name)
        for fault, node in (("power-on", "n001"), ("power-on", "n002"), ("thaw", "n004")):
            cluster.fault(fault, node)
        campaign.wait_until(lambda: campaign.findings().get("daemon-long"), "a late mark")
        cluster.fault("start-slurmd", "n003")
        campaign.end()

    back = "the scheduler put it back into the queue (restart 1)"
    told = campaign.verdicts()
    # It registers again at once, or a moment later: then sinfo still has the word of the administrator.
    verdict, reason = told["set-down"][0]
    told["set-down"][0] = (verdict, reason.removesuffix("; n008 is down (set down)"))
    assert told == {
        "power": [lost("n001"), PASSED],
        "power-requeue": [("node_fail", f"{lost('n002')[1]}; {back}"), PASSED],
        "daemon-long": [lost("n003"), PASSED],
        "hung": [lost("n004"), PASSED],
        "daemon-short": [PASSED],
        "drained": [PASSED],
        "rebooted": [PASSED],
        "set-down": [("node_fail", "a node it ran on failed: Slurm lost a node of n008"), PASSED],
    }, campaign.tale()
    assert campaign.executions() == {
        **dict.fromkeys(("power", "power-requeue", "daemon-long", "hung", "set-down"), 2),
        **dict.fromkeys(("daemon-short", "drained", "rebooted"), 1),
    }
    assert {
        event.value["nodes"] for event in campaign.events("verdict") if campaign.name(event) == "power-requeue"
    } == {"n002"}
    assert_held_until_known_dead(campaign, "power")
    assert_held_until_known_dead(campaign, "daemon-long")
    assert campaign.findings()["daemon-long"] == [("late_mark", True)], "it had gone on, and left its end mark"
    assert [what.split()[1:] for name, what in campaign.executed() if name == "power-requeue"][1][0] == "restart=1"


def assert_held_until_known_dead(campaign: Campaign, name: str) -> None:
    """What a job holds that was declared dead is only given to the next attempt once it is known to be dead."""
    [dead] = [e.seq for e in campaign.events("finding") if campaign.name(e) == name and e.value.get("dead")]
    first, second = [event.seq for event in campaign.events("submit_order") if campaign.name(event) == name]
    assert first < dead < second, campaign.tale()
