"""Congestion: what others' traffic costs, as GPCNet counts it (Chunduri et al., SC'19) and as a shared link makes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class Measured:
    """One test run alone and beside congestors. ``better``: 'lower' (a latency) or 'higher' (a bandwidth)."""

    name: str
    isolated: float
    congested: float
    better: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Impact:
    """``factor``: the congestion impact factor, above 1 where congestion hurts. ``busy_share``: the load of a shared link that
    would explain it (0 where the factor is at most 1)."""

    name: str
    unit: str
    better: str
    isolated: float
    congested: float
    factor: float
    busy_share: float


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """What the load of a shared link makes of a message's time; ``factor`` None: saturated, waiting grows without end."""

    load: float
    factor: float | None
    delivered_share: float


@dataclass(frozen=True, slots=True)
class Congestion:
    """``impacts``: isolated against congested. ``points``: the model at loads. ``isolation``: share of the time off shared ones."""

    impacts: tuple[Impact, ...]
    points: tuple[LoadPoint, ...]
    isolation: float
    source: str


# Paper 004, table II: C5, 1,800 nodes with 10 ranks each, 80 % of them congestors. The paper prints no units; GPCNet's are these.
C5_GPCNET = (
    Measured("RR Two-sided lat", 2.6, 2.8, "lower", "us"),
    Measured("RR Two-sided BW+Sync", 1688.0, 1693.0, "higher", "MiB/s/rank"),
    Measured("Multiple Allreduce", 42.3, 43.0, "lower", "us"),
)
C5_SOURCE = "paper 004, table II (C5, Slingshot 10; units are GPCNet's, the paper prints none)"


def congestion(
    measured: Sequence[Measured], loads: Sequence[float], isolation: float = 0.0, source: str = "what you gave"
) -> Congestion:
    """Purpose: impact factors of what was measured, and the model at loads of a shared link (shares of its capacity).

    Raises UsageError where a number is not above zero, a load negative, or the isolation not a share.
    """
    impacts = tuple(impact(one, isolation) for one in measured)
    return Congestion(impacts, tuple(at_load(load, isolation) for load in loads), isolation, source)


def impact(measured: Measured, isolation: float = 0.0) -> Impact:
    """Purpose: C/I where lower is better, I/C where higher is better."""
    numbers = (measured.isolated, measured.congested)
    if not all(math.isfinite(number) and number > 0 for number in numbers):
        raise UsageError(f"{measured.name}: what was measured is above zero", "such as 'latency,2.6,2.8,lower'")
    if measured.better not in ("lower", "higher"):
        raise UsageError(f"{measured.name}: '{measured.better}' is not 'lower' or 'higher'", "say which is better")
    worse, good = numbers[::-1] if measured.better == "lower" else numbers
    factor = worse / good
    share = busy_share(factor, isolation)
    return Impact(measured.name, measured.unit, measured.better, *numbers, factor, share)


def factor_at(load: float, isolation: float = 0.0) -> float:
    """Purpose: how much longer a message takes: isolation + (1 - isolation) / (1 - u); infinite from u = 1 on.

    1/(1-u) is the time in an M/M/1 queue (Kleinrock, 1975); ``isolation`` is the share of the time spent off shared links.
    """
    _check(load, isolation)
    if isolation == 1:
        return 1.0
    return isolation + (1 - isolation) / (1 - load) if load < 1 else math.inf


def busy_share(factor: float, isolation: float = 0.0) -> float:
    """Purpose: the load that makes this factor, by ``factor_at`` turned round; 0 for a factor up to 1 or full isolation."""
    _check(0.0, isolation)
    return 1 - (1 - isolation) / (factor - isolation) if factor > 1 and isolation < 1 else 0.0


def shared_load(flows: int, rate: float, capacity: float) -> float:
    """Purpose: the load of one link that so many flows share, each at ``rate``, of ``capacity``; both in bytes/s."""
    if flows < 0 or not 0 < rate < math.inf or not 0 < capacity < math.inf:
        raise UsageError("flows are counted from 0 on; their rate and the link's are above zero", "such as 12.5 GB/s")
    return flows * rate / capacity


def at_load(load: float, isolation: float = 0.0) -> LoadPoint:
    """Purpose: time and throughput at a load. A saturated link delivers its capacity: the share 1/u of what is asked."""
    factor = factor_at(load, isolation)
    delivered = isolation + (1 - isolation) * min(1.0, 1 / load) if load else 1.0
    return LoadPoint(load, factor if math.isfinite(factor) else None, delivered)


def _check(load: float, isolation: float) -> None:
    if not 0 <= load < math.inf:
        raise UsageError(
            f"a load of {load} cannot be", "a share of the link's capacity from 0 on; above 100% is saturated"
        )
    if not 0 <= isolation <= 1:
        raise UsageError(f"an isolation of {isolation} cannot be", "a share from 0% to 100%")
