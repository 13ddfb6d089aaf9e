"""The data path to an archive: a chain of stages, each with parallel members, and which of them limits a transfer.

A stage carries the sum of the members that the transfer uses; the path carries what its narrowest stage does. Rates are
given as a least and a most, as drives and disks have them; the path has both, and each end its own limiting stage.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from shakedown.model.errors import UsageError
from shakedown.model.units import parse_known

MOST_MEMBERS = 10**6
_NUMBER = r"\d+(?:\.\d+)?(?:[eE]\d+)?"
_GROUP = re.compile(rf"^(?:(\d+)\s*[x×*]\s*)?({_NUMBER})(?:\s*-\s*({_NUMBER}))?\s*([A-Za-z/]+)$")
_BITS = {"kb/s": 125.0, "Mb/s": 125e3, "Gb/s": 125e6, "Tb/s": 125e9}


@dataclass(frozen=True, slots=True)
class Members:
    """So many alike: drives, links, nodes. Rates of each in bytes/s."""

    count: int
    low_bytes_per_s: float
    high_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a path: its members, and how many of them the transfer uses (the fastest first)."""

    name: str
    members: tuple[Members, ...]
    used: int

    @property
    def count(self) -> int:
        return sum(group.count for group in self.members)

    @property
    def low(self) -> float:
        """Bytes/s of the members used, at least."""
        return self._sum(high=False)

    @property
    def high(self) -> float:
        """Bytes/s of the members used, at most."""
        return self._sum(high=True)

    def _sum(self, high: bool) -> float:
        left, total = self.used, 0.0
        ordered = sorted(self.members, key=lambda group: (-group.high_bytes_per_s, -group.low_bytes_per_s))
        for group in ordered:
            taken = min(left, group.count)
            total += taken * (group.high_bytes_per_s if high else group.low_bytes_per_s)
            left -= taken
        best = ordered[0]  # members still to be bought are like the fastest
        return total + left * (best.high_bytes_per_s if high else best.low_bytes_per_s)


@dataclass(frozen=True, slots=True)
class Widening:
    """With so many ``members`` used of each stage that was narrower, the stage ``then_limits`` limits next."""

    members: dict[str, int]
    then_limits: str
    low_bytes_per_s: float
    high_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class StageRate:
    """A stage as printed: what the members used carry."""

    name: str
    used: int
    count: int
    low_bytes_per_s: float
    high_bytes_per_s: float
    limits: bool


@dataclass(frozen=True, slots=True)
class PathModel:
    """A path and a transfer over it. ``limit_low``, ``limit_high``: the stage that limits at the least and the most rate.

    Seconds are None where no size is given.
    """

    model_of: str
    stages: tuple[StageRate, ...]
    low_bytes_per_s: float
    high_bytes_per_s: float
    limit_low: str
    limit_high: str
    widened: tuple[Widening, ...]
    size_bytes: float | None
    least_s: float | None
    most_s: float | None


def path_model(name: str, stages: tuple[Stage, ...], size_bytes: float | None = None) -> PathModel:
    """Purpose: what a path carries, what limits it, and what would limit next. Raises UsageError for a path of nothing."""
    _check(stages)
    low, high = min(stages, key=lambda stage: stage.low), min(stages, key=lambda stage: stage.high)
    rates = tuple(
        StageRate(stage.name, stage.used, stage.count, stage.low, stage.high, stage.name in (low.name, high.name))
        for stage in stages
    )
    least = None if size_bytes is None else size_bytes / high.high
    most = None if size_bytes is None else size_bytes / low.low
    widened = tuple(_widen(stages))
    return PathModel(name, rates, low.low, high.high, low.name, high.name, widened, size_bytes, least, most)


def _widen(stages: tuple[Stage, ...]) -> list[Widening]:
    """Stage by stage, from the narrowest on: so wide that the next one limits at the least rate."""
    steps: list[Widening] = []
    ordered = sorted(stages, key=lambda stage: stage.low)
    for place, following in enumerate(ordered[1:], 1):
        if following.low == ordered[place - 1].low:
            continue
        wide = [_wide_enough(stage, following.low) for stage in ordered[:place]]
        if any(stage is None for stage in wide):
            break
        path = [*(stage for stage in wide if stage is not None), *ordered[place:]]
        members = {stage.name: stage.used for stage in path[:place]}
        rates = min(stage.low for stage in path), min(stage.high for stage in path)
        steps.append(Widening(members, following.name, *rates))
    return steps


def _wide_enough(stage: Stage, rate: float) -> Stage | None:
    """The stage with the fewest members used that carry so much; None where that is more than anyone has."""
    low, high = stage.used, MOST_MEMBERS
    if replace(stage, used=high).low < rate:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if replace(stage, used=middle).low >= rate else (middle + 1, high)
    return replace(stage, used=low)


def parse_stage(text: str) -> Stage:
    """Purpose: read "tape = 20 x 30-70 MB/s + 36 x 13 MB/s"; all members are used. Raises UsageError with the way out.

    Links are sold in bits: Mb/s and Gb/s are read as such.
    """
    name, equals, given = text.partition("=")
    if not equals or not name.strip() or not given.strip():
        raise UsageError(f"stage '{text}' has no name or no members", 'write it as "tape = 16 x 30-70 MB/s"')
    members = tuple(_group(part.strip(), name.strip()) for part in given.split("+"))
    stage = Stage(name.strip(), members, sum(group.count for group in members))
    if not 1 <= stage.used <= MOST_MEMBERS:
        raise UsageError(f"stage '{stage.name}' has {stage.used} members", f"it has 1 to {MOST_MEMBERS:,}")
    return stage


def _group(text: str, stage: str) -> Members:
    found = _GROUP.match(text)
    if found is None:
        hint = "write so many, the rate of each and its unit: 16 x 30-70 MB/s, or 8 Gb/s"
        raise UsageError(f"stage '{stage}': '{text}' is no group of members", hint)
    count, low, high, unit = found.groups()
    rates = _rate(low, unit, stage), _rate(high or low, unit, stage)
    if rates[0] > rates[1]:
        raise UsageError(f"stage '{stage}': '{text}' has its least rate above its most", f"write {high}-{low} {unit}")
    return Members(int((count or "1")[:12]), *rates)


def _rate(number: str, unit: str, stage: str) -> float:
    try:
        rate = float(number) * _BITS[unit] if unit in _BITS else parse_known(f"{number} {unit}", "bytes/s")
    except ValueError as error:
        raise UsageError(f"stage '{stage}': {error}", "rates are in MB/s or GB/s, or in bits: Mb/s, Gb/s") from error
    if not 0 < rate < 1e30:
        raise UsageError(f"stage '{stage}': a member of {number} {unit} carries nothing that can be reckoned with")
    return rate


def use(stages: tuple[Stage, ...], name: str, used: int) -> tuple[Stage, ...]:
    """Purpose: the path with so many members of one stage used. Raises UsageError where it has none of that name."""
    if name not in {stage.name for stage in stages}:
        raise UsageError(f"no stage '{name}'", f"there are: {', '.join(stage.name for stage in stages)}")
    if not 1 <= used <= MOST_MEMBERS:
        raise UsageError(f"{used} members of '{name}'", f"use 1 to {MOST_MEMBERS:,}")
    return tuple(replace(stage, used=used) if stage.name == name else stage for stage in stages)


def _check(stages: tuple[Stage, ...]) -> None:
    if not stages:
        raise UsageError("a path of no stages", 'give each as --stage "tape = 16 x 30-70 MB/s"')
    names = [stage.name for stage in stages]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two stages are called '{twice[0]}'", "give each a name of its own")
    if not all(math.isfinite(stage.high) for stage in stages):
        raise UsageError("a stage of endless rate", "give rates that machines have")
