"""Statistics of small samples: the middle, the spread, outliers, and intervals that show the uncertainty.

Start reading at ``describe``, which makes a ``Summary`` of a list of numbers. Everything is plain Python on purpose:
samples are small, and the same numbers must come out on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import Struct

CONFIDENCE = 0.95
OUTLIER_SCORE = 3.5  # values with a larger modified z-score are outliers (Iglewicz and Hoaglin 1993)
OUTLIER_LEAST = 5  # samples with fewer values have no outliers
_NORMAL_MAD = 0.6744897501960817  # MAD of the standard normal distribution: its 75 % quantile
_NORMAL_MEAN_AD = 0.7978845608028654  # mean absolute deviation of the standard normal: sqrt(2 / pi)
_EXACT_FREEDOM = 200  # up to here Student's t is summed exactly, above it is expanded
_EXACT_RANKS = 1000  # up to here the ranks around a median are counted in whole numbers, beyond in floating point
_EXACT_COUNTS = 1000  # up to here the interval of a count is exact
_NOISE = 1e-9  # values closer than this, as a share of the median, are equal
QUANTILES = ("p5", "p10", "p25", "p75", "p90", "p95", "p99")  # the quantiles that criteria may name

Interval = tuple[float, float]


class Summary(Struct, frozen=True):
    """A sample in numbers, all in the unit of its values. ``sd`` and ``interval`` are None for fewer than two values.

    ``interval``: the t interval of the mean at 95 %; ``median_interval``: the interval of the median from order statistics, None
    for fewer than six values. ``outliers``: positions in the sample, in its order.
    """

    count: int
    mean: float
    median: float
    lowest: float
    highest: float
    lower_quartile: float
    upper_quartile: float
    deviation: float  # median absolute deviation
    sd: float | None = None
    interval: Interval | None = None
    outliers: tuple[int, ...] = ()
    median_interval: Interval | None = None

    @property
    def spread(self) -> float | None:
        """sd / mean, the coefficient of variation; None without an sd, or if the mean is not positive."""
        return self.sd / self.mean if self.sd is not None and self.mean > 0 else None


def describe(values: Sequence[float]) -> Summary | None:
    """Purpose: the summary of a sample for reports; None for an empty sample, because missing is not zero."""
    if not values:
        return None
    ordered = sorted(values)
    several = len(ordered) > 1
    return Summary(
        count=len(ordered),
        mean=mean(values),
        median=quantile(ordered, 0.5),
        lowest=ordered[0],
        highest=ordered[-1],
        lower_quartile=quantile(ordered, 0.25),
        upper_quartile=quantile(ordered, 0.75),
        deviation=median_deviation(values),
        sd=sample_sd(values) if several else None,
        interval=mean_interval(values) if several else None,
        outliers=outliers(values),
        median_interval=median_interval(ordered),
    )


def take(statistic: str, values: Sequence[float]) -> float:
    """Purpose: the statistic that a criterion names: mean, median, min, max, sd (needs two values) or a quantile such as p95."""
    if statistic in QUANTILES:
        return quantile(sorted(values), int(statistic[1:]) / 100)
    return _STATISTICS[statistic](values)


# ---- the middle and the spread ---------------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, summed without rounding error (``math.fsum``)."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float:
    """The sample standard deviation, divisor n - 1, in two passes; exactly 0 for equal values. Needs two values."""
    if min(values) == max(values):
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) * (value - middle) for value in values) / (len(values) - 1))


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones."""
    return quantile(sorted(values), 0.5)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of a sorted sample by linear interpolation of order statistics.

    Position ``(n - 1) * share``: type 7 of Hyndman and Fan 1996, which is the default of numpy and R.
    """
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    if below + 1 >= len(ordered):
        return ordered[-1]
    low, high = ordered[below], ordered[below + 1]
    return low + (high - low) * (place - below)


def median_deviation(values: Sequence[float]) -> float:
    """The median absolute deviation from the median, not scaled to a standard deviation."""
    middle = median(values)
    return median([abs(value - middle) for value in values])


def outlier_scores(values: Sequence[float]) -> list[float]:
    """Each value's modified z-score: how many robust standard deviations it lies from the median, with sign.

    0.6745 (x - median) / MAD; if more than half the values are equal and the MAD is 0, the mean absolute deviation
    is used instead: (x - median) / (1.2533 meanAD). Source: Iglewicz and Hoaglin 1993, How to Detect and Handle Outliers.
    Values closer than a billionth of the median count as equal, so that rounding makes no outliers.
    """
    middle = median(values)
    noise = _NOISE * abs(middle)
    away = [0.0 if abs(value - middle) <= noise else value - middle for value in values]
    scale = median([abs(distance) for distance in away]) / _NORMAL_MAD
    if scale == 0:
        scale = mean([abs(distance) for distance in away]) / _NORMAL_MEAN_AD
    return [0.0 if scale == 0 else distance / scale for distance in away]


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """The positions of values whose modified z-score is beyond 3.5; empty for fewer than five values."""
    if len(values) < OUTLIER_LEAST:
        return ()
    return tuple(i for i, score in enumerate(outlier_scores(values)) if abs(score) > OUTLIER_SCORE)


# ---- intervals -------------------------------------------------------------------------------------------------------


def share_interval(hits: int, count: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval of a share (Wilson 1927, JASA 22:209); None if ``count`` is 0.

    Preferred to Clopper and Pearson's interval, which is always wider than its confidence and so hides differences that a few
    hundred runs show: Wilson's covers 95 % on average, stays within 0 to 1, and is not a point if nothing failed (Brown, Cai and
    DasGupta 2001, Statistical Science 16:101). Close to 0 and 1 it covers less for single values of the share.
    """
    if count == 0:
        return None
    z = normal_quantile(0.5 + confidence / 2)
    share = hits / count
    weight = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / weight
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / weight
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == count else min(1.0, middle + half)
    return low, high


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Student's t interval of the mean; exact for normal values. Needs two values."""
    middle, freedom = mean(values), len(values) - 1
    half = t_quantile(0.5 + confidence / 2, freedom) * sample_sd(values) / math.sqrt(len(values))
    return middle - half, middle + half


def median_interval(ordered: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The interval of the median of a sorted sample, interpolated between pairs of order statistics.

    The k-th value from below and the k-th from above, k the largest with P(Bin(n, 1/2) < k) <= (1 - confidence) / 2, cover 95 to 99
    %. Each end is therefore interpolated between the k-th value and the next one (Hettmansperger and Sheather 1986, Statistics and
    Probability Letters 4:75): the coverage is then about right for every distribution, exactly for Laplace's. None if even the
    extremes cover too little: below six values at 95 %.
    """
    count, tail = len(ordered), (1 - confidence) / 2
    rank, share = _rank(count, tail)
    if not rank:
        return None
    inwards = (count - rank) * share / (rank + (count - 2 * rank) * share)
    low, high = ordered[rank - 1], ordered[-rank]
    return low + inwards * (ordered[rank] - low), high + inwards * (ordered[-rank - 1] - high)


@lru_cache(maxsize=256)
def _rank(count: int, tail: float) -> tuple[int, float]:
    """(k, share): the largest k with P(Bin(count, 1/2) < k) <= tail, 0 if there is none; and which share of the way in coverage
    from this pair to the next one ``tail`` lies.
    """
    if count > _EXACT_RANKS:
        return _far_rank(count, tail)
    most, ways, below, rank = tail * 2.0**count, 1, 0, 0
    while (
        below + ways <= most
    ):  # of the 2^count outcomes so many have fewer than ``rank`` hits, and so many exactly that
        below += ways
        ways = ways * (count - rank) // (rank + 1)
        rank += 1
    return rank, (most - below) / ways


def _far_rank(count: int, tail: float) -> tuple[int, float]:
    """``_rank`` of many values: the chances in floating point, from ten deviations below the middle on. Less lies below than a
    rounding error.
    """
    rank, below = math.floor(count / 2 - 5 * math.sqrt(count)), 0.0
    ways = math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1)
    chance = math.exp(ways - count * math.log(2))
    while below + chance <= tail:
        below += chance
        chance *= (count - rank) / (rank + 1)
        rank += 1
    return rank, (tail - below) / chance


def count_interval(count: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval of the mean of a Poisson count (Garwood 1936, Biometrika 28:437); it begins at 0 if ``count`` is 0.

    Its ends are the two means at which as many or more, and as few or fewer, events have a chance of (1 - confidence) / 2, by
    bisection on the exact distribution. Beyond 1000 the cube approximation of chi-square (Wilson and Hilferty 1931) is as good.
    """
    tail = (1 - confidence) / 2
    if count > _EXACT_COUNTS:
        return _near_count(count, normal_quantile(tail)), _near_count(count + 1, normal_quantile(1 - tail))
    low = _poisson_mean(count - 1, 1 - tail) if count else 0.0
    return low, _poisson_mean(count, tail)


def no_more_than(confidence: float = CONFIDENCE) -> float:
    """The mean at which a count of 0 has the chance 1 - confidence: 3.0 at 95 %."""
    return -math.log(1 - confidence)


def _poisson_mean(count: int, share: float) -> float:
    """The mean at which P(X <= count) equals ``share``, for a Poisson count X."""
    low, high = 0.0, count + 1.0
    while poisson_share(count, high) > share:
        high *= 2
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if poisson_share(count, middle) > share else (low, middle)
    return (low + high) / 2


def poisson_share(count: int, middle: float) -> float:
    """P(X <= count) of a Poisson count X with the mean ``middle``."""
    if middle <= 0:
        return 1.0
    logarithm = math.log(middle)
    return math.fsum(math.exp(k * logarithm - middle - math.lgamma(k + 1)) for k in range(count + 1))


def _near_count(count: int, z: float) -> float:
    return count * (1 - 1 / (9 * count) + z / (3 * math.sqrt(count))) ** 3


def normal_quantile(share: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


def t_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t with a whole number of degrees of freedom, for shares above one half.

    Up to 200 degrees: bisection on the exact distribution, exact to 1e-10. Above: the expansion 26.7.5 of Abramowitz and
    Stegun in the normal quantile; the first omitted term is below 1e-9 there.
    """
    if freedom > _EXACT_FREEDOM:
        return _expanded_t(normal_quantile(share), freedom)
    low, high = 0.0, 2.0
    while t_share(high, freedom) < share:
        high *= 2
    while high - low > 1e-11 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def t_share(t: float, freedom: int) -> float:
    """The share of Student's t below ``t`` >= 0: the finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    cosine_squared = cosine * cosine
    odd = freedom % 2 == 1
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= cosine_squared * (2 * k + 2) / (2 * k + 3) if odd else cosine_squared * (2 * k + 1) / (2 * k + 2)
    inside = (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
    return 0.5 + inside / 2


def _expanded_t(x: float, freedom: int) -> float:
    """Abramowitz and Stegun 26.7.5: t in powers of 1 / freedom, from the normal quantile ``x``."""
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(freedom) ** (power + 1) for power, term in enumerate(terms))


_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "median": median,
    "min": min,
    "max": max,
    "sd": sample_sd,
}
