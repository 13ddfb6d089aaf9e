"""The formulas of the kinds of scores: pure functions of a score's parts and one value for each part.

- sustained system performance: Tflop / (nodes x time) of each application, geometric mean, times the nodes of the system (Kramer,
  Shalf and Strohmaier 2005; as used for Hopper and Trinity)
- capability improvement: ratio of complexities times ratio of run times, as used for Trinity
- geometric: as IO500 scores, geometric means within groups and over them
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from shakedown.metrics import statistics
from shakedown.model.laws import complexity
from shakedown.model.scores import Score, ScorePart


class Combined(Struct, frozen=True):
    """A score's number. ``parts``: each part's own number; ``beside``: other numbers to show with it, by name."""

    value: float
    parts: tuple[float, ...]
    beside: tuple[tuple[str, float], ...] = ()


def sustained_system_performance(score: Score, values: Sequence[float]) -> Combined:
    """Purpose: SSP in Tflop/s; values are run times in seconds."""
    rates = tuple(part.tflop / (part.load.nodes * value) for part, value in zip(score.parts, values, strict=True))
    places = dict(score.nodes)
    means = {
        place: geometric_mean([rate for part, rate in zip(score.parts, rates, strict=True) if part.place == place])
        for place in places
    }
    beside = [(f"geometric mean{f' on {place}' if place else ''}", mean) for place, mean in means.items()]
    if len(places) > 1:
        beside += [(f"SSP of {place}", means[place] * nodes) for place, nodes in places.items()]
    return Combined(math.fsum(means[place] * nodes for place, nodes in places.items()), rates, tuple(beside))


def capability_improvement(score: Score, values: Sequence[float]) -> Combined:
    """Purpose: the mean of the applications' improvements, of the kind that the plan names; ``beside`` has all three means."""
    found = tuple(improvement(part, value) for part, value in zip(score.parts, values, strict=True))
    means = {
        "arithmetic": statistics.mean(found),
        "geometric": geometric_mean(found),
        "harmonic": len(found) / math.fsum(1 / value for value in found),
    }
    beside = [(f"{name} mean", value) for name, value in means.items()]
    return Combined(means[score.mean], found, (*beside, ("least", min(found)), ("greatest", max(found))))


def improvement(part: ScorePart, value: float) -> float:
    """The factor of work by the law, times the factor of speed; ``value`` is a run time."""
    assert part.baseline is not None, "the reader asks for it"
    work = complexity(part.law, part.load.known) / complexity(part.law, part.baseline.known) if part.law else 1.0
    return work * part.baseline_value / value


def geometric_score(score: Score, values: Sequence[float]) -> Combined:
    """Purpose: the geometric mean of the groups' geometric means; parts without a group form one group."""
    found = tuple(_against_reference(part, value) for part, value in zip(score.parts, values, strict=True))
    groups: dict[str, list[float]] = {}
    for part, value in zip(score.parts, found, strict=True):
        groups.setdefault(part.group, []).append(value)
    means = {name: geometric_mean(mine) for name, mine in groups.items()}
    return Combined(
        geometric_mean(list(means.values())), found, tuple((name, mean) for name, mean in means.items() if name)
    )


def _against_reference(part: ScorePart, value: float) -> float:
    if not part.reference:
        return value
    return part.reference / value if part.better == "lower" else value / part.reference


def geometric_mean(values: Sequence[float]) -> float:
    """Purpose: the n-th root of the product. Raises ValueError if a value is not above 0."""
    if not values or min(values) <= 0:
        raise ValueError("a geometric mean needs values above 0")
    return math.exp(math.fsum(map(math.log, values)) / len(values))
