"""Where a series has another level for a while and comes back: a stretch of it held against all around it.

``passing_change`` is the table of contents. One place cuts a series in two, and a level that comes back is on both sides of every
cut: on one side it makes noise, and no difference. So each stretch is held against the rest (circular binary segmentation, Olshen
and others 2004, Biostatistics 5:557). The stretch that tells most apart is a change where the chance of its t, with one noise on
both sides, times the number of stretches, is at most the level (Bonferroni). One noise, because a few runs tell nothing of
a noise of its own.

Values far from all others are pulled in towards the median of the series, and towards no other: two slow runs side by side would
have a median of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import FEWEST

_DEVIATION = 1.4826  # median absolute deviations that are a standard deviation of normal noise
FENCE, _LOW_FENCE = 3.5, 3.0  # deviations that a value may lie from the median: one slow run is no change
_MOST_ENDS = (
    300  # of stretches that are looked at; longer series are looked at in steps, and the ends found are made exact
)

Stretch = tuple[int, int]


def passing_change(plain: Sequence[float], noise2: float, level: float) -> Stretch | None:
    """Purpose: the first value of the stretch and the first one after it, None where nothing came and went.

    ``plain``: the values, or their logarithms; ``noise2``: the least variance that they are taken to have. A stretch has three
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
    """Distances from the median of all; none is further than the fence from the median of its side. ``ends``: where a stretch
    begins and ends, or one place, or nothing: then there is one side.
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
    """How many there are with three values in, before and after them."""
    free = count - 3 * FEWEST + 1
    return free * (free + 1) // 2


def _most_apart(values: Sequence[float]) -> Stretch:
    """The stretch with the largest sum of squares between it and the rest, and so with the largest t."""
    count = len(values)
    middle = statistics.mean(values)
    sums = [0.0, *accumulate(value - middle for value in values)]
    step = -(-count // _MOST_ENDS)
    found = _best(sums, range(FEWEST, count - 2 * FEWEST + 1, step), range(2 * FEWEST, count - FEWEST + 1, step))
    return found if step == 1 else _best(sums, *(_near(end, step, count) for end in found))


def _near(end: int, step: int, count: int) -> range:
    """Where the end of a stretch may be that was found in steps."""
    return range(max(FEWEST, end - step), min(count - FEWEST, end + step) + 1)


def _best(sums: Sequence[float], begins: range, ends: range) -> Stretch:
    """Of stretches with three values or more. ``sums`` run along values whose mean is 0."""
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
    """Student's t of the stretch against the rest, with one noise."""
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
