"""How much noise costs, and how well that is known: replicas of a simulation, each with its own random numbers.

The steps of one simulation say too little of its own error: a source that comes every 20 s is seen a few times in 1,000 steps of
10 ms, or never, and the phases of periodic sources are drawn once. So the steps are divided among replicas that draw everything
anew, and the standard error is that of the mean over replicas. Without a given number of steps replicas are added until it is
small. Where a source that matters came too rarely to be counted, nothing is known of the error, however alike the replicas are.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.twin.models.noise import Collective, NoiseRun, simulate
from shakedown.twin.models.noise_sources import Placement, Source

PRECISION = 0.01  # of the slowdown: the standard error at which no further replica is needed
STEPS_EACH = 500  # of a replica, where nobody says how many
FEWEST, MOST = 8, 256  # replicas, where nobody says how many steps
MOST_SHARED = 32  # replicas that a given number of steps is divided among
FEWEST_SEEN = 20  # times that a source must have come before the spread of the replicas says anything of it
MOST_EVENTS = 2e8  # disturbances that all replicas together may compute, so that a large machine ends in seconds


@dataclass(frozen=True, slots=True)
class Estimate:
    """``mean_s``: of a step with noise. ``standard_error``: of ``slowdown``; None where one replica says nothing of it.

    ``blame_s``: of each source, the mean it took in a step from the rank that all waited for. ``steps``: of all replicas.
    """

    quiet_s: float
    mean_s: float
    slowdown: float
    standard_error: float | None
    steps: int
    blame_s: dict[str, float]


def estimate(
    placement: Placement,
    sources: Sequence[Source],
    granularity_s: float,
    steps: int | None = None,
    collective_s: Collective = 0.0,
    seed: int = 0,
) -> Estimate:
    """Purpose: the cost of noise. ``steps``: as many as given, or, with None, as many as the precision needs.

    The same seed gives the same numbers. Without steps the work is bounded, so the error may stay above ``PRECISION``: it is told.
    """

    def replica(number: int, count: int) -> NoiseRun:
        return simulate(placement, sources, granularity_s, count, collective_s, _seed(seed, number), warm_up=1)

    if steps is not None:
        runs = [replica(number, count) for number, count in enumerate(_divided(steps))]
        return _joined(runs, placement, sources)
    events = STEPS_EACH * sum(1 + _rate(source, placement) * granularity_s for source in sources) + 1
    most = max(FEWEST, min(MOST, int(MOST_EVENTS / events)))
    runs = []
    while True:
        more = min(most - len(runs), max(FEWEST, len(runs) // 2))
        numbers = range(len(runs), len(runs) + more)
        runs += [replica(number, STEPS_EACH) for number in numbers]
        found = _joined(runs, placement, sources)
        known = found.standard_error is not None and found.standard_error <= PRECISION * found.slowdown
        if known or len(runs) >= most:
            return found


def known_decimals(error: float | None, most: int = 3) -> int:
    """Purpose: how many decimals of a number its standard error leaves: 0.2 gives 1, 0.04 gives 2; 2 where none is known."""
    if error is None:
        return 2
    return most if error <= 0 else max(0, min(most, -math.floor(math.log10(error))))


def _divided(steps: int) -> list[int]:
    """Steps of each replica: at least 25 in each, all of them together as many as asked for."""
    count = max(1, min(MOST_SHARED, steps // 25))
    return [steps // count + (number < steps % count) for number in range(count)]


def _joined(runs: Sequence[NoiseRun], placement: Placement, sources: Sequence[Source]) -> Estimate:
    steps = [len(run.step_s) for run in runs]
    total, quiet = sum(steps), runs[0].quiet_s
    elapsed = math.fsum(math.fsum(run.step_s) for run in runs)
    error = None
    if len(runs) > 1 and not any(_too_rare(source, placement, elapsed) for source in sources):
        error = statistics.stdev(run.slowdown for run in runs) / math.sqrt(len(runs))
    blame = {
        name: math.fsum(run.blame_s[name] * n for run, n in zip(runs, steps, strict=True)) / total
        for name in runs[0].blame_s
    }
    return Estimate(quiet, elapsed / total, elapsed / total / quiet, error, total, blame)


def _too_rare(source: Source, placement: Placement, elapsed_s: float) -> bool:
    """Whether a source could cost more than the precision and came too few times in all replicas to say how much."""
    rate = _rate(source, placement)
    return rate * source.duration_s > PRECISION and rate * elapsed_s < FEWEST_SEEN


def _rate(source: Source, placement: Placement) -> float:
    """How often a second a source comes, on the whole machine; at the same time everywhere counts once."""
    if source.synchronised:
        return 1 / source.period_s
    places = placement.processes if source.on == "core" else placement.nodes
    return max(0, (places - source.at - 1) // source.every + 1) / source.period_s


def _seed(seed: int, replica: int) -> int:
    """The first replica has the seed itself; the others have numbers of their own that no seed of a person's is near to."""
    if replica == 0:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {replica}".encode()).digest()[:6], "big")
