"""The places where a series changes its level: binary segmentation with the test of comparisons, and passing changes.

Start reading at ``change_points``. At every place of a series that leaves three values on each side, Welch's t tests whether both
sides have the same mean of logarithms. The place with the least chance is a change if that chance, times the number of places, is
at most the level (Bonferroni), and the sides differ by a share that matters. Both sides are then searched alone (Scott and Knott
1974, Biometrics 30:507). If no place is a change, the search looks for a temporary change of level (``passing_changes``), and then
searches the parts around that as well.

Values far from all others are pulled in: first towards the median of the series; then, while the likeliest place still moves, each
towards the median of its side of that place. The least of the chances found counts. A fence around the one median of the series
would be as wide as the change itself, and one run at half the speed would hide a change of 6 % among 24.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from shakedown.metrics.comparing.passing_changes import fenced, passing_change
from shakedown.metrics.comparing.student import both_tails
from shakedown.metrics.comparing.two_samples import FEWEST, TRIM_FROM, effect_of, noise_floor, size_of, welch_freedom

_SIDES_FROM = 2 * TRIM_FROM  # shorter series get no fence per side: medians of short sides follow the noise
_MOVES = 3  # at most so many moves of the likeliest place, when its sides are fenced again


def change_points(values: Sequence[float], level: float, least: float) -> list[int]:
    """Purpose: the positions of values at which a new level begins, in order; none in a series of fewer than six values.

    ``level``: the accepted chance of a false change in a constant series; ``least``: the smallest change that matters, as a share.
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
    """The place of the likeliest change in a part of the series; empty if there is no change."""
    places = len(values) - 2 * FEWEST + 1
    if places < 1:
        return ()
    chance, place = _likeliest(values, least)
    if chance * places > level or abs(_share(values[:place], values[place:], least)) < least:
        return ()
    return (place,)


def _passed(values: Sequence[float], level: float, least: float) -> tuple[int, ...]:
    """The places where a part of the series goes to another level and comes back; empty if it does not."""
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
    """The logarithms of the values if all are positive, else the values themselves; and the least variance assumed for them."""
    size = size_of(values, values)
    floor = noise_floor(size, least, values)
    if min(values) > 0:
        return [math.log(value) for value in values], (floor / size) ** 2
    return list(values), floor**2


def _likeliest(values: Sequence[float], least: float) -> tuple[float, int]:
    """The least chance over all places (that the two sides differ so much without a change), and its place."""
    plain, noise2 = _plain(values, least)
    tries = [min(_chances(fenced(plain, ()), noise2))]
    for _ in range(_MOVES if len(values) >= _SIDES_FROM else 0):
        tries.append(min(_chances(fenced(plain, (tries[-1][1],)), noise2)))
        if tries[-1][1] == tries[-2][1]:
            break
    return min(tries)


def _chances(plain: Sequence[float], noise2: float) -> list[tuple[float, int]]:
    """The chance at each place. Running sums make all places together as cheap as one."""
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
    """The chance by Welch's t for two sides, each given as count, sum and sum of squares."""
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
