"""What people, the scheduler and payloads do to jobs: in whole campaigns, with the verdict and the reason that each must have."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from slurm_campaigns import SCRIPT_KILLED, Campaign, Payload
from slurm_cluster import Cluster

pytestmark = pytest.mark.slurm
PASSED = ("passed", "exit status 0")
LONG_AT_FIRST = "[ $attempt -gt 1 ] || sleep 100"
BACK = "the scheduler put it back into the queue (restart 1)"
PREEMPTED = "it was preempted by other work"
LOST = "a node it ran on failed: Slurm lost a node of"
LICENSED = tuple(f"licence-{number}" for number in range(1, 5))


def is_suspended(cluster: Cluster, job: str) -> bool:
    """A busy slurmd may not answer the first time."""
    cluster.attempt("scontrol", "suspend", job)
    return cluster.job_state(job) == "SUSPENDED"


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
    with Campaign(cluster, tmp_path / "site", payloads, retry="interrupted: 1, failed: 1") as campaign:
        campaign.start()
        campaign.wait_running(*campaign.payloads)
        jobs = {name: campaign.job(name) for name in campaign.payloads}
        cluster.run("scancel", jobs["cancelled"])
        cluster.run("scontrol", "requeue", jobs["requeued"])
        assert cluster.attempt("scontrol", "requeue", jobs["requeued-unasked"]).returncode == 1
        cluster.run("scontrol", "requeuehold", jobs["held"])
        cluster.wait_until(lambda: is_suspended(cluster, jobs["suspended"]))
        cluster.run("scancel", "--signal=KILL", "--batch", jobs["killed"])
        strangers = [cluster.sbatch("sleep 3", "-p", "urgent", "--exclusive", "-w", node) for node in ("n005", "n006")]
        campaign.wait_verdict("held")
        cluster.run("scontrol", "resume", jobs["suspended"])
        cluster.wait_until(lambda: cluster.attempt("scontrol", "release", jobs["held"]).returncode == 0)
        campaign.end()
        for stranger in strangers:
            assert cluster.wait_for_job(stranger) == "COMPLETED", "others' jobs are left alone"

    by = "" if cluster.configuration == "plain" else ": by user id 0"
    said = {
        name: [(verdict, re.sub(r"[\d.]+ (m?s|min)( \d+ s)? while", "N s while", why)) for verdict, why in told]
        for name, told in campaign.verdicts().items()
    }
    assert said == {
        "cancelled": [("cancelled", f"someone else cancelled it at the scheduler{by}")],
        "requeued": [("interrupted", BACK), PASSED],
        "requeued-unasked": [PASSED],
        "held": [("interrupted", BACK), PASSED],
        "preempted": [("interrupted", f"{BACK}: {PREEMPTED}"), PASSED],
        "preempted-for-good": [("interrupted", f"it was ended from outside: {PREEMPTED}"), PASSED],
        "suspended": [PASSED],
        "killed": [SCRIPT_KILLED, PASSED],
    }, campaign.tale()
    twice = ("requeued", "held", "preempted", "preempted-for-good", "killed")
    assert campaign.executions() == {**dict.fromkeys(campaign.payloads, 1), **dict.fromkeys(twice, 2)}
    found = {name: [kind for kind, _ in told] for name, told in campaign.findings().items()}
    assert found.keys() == {"suspended"}, campaign.tale()
    assert found["suspended"] == ["halted", "goes_on"]
    halted_s = next(e.value["halted_s"] for e in campaign.events("verdict") if campaign.name(e) == "suspended")
    assert halted_s > 0, campaign.tale()


def test_payloads_and_nodes_at_their_worst(fault_cluster: Cluster, tmp_path: Path) -> None:
    """Slurm counts in whole minutes: the limit of 30 s is one of 60 s there, and the script has the rest to write its end."""
    cluster = fault_cluster
    loop = "while :; do sleep 1; done"
    payloads = [
        Payload("limit", "n001", "sleep 300"),
        Payload("limit-ignored", "n002", f"trap '' TERM\n{loop}"),
        Payload("limit-trapped", "n003", f"trap 'exit 5' TERM\n{loop}"),
        Payload("limit-all-is-well", "n004", f"trap 'exit 0' TERM\n{loop}"),
        Payload("kills-its-shell", "n005", "kill -9 $$"),
        Payload("kills-its-script", "n005", "kill -9 $PPID; exec sleep 1"),
        Payload("segfaults", "n005", "sh -c 'kill -SEGV $$'"),
        Payload("segfaults-under-srun", "n005", "srun sh -c 'kill -SEGV $$'"),
        Payload("exits-200", "n005", "exit 200"),
        Payload("missing", "n005", "./nowhere"),
        Payload("loud", "n005", "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo the end"),
        Payload("clock", "n005", "date +%s >>{campaign}/../../clock; sleep 8; date +%s >>{campaign}/../../clock"),
        *(Payload(name, "n005", "sleep 3", more="loads: {scratch: 2}") for name in LICENSED),
        Payload("no-control", "n006", "true"),
        Payload("no-directory", "n006", "true"),
        Payload("lost-directory", "n006", "true"),
        Payload("pair", "pair", "srun --ntasks-per-node=1 sleep 100", nodes=2, requeue=True),
    ]
    late = ("no-control", "no-directory", "lost-directory")
    stranger = cluster.sbatch("sleep 6", "-L", "scratch:2")
    cluster.wait_for_job(stranger, "RUNNING")
    cluster.fault("step-clock", "n005", "0")
    cluster.fault("drain", "n006", "not yet")
    retry = "node_fail: 0, submit_failed: 0, interrupted: 0"
    with Campaign(cluster, tmp_path / "site", payloads, retry=retry, licences="scratch: 4") as campaign:
        campaign.start()
        campaign.wait_running("clock")
        cluster.fault("step-clock", "n005", "-3600")
        campaign.wait_running("pair")
        cluster.fault("power-off", "n008")
        campaign.wait_until(lambda: all(campaign.job(name) for name in late), "submitted")
        control = spoil(campaign)
        cluster.fault("resume", "n006")
        campaign.end()

    made_anew = (
        control / "slurm.out"
    ).exists()  # 24.11 makes the output's directory where it is missing: the job can run
    limit = ("timeout", "it was ended at its time limit of 30 s")
    killed = "(a command was ended by signal"
    missing = "exit status 127 (a command was not found): "
    no_control = (
        "Slurm started it on n006 and it ended (FAILED) before it took its claim; "
        "its output file or work directory could not be opened"
    )
    no_directory = "its work directory, its output file or its payload could not be opened on the node"
    told = campaign.verdicts()
    [(verdict, reason)] = told.pop("missing")
    assert verdict == "failed" and reason.startswith(missing) and reason.endswith("./nowhere: not found")
    assert told == {
        **{key: [limit] for key in ("limit", "limit-ignored", "limit-trapped", "limit-all-is-well")},
        "kills-its-shell": [("failed", f"exit status 137 {killed} 9 (SIGKILL)): Killed")],
        "kills-its-script": [SCRIPT_KILLED],
        "segfaults": [("failed", f"exit status 139 {killed} 11 (SIGSEGV)): Segmentation fault")],
        "segfaults-under-srun": [
            ("failed", f"exit status 139 {killed} 11 (SIGSEGV)): srun: error: n005: task 0: Segmentation fault")
        ],
        "exits-200": [("failed", "exit status 200")],
        **{key: [PASSED] for key in ("loud", "clock", "lost-directory")},
        **{key: [PASSED] for key in LICENSED},
        "no-control": [PASSED if made_anew else ("submit_failed", f"nothing shows that it ran: {no_control}")],
        "no-directory": [("submit_failed", f"nothing shows that it ran: {no_directory}")],
        "pair": [("node_fail", f"{LOST} n[007-008]; n008 is down* (Not responding); {BACK}")],
    }, campaign.tale()
    never = ("no-directory",) if made_anew else ("no-control", "no-directory")
    assert campaign.executions() == {name: 1 for name in campaign.payloads if name not in never}
    assert campaign.findings()["pair"][0] == ("unwanted_restart", False), "the plan wants no second attempt"
    assert_clock_stepped(campaign)
    assert_licences_were_enough(campaign, 4.0)


def assert_clock_stepped(campaign: Campaign) -> None:
    """The node's calendar went back an hour under the payload; its run time did not."""
    before, after = (int(line) for line in (campaign.site / "clock").read_text().split())
    assert before - after > 3000
    [elapsed] = [event.value["elapsed_s"] for event in campaign.events("verdict") if campaign.name(event) == "clock"]
    assert 8 <= elapsed < 100


def assert_licences_were_enough(campaign: Campaign, most: float) -> None:
    """All are queued, for Slurm hands the licences out; what ran at once never held more than there is."""
    changes = []
    for event in campaign.events("verdict"):
        if event.case.startswith("licence-"):
            began = event.value["started"]
            changes += [(began, 2.0), (began + event.value["elapsed_s"], -2.0)]
    assert len(changes) == 2 * len(LICENSED)
    held = peak = 0.0
    for _, change in sorted(changes):
        held += change
        peak = max(peak, held)
    assert 0 < peak <= most
    for name in LICENSED:
        assert campaign.cluster.job(campaign.job(name))["Licenses"] == "scratch:2"


def spoil(campaign: Campaign) -> Path:
    """Before they start: two lose their control and work directory, one has a file for its work directory. The first one's path."""
    ours = {campaign.name(event): event.job for event in campaign.events("submit_order")}
    [control] = campaign.root.glob(f"jobs/*/{ours['no-control']}")
    shutil.rmtree(control)
    [place] = campaign.root.glob(f"work/*/{ours['no-directory']}.0")
    shutil.rmtree(place)
    place.touch()
    [place] = campaign.root.glob(f"work/*/{ours['lost-directory']}.0")
    shutil.rmtree(place)
    return control
