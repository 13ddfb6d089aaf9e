"""Jobs that an administrator changes while they wait: what is said of each, and which of their runs count."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

pytestmark = [pytest.mark.slurm, pytest.mark.newer_slurm]
PASSED = ("passed", "exit status 0")
WHO = "somebody changed it at the scheduler"
SHARED = "it is no result of its case: other jobs could run on its nodes, and it asks to have them alone"
ELSEWHERE = "it is no result of its case: it ran on n004, and asks for nodes of n003"
CHANGES = {
    "shared": ("OverSubscribe=yes", "shared with other jobs from none to cores"),
    "moved": ("Partition=low", "partition from batch to low"),
    "longer": ("TimeLimit=10", "time limit from 1 min 00 s to 10 min 00 s"),
    "pinned": ("ReqNodeList=n004", "nodes that it must have from n003 to n004"),
}


def test_what_an_administrator_changes_of_jobs_that_wait(fault_cluster: Cluster, tmp_path: Path) -> None:
    cluster, nodes = fault_cluster, ("n001", "n002", "n003", "n004", "n005")
    # The moved one has a node to itself: what waits in batch ends what runs in low.
    places = {"pinned": "n003", "moved": "n005"}
    payloads = [Payload(name, places.get(name, "n001"), "sleep 1") for name in CHANGES]
    payloads.append(Payload("untouched", "n002", "sleep 1"))
    for node in nodes:
        cluster.fault("drain", node, "not yet")
    with Campaign(cluster, tmp_path / "site", payloads, retry="interrupted: 1") as campaign:
        campaign.start()
        campaign.wait_until(lambda: seen(campaign) == {*CHANGES, "untouched"}, "the queue told their terms")
        for name, (words, _) in CHANGES.items():
            cluster.run("scontrol", "update", f"JobId={campaign.job(name)}", words)
        campaign.wait_until(lambda: campaign.findings().keys() == CHANGES.keys(), "the changes were seen")
        for node in nodes:
            cluster.fault("resume", node)
        campaign.end()
    assert campaign.verdicts() == {
        **{name: [PASSED] for name in ("moved", "longer", "untouched")},
        "shared": [("interrupted", f"{SHARED}: {WHO}"), PASSED],
        "pinned": [("interrupted", f"{ELSEWHERE}: {WHO}"), PASSED],
    }, campaign.tale()
    said = {campaign.name(event): event.reason for event in campaign.events("finding")}
    assert said == {name: f"{WHO}, which does not say who: {change}" for name, (_, change) in CHANGES.items()}, (
        campaign.tale()
    )
    told = campaign.command("why", next(e.run for e in campaign.events("finding") if campaign.name(e) == "longer"))
    assert f"{WHO}, which does not say who: {CHANGES['longer'][1]}" in " ".join(told.stdout.split())


def seen(campaign: Campaign) -> set[str]:
    """The tests of whose jobs the record has the terms."""
    of = {event.job: campaign.name(event) for event in campaign.events("submit_order")}
    return {of[event.job] for event in campaign.events("job_report") if "terms" in event.value}
