"""Two samples of one figure: how far the second lies from the first, how sure that is, and the chance of it without a change.

``effect_of`` is the table of contents. The test is Welch's t on the logarithms, on means without the highest and the lowest
fifth where there are ten values or more (Yuen 1974, Biometrika 61:165), with a bound on its degrees of freedom. Why logarithms:
noise of run times and rates is a share of them, and the difference of two means of logarithms is a ratio. Why Welch's: two
machines, or two epochs, need not have the same noise. Why without a fifth: a few runs that took twice as long must not hide a
change of 5 %. Why not Mann and Whitney's: three runs against three can never come out below 0.1 there, and forty tests are
corrected for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import both_tails, two_sided_quantile
from shakedown.model.baselines import FEWEST as FEWEST  # noqa: PLC0414

TRIM, TRIM_FROM = 0.2, 10  # of the values at each end that are left out of the mean, where there are so many
_NOTHING = 1e-9  # of the largest value: a median below this is taken as 0
_DIGITS = 12  # of a number that may have been printed


class Effect(Struct, frozen=True):
    """How far the second sample lies from the first. ``low`` and ``high``: the interval at 95 %, not corrected for many.

    ``scale`` "ratio": 0.05 is 5 % more than the first, of means of logarithms. "difference", where a value is 0 or below: in the
    figure's unit. ``chance``: of a difference as large or larger, either way, where nothing changed. ``share``: the change as a
    share of the first, of the largest value where that is 0. ``reach``: half the interval, as a share too: what is smaller than
    this cannot be seen.
    """

    scale: Literal["ratio", "difference"]
    change: float
    low: float
    high: float
    chance: float
    share: float
    reach: float
    freedom: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval as shares of the first side."""
        return (self.low, self.high) if self.scale == "ratio" else (self.share - self.reach, self.share + self.reach)


class _Middle(Struct, frozen=True):
    """A trimmed mean, the square of its standard error, and the degrees of freedom behind that."""

    mean: float
    error2: float
    freedom: int


def effect_of(before: Sequence[float], after: Sequence[float], least: float = 0.02) -> Effect | None:
    """Purpose: the effect, None where a side has fewer than three values. ``least``: the smallest share that matters."""
    if min(len(before), len(after)) < FEWEST:
        return None
    ratio = min(*before, *after) > 0
    size = size_of(before, (*before, *after))
    floor = noise_floor(size, least, (*before, *after))
    if ratio:
        first, second = (_middle([math.log(value) for value in side], floor / size) for side in (before, after))
    else:
        first, second = (_middle(side, floor) for side in (before, after))
    return _effect(first, second, 0.0 if ratio else size)


def size_of(before: Sequence[float], every: Sequence[float]) -> float:
    """What a change is a share of: the median before; where that is nothing beside the largest of all values, that one."""
    middle, largest = abs(statistics.median(before)), max(map(abs, every))
    return middle if middle > _NOTHING * largest else largest or 1.0


def noise_floor(size: float, least: float, values: Sequence[float]) -> float:
    """The least standard deviation that values of this size are taken to have, in their unit.

    A handful of equal values is no proof that the next is equal too: it is a tenth of the smallest change that matters, or what
    the last printed digit hides, whichever is more.
    """
    hidden = rounding(*values) if min(values) < max(values) else 0.0  # what is one number throughout may be a count
    return max(least / 10 * size, hidden)


def _effect(first: _Middle, second: _Middle, size: float) -> Effect:
    """``size``: what a change is a share of; 0 where the means are of logarithms."""
    moved, error2 = second.mean - first.mean, first.error2 + second.error2
    if error2 == 0:  # the caller asks for no noise, and there is none
        return _made(size, moved, 0.0, 1.0 if moved == 0 else 0.0, math.inf)
    freedom = welch_freedom((first.error2, first.freedom), (second.error2, second.freedom))
    error = math.sqrt(error2)
    half = two_sided_quantile(1 - statistics.CONFIDENCE, freedom) * error
    return _made(size, moved, half, both_tails(abs(moved) / error, freedom), freedom)


def welch_freedom(first: tuple[float, int], second: tuple[float, int]) -> float:
    """Degrees of freedom of Welch and Satterthwaite, with a bound. A side: squared error of the mean, freedom.

    With three runs against forty that have little noise by accident, Welch's own number is far too large: a chance of 1e-5 comes
    a few hundred times too often. The freedom of the smaller side alone is always safe (Mickey and Brown 1966, Annals of
    Mathematical Statistics 37:639). The bound is that, times 1 + smaller / larger: no bound at all for equal sides.
    """
    (error2, freedom), (other2, other) = first, second
    own = (error2 + other2) ** 2 / (error2 * error2 / freedom + other2 * other2 / other)
    least, most = min(freedom, other), max(freedom, other)
    return min(own, least * (1 + (least + 1) / (most + 1)))


def _made(size: float, moved: float, half: float, chance: float, freedom: float) -> Effect:
    low, high = moved - half, moved + half
    if size:
        return Effect("difference", moved, low, high, chance, moved / size, half / size, freedom)
    change = _expm1(moved)
    return Effect("ratio", change, _expm1(low), _expm1(high), chance, change, _expm1(half), freedom)


def _expm1(value: float) -> float:
    """e to the value - 1; what is too large for a number is the largest there is."""
    return math.expm1(min(value, 700.0))


def trimmed_means(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Purpose: the two means that the effect is one of."""
    ratio = min(*before, *after) > 0
    return trimmed_mean(before, ratio), trimmed_mean(after, ratio)


def trimmed_mean(values: Sequence[float], logarithms: bool = True) -> float:
    """The mean without the highest and the lowest fifth; of positive values that of the logarithms, as a value again, unless
    the other side has a value that has none.
    """
    if logarithms and min(values) > 0:
        return math.exp(statistics.mean(_kept([math.log(value) for value in values])))
    return statistics.mean(_kept(values))


def _kept(values: Sequence[float]) -> list[float]:
    """The values in their order of size, without the highest and the lowest fifth where there are enough."""
    ordered, count = sorted(values), len(values)
    out = int(TRIM * count) if count >= TRIM_FROM else 0
    return ordered[out : count - out]


def _middle(values: Sequence[float], floor: float) -> _Middle:
    """The mean of what is left between the tails, and its error: tails count as the last value that is left (winsorised)."""
    kept, count = _kept(values), len(values)
    out = (count - len(kept)) // 2
    pulled = [kept[0]] * out + kept + [kept[-1]] * out
    noise2 = max(statistics.sample_sd(pulled) ** 2, floor * floor)
    left = len(kept)
    return _Middle(statistics.mean(kept), (count - 1) * noise2 / (left * (left - 1)), left - 1)


def rounding(*values: float) -> float:
    """The standard deviation that rounding alone may hide: the step of the last printed digit / √12, in the values' unit.

    The step is the largest power of ten, up to 1, of which every value is a multiple; 0 where values have more digits than
    anybody prints.
    """
    places = []
    for value in values:
        if value:
            number = Decimal(f"{value:.{_DIGITS + 4}g}").normalize()
            if len(number.as_tuple().digits) > _DIGITS:
                return 0.0
            places.append(int(number.as_tuple().exponent))
    return 10.0 ** min(0, *places) / math.sqrt(12) if places else 0.0
