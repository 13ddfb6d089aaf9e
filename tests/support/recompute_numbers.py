"""The numbers of ``recompute.py``, from their textbook definitions and the standard library's ``statistics``."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Span = tuple[float, float]
NOISE = 1e-9  # numbers this close, as a share, are the same
_Z = statistics.NormalDist().inv_cdf(0.975)
_SCALES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BYTES = _SCALES | {f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", 1)}
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}


def convert(value: float, unit: str, into: str) -> float:
    """A value in another unit of the same kind. Raises ValueError where there is no way."""
    if unit == into:
        return value
    for factors, end in (
        (_TIMES, ""),
        (_BYTES, "B"),
        (_BYTES, "B/s"),
        (_SCALES, "FLOP/s"),
        (_SCALES, "Hz"),
        (_SCALES, "ops/s"),
    ):
        names = {f"{prefix}{end}": factor for prefix, factor in factors.items()}
        if unit in names and into in names:
            return value * names[unit] / names[into]
    raise ValueError(f"{unit} and {into}")


def same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=NOISE, abs_tol=0.0)


def quantile(values: Sequence[float], share: float) -> float:
    """Type 7: linear between the order statistics around (n - 1) share."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def statistic(name: str, values: Sequence[float]) -> float:
    """Raises statistics.StatisticsError where there are too few values."""
    if name[0] == "p" and name[1:].isdigit():
        return quantile(values, int(name[1:]) / 100)
    known: dict[str, Callable[[Sequence[float]], float]] = {
        "mean": statistics.fmean,
        "median": statistics.median,
        "sd": statistics.stdev,
        "min": min,
        "max": max,
    }
    return float(known[name](values))


def outliers(values: Sequence[float]) -> list[int]:
    """Iglewicz and Hoaglin: a modified z-score beyond 3.5, where there are five values; see docs/concepts/judging.md."""
    if len(values) < 5:
        return []
    middle = statistics.median(values)
    far = [value - middle if abs(value - middle) > NOISE * abs(middle) else 0.0 for value in values]
    spread = statistics.median(map(abs, far)) / statistics.NormalDist().inv_cdf(0.75)
    spread = spread or statistics.fmean(map(abs, far)) * math.sqrt(math.pi / 2)
    return [place for place, distance in enumerate(far) if spread and abs(distance) > 3.5 * spread]


def wilson(hits: int, count: int) -> tuple[float, float] | None:
    """The roots of (p - hits/count)^2 = z^2 p (1 - p) / count, which is what Wilson's interval solves."""
    if not count:
        return None
    share, weight = hits / count, _Z * _Z / count
    a, b, c = 1 + weight, -(2 * share + weight), share * share
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return max(0.0, (-b - root) / (2 * a)), min(1.0, (-b + root) / (2 * a))


def interval(name: str, values: Sequence[float]) -> tuple[float, float] | None:
    """At 95 %: Student's for a mean, of order statistics for a median, none for others."""
    count = len(values)
    if name == "mean" and count > 1:
        half = _student(count - 1) * statistics.stdev(values) / math.sqrt(count)
        return statistics.fmean(values) - half, statistics.fmean(values) + half
    if name == "median" and count < 1000:
        return _between_ranks(sorted(values))
    return None


def _between_ranks(ordered: Sequence[float]) -> tuple[float, float] | None:
    """Of the pairs of values that lie as far from both ends, the last that covers 95 %, moved towards the next by what it covers
    too much; as the table of statistics in docs/concepts/judging.md says.
    """
    count = len(ordered)

    def covers(k: int) -> float:
        return 1 - 2 * sum(math.comb(count, i) for i in range(k)) / float(2**count)

    ranks = [k for k in range(1, count // 2 + 1) if covers(k) >= 0.95]
    if not ranks:
        return None
    k = ranks[-1]
    too_much = (covers(k) - 0.95) / (covers(k) - covers(k + 1))
    weight = (count - k) * too_much / (k + (count - 2 * k) * too_much)
    return (
        (1 - weight) * ordered[k - 1] + weight * ordered[k],
        (1 - weight) * ordered[count - k] + weight * ordered[count - k - 1],
    )


def _student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by adding up its density."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def share(
        t: float, steps: int = 2000
    ) -> float:  # Simpson's rule from 0 to t, over the angle: finite however long the tail
        width = math.atan(t / math.sqrt(freedom)) / steps
        points = [math.cos(place * width) ** (freedom - 1) for place in range(steps + 1)]
        total = points[0] + points[-1] + 4 * math.fsum(points[1:-1:2]) + 2 * math.fsum(points[2:-1:2])
        return 0.5 + scale * math.sqrt(freedom) * total * width / 3

    low, high = 0.0, 16.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < 0.975 else (low, middle)
    return low


# ---- spans and bounds ------------------------------------------------------------------------------------------------------


def share_of(span: Span | None, others: Iterable[Span | None], holds: Callable[[int], bool]) -> float:
    """The share of a span in which the number of spans (itself among them) is as asked."""
    if span is None or span[1] <= span[0]:
        return 0.0
    near = [other for other in others if other and other[1] > other[0] and other[0] < span[1] and other[1] > span[0]]
    cuts = sorted({*span, *(time for other in near for time in other if span[0] < time < span[1])})
    pieces = itertools.pairwise(cuts)
    held = [b - a for a, b in pieces if holds(sum(other[0] <= a and other[1] >= b for other in near))]
    return math.fsum(held) / (span[1] - span[0])


def inside(row: dict[str, Any], value: float) -> bool:
    """Whether a value lies inside a row's bounds; on a bound it does, unless the row is strict."""
    if any(bound is not None and same(value, bound) for bound in (row["low"], row["high"])):
        return not row["strict"]
    return not (row["low"] is not None and value < row["low"]) and not (row["high"] is not None and value > row["high"])


def distance(row: dict[str, Any], value: float) -> float:
    """How far beyond its nearest bound; the worst value is the farthest."""
    low, high = row["low"], row["high"]
    return max(
        float("-inf") if low is None else float(low) - value, float("-inf") if high is None else value - float(high)
    )


def different_nodes(clusters: Iterable[dict[str, Any]], places: set[str]) -> int:
    """How many nodes partitions have together; one that is in several counts once."""
    return sum(
        len(
            {
                node
                for part in one["partitions"]
                if f"{one['name']}:{part['name']}" in places
                for node in unfolded(part["nodes"])
            }
        )
        for one in clusters
    )


def sharing(clusters: Iterable[dict[str, Any]], place: str) -> list[str]:
    """The partitions that have a node in common with one, itself among them. One machine is behind all local ones."""
    cluster, _, name = place.partition(":")
    local = {one["name"]: one["partitions"] for one in clusters if one["scheduler"] == "local"}
    if cluster in local:
        return [f"{one}:{part['name']}" for one, parts in local.items() for part in parts]
    (parts,) = [one["partitions"] for one in clusters if one["name"] == cluster]
    nodes = {part["name"]: set(unfolded(part["nodes"])) for part in parts}
    return [f"{cluster}:{other}" for other, there in nodes.items() if other == name or there & nodes[name]]


def unfolded(nodes: str) -> list[str]:
    """The names of a folded node set: n[001-003,7],login1."""
    names = []
    for item in re.split(r",(?![^\[]*\])", nodes):
        parts = [_choices(text) if at % 2 else [text] for at, text in enumerate(re.split(r"[\[\]]", item))]
        names += ["".join(choice) for choice in itertools.product(*parts)]
    return names


def _choices(ranges: str) -> list[str]:
    found = []
    for part in ranges.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        found += [str(n).zfill(len(low)) for n in range(int(low), int(high or low) + 1, int(step or 1))]
    return found
