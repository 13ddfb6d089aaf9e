"""Kernels, hpcc and LAMMPS over 16 nodes; the conductor is killed again and again: every run judged once, one execution each.

By hand, with as many kills as one likes, each at an instant or a point that the seed chooses:

    KILLS=25 SEED=7 pytest tests/slurm/test_slurm_killed.py
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml
from crash_points import CRASHING, deadly_sbatch
from slurm_cluster import Cluster
from slurm_disturbed import NEVER_AGAIN, wait_until
from stories import SHAKEDOWN

import shakedown
from shakedown.events.reader import read_events
from shakedown.model.events import Event

pytestmark = pytest.mark.slurm
KILLS = int(os.environ.get("KILLS", "8"))
SEED = int(os.environ.get("SEED", "3"))
REPEATS = max(3, KILLS // 2)
LIMIT_S = 600.0  # for the last session; all runs may be its own on a busy machine
CATALOGUE = Path(shakedown.__file__).parent / "catalogue/tests"
POINTS = (
    "log.commit:before",
    "log.commit:after",
    "scheduler.submit:before",
    "scheduler.submit:after",
    "scheduler.poll:after",
    "collector.start:before",
    "collector.start:after",
    "collector.poll:after",
)
SYSTEM = """\
system: emu
clusters:
  {name}:
    scheduler: slurm
    patience: {{poll: 1s, grace: 3s, lost_after: 5min, no_answer: 10min, dead_after: 5s}}
    partitions: {{batch: {{nodes: "n[001-016]", type: node}}}}
node_types: {{node: {{cores: 16}}}}
toolchains: {{gcc: {{cc: gcc}}}}
"""
# Before what the catalogue's test does, it says that it was executed, by Slurm's id of its job.
MARK = "echo $SLURM_JOB_ID $SHAKEDOWN_RUN >>{campaign}/../../executed\n"
TESTS = {
    "hello-2": ("hello", "", "nodes: 2, tasks_per_node: 2"),
    "hello-8": ("hello", "", "nodes: 8, tasks_per_node: 1"),
    "pairs-2": ("pairs", "parameters: {size: [1KiB]}", "nodes: 2, tasks_per_node: 1"),
    "hpcc-2": ("hpcc", "parameters: {n: [100]}", "nodes: 2, tasks_per_node: 1"),
    "silicon-2": ("lammps-silicon", "parameters: {cells: [2], steps: [10]}", "nodes: 2, tasks_per_node: 1"),
}
PLAN = """\
plan: p
system: emu
components:
  - functionality:
      tests: [{tests}]
      repeats: {repeats}
      retry: {{{retry}}}
      criteria: {{correct: {{measure: correct / completed, must: "= 100%"}}}}
limits: {{queued: 3}}
"""


class Mortal:
    """A site whose conductor is killed. ``dice`` chooses when."""

    def __init__(self, cluster: Cluster, site: Path) -> None:
        self.cluster, self.site, self.root = cluster, site, site / "campaigns/p-1"
        self.dice = random.Random(SEED)
        for folder in ("systems", "tests", "plans"):
            (site / folder).mkdir(parents=True)
        (site / "site.yaml").write_text("site: emu\n")
        (site / "systems/emu.yaml").write_text(SYSTEM.format(name=cluster.name))
        for name, (base, parameters, shape) in TESTS.items():
            command = json.dumps(MARK + yaml.safe_load((CATALOGUE / f"{base}.yaml").read_text())["run"]["command"])
            text = f"test: {name}\nextends: {base}\n{parameters}\nrun: {{{shape}, command: {command}}}\n"
            (site / f"tests/{name}.yaml").write_text(text)
        (site / "plans/p.yaml").write_text(PLAN.format(tests=", ".join(TESTS), retry=NEVER_AGAIN, repeats=REPEATS))

    def words(self) -> list[str]:
        return ["resume", "p-1"] if (self.root / "log").exists() else ["run", "p"]

    def session(self, number: int) -> str:
        """One session to its violent end, or to the campaign's; how it was to be killed."""
        how = ("instant", "point", "sbatch")[number % 3]
        environment = dict(self.cluster.environment)
        command = [*SHAKEDOWN, *self.words()]
        pause = self.dice.uniform(0.2, 6.0)
        if how == "point":
            how = f"{POINTS[(number // 3 + SEED) % len(POINTS)]} {self.dice.randint(1, 3)}"
            command = [*CRASHING, *how.split(), *self.words()]
        elif how == "sbatch":
            when = self.dice.choice(("before", "after"))
            folder = self.site / f"bin{number}"
            real = shutil.which("sbatch")
            assert real is not None
            deadly_sbatch(folder, real, self.root, when, self.dice.randint(1, 3))  # type: ignore[arg-type]
            environment["PATH"] = f"{folder}:{environment['PATH']}"
            how = f"{when} an sbatch"
        else:
            how = f"after {pause:.1f} s"
        with (self.site / "said").open("ab") as said:
            process = subprocess.Popen(command, cwd=self.site, env=environment, stdout=said, stderr=said)
        end = time.monotonic() + (pause if how.startswith("after ") else 20.0)  # a point may not come any more
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        if process.poll() is None:
            process.kill()
        process.wait()
        return f"{how}: {'killed' if process.returncode == -signal.SIGKILL else process.returncode}"

    def finish(self) -> None:
        command = [*SHAKEDOWN, *self.words(), *(["--if-needed"] if self.words()[0] == "resume" else [])]
        with (self.site / "said").open("ab") as said:
            done = subprocess.run(
                command, cwd=self.site, env=self.cluster.environment, stdout=said, stderr=said, timeout=LIMIT_S
            )
        assert done.returncode == 0, (self.site / "said").read_text()[-3000:]

    def events(self, name: str) -> list[Event]:
        return [event for event in read_events(self.root / "log") if event.event == name]


def test_killed_again_and_again(accounting_cluster: Cluster, tmp_path: Path) -> None:
    campaign = Mortal(accounting_cluster, tmp_path / "site")
    deaths = [campaign.session(number) for number in range(KILLS)]
    campaign.finish()
    print("\n".join(deaths))
    verdicts = campaign.events("verdict")
    executed = (campaign.site / "executed").read_text().splitlines()
    told = [
        (event.case, event.value["verdict"], event.reason) for event in verdicts if event.value["verdict"] != "passed"
    ]
    assert not told, told
    assert len(verdicts) == REPEATS * len(TESTS)
    assert set(Counter(event.run for event in verdicts).values()) == {1}, "a run was judged twice"
    assert Counter(event.value["attempt"] for event in verdicts) == {1: REPEATS * len(TESTS)}, "an attempt was spent"
    assert len(executed) == REPEATS * len(TESTS), "one execution each"
    assert {line.split()[1] for line in executed} == {event.run for event in verdicts}
    assert len({line.split()[0] for line in executed}) == len(executed)
    assert sum("killed" in death for death in deaths) >= KILLS // 2, deaths
    wait_until(lambda: not accounting_cluster.squeue(), "nothing is left in the queue")
    verified = subprocess.run([*SHAKEDOWN, "log", "p-1", "--verify"], cwd=campaign.site, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout
