"""Failures provoked on a real Slurm: each is put down to its class, from the run's output, Slurm's words or the exit status.

Not provoked here, because the emulated nodes share one kernel and one machine, whose limits Slurm does not enforce: a real
shortage of memory (slurmstepd's oom_kill events), errors of a fabric, of Lustre and NFS, of hardware and accelerators, licence
servers, and modules. Their texts are published ones; tests/checks/classify has them, and MPI errors provoked without Slurm.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from slurm_campaigns import Campaign, Payload
from slurm_cluster import Cluster

from shakedown.metrics.rows.table import fold_runs

pytestmark = pytest.mark.slurm
FULL = "mkdir m; mount -t tmpfs -o size=64k none m || exit 9; dd if=/dev/zero of=m/x bs=1k count=200; s=$?; umount m; exit $s"


def test_each_failure_that_can_be_provoked_has_its_class(fault_cluster: Cluster, tmp_path: Path) -> None:
    library = build_without_its_library(tmp_path)
    wanted = {
        "killed": ("n001", "srun sh -c 'kill -9 $$'", "killed", ": Killed"),
        "killed-alone": ("n001", "kill -9 $$", "killed", "Killed"),
        "segfault": ("n001", "srun sh -c 'kill -SEGV $$'", "segmentation-fault", "Segmentation fault"),
        "bus": ("n001", "srun sh -c 'kill -BUS $$'", "bus-error", "Bus error"),
        "abort": ("n001", "srun sh -c 'kill -ABRT $$'", "abort", "Aborted"),
        "divided": ("n001", "srun sh -c 'kill -FPE $$'", "floating-point-exception", "Floating point exception"),
        "absent": ("n002", "srun ./nowhere", "command-not-found", "./nowhere"),
        "absent-alone": ("n002", "./nowhere", "command-not-found", "./nowhere"),
        "forbidden": ("n002", "echo >x; srun ./x", "permission-denied", "Permission denied"),
        "strange": ("n002", "head -c 64 /dev/urandom >x; chmod +x x; srun ./x", "wrong-binary", "Exec format error"),
        "library": ("n003", f"srun {library}", "missing-library", "libabsent.so"),
        "full": ("n003", FULL, "disk-full", "No space left on device"),
        "ranks": ("n004", "srun -n 999 hostname", "wrong-launch-line", "srun: error: "),
        "option": ("n004", "srun --nodez=2 hostname", "wrong-launch-line", "nodez"),
        "pmi": ("n004", "srun --mpi=nosuch hostname", "pmi-mismatch", "mpi"),
        "limit": ("n005", "exec sleep 300", "time-limit", ""),
        "node": ("n008", "srun sleep 300", "node-failure", "n008"),
        "unknown": ("n006", "echo 'ERROR: cell 5 is dry'; exit 1", "unclassified", "ERROR: cell 5 is dry"),
        "wrong": ("n006", "echo nothing of interest", "incorrect-answer", "is nowhere"),
    }
    payloads = [Payload(name, place, command) for name, (place, command, _, _) in wanted.items()]
    payloads = [with_check(one) if one.name == "wrong" else one for one in payloads]
    with Campaign(fault_cluster, tmp_path / "site", payloads, retry="node_fail: 0, submit_failed: 0") as campaign:
        campaign.start()
        campaign.wait_running("node")
        fault_cluster.fault("power-off", "n008")
        campaign.end()

    rows = {row.case.split("/")[0].split("@")[0]: row for row in fold_runs(campaign.events()).current()}
    told = {name: row.failure_class for name, row in rows.items()}
    assert told == {name: kind for name, (_, _, kind, _) in wanted.items()}, campaign.tale()
    lines = {name: row.failure_line for name, row in rows.items()}
    assert [(name, lines[name]) for name, (*_, part) in wanted.items() if part.lower() not in lines[name].lower()] == []
    assert_the_command_tells_them(campaign, wanted)


def assert_the_command_tells_them(campaign: Campaign, wanted: dict[str, Any]) -> None:
    shown = campaign.command("failures")
    assert shown.returncode == 0, shown.stderr
    assert all(kind in shown.stdout for _, _, kind, _ in wanted.values())
    assert max(map(len, shown.stdout.splitlines())) <= 80


def with_check(payload: Payload) -> Payload:
    return Payload(payload.name, payload.place, payload.command, more='check: [output contains "all is well"]')


def build_without_its_library(folder: Path) -> Path:
    """A program whose library was taken away after it was linked."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to build a program without its library")
    (folder / "library.c").write_text("int absent(void) { return 0; }\n")
    (folder / "main.c").write_text("int absent(void);\nint main(void) { return absent(); }\n")
    words = ["gcc", "-shared", "-fPIC", "-o", "libabsent.so", "library.c"]
    subprocess.run(words, cwd=folder, check=True, timeout=60)
    subprocess.run(["gcc", "-o", "needs-it", "main.c", "-L.", "-labsent"], cwd=folder, check=True, timeout=60)
    (folder / "libabsent.so").unlink()
    return folder / "needs-it"
