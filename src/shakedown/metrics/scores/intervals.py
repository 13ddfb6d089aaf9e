"""The interval of a score at 95 %, from the repeats of each of its parts. ``interval`` is the table of contents.

A percentile bootstrap holds the truth in 70 to 100 % of campaigns with three to five repeats, by the number of parts and what is
taken of each, so that is not what is done. The
logarithms of a part's values have an error; each error moves the score as much as its formula says (the first derivative); the
errors are independent of each other, so their squares add up. The degrees of freedom behind the sum are the mean of two formulas:
with few repeats Satterthwaite's (1946, Biometrics Bulletin 2:110) covers too much where parts are alike, Welch's (1947, Biometrika
34:28) too little where one part outweighs the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import two_sided_quantile

_STEP = 1e-4  # in a logarithm, on both sides: the derivative is exact to some 1e-8
_ODD, _EVEN = (
    0.57,
    1.3,
)  # the variance of a median of n normal values is about pi / 2 / (n + this): within 2 % from n = 3 on

Whole = Callable[[Sequence[float]], float | None]


def interval(
    rule: str, samples: Sequence[tuple[float, ...]], given: Sequence[bool], at: Whole
) -> tuple[float, float] | None:
    """Purpose: where the score lies that this machine has, whichever runs were taken. None where a part has one value only.

    ``rule``: which value of each part a score takes. By ``record`` its first run stands; the interval is of what all repeats say,
    and the score of the runs of record may lie outside of it. ``samples``: of each part the values of all runs that count, above
    0; ``given``: which of them the plan gives, and which have no error then. ``at``: the score of one value for each part, None
    where it has none.
    """
    measured = [place for place, plain in enumerate(given) if not plain]
    if not measured or min(len(samples[place]) for place in measured) < 2:
        return None
    middles = [_middle(rule, values) for values in samples]
    score, around = at(middles), _around(middles, measured, at)
    if score is None or around is None:
        return None
    logarithms = min(score, *(value for pair in around for value in pair)) > 0
    errors = [_error2(rule, samples[place]) for place in measured]
    parts = [_slope(*pair, logarithms) ** 2 * error for pair, error in zip(around, errors, strict=True)]
    half = _half(parts, [len(samples[place]) for place in measured])
    if logarithms:
        return score * math.exp(-half), score * math.exp(half)
    return score - half, score + half


def _middle(rule: str, values: Sequence[float]) -> float:
    """What the repeats say a part takes: by ``record`` the mean of the logarithms, else what the rule takes."""
    if rule == "record":
        return math.exp(statistics.mean([math.log(value) for value in values]))
    return statistics.take(rule, values)


def _around(middles: Sequence[float], places: Sequence[int], at: Whole) -> list[tuple[float, float]] | None:
    """The score a step below and a step above, for each measured part."""
    found = []
    for place in places:
        pair = []
        for step in (-_STEP, _STEP):
            moved = list(middles)
            moved[place] *= math.exp(step)
            value = at(moved)
            if value is None:
                return None
            pair.append(value)
        found.append((pair[0], pair[1]))
    return found


def _slope(below: float, above: float, logarithms: bool) -> float:
    change = math.log(above / below) if logarithms else above - below
    return change / (2 * _STEP)


def _error2(rule: str, values: Sequence[float]) -> float:
    """The square of the standard error of what stands for a part, in logarithms."""
    count = len(values)
    spread2 = statistics.sample_sd([math.log(value) for value in values]) ** 2
    if rule == "median" and count > 2:
        return spread2 * math.pi / 2 / (count + (_ODD if count % 2 else _EVEN))
    return spread2 / count


def _half(parts: Sequence[float], counts: Sequence[int]) -> float:
    """Half of the interval, from the squared error that each part adds and the number of its values."""
    total = math.fsum(parts)
    if total == 0:
        return 0.0
    pairs = list(zip(parts, counts, strict=True))
    least, most = min(counts) - 1, sum(counts) - len(counts)
    satterthwaite = total * total / math.fsum(part * part / (count - 1) for part, count in pairs)
    welch = total * total / math.fsum(part * part / (count + 1) for part, count in pairs) - 2
    freedom = (min(satterthwaite, most) + max(least, min(welch, most))) / 2
    return two_sided_quantile(1 - statistics.CONFIDENCE, freedom) * math.sqrt(total)
