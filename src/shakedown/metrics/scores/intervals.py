"""The 95 % interval of a score, from the repeats of each of its parts. Start reading at ``interval``.

A percentile bootstrap is not used: with three to five repeats it covers the truth in only 70 to 100 % of campaigns, depending on
the number of parts and on the value taken of each. Instead, the logarithms of a part's values have an error, and each error moves
the score by the first derivative of its formula; the errors are independent, so their squares add up. The degrees of freedom of the
sum are the mean of two formulas: with few repeats Satterthwaite's (1946, Biometrics Bulletin 2:110) covers too much if parts are
alike, and Welch's (1947, Biometrika 34:28) covers too little if one part outweighs the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from shakedown.metrics import statistics
from shakedown.metrics.comparing.student import two_sided_quantile

_STEP = 1e-4  # of a logarithm, to both sides: the derivative's error is about 1e-8
_ODD, _EVEN = (
    0.57,
    1.3,
)  # the variance of a median of n normal values is about pi / 2 / (n + this): within 2 % from n = 3 on

Whole = Callable[[Sequence[float]], float | None]


def interval(
    rule: str, samples: Sequence[tuple[float, ...]], given: Sequence[bool], at: Whole
) -> tuple[float, float] | None:
    """Purpose: the interval of the machine's score, whichever runs are taken; None if a measured part has only one value.

    ``rule``: the value that the score takes of each part. With ``record`` it is the first run's; the interval is based on all
    repeats, so the score of the runs of record may lie outside it. ``samples``: for each part the values of all counting runs,
    above 0; ``given``: which parts have a value from the plan, which has no error. ``at``: the score for one value of each part,
    None if it has none.
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
    """The value of a part by its repeats: with ``record`` the mean of the logarithms (as a value), else the value of the rule."""
    if rule == "record":
        return math.exp(statistics.mean([math.log(value) for value in values]))
    return statistics.take(rule, values)


def _around(middles: Sequence[float], places: Sequence[int], at: Whole) -> list[tuple[float, float]] | None:
    """The scores with one part's value a step below and a step above, for each measured part; None if a score has no number."""
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
    """The squared standard error of the value that stands for a part, in logarithms."""
    count = len(values)
    spread2 = statistics.sample_sd([math.log(value) for value in values]) ** 2
    if rule == "median" and count > 2:
        return spread2 * math.pi / 2 / (count + (_ODD if count % 2 else _EVEN))
    return spread2 / count


def _half(parts: Sequence[float], counts: Sequence[int]) -> float:
    """Half of the interval, from each part's squared error and number of values."""
    total = math.fsum(parts)
    if total == 0:
        return 0.0
    pairs = list(zip(parts, counts, strict=True))
    least, most = min(counts) - 1, sum(counts) - len(counts)
    satterthwaite = total * total / math.fsum(part * part / (count - 1) for part, count in pairs)
    welch = total * total / math.fsum(part * part / (count + 1) for part, count in pairs) - 2
    freedom = (min(satterthwaite, most) + max(least, min(welch, most))) / 2
    return two_sided_quantile(1 - statistics.CONFIDENCE, freedom) * math.sqrt(total)
