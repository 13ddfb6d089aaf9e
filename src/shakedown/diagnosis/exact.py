"""The probability that so many marked runs fall on one node by chance alone: an exact conditional test.

In a stratum of ``n`` runs, of which ``f`` are marked, a node took part in ``m``. If marks fall on runs regardless of nodes, the
number of marked runs with the node is hypergeometric (Fisher's exact test); over strata it is the sum of independent ones, whose
distribution is their convolution (the exact form of the Mantel-Haenszel test: Gart 1970, Mehta, Patel and Gray 1985).
Only positive numbers are added and multiplied, so that a tail of 1e-200 is as exact as one of 0.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Margins = tuple[int, int, int]  # runs of the stratum, marked ones of these, runs with the node


def upper_tail(strata: Iterable[Margins], marked: int) -> float:
    """Purpose: the probability of at least ``marked`` marked runs with a node, over all strata."""
    least, chances = 0, np.ones(1)
    for margins in strata:
        low, own = _chances(*margins)
        least += low
        if len(own) > 1:
            chances = np.convolve(chances, own)
    place = marked - least
    if place <= 0:
        return 1.0
    return min(1.0, float(chances[place:].sum())) if place < len(chances) else 0.0


@lru_cache(maxsize=200_000)
def _chances(n: int, f: int, m: int) -> tuple[int, Floats]:
    """(Smallest possible number of marked runs in a stratum, probabilities of this number and of each larger one)."""
    low, high = max(0, m + f - n), min(m, f)
    whole = _log_choose(n, m)
    logs = [_log_choose(f, k) + _log_choose(n - f, m - k) - whole for k in range(low, high + 1)]
    return low, np.array([math.exp(value) for value in logs])


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
