"""How often comparisons are wrong, and what they find: pairs of simulated campaigns, each line against its limit.

``python benchmarks/comparing.py [PAIRS]``; without a number 1,000. Exit status: 0 all are met, 1 one is not.
``python benchmarks/comparing.py curve [PAIRS]``: how often 5 % is found by noise, beside what the best test of normal noise finds.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass

from shakedown.metrics import statistics
from shakedown.metrics.comparing.cells import Cell, Pair
from shakedown.metrics.comparing.chances import LEVEL
from shakedown.metrics.comparing.compare import LEAST, compare
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import effect_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.figures import FigureSpec, Pairs

RUN = RunRow("r", "a", "main", 1, 1, "passed", "", 1, 0.0, 1)
SPEC = FigureSpec("rate", unit="GB/s", better="higher")
CASES = 40


@dataclass(frozen=True, slots=True)
class Study:
    """Runs of each side, their noise, how many take up to twice as long, and by how much one test is slower."""

    name: str
    before: int
    after: int
    spread: float
    stray: float = 0.0
    slow: float = 0.0


STUDIES = (
    Study("equal, 30 runs each, noise of 2 %", 30, 30, 0.02),
    Study("equal, 5 runs each, noise of 5 %", 5, 5, 0.05),
    Study("equal, 3 runs against 30, noise of 5 %", 3, 30, 0.05),
    Study("equal, 30 runs each, 2 %, 1 run of 20 up to twice as long", 30, 30, 0.02, stray=0.05),
    Study("1 of 40 slower by 5 %, 30 runs each, 2 %", 30, 30, 0.02, slow=0.05),
    Study("the same, 1 run of 20 up to twice as long", 30, 30, 0.02, stray=0.05, slow=0.05),
)


def main() -> int:
    """Purpose: run every study, print a line each, and return the exit status."""
    if sys.argv[1:2] == ["curve"]:
        curve(int(sys.argv[2]) if len(sys.argv) > 2 else 4000)
        return 0
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    met = [report(study, pairs) for study in STUDIES]
    return 0 if all(met) else 1


def report(study: Study, pairs: int) -> bool:
    """Purpose: under 1 % of equal pairs are called changed anywhere; at least 95 % of real changes are found, and nothing else."""
    noise, wrong, found = random.Random(17), 0, 0
    for _ in range(pairs):
        moved = _moved(study, noise)
        wrong += bool(moved - {"t0"} if study.slow else moved)
        found += "t0" in moved
    met = wrong < 0.01 * pairs and (not study.slow or found >= 0.95 * pairs)
    said = f"found {found / pairs:.1%}, " if study.slow else ""
    print(f"{study.name:<60} {said}falsely changed {wrong / pairs:.1%}  {'met' if met else 'NOT MET'}", flush=True)
    return met


def curve(pairs: int) -> None:
    """Purpose: for 30 runs a side and 40 tests the share of changes by 5 % that is found, a line for each noise.

    Where noise is normal and alike on both sides, no test that holds its level finds more than Student's t does, but for the one
    that is told which way to look. The bound of the first of Holm's comparisons is that of all corrections that hold the chance
    of any false change, and of Benjamini and Hochberg's where one test changed.
    """
    print(f"{'noise':>6} {'ours':>7} {'with strays':>12} {'Student':>8}")
    for spread in (0.02, 0.025, 0.03, 0.035, 0.04, 0.05):
        noise = random.Random(23)
        plain, strays = (Study("", 30, 30, spread, stray=stray, slow=0.05) for stray in (0.0, 0.05))
        found = [_found(study, noise, pairs) for study in (plain, strays)]
        print(f"{spread:>6.1%} {found[0][0]:>7.1%} {found[1][0]:>12.1%} {found[0][1]:>8.1%}", flush=True)


def _found(study: Study, noise: random.Random, pairs: int) -> tuple[float, float]:
    """How often our test finds the change, and how often Student's does."""
    ours = students = 0
    for _ in range(pairs):
        before, after = ([_value(study, noise, level) for _ in range(30)] for level in (100.0, 95.0))
        effect = effect_of(before, after, LEAST)
        ours += effect is not None and effect.chance * CASES <= LEVEL and abs(effect.share) >= LEAST
        logs = [[math.log(value) for value in side] for side in (before, after)]
        error = math.sqrt(sum(statistics.sample_sd(side) ** 2 / len(side) for side in logs))
        moved = statistics.mean(logs[1]) - statistics.mean(logs[0])
        students += both_tails(abs(moved) / error, 58) * CASES <= LEVEL
    return ours / pairs, students / pairs


def _moved(study: Study, noise: random.Random) -> set[str]:
    first, second = (
        _campaign(study, noise, runs, slow) for runs, slow in ((study.before, 0.0), (study.after, study.slow))
    )
    found = compare([Pair("a", "b", first, second)], "campaign", "a")
    return {move.subject for move in found.moves if move.verdict in ("worse", "better")}


def _campaign(study: Study, noise: random.Random, runs: int, slow: float) -> dict[Pairs, Cell]:
    cells: dict[Pairs, Cell] = {}
    for case in range(CASES):
        level = 100.0 * (1 - slow if case == 0 else 1.0)
        values = [(RUN, _value(study, noise, level)) for _ in range(runs)]
        subject = (("test", f"t{case}"),)
        cells[subject] = Cell(subject, {}, [(RUN, True)] * runs, {"rate": SPEC}, {"rate": values})
    return cells


def _value(study: Study, noise: random.Random, level: float) -> float:
    stray = 1 + noise.random() if study.stray and noise.random() < study.stray else 1.0
    return level * math.exp(noise.gauss(0, study.spread)) / stray


if __name__ == "__main__":
    sys.exit(main())
