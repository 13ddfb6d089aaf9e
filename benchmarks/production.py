"""A year of production: 1,000,000 jobs on 20,000 nodes, EASY backfill of depth 100, the command from start to end with one record a
job written, on one core. The bars: 60 s, and 1 GiB of memory at its peak. Loads of 0.9 and of 0.98: there the queue is deep.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S, LIMIT_MIB = 60.0, 1024.0
LOADS = ("0.9", "0.98")


def played(load: str, folder: Path) -> tuple[float, float, int]:
    """Seconds, MiB at the peak of this process alone, and records of jobs written."""
    records = folder / f"jobs-{load}.csv"
    words = ("--jobs", "1000000", "--nodes", "20000", "--load", load, "--depth", "100", "--records", str(records))
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "shakedown", "twin", "production", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=_one_core,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"shakedown twin production --load {load}: exit status {process.returncode}")
    with records.open("rb") as lines:
        count = sum(1 for _ in lines) - 1
    return time.perf_counter() - start, usage.ru_maxrss / 1024, count


def _one_core() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> int:
    met = True
    with tempfile.TemporaryDirectory(prefix="shakedown-production-") as folder:
        for load in LOADS:
            seconds, mebibytes, count = played(load, Path(folder))
            good = seconds <= LIMIT_S and mebibytes <= LIMIT_MIB and count == 1_000_000
            met = met and good
            print(f"load {load:<5} {count} records  {seconds:6.1f} s  at most {LIMIT_S:g} s  ", end="")
            print(f"{mebibytes:6.0f} MiB  at most {LIMIT_MIB:g} MiB: {'met' if good else 'NOT MET'}", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
