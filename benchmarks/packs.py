"""What a case costs in a job of several runs, beyond its own payload: 1,000 cases in 4 allocations. The bar: 10 ms.

The job scripts run as a node would run them, one after the other and one lane each, under every shell that may be ``/bin/sh``. For
comparison: starting ``sh -c :`` alone, which no way of running a case can avoid.

Exit status: 0 met; 1 not met; 4 not met, and the machine is too busy to tell: starting a shell alone takes too long.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.part_marks import read_part

CASES, ALLOCATIONS, LIMIT_S = 1000, 4, 0.010
ROUNDS = 3
BUSY_S = 0.0015  # that a shell's start takes on a machine that has more to do than it can
SHELLS = ("dash", "bash")


def main() -> int:
    """Measure, print a table, judge by the best of some rounds: what else the machine does only adds to it."""
    each = min(spawn_s(CASES) for _ in range(ROUNDS))
    print(f"{'sh -c : alone':<40} {each * 1e3:7.3f} ms")
    costs = []
    for shell in filter(shutil.which, SHELLS):
        for limit_s, words in ((0.0, "no time limit"), (600.0, "a time limit each")):
            rounds = [packs(shell, limit_s) for _ in range(ROUNDS)]
            prepared_s, ran_s = (min(column) for column in zip(*rounds, strict=True))
            costs.append(ran_s)
            print(
                f"{f'a case in a job, {shell}, {words}':<40} {ran_s * 1e3:7.3f} ms; prepared in {prepared_s * 1e3:.3f} ms"
            )
    print(f"beyond the start of a shell: at most {(max(costs) - each) * 1e3:.3f} ms of {LIMIT_S * 1e3:g} ms")
    if max(costs) < LIMIT_S:
        return 0
    return 4 if each > BUSY_S else 1


def packs(shell: str, limit_s: float) -> tuple[float, float]:
    """Seconds for each case: to prepare it, and from start to end of its job; its payload, ``:``, takes nothing itself."""
    with tempfile.TemporaryDirectory() as folder:
        places = JobPlaces(Layout(Path(folder)))
        orders = [order(number, limit_s) for number in range(1, ALLOCATIONS + 1)]
        began = time.perf_counter()
        scripts = [places.prepare(each) for each in orders]
        prepared = time.perf_counter()
        environment = os.environ | {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n1"}
        for script in scripts:
            subprocess.run([shell, str(script)], env=environment, check=True, timeout=600)
        ended = time.perf_counter()
        marks = [read_part(places, each.job, part.run) for each in orders for part in each.parts]
        assert all(mark is not None and mark.state == "completed" for mark in marks)
    return (prepared - began) / CASES, (ended - prepared) / CASES


def order(number: int, limit_s: float) -> JobOrder:
    count = CASES // ALLOCATIONS
    case = Case("c", "t", "emu:batch", script=":", shape=Shape(time_limit_s=limit_s))
    parts = tuple(Part(f"r{run:06}", case) for run in range(number * count, (number + 1) * count))
    return JobOrder(f"j{number:06}", parts[0].run, case, parts=parts)


def spawn_s(count: int) -> float:
    """Seconds to start and end one shell that does nothing, from a shell."""
    began = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", f"i=0; while [ $i -lt {count} ]; do sh -c :; i=$((i + 1)); done"], check=True)
    return (time.perf_counter() - began) / count


if __name__ == "__main__":
    sys.exit(main())
