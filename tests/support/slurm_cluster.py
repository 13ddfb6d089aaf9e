"""A real Slurm cluster of emulated nodes, as tests use it. What starts it and breaks it is ``tests/slurm/cluster``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slurm_releases import is_there, programs, root, search_path

SCRIPT = Path(__file__).resolve().parents[1] / "slurm" / "cluster"
PATIENCE_S = 90.0
FINISHED = (
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "OUT_OF_MEMORY",
    "BOOT_FAIL",
    "DEADLINE",
)

SETTLING = ("is unknown", "is completing", "is planned", "is idle*", "left COMPLETING")  # passes by itself


def why_not(release: str = "") -> str:
    """Why no emulated Slurm of this release can run here; empty when one can. "": the machine's own."""
    if not is_there(release):
        return (
            f"Slurm {release} is not in {root(release)} (root on Debian unpacks it there with scripts/slurm-packages)"
        )
    absent = [
        name for name in ("slurmctld", "slurmd", "slurmdbd", "sbatch", "munged", "mariadbd") if not _installed(name)
    ]
    if absent:
        return f"not installed: {', '.join(absent)} (root on Debian installs them with scripts/slurm-packages)"
    if os.geteuid():
        return "an emulated Slurm cluster needs root"
    probe = ["unshare", "--uts", "--ipc", "--pid", "--mount", "--fork", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if subprocess.run(probe, capture_output=True).returncode:
        return "this machine lets even root make no namespaces, which emulated nodes need"
    return ""


def _installed(name: str) -> bool:
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is not None


@dataclass
class Cluster:
    """One cluster in ``directory``; clusters of the same directory share munge and slurmdbd."""

    directory: Path
    name: str = "emu"
    nodes: int = 8
    configuration: str = "accounting"
    options: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)  # what had to be put right between tests
    release: str = ""  # of Slurm; "": the machine's own

    # life

    def up(self) -> Cluster:
        self.fault("up", str(self.nodes), "--config", self.configuration, "--slurm", self.release, *self.options)
        return self

    def down(self) -> None:
        self.fault("down")

    def fault(self, verb: str, *words: str) -> str:
        """Any verb of ``tests/slurm/cluster``: ``cluster.fault("power-off", "n003")``. AssertionError when it is not done."""
        done = self._script(verb, *words)
        assert done.returncode == 0, (
            f"cluster {verb} {' '.join(words)} ended {done.returncode}:\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def status(self) -> dict[str, Any]:
        """What ``tests/slurm/cluster status --json`` says: daemons, and nodes with their faults and Slurm's state."""
        done = self._script("status", "--json")
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _script(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        place = ["--dir", str(self.directory), "--name", self.name]
        return subprocess.run(
            [sys.executable, str(SCRIPT), verb, *place, *words], capture_output=True, text=True, timeout=300
        )

    @property
    def slurm_conf(self) -> Path:
        return self.directory / self.name / "slurm.conf"

    @property
    def jobcomp(self) -> Path:
        """The text file with a line for each finished job."""
        return self.directory / self.name / "jobcomp.log"

    @property
    def environment(self) -> dict[str, str]:
        """The test's environment, pointed at this cluster. Programs that a test put before Slurm's own stay before them."""
        path = os.environ["PATH"]
        if self.release and str(programs(self.release)) not in path.split(os.pathsep):
            path = search_path(self.release, path)
        return {**os.environ, "PATH": path, "SLURM_CONF": str(self.slurm_conf)}

    @property
    def silent_s(self) -> int:
        """Seconds after which a silent node is down, as the cluster was started."""
        words = dict(zip(self.options, self.options[1:], strict=False))
        return int(words.get("--slurmd-timeout", "60"))

    # Slurm's commands

    def run(self, *command: str, limit_s: float = PATIENCE_S, cwd: Path | None = None) -> str:
        """What the command prints. AssertionError with its standard error when it fails."""
        done = self.attempt(*command, limit_s=limit_s, cwd=cwd)
        assert done.returncode == 0, f"{' '.join(command)} ended {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def shakedown(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A command of ours on this cluster, whatever comes of it."""
        return self.attempt(sys.executable, "-m", "shakedown", *words, limit_s=300.0, cwd=cwd)

    def said(self, *words: str, cwd: Path) -> str:
        """What a command of ours prints. AssertionError where it does not end well."""
        return self.run(sys.executable, "-m", "shakedown", *words, limit_s=300.0, cwd=cwd)

    def attempt(
        self, *command: str, limit_s: float = PATIENCE_S, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The command's exit status and output, whatever they are."""
        return subprocess.run(
            command,
            env=self.environment,
            cwd=cwd or self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
        )

    def sbatch(self, script: str, *options: str) -> str:
        """Submit shell text (without ``#!``); the job's id. Output goes to /dev/null unless options say otherwise."""
        where = () if any(option.startswith(("-o", "--output")) for option in options) else ("-o", "/dev/null")
        path = self.directory / self.name / "script"
        path.write_text(f"#!/bin/sh\n{script}\n")
        return self.run("sbatch", "--parsable", *where, *options, str(path)).split(";")[0].strip()

    def squeue(self, *options: str) -> dict[str, str]:
        """State of each queued or running job by its id (``-t all``: finished ones that Slurm still remembers too)."""
        lines = self.run("squeue", "-h", "-o", "%i|%T", *options).splitlines()
        return dict(line.split("|", 1) for line in lines)

    def job(self, identity: str) -> dict[str, str]:
        """The fields of ``scontrol show job``; empty when Slurm has forgotten it. Values with spaces are cut at the first."""
        done = self.attempt("scontrol", "-o", "show", "job", identity)
        return dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)

    def job_state(self, identity: str) -> str:
        """The state from memory, else from accounting, else from the list of finished jobs; empty when none knows the job."""
        if state := self.job(identity).get("JobState"):
            return state
        if self.configuration != "plain":
            done = self.attempt("sacct", "-n", "-X", "-P", "-j", identity, "-o", "State")
            return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else ""
        lines = self.jobcomp.read_text().splitlines() if self.jobcomp.exists() else []
        mine = [line for line in lines if f"JobId={identity} " in line]
        return mine[-1].split("JobState=")[1].split()[0] if mine else ""

    def node_state(self, node: str) -> str:
        """As sinfo says it: idle, mixed, down*, drained ... (``sinfo -n`` of one node may say mixed of an idle one for ever.)"""
        lines = self.run("sinfo", "-h", "-N", "-p", "batch", "-o", "%N|%T").splitlines()
        return dict(line.split("|", 1) for line in lines)[node]

    # waiting

    def wait_until(self, condition: Callable[[], object], limit_s: float = PATIENCE_S, what: str = "") -> None:
        """AssertionError when the condition is still false at the limit; the limit is generous, as machines are slow."""
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, f"after {limit_s:.0f} s still not: {what or condition}"
            time.sleep(0.1)

    def wait_for_job(self, identity: str, *states: str, limit_s: float = PATIENCE_S) -> str:
        """Until the job is in one of the states (default: any finished one); the state."""
        wanted = states or FINISHED
        seen = [""]

        def there() -> bool:
            seen.append(self.job_state(identity))
            return seen[-1] in wanted

        try:
            self.wait_until(there, limit_s)
        except AssertionError:
            raise AssertionError(
                f"job {identity} is '{seen[-1]}' after {limit_s:.0f} s, not {' or '.join(wanted)}"
            ) from None
        return seen[-1]

    def wait_for_node(self, node: str, *states: str, limit_s: float = PATIENCE_S) -> str:
        """Until sinfo gives the node one of these states; the state."""
        self.wait_until(lambda: self.node_state(node) in states, limit_s, f"{node} {' or '.join(states)}")
        return self.node_state(node)

    # between tests

    def ailments(self) -> list[str]:
        """What keeps the next test from starting on a sound and empty cluster."""
        found = self.status()
        ill = [f"{name} does not run" for name, pid in found["daemons"].items() if not pid]
        for name, node in found["nodes"].items():
            ill += [f"{name} is off"] * (not node["on"]) + [f"{name} without slurmd"] * (
                node["on"] and not node["slurmd"]
            )
            ill += [f"{name} is frozen"] * node["frozen"] + [f"{name} is slow"] * bool(node["percent"])
            ill += [f"{name} has a wrong clock"] * bool(node["clock"]) + [f"{name} is {node['state']}"] * (
                node["state"] != "idle"
            )
        if found["daemons"]["slurmctld"]:
            ill += [f"job {identity} is left {state}" for identity, state in self.squeue().items()]
        return ill

    def mend(self, limit_s: float = 60.0) -> None:
        """Undo every fault and clear the queue; a cluster that does not recover is started again. What was done is noted."""
        ill = self.ailments()
        end = time.monotonic() + 15.0
        while ill and all(text.endswith(SETTLING) for text in ill) and time.monotonic() < end:
            time.sleep(0.3)
            ill = self.ailments()
        if not ill:
            return
        self.notes.append(f"{self.name}: put right: {_some(ill)}")
        try:
            self._undo()
            self.wait_until(lambda: not self.ailments(), limit_s)
        except (AssertionError, subprocess.TimeoutExpired):
            self.notes.append(f"{self.name}: started again, as it did not recover: {_some(self.ailments())}")
            self.restart()

    def _undo(self) -> None:
        for name, node in self.status()["nodes"].items():
            for wrong, verb in ((node["frozen"], ("thaw", name)), (node["percent"], ("slow", name, "0"))):
                if wrong:
                    self.fault(*verb)
            if node["clock"]:
                self.fault("step-clock", name, "0")
        self.up()
        if jobs := list(self.squeue()):
            self.attempt("scancel", *jobs)
        self.wait_until(lambda: not self.squeue(), 30.0)
        for name, node in self.status()["nodes"].items():
            if not node["slurmd"]:
                self.fault("start-slurmd", name)
            if "drain" in node["state"] or "down" in node["state"]:
                self.attempt("scontrol", "update", f"nodename={name}", "state=resume")

    def restart(self) -> None:
        """A fresh cluster of the same kind: no jobs, nothing remembered but accounting."""
        self.down()
        shutil.rmtree(self.directory / self.name, ignore_errors=True)
        self.up()

    def story(self) -> str:
        """For a failed test's report: the end of slurmctld's log, and the daemons and nodes."""
        log = self.directory / self.name / "log" / "slurmctld.log"
        lines = log.read_text(errors="replace").splitlines()[-40:] if log.exists() else [f"({log} is not there)"]
        return "\n".join((*lines, "", self._script("status").stdout))


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:6]) + (f" and {len(texts) - 6} more" if len(texts) > 6 else "")
