"""Student's t with any number of degrees of freedom, whole or not: the tail probability of a value, and its inverse."""

from __future__ import annotations

import math

from shakedown.metrics.statistics import normal_quantile

_TINY = 1e-300
_EXACT = 1e-15  # the continued fraction ends when its last factor is this close to 1
_TERMS = 10_000
_STEPS = 200


def both_tails(t: float, freedom: float) -> float:
    """The chance that |T| is ``t`` or more. It is I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t²) (DLMF 8.17)."""
    if math.isinf(t):
        return 0.0
    return _beta_share(freedom / (freedom + t * t), t * t / (freedom + t * t), freedom / 2, 0.5)


def two_sided_quantile(tails: float, freedom: float) -> float:
    """The t beyond which a share ``tails`` (below one) of the distribution lies, both sides together.

    Uses Newton's steps, starting near the (smaller) quantile of the normal distribution. The curvature has one sign on this side,
    so no step goes too far.
    """
    z = normal_quantile(1 - tails / 2)
    t = z + (z**3 + z) / (4 * freedom) if freedom > 4 else z  # Abramowitz and Stegun 26.7.5, its first term
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    for _ in range(_STEPS):
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (both_tails(t, freedom) - tails) / (2 * density)
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b); ``rest`` is 1 - x without loss of digits."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(rest, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method from its front."""
    above, below = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = below
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            below = 1 / _not_zero(1 + term * below)
            above = _not_zero(1 + term / above)
            value *= above * below
        if abs(above * below - 1) < _EXACT:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
