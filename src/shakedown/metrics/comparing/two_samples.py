"""Two samples of one figure: how far the second lies from the first, the interval of that, and its chance if nothing changed.

Start reading at ``effect_of``. The test is Welch's t on the logarithms, on means without the highest and the lowest
fifth where there are ten values or more (Yuen 1974, Biometrika 61:165), with a bound on its degrees of freedom. Why logarithms:
the noise of run times and rates is proportional to them, and the difference of two means of logarithms is a ratio. Why Welch's: two
machines, or two epochs, need not have the same noise. Why trimmed means: a few runs that took twice as long must not hide a
change of 5 %. Why not Mann and Whitney's test: with three runs against three its chance is never below 0.1, and chances are
corrected for some forty tests.
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

TRIM, TRIM_FROM = 0.2, 10  # the share of values trimmed at each end for the mean, and from how many values on
_NOTHING = 1e-9  # a median below this share of the largest value is taken as 0
_DIGITS = 12  # the most digits that a printed number has


class Effect(Struct, frozen=True):
    """How far the second sample lies from the first. ``low`` and ``high``: the 95 % interval, not corrected for multiple tests.

    ``scale``: "ratio" compares means of logarithms (``change`` 0.05: 5 % more than the first); "difference", where a value is 0 or
    below, is in the figure's unit. ``chance``: of a difference at least as large, in either direction, if nothing changed.
    ``share``: the change as a share of the first side, or of the largest value if that is 0. ``reach``: half the interval, as a
    share: smaller changes cannot be seen.
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
        """The interval of the change, as shares of the first side."""
        return (self.low, self.high) if self.scale == "ratio" else (self.share - self.reach, self.share + self.reach)


class _Middle(Struct, frozen=True):
    """A trimmed mean, the square of its standard error, and the degrees of freedom of that error."""

    mean: float
    error2: float
    freedom: int


def effect_of(before: Sequence[float], after: Sequence[float], least: float = 0.02) -> Effect | None:
    """Purpose: the effect; None if a side has fewer than three values. ``least``: the smallest change that matters, as a share."""
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
    """The value of which a change is a share: the median before, or the largest absolute value if that median is negligible."""
    middle, largest = abs(statistics.median(before)), max(map(abs, every))
    return middle if middle > _NOTHING * largest else largest or 1.0


def noise_floor(size: float, least: float, values: Sequence[float]) -> float:
    """The least standard deviation assumed for values of this size, in their unit.

    A few equal values do not prove that the next is equal too. The result is a tenth of the smallest change that matters, or the
    rounding error of the last printed digit, whichever is more.
    """
    hidden = rounding(*values) if min(values) < max(values) else 0.0  # values that are all equal may be counts
    return max(least / 10 * size, hidden)


def _effect(first: _Middle, second: _Middle, size: float) -> Effect:
    """The effect of two means. ``size``: the value of which a change is a share; 0 where the means are of logarithms."""
    moved, error2 = second.mean - first.mean, first.error2 + second.error2
    if error2 == 0:  # the caller assumes no noise, and the values show none
        return _made(size, moved, 0.0, 1.0 if moved == 0 else 0.0, math.inf)
    freedom = welch_freedom((first.error2, first.freedom), (second.error2, second.freedom))
    error = math.sqrt(error2)
    half = two_sided_quantile(1 - statistics.CONFIDENCE, freedom) * error
    return _made(size, moved, half, both_tails(abs(moved) / error, freedom), freedom)


def welch_freedom(first: tuple[float, int], second: tuple[float, int]) -> float:
    """The degrees of freedom of Welch and Satterthwaite, with an upper bound. Each side: (squared error of the mean, degrees of
    freedom).

    With three runs against forty that by accident have little noise, Welch's own number is far too large: chances of 1e-5 occur
    a few hundred times too often. The freedom of the smaller side alone is always safe (Mickey and Brown 1966, Annals of
    Mathematical Statistics 37:639). The bound is that number, times 1 + smaller / larger, which does not limit equal sides.
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
    """e to the value - 1; the exponent is limited to 700, to avoid overflow."""
    return math.expm1(min(value, 700.0))


def trimmed_means(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Purpose: the two means that the effect compares."""
    ratio = min(*before, *after) > 0
    return trimmed_mean(before, ratio), trimmed_mean(after, ratio)


def trimmed_mean(values: Sequence[float], logarithms: bool = True) -> float:
    """The mean without the highest and the lowest fifth. With ``logarithms`` and positive values, it is the exponential of the mean
    of the logarithms. ``logarithms`` is False if the other side has a value without a logarithm.
    """
    if logarithms and min(values) > 0:
        return math.exp(statistics.mean(_kept([math.log(value) for value in values])))
    return statistics.mean(_kept(values))


def _kept(values: Sequence[float]) -> list[float]:
    """The values sorted, without the highest and the lowest fifth where there are enough."""
    ordered, count = sorted(values), len(values)
    out = int(TRIM * count) if count >= TRIM_FROM else 0
    return ordered[out : count - out]


def _middle(values: Sequence[float], floor: float) -> _Middle:
    """The trimmed mean and its error; for the error, trimmed values count as the nearest value that is kept (winsorised)."""
    kept, count = _kept(values), len(values)
    out = (count - len(kept)) // 2
    pulled = [kept[0]] * out + kept + [kept[-1]] * out
    noise2 = max(statistics.sample_sd(pulled) ** 2, floor * floor)
    left = len(kept)
    return _Middle(statistics.mean(kept), (count - 1) * noise2 / (left * (left - 1)), left - 1)


def rounding(*values: float) -> float:
    """The standard deviation of rounding errors: the step of the last printed digit / √12, in the values' unit.

    The step is the largest power of ten, up to 1, of which every value is a multiple; the result is 0 if a value has more digits
    than a printed number has.
    """
    places = []
    for value in values:
        if value:
            number = Decimal(f"{value:.{_DIGITS + 4}g}").normalize()
            if len(number.as_tuple().digits) > _DIGITS:
                return 0.0
            places.append(int(number.as_tuple().exponent))
    return 10.0 ** min(0, *places) / math.sqrt(12) if places else 0.0
