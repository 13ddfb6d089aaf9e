"""The models at full size, each against its limit in seconds of processor time: another job on the machine does not count.

Exit status: 0 all are met, 1 one is not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from shakedown.twin.models.noise import simulate
from shakedown.twin.models.noise_sources import Placement, Source
from shakedown.twin.models.slow_node import SlowJob, study_slow_node

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A model at one size; the best of ROUNDS counts."""

    name: str
    limit_s: float
    run: Callable[[], object]


NOISE = (
    Source("tick", 10e-3, 25e-6),
    Source("daemons", 10.0, 5e-3, on="node"),
    Source("first-of-32", 15.0, 0.1, on="node", every=32, pattern="random"),
)
TWO_TICKS = (*NOISE, Source("fine", 1e-3, 10e-6))  # on every core: the harder case, both hit many ranks in each step


def main() -> int:
    """Purpose: run every case, print a line each, and return the exit status."""
    met = [report(case) for case in CASES]
    return 0 if all(met) else 1


def report(case: Case) -> bool:
    seconds = min(timed(case.run) for _ in range(ROUNDS))
    met = seconds <= case.limit_s
    print(f"{case.name:<52} {seconds:8.2f} s  at most {case.limit_s:g} s: {'met' if met else 'NOT MET'}", flush=True)
    return met


def timed(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def noise(processes: int, cores: int, sources: tuple[Source, ...]) -> Callable[[], object]:
    """1,000 steps of 1 ms."""
    return lambda: simulate(Placement(processes, cores, cores), sources, 1e-3, 1000, 10e-6)


CASES: list[Case] = [
    Case("noise, 8,192 processes, 1,000 steps, 3 sources", 1.0, noise(8192, 4, NOISE)),
    Case("noise, 1.2 million ranks, 1,000 steps, 3 sources", 10.0, noise(1_216_000, 64, NOISE)),
    Case("noise, 1.2 million ranks, 1,000 steps, 2 ticks", 10.0, noise(1_216_000, 64, TWO_TICKS)),
    Case("slow nodes found among 1.2 million ranks", 1.5, lambda: study_slow_node(SlowJob(19_000, 64, 2, 0.05))),
]


if __name__ == "__main__":
    sys.exit(main())
