"""What people, the scheduler and payloads do to jobs: each in a whole campaign, with the verdict and the reason that it must have."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

pytestmark = pytest.mark.slurm
PASSED = ("passed", "exit status 0")
LONG_AT_FIRST = "[ $attempt -gt 1 ] || sleep 100"
BACK = "the scheduler put it back into the queue (restart 1)"
PREEMPTED = "it was preempted by other work"


def test_what_others_do_to_jobs(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    cluster = any_fault_cluster
    payloads = [
        Payload("cancelled", "n001", LONG_AT_FIRST),
        Payload("requeued", "n002", LONG_AT_FIRST, requeue=True),
        Payload("requeued-unasked", "n003", "sleep 10"),
        Payload("held", "n004", LONG_AT_FIRST, requeue=True),
        Payload("preempted", "low5", LONG_AT_FIRST, requeue=True),
        Payload("preempted-for-good", "low6", LONG_AT_FIRST),
        Payload("suspended", "n007", "sleep 10"),
        Payload("killed", "n008", LONG_AT_FIRST),
    ]
    with Campaign(cluster, tmp_path / "site", payloads, retry="interrupted: 1, failed: 1, cancelled: 1") as campaign:
        campaign.start()
        campaign.wait_running()
        jobs = {name: campaign.job(name) for name in campaign.payloads}
        cluster.run("scancel", jobs["cancelled"])
        cluster.run("scontrol", "requeue", jobs["requeued"])
        assert cluster.attempt("scontrol", "requeue", jobs["requeued-unasked"]).returncode == 1
        cluster.run("scontrol", "requeuehold", jobs["held"])
        cluster.run("scontrol", "suspend", jobs["suspended"])
        cluster.run("scancel", "--signal=KILL", "--batch", jobs["killed"])
        strangers = [cluster.sbatch("sleep 3", "-p", "urgent", "--exclusive", "-w", node) for node in ("n005", "n006")]
        campaign.wait_verdict("held")
        cluster.run("scontrol", "resume", jobs["suspended"])
        cluster.wait_until(lambda: cluster.attempt("scontrol", "release", jobs["held"]).returncode == 0)
        campaign.end()
        for stranger in strangers:
            assert cluster.wait_for_job(stranger) == "COMPLETED", "others' jobs are left alone"

    by = "" if cluster.configuration == "plain" else ": by user id 0"
    assert campaign.verdicts() == {
        "cancelled": [("cancelled", f"someone else cancelled it at the scheduler{by}")],
        "requeued": [("interrupted", BACK), PASSED],
        "requeued-unasked": [PASSED],
        "held": [("interrupted", BACK), PASSED],
        "preempted": [("interrupted", f"{BACK}: {PREEMPTED}"), PASSED],
        "preempted-for-good": [("interrupted", f"it was ended from outside: {PREEMPTED}"), PASSED],
        "suspended": [PASSED],
        "killed": [("failed", "ended by signal 9 (SIGKILL); perhaps it ran out of memory"), PASSED],
    }, campaign.tale()
    twice = ("requeued", "held", "preempted", "preempted-for-good", "killed")
    assert campaign.executions() == {**dict.fromkeys(campaign.payloads, 1), **dict.fromkeys(twice, 2)}
    assert campaign.findings() == {}


def test_payloads_at_their_worst(fault_cluster: Cluster, tmp_path: Path) -> None:
    """Slurm's limit is a minute: whole minutes are all it knows."""
    payloads = [
        Payload("limit", "n001", "sleep 300"),
        Payload("ignores", "n002", "trap '' TERM\nwhile :; do sleep 1; done"),
        Payload("traps", "n003", "trap 'exit 5' TERM\nwhile :; do sleep 1; done"),
        Payload("says-all-is-well", "n004", "trap 'exit 0' TERM\nwhile :; do sleep 1; done"),
        Payload("kills-its-shell", "n005", "kill -9 $$"),
        Payload("segfaults", "n005", "sh -c 'kill -SEGV $$'"),
        Payload("segfaults-under-srun", "n005", "srun sh -c 'kill -SEGV $$'"),
        Payload("exits-200", "n006", "exit 200"),
        Payload("exits-7", "n006", "exit 7"),
        Payload("missing", "n006", "./nowhere"),
        Payload("loud", "n006", "head -c 200000000 /dev/zero | tr '\\0' x\necho\necho the end"),
        Payload("no-directory", "n007", "sleep 1"),
        Payload("no-writing", "n008", "sleep 1"),
    ]
    with Campaign(fault_cluster, tmp_path / "site", payloads) as campaign:
        campaign.start()
        campaign.wait_running(*[name for name in campaign.payloads if not name.startswith("no-")])
        campaign.end()
    print(campaign.tale())
    print(campaign.verdicts())
    for file in (campaign.root / "jobs").glob("*/*/*"):
        if "marks" in file.name:
            print(file, file.read_text())
    assert campaign.executions() == dict.fromkeys(campaign.payloads, 1)
