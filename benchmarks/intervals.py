"""How often the intervals at 95 % hold the truth, by simulation: each that a report or a command prints.

``python benchmarks/intervals.py [SAMPLES]``; without a number 4,000 of each. A line says for each number of runs how many intervals
held it; ``outside`` beside one that is not within 93 to 97 %. Exit status: 0 all are, but for those that the guide says are not; 1
one is not.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist

from shakedown.metrics import statistics
from shakedown.metrics.comparing.two_samples import effect_of
from shakedown.metrics.scores.intervals import interval

COUNTS = (3, 5, 10, 30)
LOW, HIGH = 0.93, 0.97
PARTS = 5  # of a score

Sample = Callable[[random.Random, int], list[float]]
Held = Callable[[random.Random, Sample, float, float, int], "bool | None"]


def normal(spread: float) -> Sample:
    """Purpose: values around 100 with this spread."""
    return lambda noise, count: [noise.gauss(100.0, 100.0 * spread) for _ in range(count)]


def lognormal(spread: float) -> Sample:
    """Purpose: values around 100 whose logarithms have this spread."""
    return lambda noise, count: [100.0 * math.exp(noise.gauss(0.0, spread)) for _ in range(count)]


# name, how values are made, their mean, their median; the last one is far more crooked than run times are
KINDS: tuple[tuple[str, Sample, float, float], ...] = (
    ("normal, 5 %", normal(0.05), 100.0, 100.0),
    ("lognormal, 5 %", lognormal(0.05), 100.0 * math.exp(0.05**2 / 2), 100.0),
    ("lognormal, 20 %", lognormal(0.2), 100.0 * math.exp(0.2**2 / 2), 100.0),
    ("lognormal, 60 %", lognormal(0.6), 100.0 * math.exp(0.6**2 / 2), 100.0),
)


def of_mean(noise: random.Random, draw: Sample, mean: float, _: float, count: int) -> bool | None:
    return _within(statistics.mean_interval(draw(noise, count)), mean)


def of_median(noise: random.Random, draw: Sample, _: float, median: float, count: int) -> bool | None:
    return _within(statistics.median_interval(sorted(draw(noise, count))), median)


def of_ratio(noise: random.Random, draw: Sample, mean: float, _: float, count: int) -> bool | None:
    effect = effect_of(draw(noise, count), draw(noise, count), least=1e-9)
    return _within(effect.interval if effect else None, 0.0)


def of_score(rule: str, share: Callable[[Sequence[float]], float]) -> Held:
    """Purpose: a score of five parts, each with so many repeats; the truth is of the mean, or the median, of each."""

    def held(noise: random.Random, draw: Sample, mean: float, median: float, count: int) -> bool | None:
        samples = [tuple(draw(noise, count)) for _ in range(PARTS)]
        true = {"mean": mean, "median": median, "record": median}[rule]
        return _within(interval(rule, samples, [False] * PARTS, share), share([true] * PARTS))

    return held


def geometric(values: Sequence[float]) -> float:
    """Purpose: as SSP and IO500 take it."""
    return math.exp(statistics.mean([math.log(value) for value in values]))


def improvement(values: Sequence[float]) -> float:
    """Purpose: as CI takes it: the mean of factors over a baseline, each the inverse of a time."""
    return statistics.mean([1000.0 * (place + 1) / value for place, value in enumerate(values)])


INTERVALS: tuple[tuple[str, Held], ...] = (
    ("mean", of_mean),
    ("median", of_median),
    ("ratio of a comparison, efficiency", of_ratio),
    ("SSP, geometric mean; runs of record", of_score("record", geometric)),
    ("SSP, geometric mean; median", of_score("median", geometric)),
    ("CI, mean of factors; mean", of_score("mean", improvement)),
    ("CI, mean of factors; median", of_score("median", improvement)),
)
# The mean of a very crooked sample: of few runs the rare long ones are not in it. The guide says so.
SAID = {("mean", "lognormal, 60 %"), ("CI, mean of factors; mean", "lognormal, 60 %")}


def main() -> int:
    """Purpose: simulate every interval, print a line each, and return the exit status."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    print(f"{'interval':<37} {'values':<16}" + "".join(f"{f'n = {count}':>9}" for count in COUNTS))
    met = [_line(name, held, kind, samples) for name, held in INTERVALS for kind in KINDS]
    met += [_of_counts("share of runs", shares(), "0.5 to 0.98"), _of_counts("Poisson count", counts(), "2 to 50")]
    return 0 if all(met) else 1


def _line(name: str, held: Held, kind: tuple[str, Sample, float, float], samples: int) -> bool:
    title, draw, mean, median = kind
    noise, cells, met = random.Random(31), [], True
    for count in COUNTS:
        found = [held(noise, draw, mean, median, count) for _ in range(samples)]
        if None in found:
            cells.append(f"{'none':>9}")
            continue
        share = sum(map(bool, found)) / samples
        inside = LOW - _luck(samples) <= share <= HIGH + _luck(samples)
        met = met and inside
        cells.append(f"{share:>9.1%}")
    said = "" if met else "  outside" + (", as the guide says" if (name, title) in SAID else "")
    print(f"{name:<37} {title:<16}{''.join(cells)}{said}", flush=True)
    return met or (name, title) in SAID


def _luck(samples: int) -> float:
    """How far a share of so many samples lies from the true one by chance, in 1 of 400 lines."""
    return NormalDist().inv_cdf(0.99875) * math.sqrt(0.95 * 0.05 / samples)


def _within(found: tuple[float, float] | None, truth: float) -> bool | None:
    return None if found is None else found[0] <= truth <= found[1]


# ---- counts: exact, no sample is drawn ---------------------------------------------------------------------------------


def shares() -> Iterable[tuple[int, float]]:
    """Purpose: of each number of runs how often Wilson's interval holds the share, on average over shares."""
    for count in COUNTS:
        held = []
        for share in (0.5 + 0.48 * step / 96 for step in range(97)):
            ways = [math.comb(count, hits) * share**hits * (1 - share) ** (count - hits) for hits in range(count + 1)]
            inside = [bool(_within(statistics.share_interval(hits, count), share)) for hits in range(count + 1)]
            held.append(math.fsum(way for way, one in zip(ways, inside, strict=True) if one))
        yield count, statistics.mean(held)


def counts() -> Iterable[tuple[int, float]]:
    """Purpose: of each true mean how often Garwood's interval holds it."""
    for middle in (2, 5, 10, 50):
        ways = [math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(3 * middle + 25)]
        yield middle, math.fsum(way for k, way in enumerate(ways) if _within(statistics.count_interval(k), middle))


def _of_counts(name: str, found: Iterable[tuple[int, float]], about: str) -> bool:
    """Purpose: a line. The interval of a count is exact: it holds at least 95 %, and more of small counts."""
    values = [share for _, share in found]
    met = all(share >= LOW for share in values)
    print(
        f"{name:<37} {about:<16}{''.join(f'{share:>9.1%}' for share in values)}{'' if met else '  outside'}", flush=True
    )
    return met


if __name__ == "__main__":
    sys.exit(main())
