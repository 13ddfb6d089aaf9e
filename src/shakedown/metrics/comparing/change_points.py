"""Where a series of values changes its level: binary segmentation with the test that comparisons use.

``change_points`` is the table of contents. At every place of a series that leaves three values on each side, Welch's t is asked
whether both sides have one mean of logarithms. The place with the least chance is a change where that chance, times the number of
places, is at most the level (Bonferroni), and the sides differ by what matters. Both sides are then searched alone (Scott and Knott
1974, Biometrics 30:507).

Values far from all others are pulled in, first towards the median of the series; then, as often as the likeliest place moves, each
towards the median of its side of that place; the least chance of these counts. Around one median the fence is as wide as the change
that is looked for, and one run at half the speed hides a change of 6 % among 24.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import FEWEST, TRIM_FROM, effect_of, noise_floor, size_of, welch_freedom

_FENCE = 3.5 * 1.4826  # median absolute deviations beyond which a value counts as the fence: one slow run is no change
_SIDES_FROM = 2 * TRIM_FROM  # values of a series whose sides are fenced alone: of fewer the medians follow their noise
_MOVES = 3  # of the likeliest place, when its sides are fenced again


def change_points(values: Sequence[float], level: float, least: float) -> list[int]:
    """Purpose: positions of the values with which a new level begins, in order; none in a series of fewer than six.

    ``level``: how often a series without a change may be given one; ``least``: the smallest change that matters, as a share.
    """
    found: list[int] = []
    waiting = [(0, len(values))]
    while waiting:
        begin, end = waiting.pop()
        place = _change(values[begin:end], level, least)
        if place:
            found.append(begin + place)
            waiting += [(begin, begin + place), (begin + place, end)]
    return sorted(found)


def _change(values: Sequence[float], level: float, least: float) -> int:
    """The place of the likeliest change in a part of the series, 0 where there is none."""
    places = len(values) - 2 * FEWEST + 1
    if places < 1:
        return 0
    chance, place = _likeliest(values, least)
    if chance * places > level:
        return 0
    effect = effect_of(values[:place], values[place:], least)
    return place if effect is not None and abs(effect.share) >= least else 0


def _likeliest(values: Sequence[float], least: float) -> tuple[float, int]:
    """The least chance of sides as unlike as those of a place, and that place."""
    size = size_of(values, values)
    floor = noise_floor(size, least, values)
    logs = min(values) > 0
    plain = [math.log(value) for value in values] if logs else list(values)
    noise2 = (floor / size if logs else floor) ** 2
    tries = [min(_chances(_fenced(plain), noise2))]
    for _ in range(_MOVES if len(values) >= _SIDES_FROM else 0):
        tries.append(min(_chances(_fenced(plain, tries[-1][1]), noise2)))
        if tries[-1][1] == tries[-2][1]:
            break
    return min(tries)


def _chances(plain: Sequence[float], noise2: float) -> list[tuple[float, int]]:
    """The chance at each place. Sums run along the series, so that all places cost as much as one."""
    sums = [0.0, *accumulate(plain)]
    squares = [0.0, *accumulate(value * value for value in plain)]
    found = []
    for place in range(FEWEST, len(plain) - FEWEST + 1):
        sides = (
            (place, sums[place], squares[place]),
            (
                len(plain) - place,
                sums[-1] - sums[place],
                squares[-1] - squares[place],
            ),
        )
        found.append((_chance(sides, noise2), place))
    return found


def _fenced(values: Sequence[float], place: int = 0) -> list[float]:
    """Distances from the median of all; none is further than the fence from the median of its side of the place (0: of all)."""
    sides = [values[:place], values[place:]] if place else [values]
    whole = statistics.median(values)
    middles = [middle for side in sides for middle in [statistics.median(side)] * len(side)]
    away = [value - middle for value, middle in zip(values, middles, strict=True)]
    fence = _FENCE * statistics.median([abs(one) for one in away]) or math.inf
    return [middle - whole + min(max(one, -fence), fence) for middle, one in zip(middles, away, strict=True)]


def _chance(sides: tuple[tuple[int, float, float], ...], noise2: float) -> float:
    """Welch's t of two sides, each as count, sum and sum of squares."""
    means = [total / count for count, total, _ in sides]
    errors = [
        max((square - total * mean) / (count - 1), noise2) / count
        for (count, total, square), mean in zip(sides, means, strict=True)
    ]
    error2 = sum(errors)
    if error2 == 0:
        return 1.0 if means[0] == means[1] else 0.0
    freedom = welch_freedom((errors[0], sides[0][0] - 1), (errors[1], sides[1][0] - 1))
    return both_tails(abs(means[1] - means[0]) / math.sqrt(error2), freedom)
