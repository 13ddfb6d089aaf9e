"""Chances (p-values) of counts, and chances corrected for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

LEVEL = 0.005  # the largest accepted chance that a comparison of equal groups calls anything changed
_SAME = 1 + 1e-7  # chances this close are equal: Fisher's test adds those no larger than the observed one


def fisher(hits: int, count: int, other_hits: int, other_count: int) -> float:
    """Purpose: Fisher's exact test, two-sided: the chance of shares at least as different as these if the true shares are equal.

    It adds the chances of all tables with these sums that are no likelier than the observed one (Fisher 1935; as R and SciPy do).
    """
    logs = _tables(count, other_count, hits + other_hits)
    seen = logs[hits] + math.log(_SAME)
    return min(1.0, math.fsum(math.exp(value) for value in logs.values() if value <= seen))


def least_fisher(hits: int, count: int, other_hits: int, other_count: int) -> float:
    """Purpose: the smallest chance that ``fisher`` can give for these totals, however the hits are divided between the sides.

    Where this chance is above the level, the test could never show a change, and needs no correction (Tarone 1990, Biometrics
    46:515): it depends on the sums alone, and not on how the hits are divided.
    """
    logs = _tables(count, other_count, hits + other_hits)
    least = min(logs.values()) + math.log(_SAME)
    return min(1.0, math.fsum(math.exp(value) for value in logs.values() if value <= least))


def _tables(count: int, other_count: int, every: int) -> dict[int, float]:
    """The log probability of each number of hits on the first side, given ``every`` hits on both sides together."""
    low, high = max(0, every - other_count), min(every, count)
    ways = _log_ways(count + other_count, every)
    return {k: _log_ways(count, k) + _log_ways(other_count, every - k) - ways for k in range(low, high + 1)}


def _log_ways(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)


def holm(chances: Sequence[float]) -> list[float]:
    """Purpose: the chances, in the given order, each corrected for the number of tests (Holm 1979, Scandinavian Journal of
    Statistics 6:65).

    If only results with a corrected chance of at most 0.005 are called changed, the chance of any false alarm at all is at most
    0.005, however the chances depend on each other.
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    corrected, least = [0.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, chances[place] * (len(chances) - rank)))
        corrected[place] = least
    return corrected
