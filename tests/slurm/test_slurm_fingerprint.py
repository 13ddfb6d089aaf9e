"""Fingerprints of a cluster's nodes: taken by a short job on the idle ones; a node that differs, changes or is busy is told."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from slurm_cluster import Cluster
from stories import SHAKEDOWN

from shakedown.events.reader import read_events
from shakedown.machine.fingerprint import probe_script
from shakedown.machine.fingerprint_here import Answers
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster as Described
from shakedown.model.nouns import Partition
from shakedown.processes.reactor import Reactor
from shakedown.queries.status import look_at_runs
from shakedown.schedulers.slurm.node_probe import SlurmProbe, places_of

pytestmark = pytest.mark.slurm
LIBRARY = Path("/lib/x86_64-linux-gnu/libm.so.6")
SITE = {
    "site.yaml": "site: emu\n",
    "systems/emu.yaml": """system: emu
clusters:
  {cluster}:
    scheduler: slurm
    patience: {{poll: 1s, grace: 3s}}
    partitions: {{batch: {{nodes: "n[001-016]", type: node}}, low: {{nodes: "n[001-016]", type: node}}}}
node_types: {{node: {{cores: 16}}}}
fingerprint: {{switch: cat {{campaign}}-is-no-word-here 2>/dev/null || echo "one two"}}
""",
    "tests/nap.yaml": "test: nap\nrun: {{command: sleep 1, time_limit: 5min}}\n",
    "plans/p.yaml": "plan: p\nsystem: emu\ncomponents:\n  - functionality: {{tests: [nap], repeats: 2}}\n",
}


@contextmanager
def other_file(cluster: Cluster, node: str, path: Path, instead: Path) -> Iterator[None]:
    """On this node another file lies where all others have the same one."""
    init = (cluster.directory / cluster.name / "nodes" / f"{node}.pid").read_text().strip()
    inside = ["nsenter", "-t", init, "-m", "-p", "--"]
    subprocess.run([*inside, "mount", "--bind", str(instead), str(path.resolve())], check=True)
    try:
        yield
    finally:
        subprocess.run([*inside, "umount", str(path.resolve())], check=True)


def site_of(cluster: Cluster, site: Path) -> Path:
    for name, text in SITE.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text.replace("{{campaign}}", "x").format(cluster=cluster.name))
    return site


def shakedown(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SHAKEDOWN, *words], cwd=site, capture_output=True, text=True, timeout=240)


def fingerprints(site: Path) -> list[Event]:
    return [event for event in read_events(site / "campaigns/p-1/log") if event.event == "fingerprint"]


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_all_nodes_at_the_start_and_a_library_that_changes_half_way(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    site = site_of(accounting_cluster, tmp_path / "site")
    library, release = tmp_path / "libm", tmp_path / "os-release"
    library.write_bytes(LIBRARY.read_bytes() + b"\0")
    release.write_text('PRETTY_NAME="Another Linux 7"\n')

    with other_file(accounting_cluster, "n005", Path("/etc/os-release"), release):
        done = shakedown(site, "run", "p", "-q")
        assert done.returncode == 0, done.stderr
        (first,) = fingerprints(site)
        assert first.value.get("unanswered") is None, first.value
        assert [group["nodes"] for group in first.value["groups"]] == ["n[001-004,006-016]", "n005"]
        (line,) = first.value["between_nodes"]
        assert line.startswith("n005: os differs from 15 other nodes: Another Linux 7, there it is ")
        assert first.reason == "15 of 16 nodes are alike; n005 differs in 1 fact"
        jobs = first.value["calls"]["sbatch"]
        assert jobs <= 3, "one job for all nodes, and one more for those that our own runs had first"

        with other_file(accounting_cluster, "n003", LIBRARY, library):
            done = shakedown(site, "fingerprint", "p-1", "--by", "Anna")
        assert done.returncode == 0, done.stderr
    second = fingerprints(site)[-1]
    assert second.value["by"] == "Anna"
    (change,) = second.value["since_last"]
    assert change.startswith(f"n003: library.{LIBRARY}: ")
    assert any(
        line.startswith(f"n003: library.{LIBRARY} differs from 14 other nodes: ")
        for line in second.value["between_nodes"]
    )
    assert "a new epoch begins" in done.stdout
    record = look_at_runs(Layout(site / "campaigns/p-1"))
    assert (record.epoch, [row.changed for row in record.fingerprints]) == (2, [False, True])
    asked = [event.value for event in read_events(site / "campaigns/p-1/log") if event.event == "asked"]
    assert asked[-1]["sbatch"] == 2 + jobs, "two runs and a probe"
    assert not Layout(site / "campaigns/p-1").probes.exists() or not list(
        Layout(site / "campaigns/p-1").probes.iterdir()
    )


def ask(layout: Layout, cluster: Cluster, script: str, wait_s: float) -> tuple[Answers, float]:
    """The answers, and how long they took."""
    nodes = f"n[001-{cluster.nodes:03d}]"
    described = Described(cluster.name, "slurm", (Partition("batch", cluster.name, nodes, cluster.nodes, "node"),))
    answers: list[Answers] = []
    reactor = Reactor()
    probe = SlurmProbe(layout, reactor, [described], [], wait_s)
    began = time.monotonic()
    try:
        probe.start(script, answers.append)
        while not answers and time.monotonic() < began + 120:
            reactor.wait(reactor.now() + 1)
    finally:
        probe.close()
        reactor.close()
    (found,) = answers
    return found, time.monotonic() - began


def test_busy_and_drained_nodes_are_said_and_others_jobs_are_left_alone(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    busy = accounting_cluster.sbatch("sleep 300", "-w", "n003")
    accounting_cluster.wait_for_job(busy, "RUNNING")
    accounting_cluster.fault("drain", "n004", "bad DIMM")
    answers, took = ask(Layout(tmp_path), accounting_cluster, probe_script(), 5.0)
    assert sorted(answers.texts) == [f"n{n:03d}" for n in (1, 2, *range(5, 17))]
    assert answers.silent["n003"] in ("busy (Slurm: mixed) for 5 s", "busy (Slurm: allocated) for 5 s")
    assert answers.silent["n004"] == "down (Slurm: drained, bad DIMM)"
    assert took >= 5.0, "a busy node is waited for"
    assert accounting_cluster.squeue() == {busy: "RUNNING"}
    assert answers.calls["sbatch"] == 1, "nothing is submitted for nodes that are not idle"


def test_a_node_that_becomes_idle_is_asked_after_all(accounting_cluster: Cluster, tmp_path: Path) -> None:
    busy = accounting_cluster.sbatch("sleep 3", "-w", "n003")
    accounting_cluster.wait_for_job(busy, "RUNNING")
    answers, took = ask(Layout(tmp_path), accounting_cluster, "printf 'fingerprint\\tcomplete\\n'", 60.0)
    assert (len(answers.texts), answers.silent) == (16, {})
    assert took < 60.0


def test_what_a_dead_conductor_left_is_cancelled_at_the_next_start(accounting_cluster: Cluster, tmp_path: Path) -> None:
    """The conductor and the process that asks for it are killed while their job waits; jobs of others' names stay."""
    site = site_of(accounting_cluster, tmp_path / "site")
    everything = accounting_cluster.sbatch("sleep 300", "-N16", "--exclusive")
    accounting_cluster.wait_for_job(everything, "RUNNING")
    driver = subprocess.Popen(
        [*SHAKEDOWN, "run", "p", "-q"], cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: probe_jobs(accounting_cluster))
    asking = [pid for pid in children(driver.pid) if b"slurm.probing" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(asking) == 1
    for pid in (*asking, driver.pid):
        os.kill(pid, signal.SIGKILL)
    driver.wait()
    left = probe_jobs(accounting_cluster)
    assert len(left) == 1

    stranger = accounting_cluster.sbatch("sleep 300", "--job-name=sd-00000000-f1-0", "-H")
    accounting_cluster.run("scancel", everything)
    accounting_cluster.wait_for_job(everything, "CANCELLED")
    done = shakedown(site, "resume", "p-1", "-q")
    assert done.returncode == 0, done.stderr
    assert "unanswered" not in fingerprints(site)[-1].value
    assert accounting_cluster.squeue() == {stranger: "PENDING"}


def probe_jobs(cluster: Cluster) -> list[str]:
    lines = cluster.run("squeue", "-h", "-o", "%i %j").splitlines()
    return [line.split()[0] for line in lines if "-f" in line.split()[1]]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_each_node_is_asked_once_through_few_partitions() -> None:
    def partition(name: str, nodes: str) -> Partition:
        return Partition(name, "c", nodes, 1, "node")

    cluster = Described("c", "slurm", (partition("one", "n1"), partition("all", "n[1-8]"), partition("gpu", "g[1-2]")))
    assert [(place.partition, len(place.nodes)) for place in places_of([cluster], [])] == [("all", 8), ("gpu", 2)]
    assert [(place.partition, place.nodes) for place in places_of([cluster], ["c:gpu"])] == [("gpu", ("g1", "g2"))]
    assert [(place.partition, place.nodes) for place in places_of([cluster], ["c:one"])] == [("one", ("n1",))]
