"""How a test scales: the parameter that grows, how the work grows with it, and what follows from what was measured.

``Scaling`` is what a test's file says; ``points_of`` works out speed-up, efficiency and serial share. Formulas: speed-up and
efficiency as in paper 004 (figures 12 to 21) and 003; Amdahl 1967 and Gustafson 1988 for the serial share; Karp and Flatt 1990
(Communications of the ACM 33:539) for the share at one size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct


class Scaling(Struct, frozen=True):
    """How a test scales along the parameter ``along``.

    ``kind``: ``strong`` (the work stays as it is) or ``weak`` (it grows as the size does). ``figure``: what is looked at;
    ``higher``: more of it is better, so that it is a rate. ``work``: (case, amount of work) where the file says how the work
    grows, in any unit.
    """

    along: str
    kind: Literal["strong", "weak"] = "strong"
    figure: str = "elapsed"
    higher: bool = False
    work: tuple[tuple[str, float], ...] = ()


class Measurement(Struct, frozen=True):
    """The figure at one size. ``work``: the amount of work there; ``value``: the statistic that stands for ``count`` values."""

    size: float
    value: float
    work: float
    count: int


class Point(Struct, frozen=True):
    """One size. ``speedup``: how many times the speed of the smallest size; ``ideal``: how many times its size;
    ``efficiency``: the one over the other; ``serial``: the share of the work that is not shared out (Karp and Flatt), None at
    the smallest size.
    """

    size: float
    value: float
    count: int
    speedup: float
    ideal: float
    efficiency: float
    serial: float | None


def points_of(scaling: Scaling, measured: Sequence[Measurement]) -> tuple[Point, ...]:
    """Purpose: what follows at each size, the smallest first. ``measured`` has at least one size; sizes and values above 0."""
    ordered = sorted(measured, key=lambda one: one.size)
    base = ordered[0]
    found = []
    for one in ordered:
        ideal = one.size / base.size
        speedup = speed_of(scaling, one) / speed_of(scaling, base)
        found.append(
            Point(one.size, one.value, one.count, speedup, ideal, speedup / ideal, _serial(scaling, speedup, ideal))
        )
    return tuple(found)


def speed_of(scaling: Scaling, one: Measurement) -> float:
    """Purpose: work over time; a figure of which more is better is a speed itself."""
    return one.value if scaling.higher else one.work / one.value


def work_of(scaling: Scaling, case: str, size: float) -> float:
    """Purpose: the work at a size, in any unit: as the test says, else the same throughout (strong) or as much as the size
    (weak).
    """
    own = dict(scaling.work).get(case)
    return own if own is not None else size if scaling.kind == "weak" else 1.0


def _serial(scaling: Scaling, speedup: float, ideal: float) -> float | None:
    """The serial share that explains the speed-up at one size: by Amdahl's law, or by Gustafson's where the work grows."""
    if ideal <= 1.0:
        return None
    if scaling.kind == "weak":
        return (ideal - speedup) / (ideal - 1.0)
    return (1.0 / speedup - 1.0 / ideal) / (1.0 - 1.0 / ideal)


def fitted_serial(scaling: Scaling, points: Sequence[Point]) -> float | None:
    """Purpose: the one serial share that fits all sizes best, by least squares: of 1 / speed-up (Amdahl), or of the speed-up
    (Gustafson). None where there is a single size.
    """
    pairs = []
    for point in points:
        if point.ideal > 1.0 and scaling.kind == "weak":
            pairs.append((point.ideal - 1.0, point.ideal - point.speedup))
        elif point.ideal > 1.0:
            pairs.append((1.0 - 1.0 / point.ideal, 1.0 / point.speedup - 1.0 / point.ideal))
    below = sum(x * x for x, _ in pairs)
    return sum(x * y for x, y in pairs) / below if below else None


def falls_below(points: Sequence[Point], share: float) -> tuple[float, float] | None:
    """Purpose: where the efficiency falls below a share for good: the size measured there, and where a straight line over the
    logarithm of the size from the one before crosses it. None where it does not, or comes back above at a larger size.
    """
    low = next((number for number in range(len(points)) if all(p.efficiency < share for p in points[number:])), None)
    if low is None:
        return None
    if low == 0:
        return points[0].size, points[0].size
    before, after = points[low - 1], points[low]
    part = (before.efficiency - share) / (before.efficiency - after.efficiency)
    logs = math.log(before.size), math.log(after.size)
    return after.size, math.exp(logs[0] + part * (logs[1] - logs[0]))


def size_in(parameters: Mapping[str, str], along: str) -> float | None:
    """Purpose: the size that a case's parameters say; None where there is none, or no number above 0."""
    try:
        size = float(parameters[along])
    except (KeyError, ValueError):
        return None
    return size if math.isfinite(size) and size > 0 else None
