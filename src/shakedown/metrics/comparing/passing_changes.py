"""Where a series has another level for a while and comes back: a stretch is tested against all values around it.

Start reading at ``passing_change``. A single place divides a series in two parts, and a temporary level is then inside one of
the parts, where it adds noise but makes no difference of means. So each stretch is tested against the rest (circular binary
segmentation, Olshen and others 2004, Biostatistics 5:557). The stretch that differs most is a change if the chance of its t, with
the same noise assumed on both sides, times the number of stretches, is at most the level (Bonferroni). The noise is assumed equal
because a few runs are too few to estimate the noise of a short stretch.

Values far from all others are pulled in towards the median of the series only: two slow runs side by side would otherwise
have a median of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import FEWEST

_DEVIATION = 1.4826  # so many median absolute deviations are one standard deviation of normal noise
FENCE, _LOW_FENCE = 3.5, 3.0  # the most deviations from the median that a value may keep: one slow run is no change
_MOST_ENDS = (
    300  # of stretches that are tried; longer series are tried in steps, and the ends found are then made exact
)

Stretch = tuple[int, int]


def passing_change(plain: Sequence[float], noise2: float, level: float) -> Stretch | None:
    """Purpose: (first value of the stretch, first value after it); None if there is no temporary change.

    ``plain``: the values, or their logarithms; ``noise2``: the least variance assumed for them. The stretch has at least three
    values, and so have the parts before and after it.
    """
    if len(plain) < 3 * FEWEST:
        return None
    values = fenced(plain, (), _LOW_FENCE)
    stretch = _most_apart(values)
    if _chance(values, stretch, noise2) * _stretches(len(plain)) > level:
        return None
    return stretch


def fenced(values: Sequence[float], ends: Iterable[int], deviations: float = FENCE) -> list[float]:
    """Distances from the median of all values, each value limited by a fence around the median of its side. ``ends``: the begin and
    end of a stretch, or one place, or empty for a single side.
    """
    begin, end = (*ends, len(values), len(values))[:2]
    inside, outside = values[begin:end], [*values[:begin], *values[end:]]
    whole = statistics.median(values)
    middle, around = (statistics.median(side) if side else whole for side in (inside, outside))
    middles = [middle if begin <= place < end else around for place in range(len(values))]
    away = [value - own for value, own in zip(values, middles, strict=True)]
    fence = deviations * _DEVIATION * statistics.median([abs(one) for one in away]) or math.inf
    return [own - whole + min(max(one, -fence), fence) for own, one in zip(middles, away, strict=True)]


def _stretches(count: int) -> int:
    """The number of stretches with at least three values inside, before and after."""
    free = count - 3 * FEWEST + 1
    return free * (free + 1) // 2


def _most_apart(values: Sequence[float]) -> Stretch:
    """The stretch with the largest sum of squares between it and the rest, and therefore with the largest t."""
    count = len(values)
    middle = statistics.mean(values)
    sums = [0.0, *accumulate(value - middle for value in values)]
    step = -(-count // _MOST_ENDS)
    found = _best(sums, range(FEWEST, count - 2 * FEWEST + 1, step), range(2 * FEWEST, count - FEWEST + 1, step))
    return found if step == 1 else _best(sums, *(_near(end, step, count) for end in found))


def _near(end: int, step: int, count: int) -> range:
    """The possible exact positions of a stretch end that was found in steps."""
    return range(max(FEWEST, end - step), min(count - FEWEST, end + step) + 1)


def _best(sums: Sequence[float], begins: range, ends: range) -> Stretch:
    """The stretch of at least three values that differs most. ``sums``: running sums of values whose mean is 0."""
    count = len(sums) - 1
    weights = [0.0, *(1 / (inside * (count - inside)) for inside in range(1, count))]
    best, found = -1.0, (FEWEST, count - FEWEST)
    for begin in begins:
        before = sums[begin]
        skipped = max(0, -((ends.start - begin - FEWEST) // ends.step))
        for end in ends[skipped:]:
            apart = (sums[end] - before) ** 2 * weights[end - begin]
            if apart > best:
                best, found = apart, (begin, end)
    return found


def _chance(values: Sequence[float], stretch: Stretch, noise2: float) -> float:
    """The chance by Student's t for the stretch against the rest, with equal noise on both sides."""
    (inside, own), (around, others) = _sides(values, stretch)
    count = len(inside) + len(around)
    freedom = count - 2
    variance = max((own + others) / freedom, noise2)
    moved = abs(statistics.mean(inside) - statistics.mean(around))
    if variance == 0:
        return 1.0 if moved == 0 else 0.0
    return both_tails(moved / math.sqrt(variance * (1 / len(inside) + 1 / len(around))), freedom)


def _sides(values: Sequence[float], stretch: Stretch) -> tuple[tuple[list[float], float], tuple[list[float], float]]:
    """The values of the stretch and of the rest, each with its sum of squares around its mean."""
    begin, end = stretch
    inside, around = list(values[begin:end]), [*values[:begin], *values[end:]]
    squares = [
        math.fsum((value - mean) ** 2 for value in side)
        for side in (inside, around)
        for mean in [statistics.mean(side)]
    ]
    return (inside, squares[0]), (around, squares[1])
