"""The catalogue on a cluster: kernels across nodes, hpcc and LAMMPS under srun, modules, and builds in jobs of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from slurm_cluster import Cluster

from shakedown.kernels.traces import read_trace, trace_files

LIMIT_S = 400.0  # for a whole campaign on a busy machine of two cores
SYSTEM = """\
system: emulated
clusters:
  {name}:
    scheduler: slurm
    patience: {{poll: 1s}}
    partitions: {{batch: {{nodes: "{nodes}", type: node}}}}
node_types: {{node: {{cores: 2}}}}
toolchains: {{gcc: {{cc: gcc{modules}}}}}
"""
PLAN = """\
plan: p
system: emulated
components:
  - functionality:
      tests: [{tests}]
      criteria: {{correct: {{measure: correct / completed, must: "= 100%"}}}}
limits: {{queued: 2}}
"""
MODULES = """\
module() {
    [ "$1 $2" = "load gcc/13" ] || { echo "ERROR: Unable to locate a modulefile for '$2'" >&2; return 1; }
    LOADEDMODULES=gcc/13
    export LOADEDMODULES
}
"""


class Site:
    """A site directory for the cluster, and what its campaign made of it."""

    def __init__(self, cluster: Cluster, path: Path) -> None:
        self.cluster, self.path = cluster, path
        for folder in ("systems", "tests", "plans"):
            (path / folder).mkdir(parents=True)
        (path / "site.yaml").write_text("site: emulated\n")
        self.system()

    def system(self, modules: str = "") -> None:
        nodes = self.cluster.run("sinfo", "--noheader", "--partition=batch", "--format=%N").strip()
        more = f", modules: [{modules}]" if modules else ""
        text = SYSTEM.format(name=self.cluster.name, nodes=nodes, modules=more)
        (self.path / "systems" / "emulated.yaml").write_text(text)

    def test(self, name: str, text: str) -> None:
        (self.path / "tests" / f"{name}.yaml").write_text(f"test: {name}\n{text}\n")

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "shakedown", *words]

    def plan(self) -> None:
        names = sorted(path.stem for path in (self.path / "tests").glob("*.yaml"))
        (self.path / "plans" / "p.yaml").write_text(PLAN.format(tests=", ".join(names)))

    def run(self) -> dict[str, dict[str, Any]]:
        """Run everything; the verdicts by test."""
        self.plan()
        self.cluster.attempt(*self.command("run", "p"), limit_s=LIMIT_S, cwd=self.path)
        return self.verdicts()

    @property
    def campaign(self) -> Path:
        return self.path / "campaigns" / "p-1"

    def events(self) -> list[dict[str, Any]]:
        """Every line of the record; the first of each file is its head, and no event."""
        logs = sorted((self.campaign / "log").glob("*.jsonl"))
        return [json.loads(line) for log in logs for line in log.read_text().splitlines()]

    def verdicts(self) -> dict[str, dict[str, Any]]:
        return {event["case"].split("/")[0]: event for event in self.events() if event.get("event") == "verdict"}

    def build_jobs(self) -> list[str]:
        return sorted(path.name for path in self.campaign.glob("jobs/*/b*"))


@pytest.fixture
def site(plain_cluster: Cluster, tmp_path: Path) -> Site:
    return Site(plain_cluster, tmp_path / "site")


def ranks_traced(site: Site) -> int:
    """How many ranks are in the only trace of the campaign, each with calls."""
    (path,) = trace_files(site.campaign / "work")
    return sum(bool(rank.calls) for rank in read_trace(path).ranks)


def verdict(event: dict[str, Any]) -> str:
    return str(event["value"]["verdict"])


def assert_passed(verdicts: dict[str, dict[str, Any]], *names: str) -> None:
    told = {name: (verdict(verdicts[name]), verdicts[name]["reason"]) for name in names}
    assert {name for name in names if told[name][0] == "passed"} == {*names}, told


def test_kernels_find_each_other_across_nodes(site: Site) -> None:
    site.test("hello-3", "extends: hello\nrun: {nodes: 3, tasks_per_node: 2}")
    site.test("hello-mpiexec", "extends: hello\nrun: {nodes: 2, launch: {with: mpiexec, binding: cores}}")
    site.test("hello-alone", "extends: hello\nrun: {nodes: 2, launch: {mpi: none}}")
    site.test("pairs-2", "extends: pairs\nparameters: {size: [1KiB]}\nrun: {nodes: 2, tasks_per_node: 1}")
    few = "--round-trips 3 --windows 1 --window 2 --distance-size 1KiB"
    command = f"command: '{{launch}} {{build}}/pt2pt --patterns nodes {few}'"
    site.test("distance-3", f"extends: network-distance\nrun: {{nodes: 3, {command}}}")
    few = "--repeats 1 --elements 1000 --size 1KiB --round-trips 2"
    command = f"command: '{{launch}} {{build}}/nodecheck {few}'"
    site.test("nodecheck-2", f"extends: nodecheck\nrun: {{nodes: 2, tasks_per_node: 1, trace: yes, {command}}}")
    few = "--rings 1 --latency-repeats 2 --bandwidth-repeats 1 --allreduce-repeats 2 --size 1KiB --congestors get"
    command = f"command: '{{launch}} {{build}}/congestion {few}'"
    site.test("congestion-4", f"extends: congestion\nrun: {{nodes: 4, tasks_per_node: 1, {command}}}")
    site.test(
        "stream-2", "extends: stream\nparameters: {threads: [1]}\nrun: {command: '{launch} {build}/stream --budget 5'}"
    )
    verdicts = site.run()
    assert_passed(verdicts, "hello-3", "hello-mpiexec", "pairs-2", "distance-3", "congestion-4", "nodecheck-2")
    figures = verdicts["nodecheck-2"]["value"]["figures"]
    assert {"compute", "memory", "bandwidth", "latency", "slow_nodes"} < set(figures)
    assert ranks_traced(site) == 2
    figures = verdicts["distance-3"]["value"]["figures"]
    assert set(figures) == {f"{name}[distance={node}]" for name in ("latency", "bandwidth") for node in (1, 2)}
    assert verdicts["hello-3"]["value"]["figures"]["ranks"] == 6
    assert verdicts["hello-mpiexec"]["value"]["figures"] == {"ranks": 4, "cores_per_rank": 1}
    # four processes that each believe to be alone are no run of four ranks, and the reason says what to write
    assert verdict(verdicts["hello-alone"]) == "failed"
    assert verdicts["hello-alone"]["reason"] == (
        "exit status 1: error: hello: 4 ranks were started alone, not as one job of 4: its MPI is MPICH or one of its kind, "
        "so say 'mpi: mpich' at the toolchain or in run.launch (srun --mpi=pmi2)"
    )
    assert verdict(verdicts["stream-2"]) in ("passed", "incorrect")  # on a busy machine its budget may not do


def test_libraries_are_loaded_by_ranks_of_two_nodes_and_after_they_were_sent_there(site: Site, tmp_path: Path) -> None:
    """What was sent and written is gone afterwards; and the survey, which has this test, has no fault on the cluster."""
    told = site.cluster.run(*site.command("check", "catalogue:survey"), cwd=site.path)
    assert "nothing is wrong in catalogue:survey" in told
    assert "loader-sbcast cannot run" not in told
    (tmp_path / "disk").mkdir()
    small = "tasks_per_node: 1, environment: {TMPDIR: " + f"{tmp_path}/disk" + "}"
    site.test("sent", f"extends: loader-sbcast\nrun: {{{small}}}")
    command = "command: '{launch} {build}/loader --directory . --libraries 3 --modules 2'"
    site.test("shared", f"extends: loader\nrun: {{nodes: 2, tasks_per_node: 1, {command}}}")
    verdicts = site.run()
    assert_passed(verdicts, "sent", "shared")
    figures = verdicts["sent"]["value"]["figures"]
    assert figures["total"] == pytest.approx(figures["broadcast"] + figures["write"] + figures["load"])
    assert figures["broadcast"] > 0 and figures["write"] > 0
    assert list((tmp_path / "disk").iterdir()) == []
    assert verdicts["shared"]["value"]["figures"]["import"] > 0


def test_the_machine_itself(site: Site) -> None:
    """A storm of jobs of which none is lost, ranks that are launched, and a node that is not what the system's file says."""
    site.test("storm", "extends: scheduler-storm\nparameters: {jobs: [6], at_once: [2]}")
    site.test("launch", "extends: launch-time\nrun: {nodes: 2}")
    site.test(
        "health", "extends: node-health\nrun: {environment: {HEALTH_PROCESSORS: '1', HEALTH_MOUNTS: /proc /lustre}}"
    )
    verdicts = site.run()
    assert_passed(verdicts, "storm", "launch")
    found = verdicts["storm"]["value"]["figures"]
    assert set(found) == {"submission", "throughput", "sbatch", "wait", "longest_wait", "longest_squeue"}
    assert 0 < found["throughput"] <= found["submission"] and found["wait"] <= found["longest_wait"]
    assert verdicts["launch"]["value"]["figures"]["ranks"] == 4
    assert verdict(verdicts["health"]) == "incorrect"
    assert verdicts["health"]["reason"].endswith(
        "the output has the line 'BAD mount /lustre: nothing is mounted there'"
    )


def test_programs_of_the_distribution_run_under_srun(site: Site) -> None:
    """Debian links both to Open MPI: what srun is told comes from the programs, and it has to be pmix."""
    site.test("hpcc-2", "extends: hpcc\nparameters: {n: [100]}\nrun: {nodes: 2, tasks_per_node: 1}")
    site.test(
        "silicon-2",
        "extends: lammps-silicon\nparameters: {cells: [2], steps: [10]}\nrun: {nodes: 2, tasks_per_node: 1, trace: yes}",
    )
    site.test(
        "hpcc-mpirun", "extends: hpcc\nparameters: {n: [100]}\nrun: {tasks_per_node: 2, launch: {with: mpirun.openmpi}}"
    )
    verdicts = site.run()
    assert_passed(verdicts, "hpcc-2", "silicon-2", "hpcc-mpirun")
    assert verdicts["hpcc-2"]["value"]["figures"]["hpl"] > 0
    payloads = "".join(path.read_text() for path in site.campaign.glob("payloads/*.sh"))
    assert "srun --mpi=pmix --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=1 hpcc" in payloads
    assert "mpirun.openmpi -n 2 --map-by ppr:2:node hpcc" in payloads


def test_modules_are_loaded_for_builds_and_runs_or_it_is_said(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init = tmp_path / "modules" / "init" / "sh"
    init.parent.mkdir(parents=True)
    init.write_text(MODULES)
    monkeypatch.setenv("MODULESHOME", str(init.parent.parent))
    monkeypatch.setenv("LMOD_PKG", "/none")
    site.system("gcc/13")
    build = "build: {run: 'echo $LOADEDMODULES > built', where: job}"
    run = "run: {command: 'cat {build}/built; test $LOADEDMODULES = gcc/13'}"
    site.test("there", f"{build}\n{run}\ncheck: ['output contains \"gcc/13\"']")
    assert_passed(site.run(), "there")


def test_a_module_that_is_missing_is_the_reason(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init = tmp_path / "modules" / "init" / "sh"
    init.parent.mkdir(parents=True)
    init.write_text(MODULES)
    monkeypatch.setenv("MODULESHOME", str(init.parent.parent))
    monkeypatch.setenv("LMOD_PKG", "/none")
    site.system("gcc/14")
    site.test("runs", "parameters: {toolchain: gcc}\nrun: {command: echo never}")
    site.test("builds", "build: {run: 'true'}\nrun: {command: echo never}")
    site.test("builds-in-job", "build: {run: 'true', where: job}\nrun: {command: echo never}")
    verdicts = site.run()
    words = "error: module gcc/14 cannot be loaded"
    assert (verdict(verdicts["runs"]), verdicts["runs"]["reason"]) == ("failed", f"exit status 1: {words}")
    for name in ("builds", "builds-in-job"):
        assert verdict(verdicts[name]) == "build_failed"
        assert "gcc/14" in verdicts[name]["reason"]


# ---- builds in jobs --------------------------------------------------------------------------------------------------

SLOW = "build: {run: 'sleep 20; echo $SLURM_JOB_PARTITION > where', where: job}\nrun: {command: 'cat {build}/where'}\n"


def start_and_wait_for_build(site: Site) -> subprocess.Popen[bytes]:
    """A driver whose build is running."""
    site.plan()
    with (site.path / "driver.txt").open("wb") as output:
        driver = subprocess.Popen(
            site.command("run", "p"), cwd=site.path, stdout=output, stderr=output, env=site.cluster.environment
        )
    site.cluster.wait_until(
        lambda: [
            row for row in site.cluster.run("squeue", "--noheader", "--format=%T %j").split("\n") if building(row)
        ],
        what="the build's job to run",
    )
    return driver


def building(row: str) -> bool:
    state, _, name = row.partition(" ")
    return state == "RUNNING" and name.startswith("sd-") and "-b" in name


def test_a_driver_that_is_killed_leaves_its_build_to_the_next(site: Site) -> None:
    site.test("slow", SLOW + "check: ['output contains \"batch\"']")
    driver = start_and_wait_for_build(site)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    site.cluster.attempt(*site.command("resume", "p-1"), limit_s=LIMIT_S, cwd=site.path)
    assert_passed(site.verdicts(), "slow")
    assert len(site.build_jobs()) == 1  # adopted, not built twice


def test_a_build_that_somebody_cancels_is_told(site: Site) -> None:
    site.test("slow", SLOW)
    driver = start_and_wait_for_build(site)
    rows = site.cluster.run("squeue", "--noheader", "--states=RUNNING", "--format=%i %j").splitlines()
    (job,) = [row.split()[0] for row in rows if "-b" in row]
    site.cluster.run("scancel", job)
    driver.wait(timeout=LIMIT_S)
    told = site.verdicts()["slow"]
    assert verdict(told) == "build_failed"
    assert f"job {job} was cancelled" in told["reason"]
    assert len(site.build_jobs()) == 1
