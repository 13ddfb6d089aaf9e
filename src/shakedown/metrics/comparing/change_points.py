"""Where a series of values changes its level: binary segmentation with the test that comparisons use, and stretches that pass.

``change_points`` is the table of contents. At every place of a series that leaves three values on each side, Welch's t is asked
whether both sides have one mean of logarithms. The place with the least chance is a change where that chance, times the number of
places, is at most the level (Bonferroni), and the sides differ by what matters. Both sides are then searched alone (Scott and Knott
1974, Biometrics 30:507). Where no place is one, a level that passes is looked for (``passing_changes``), and the parts around it
are searched as well.

Values far from all others are pulled in, first towards the median of the series; then, as often as the likeliest place moves, each
towards the median of its side of that place; the least chance of these counts. Around one median the fence is as wide as the change
that is looked for, and one run at half the speed hides a change of 6 % among 24.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from shakedown.metrics.comparing.passing_changes import fenced, passing_change
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import FEWEST, TRIM_FROM, effect_of, noise_floor, size_of, welch_freedom

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
        part = values[begin:end]
        places = _change(part, level, least) or _passed(part, level, least)
        borders = [begin, *(begin + place for place in places), end]
        found += borders[1:-1]
        waiting += pairwise(borders) if places else ()
    return sorted(found)


def _change(values: Sequence[float], level: float, least: float) -> tuple[int, ...]:
    """The place of the likeliest change in a part of the series, none where there is none."""
    places = len(values) - 2 * FEWEST + 1
    if places < 1:
        return ()
    chance, place = _likeliest(values, least)
    if chance * places > level or abs(_share(values[:place], values[place:], least)) < least:
        return ()
    return (place,)


def _passed(values: Sequence[float], level: float, least: float) -> tuple[int, ...]:
    """Where a part of the series goes to another level and where it comes back, none where it does not."""
    stretch = passing_change(*_plain(values, least), level) if values else None
    if stretch is None:
        return ()
    begin, end = stretch
    there, back = (
        _share(values[:begin], values[begin:end], least),
        _share(values[begin:end], values[end:], least),
    )
    return stretch if min(abs(there), abs(back)) >= least and there * back < 0 else ()


def _share(before: Sequence[float], after: Sequence[float], least: float) -> float:
    effect = effect_of(before, after, least)
    return 0.0 if effect is None else effect.share


def _plain(values: Sequence[float], least: float) -> tuple[list[float], float]:
    """The logarithms of positive values, others as they are; and the least variance that these are taken to have."""
    size = size_of(values, values)
    floor = noise_floor(size, least, values)
    if min(values) > 0:
        return [math.log(value) for value in values], (floor / size) ** 2
    return list(values), floor**2


def _likeliest(values: Sequence[float], least: float) -> tuple[float, int]:
    """The least chance of sides as unlike as those of a place, and that place."""
    plain, noise2 = _plain(values, least)
    tries = [min(_chances(fenced(plain, ()), noise2))]
    for _ in range(_MOVES if len(values) >= _SIDES_FROM else 0):
        tries.append(min(_chances(fenced(plain, (tries[-1][1],)), noise2)))
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
