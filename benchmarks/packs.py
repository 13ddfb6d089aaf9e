"""What a case costs in a job of several runs, beyond its own payload: 1,000 cases in 4 allocations. The bar: 10 ms.

The job scripts run as a node would run them, one after the other and one lane each, under every shell that may be ``/bin/sh``. For
comparison: starting ``sh -c :`` alone, which no way of running a case can avoid.

Exit status: 0 met, 1 not met.
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
from shakedown.schedulers.job_places import JobPlaces
from shakedown.schedulers.part_marks import read_part

CASES, ALLOCATIONS, LIMIT_S = 1000, 4, 0.010
SHELLS = ("dash", "bash")


def main() -> int:
    """Measure, print a table, judge."""
    each = spawn_s(CASES)
    print(f"{'sh -c : alone':<40} {each * 1e3:7.3f} ms")
    costs = []
    for shell in filter(shutil.which, SHELLS):
        for limit_s, words in ((0.0, "no time limit"), (600.0, "a time limit each")):
            with tempfile.TemporaryDirectory() as folder:
                prepared_s, ran_s, own_s = packs(Path(folder), shell, limit_s)
            costs.append(ran_s - own_s)
            print(
                f"{f'a case in a job, {shell}, {words}':<40} {ran_s * 1e3:7.3f} ms; prepared in {prepared_s * 1e3:.3f} ms"
            )
    print(f"beyond the start of its payload: at most {(max(costs) - each) * 1e3:.3f} ms of {LIMIT_S * 1e3:g} ms")
    return 0 if max(costs) < LIMIT_S else 1


def packs(root: Path, shell: str, limit_s: float) -> tuple[float, float, float]:
    """Seconds for each case: to prepare it, from start to end of its job, and what its payload took by its marks."""
    places = JobPlaces(Layout(root))
    orders = [order(number, limit_s) for number in range(1, ALLOCATIONS + 1)]
    began = time.perf_counter()
    scripts = [places.prepare(each) for each in orders]
    prepared = time.perf_counter()
    for script in scripts:
        environment = os.environ | {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n1"}
        subprocess.run([shell, str(script)], env=environment, check=True, timeout=600)
    ended = time.perf_counter()
    marks = [read_part(places, each.job, part.run) for each in orders for part in each.parts]
    assert all(mark is not None and mark.state == "completed" for mark in marks)
    return (prepared - began) / CASES, (ended - prepared) / CASES, 0.0  # ``:`` itself takes nothing


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
