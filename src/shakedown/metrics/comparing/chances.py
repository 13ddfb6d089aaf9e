"""Chances of counts, and chances corrected for how many were looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence

LEVEL = 0.005  # how often anything at all may be called changed in a comparison of equals
_SAME = 1 + 1e-7  # two chances this close are equal: Fisher's test adds those that are no larger


def fisher(hits: int, count: int, other_hits: int, other_count: int) -> float:
    """Purpose: Fisher's exact test, two-sided: the chance of shares as unlike as these where both are one share.

    It adds the chances of all tables with these sums that are no likelier than the one seen (Fisher 1935; R and SciPy do the same).
    """
    logs = _tables(count, other_count, hits + other_hits)
    seen = logs[hits] + math.log(_SAME)
    return min(1.0, math.fsum(math.exp(value) for value in logs.values() if value <= seen))


def least_fisher(hits: int, count: int, other_hits: int, other_count: int) -> float:
    """Purpose: the least chance that ``fisher`` could have had with so many hits in all, however they had fallen.

    Where this is above the level nothing could have been seen, and the test need not be corrected for (Tarone 1990, Biometrics
    46:515): it depends on the sums alone, and not on which side they lie.
    """
    logs = _tables(count, other_count, hits + other_hits)
    least = min(logs.values()) + math.log(_SAME)
    return min(1.0, math.fsum(math.exp(value) for value in logs.values() if value <= least))


def _tables(count: int, other_count: int, every: int) -> dict[int, float]:
    """How likely each number of hits of the first side is, as a logarithm, where there are ``every`` in all."""
    low, high = max(0, every - other_count), min(every, count)
    ways = _log_ways(count + other_count, every)
    return {k: _log_ways(count, k) + _log_ways(other_count, every - k) - ways for k in range(low, high + 1)}


def _log_ways(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)


def holm(chances: Sequence[float]) -> list[float]:
    """Purpose: each chance corrected for all of them (Holm 1979, Scandinavian Journal of Statistics 6:65), in their order.

    Where one calls changed what is at most 0.005 after this, the chance that anything at all is called so by mistake is at most
    0.005, whatever the chances have to do with each other.
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    corrected, least = [0.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, chances[place] * (len(chances) - rank)))
        corrected[place] = least
    return corrected
