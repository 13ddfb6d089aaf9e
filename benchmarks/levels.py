"""What ``history`` finds in simulated series, and how often it is wrong: each line against its limit.

``python benchmarks/levels.py [SERIES]``; without a number 5,000 steady series and 1,000 of each other kind. Exit status: 0 all
are met, 1 one is not.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass

from shakedown.metrics.comparing.chances import LEVEL
from shakedown.metrics.comparing.change_points import change_points
from shakedown.metrics.comparing.compare import LEAST

MOST_WRONG = 0.01  # of steady series that are given a change


@dataclass(frozen=True, slots=True)
class Study:
    """Levels one after the other, each as a share of the first and a number of runs; their noise, how many runs take up to twice as
    long; ``found``: the share of series in which every change must be found, within two runs, and nothing else.
    """

    name: str
    levels: tuple[tuple[float, int], ...]
    spread: float = 0.02
    stray: float = 0.0
    heavy: bool = False
    found: float = 0.0


STUDIES = (
    Study("steady, 12 runs", ((1.0, 12),)),
    Study("steady, 24 runs", ((1.0, 24),)),
    Study("steady, 24 runs, 1 of 20 up to twice as long", ((1.0, 24),), stray=0.05),
    Study("steady, 24 runs, noise with heavy tails", ((1.0, 24),), heavy=True),
    Study("steady, 60 runs", ((1.0, 60),)),
    Study("steady, 60 runs, noise of 5 %", ((1.0, 60),), spread=0.05),
    Study("steady, 60 runs, 1 of 20 up to twice as long", ((1.0, 60),), stray=0.05),
    Study("a step of 6 %, 12 and 12 runs", ((1.0, 12), (0.94, 12)), found=0.95),
    Study("the same, 1 of 20 up to twice as long", ((1.0, 12), (0.94, 12)), stray=0.05, found=0.75),
    Study("6 % for 8 runs, 8 before and after", ((1.0, 8), (0.94, 8), (1.0, 8)), found=0.9),
    Study("6 % for 10 runs, 20 before and after", ((1.0, 20), (0.94, 10), (1.0, 20)), found=0.95),
    Study("the same, 1 of 20 up to twice as long", ((1.0, 20), (0.94, 10), (1.0, 20)), stray=0.05, found=0.65),
    Study("6 % for 6 runs, 30 before and after", ((1.0, 30), (0.94, 6), (1.0, 30)), found=0.75),
    Study("10 % for 4 runs, 10 before and after", ((1.0, 10), (0.9, 4), (1.0, 10)), found=0.9),
)


def main() -> int:
    """Purpose: run every study, print a line each, and return the exit status."""
    series = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    met = [report(study, series if len(study.levels) == 1 else max(1, series // 5)) for study in STUDIES]
    return 0 if all(met) else 1


def report(study: Study, series: int) -> bool:
    """Purpose: under 1 % of steady series are given a change; of others as many are found as the study asks for."""
    noise, found = random.Random(29), 0
    wanted = _borders(study)
    for _ in range(series):
        places = change_points(_series(study, noise), LEVEL, LEAST)
        same = len(places) == len(wanted) and all(abs(a - b) <= 2 for a, b in zip(places, wanted, strict=True))
        found += same if wanted else bool(places)
    share = found / series
    met = share >= study.found if wanted else share < MOST_WRONG
    print(
        f"{study.name:<50} {'found' if wanted else 'given a change'} {share:.2%}  {'met' if met else 'NOT MET'}",
        flush=True,
    )
    return met


def _borders(study: Study) -> list[int]:
    counts = [count for _, count in study.levels]
    return [sum(counts[:place]) for place in range(1, len(counts))]


def _series(study: Study, noise: random.Random) -> list[float]:
    return [_value(study, noise, 100.0 * level) for level, count in study.levels for _ in range(count)]


def _value(study: Study, noise: random.Random, level: float) -> float:
    stray = 1 + noise.random() if study.stray and noise.random() < study.stray else 1.0
    shape = noise.gauss(0, 1) / math.sqrt(noise.gammavariate(1.5, 1 / 1.5)) if study.heavy else noise.gauss(0, 1)
    return level * math.exp(study.spread * shape) / stray


if __name__ == "__main__":
    sys.exit(main())
