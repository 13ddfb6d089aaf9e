"""Jobs that were given a node and never took their claim: the node failed to launch them, and nobody cancelled anything."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

PASSED = ("passed", "exit status 0")

PROLOG = """\
#!/bin/sh
export SLURM_CONF={conf} PATH={path}
case $(squeue --noheader --jobs=$SLURM_JOB_ID --format=%j) in *-j0*) ;; *) exit 0 ;; esac
if [ -e "{place}/gone-$SLURMD_NODENAME" ]; then
    kill -9 $(cat "{pids}/$SLURMD_NODENAME.slurmd.pid")
fi
[ ! -e "{place}/bad-$SLURMD_NODENAME" ]
"""


@contextmanager
def prologs_fail(cluster: Cluster, place: Path, **wrong: str) -> Iterator[None]:
    """Until they are mended (their files are removed), the prolog of these nodes fails for our runs, or ends their slurmd."""
    prolog, configured = place / "prolog", cluster.slurm_conf.read_text()
    pids = cluster.slurm_conf.parent / "nodes"
    prolog.write_text(PROLOG.format(conf=cluster.slurm_conf, path=cluster.environment["PATH"], place=place, pids=pids))
    prolog.chmod(0o755)
    for node, what in wrong.items():
        (place / f"{what}-{node}").touch()
    cluster.slurm_conf.write_text(f"{configured}Prolog={prolog}\n")
    cluster.run("scontrol", "reconfigure")
    try:
        yield
    finally:
        cluster.slurm_conf.write_text(configured)
        cluster.run("scontrol", "reconfigure")


def test_launches_that_fail(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """A prolog that fails, with and without a word of requeueing, and a slurmd that is gone when the job is to start."""
    cluster = any_fault_cluster
    payloads = [
        Payload("prolog", "n001", "true"),
        Payload("prolog-requeue", "n002", "true", requeue=True),
        Payload("gone", "n003", "true"),
        Payload("sound", "n004", "true"),
    ]
    with (
        prologs_fail(cluster, tmp_path, n001="bad", n002="bad", n003="gone"),
        Campaign(cluster, tmp_path / "site", payloads) as campaign,
    ):
        campaign.start()
        for name in ("prolog", "prolog-requeue", "gone"):
            campaign.wait_verdict(name)
        for node in ("n001", "n002"):
            (tmp_path / f"bad-{node}").unlink()
            cluster.fault("resume", node)
        (tmp_path / "gone-n003").unlink()
        cluster.fault("start-slurmd", "n003")
        campaign.end()

    verdicts = campaign.verdicts()
    assert verdicts["sound"] == [PASSED]
    for name, node in (("prolog", "n001"), ("prolog-requeue", "n002"), ("gone", "n003")):
        first = verdicts[name][0]
        assert first[0] == "node_fail" and first[1].startswith(f"launch failure on {node}: "), campaign.tale()
        assert verdicts[name][-1] == PASSED and {word for word, _ in verdicts[name][:-1]} == {"node_fail"}
    why = verdicts["prolog"][0][1]
    assert why.endswith("n001 is drained (Prolog error)")
    assert ("Error running slurm prolog: 1" in why) == (
        "Error running slurm prolog: 1" in said_of_first(campaign, "prolog")
    )
    assert campaign.executions() == dict.fromkeys(campaign.payloads, 1), "what failed to launch never ran"
    failed = [e.value for e in campaign.events("verdict") if e.value["verdict"] == "node_fail"]
    assert all(value["launch_failure"] and value["failed_nodes"] == [value["nodes"]] for value in failed)
    told = campaign.command("failures", "p-1").stdout
    assert "launch-failure" in told, told


def said_of_first(campaign: Campaign, name: str) -> str:
    """What Slurm wrote into the output of the test's first job. 22.05 tells of a failed prolog there, 24.11 does not."""
    job = next(event.job for event in campaign.events("submit_order") if campaign.name(event) == name)
    return "".join(file.read_text() for file in campaign.root.glob(f"jobs/*/{job}/slurm.out"))


def test_a_node_that_is_not_the_first_fails_a_job(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """Its prolog fails when a step begins there; or it loses power and is back before Slurm misses it. srun may end with 0 then."""
    cluster = any_fault_cluster
    step = 'srun -N2 -n2 sh -c "echo on \\$SLURMD_NODENAME >>$SHAKEDOWN_CAMPAIGN/../../seen; [ $attempt -gt 1 ] || sleep 15"'
    payloads = [
        Payload("prolog", "first", step, nodes=2, limit="60s"),
        Payload("power", "second", f"{step} || true", nodes=2, limit="60s"),
        Payload("quiet", "pair", f"{step} 2>/dev/null || true", nodes=2, limit="60s"),
        Payload("unable", "third", "srun -N2 -n4000 true", nodes=2),
    ]
    with (
        prologs_fail(cluster, tmp_path, n002="bad"),
        Campaign(cluster, tmp_path / "site", payloads) as campaign,
    ):
        campaign.start()
        campaign.wait_running("power", "quiet")
        campaign.wait_until(lambda: "on n004" in campaign.seen() and "on n008" in campaign.seen(), "on both nodes")
        began = int((campaign.site / "seen").stat().st_mtime)
        campaign.wait_until(lambda: time.time() > began + 1, "the next second, for Slurm counts in seconds")
        for node in ("n004", "n008"):
            cluster.fault("power-off", node)
            cluster.fault("power-on", node)
        campaign.wait_verdict("prolog")
        (tmp_path / "bad-n002").unlink()
        cluster.fault("resume", "n002")
        campaign.end()

    verdicts, tale = campaign.verdicts(), campaign.tale()
    assert [verdict for verdict, _ in verdicts["prolog"]] == ["node_fail", "passed"], tale
    assert verdicts["prolog"][0][1].startswith("launch failure on n002: "), tale
    power = [verdict for verdict, _ in verdicts["power"]]
    assert (power[0], power[-1]) == ("node_fail", "passed"), tale
    assert set(power[1:-1]) <= {"interrupted"}, (
        tale
    )  # Slurm may see the boot late, and take the node from the next job too
    assert "n004 was booted while the job ran; srun: Job step aborted" in verdicts["power"][0][1], tale
    assert verdicts["quiet"][0] == ("node_fail", "a node it ran on failed: n008 was booted while the job ran"), tale
    assert verdicts["quiet"][-1] == PASSED, tale
    charged = {
        campaign.name(e): e.value["failed_nodes"] for e in campaign.events("verdict") if "failed_nodes" in e.value
    }
    assert charged == {"prolog": ["n002"], "power": ["n004"], "quiet": ["n008"]}, tale
    [(verdict, why)] = verdicts["unable"]
    assert verdict == "failed" and "srun: error: Unable to create step for job" in why, tale


def test_a_prolog_that_fails_while_nobody_drives(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """The conductor is killed while the jobs wait; the prologs fail, one job is put back and runs elsewhere; then it is resumed."""
    cluster = any_fault_cluster
    nodes = [f"n{number:03d}" for number in range(1, cluster.nodes + 1)]
    payloads = [
        Payload("alone", "n001", "true"),
        Payload("again", "n002", "true", requeue=True),
        Payload("moved", "batch", "true", requeue=True),
    ]
    for node in nodes:
        cluster.fault("drain", node)
    with (
        prologs_fail(cluster, tmp_path, n001="bad", n002="bad", n003="bad"),
        Campaign(cluster, tmp_path / "site", payloads) as campaign,
    ):
        driver = campaign.start()
        campaign.wait_until(lambda: len(campaign.events("submit_accepted")) == 3, "all are submitted")
        driver.kill()
        driver.wait()
        campaign.driver = None
        for some in (["n003"], ["n001", "n002"]):  # on the first of them nothing but the last payload can start
            for node in some:
                cluster.fault("resume", node)
            for node in some:
                cluster.wait_for_node(node, "drained", "drained*")
        for node in nodes[3:]:
            cluster.fault("resume", node)
        campaign.wait_until(lambda: campaign.executions().get("moved") == 1, "it ran elsewhere")
        campaign.start("resume", "p-1")
        for payload in payloads:
            campaign.wait_verdict(payload.name)
        for node in nodes[:3]:
            (tmp_path / f"bad-{node}").unlink()
            cluster.fault("resume", node)
        campaign.end()

    verdicts, tale = campaign.verdicts(), campaign.tale()
    failed = {campaign.name(e): e.value for e in campaign.events("verdict") if e.value["verdict"] == "node_fail"}
    for name, node in (("alone", "n001"), ("again", "n002"), ("moved", "n003")):
        assert [verdict for verdict, _ in verdicts[name]] == ["node_fail", "passed"], tale
        why = verdicts[name][0][1]
        assert why.startswith(f"launch failure on {node}: ") and f"{node} is drained (Prolog error)" in why, tale
        assert failed[name]["launch_failure"] and failed[name]["failed_nodes"] == [node], tale
    assert campaign.executions() == dict.fromkeys(campaign.payloads, 1), tale
    assert "launch-failure" in campaign.command("failures", "p-1").stdout, tale


@contextmanager
def read_only(cluster: Cluster, node: str, place: Path) -> Iterator[None]:
    """One node sees a directory read-only, as a client does that a file server evicted."""
    pid = (cluster.slurm_conf.parent / f"nodes/{node}.pid").read_text().strip()
    inside = ["nsenter", "-t", pid, "-m"]
    subprocess.run([*inside, "mount", "--bind", str(place), str(place)], check=True)
    try:
        subprocess.run([*inside, "mount", "-o", "remount,bind,ro", str(place)], check=True)
        yield
    finally:
        subprocess.run([*inside, "mount", "-o", "remount,bind,rw", str(place)], check=True)
        subprocess.run([*inside, "umount", "-l", str(place)], check=False)


def test_one_node_that_launches_nothing_is_left_out_and_costs_no_attempt(
    any_fault_cluster: Cluster, tmp_path: Path
) -> None:
    """Every job that Slurm puts on n004 ends before its claim, at once. Five good nodes stand beside."""
    cluster = any_fault_cluster
    payloads = [Payload("many", "batch", "sleep 2")]
    with Campaign(cluster, tmp_path / "site", payloads, repeats=30) as campaign, read_only(cluster, "n004", tmp_path):
        campaign.start()
        campaign.end()
        verdicts = Counter(verdict for verdict, _ in campaign.verdicts()["many"])
        kinds = Counter(event.value["kind"] for event in campaign.events("finding"))
        (left_out,) = [event for event in campaign.events("finding") if event.value["kind"] == "node_left_out"]
        assert verdicts["passed"] == 30
        assert verdicts["node_fail"] <= 2, "one or two before it was known"
        assert kinds["queue_held"] == 0
        assert left_out.value["nodes"] == ["n004"]
        assert "n004 is left out" in left_out.reason
        assert "is held" not in campaign.command("status", "p-1").stdout


def test_several_nodes_that_launch_nothing_do_not_hold_the_queue(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """n001 to n003 are what Slurm gives first, and idle again at once. The first probe that avoids them opens the queue."""
    cluster = any_fault_cluster
    payloads = [Payload("many", "batch", "sleep 2")]
    bad = ("n001", "n002", "n003")
    with Campaign(cluster, tmp_path / "site", payloads, repeats=30) as campaign, ExitStack() as stack:
        for node in bad:
            stack.enter_context(read_only(cluster, node, tmp_path))
        campaign.start()
        campaign.end()
        tale, findings = campaign.tale(), [event.value for event in campaign.events("finding")]
        verdicts = Counter(verdict for verdict, _ in campaign.verdicts()["many"])
        held = [value["held_s"] for value in findings if value["kind"] == "queue_released"]
        assert verdicts["passed"] == 30, tale
        assert verdicts["node_fail"] <= 2 * max(1, len(held)), f"one or two before each hold\n{tale}"
        assert sum(held) < 100, tale
        left_out = {node for value in findings if value["kind"] == "node_left_out" for node in value["nodes"]}
        assert left_out == set(bad), tale
        assert campaign.executions() == {"many": 30}, tale


def test_a_sweep_waits_for_a_node_that_launches_nothing(any_fault_cluster: Cluster, tmp_path: Path) -> None:
    """It sees the seven others, spends two attempts on n004, waits for it, and goes on when a person gives it back."""
    cluster = any_fault_cluster
    payloads = [Payload("see", "batch", "echo $SLURMD_NODENAME >>{campaign}/../../seen")]
    with Campaign(cluster, tmp_path / "site", payloads, more="      sweep: {queued: 4}\n") as campaign:
        with read_only(cluster, "n004", tmp_path):
            campaign.start()
            campaign.wait_until(lambda: ("sweep_waits", False) in campaign.findings().get("", []), "the sweep waits")
        said = " ".join(campaign.command("status", "p-1").stdout.split())
        back = campaign.command("include", "p-1", "n004", "--by", "Ada", "--because", "mounted again")
        assert back.returncode == 0, back.stderr
        campaign.end()
    tale = campaign.tale()
    assert "n004 is left out since" in said, said
    verdicts = Counter(verdict for verdict, _ in campaign.verdicts()["see"])
    assert verdicts == {"passed": 8, "node_fail": 2}, tale
    assert sorted(campaign.seen().split()) == [f"n{number:03d}" for number in range(1, 9)], tale
