"""Checkpoints: how long one takes, how often to write one, and what failures and checkpoints together waste.

Failures come at random with mean time M between them (exponential), a checkpoint takes delta, a restart R. A program that
checkpoints after every tau of work takes, per useful second,

    M exp(R/M) (exp((tau + delta)/M) - 1) / tau            (Daly, Future Generation Computer Systems 22, 2006, eq. 20)

seconds: failures may hit work, checkpoints and restarts. Waste is the share of the time that is not useful work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from shakedown.model.errors import UsageError

_EXPONENT_LIMIT = 700.0  # beyond it exp is no float


def waste(interval_s: float, checkpoint_s: float, mtbf_s: float, restart_s: float) -> float:
    """Purpose: the expected share of a run's time that is no useful work, 0 to 1."""
    if interval_s <= 0:
        return 1.0
    exponent = (interval_s + checkpoint_s) / mtbf_s
    if not exponent < _EXPONENT_LIMIT or not restart_s / mtbf_s < _EXPONENT_LIMIT:
        return 1.0
    if exponent < 1e-300:  # next to no failures: what is left of the formula
        return checkpoint_s / (interval_s + checkpoint_s)
    useful = (interval_s / mtbf_s) * math.exp(-restart_s / mtbf_s) / math.expm1(exponent)
    return min(1.0, max(0.0, 1.0 - useful))


def young_s(checkpoint_s: float, mtbf_s: float) -> float:
    """The interval of Young (Communications of the ACM 17, 1974): sqrt(2 delta M)."""
    return math.sqrt(2 * checkpoint_s) * math.sqrt(mtbf_s)


def daly_s(checkpoint_s: float, mtbf_s: float) -> float:
    """The higher-order interval of Daly (2006, eq. 37); M itself where a checkpoint takes 2 M or more."""
    if checkpoint_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = checkpoint_s / (2 * mtbf_s)
    return young_s(checkpoint_s, mtbf_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - checkpoint_s


def best_s(checkpoint_s: float, mtbf_s: float) -> float:
    """Purpose: the interval that wastes least by the formula above, found numerically. It does not depend on R.

    With x = tau/M and u = -ln(1 - x), the waste falls while u + exp(-u) - 1 < delta/M and rises after: bisection on u.
    """
    target = checkpoint_s / mtbf_s
    if not target < 1e15:
        return mtbf_s
    low, high = 0.0, target + 2.0 + math.sqrt(2 * target)
    for _ in range(2200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _slope(middle) < target else (low, middle)
    return -math.expm1(-high) * mtbf_s


def _slope(u: float) -> float:
    """u + exp(-u) - 1 without the loss of digits that small u would cost."""
    if u < 1e-3:
        return u * u * (1 / 2 - u / 6 + u * u / 24)
    return u + math.expm1(-u)


@dataclass(frozen=True, slots=True)
class Storage:
    """Where checkpoints go. Rates in bytes/s as an application sees them. ``drain``: to the file system behind, if any."""

    name: str
    write_bytes_per_s: float
    read_bytes_per_s: float
    drain_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """Work between two checkpoints by one rule, and what it wastes."""

    rule: str
    interval_s: float
    waste: float


@dataclass(frozen=True, slots=True)
class Advice:
    """One storage: its times, the rules' intervals, and the one to take.

    ``drain_fits``: whether the file system behind has taken a checkpoint before the next one begins; None without one.
    ``take`` is the interval of least waste, or as long as the drain where that is longer. ``curve``: waste against interval.
    """

    storage: Storage
    checkpoint_s: float
    restart_s: float
    intervals: tuple[Interval, ...]
    take: Interval
    drain_s: float | None
    drain_fits: bool | None
    never_ends: bool
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class CheckpointModel:
    """Every storage for the same checkpoint and the same mean time between failures of the job."""

    model_of: str
    size_bytes: float
    mtbf_s: float
    advice: tuple[Advice, ...]
    assumed: tuple[str, ...]
    does_not_add_up: tuple[str, ...]


HOPELESS = 0.99
# Paper 000, table 2: xRAGE's checkpoints of 24 TB on Trinity, measured
XRAGE_BYTES = 24e12
LUSTRE = Storage("Lustre", 21e9, 16e9)
BURST_BUFFER = Storage("burst buffer", 350e9, 69e9, drain_bytes_per_s=21e9)
SAYS_NOT = (
    "the write rates of IOR fell from 806 to 772 GiB/s (4.2 %) or 738 (8.4 %); the text says 7 %",
    "806 GiB/s are 865 GB/s, more than the 0.8 TB/s that each of two file systems has at its peak of 1.6 TB/s",
    "xRAGE's 21 GB/s are 2.4 % of those 865, its 350 GB/s 10.6 % of the burst buffer's 3.3 TB/s",
)


def checkpoint_model(
    size_bytes: float,
    mtbf_s: float,
    storages: tuple[Storage, ...],
    relaunch_s: float = 0.0,
    as_in_paper: bool = False,
    assumed: tuple[str, ...] = (),
) -> CheckpointModel:
    """Purpose: times, intervals and waste on each storage.

    ``relaunch_s``: to start the job again, on top of reading the checkpoint. ``assumed``: what the rates rest on.
    Raises UsageError where an amount is none.
    """
    _check({"size": size_bytes, "mean time between failures": mtbf_s}, zero=False)
    _check({"time to start again": relaunch_s}, zero=True)
    if as_in_paper:
        mean = f"a mean time between failures of {mtbf_s / 3600:.4g} h, of the whole job"
        assumed = (*assumed, mean, "that the burst buffer drains as fast as the application writes to Lustre")
    return CheckpointModel(
        "expected waste with exponential failures (Daly 2006)",
        size_bytes,
        mtbf_s,
        tuple(_advice(storage, size_bytes, mtbf_s, relaunch_s) for storage in storages),
        assumed,
        SAYS_NOT if as_in_paper else (),
    )


def _advice(storage: Storage, size_bytes: float, mtbf_s: float, relaunch_s: float) -> Advice:
    _check({f"{storage.name}'s rates": min(storage.write_bytes_per_s, storage.read_bytes_per_s)}, zero=False)
    delta, restart = size_bytes / storage.write_bytes_per_s, size_bytes / storage.read_bytes_per_s + relaunch_s
    drain = None if storage.drain_bytes_per_s is None else size_bytes / storage.drain_bytes_per_s
    _check(
        {
            f"the time of a checkpoint on {storage.name}": delta,
            "that of a restart": restart,
            "the drain": drain or delta,
        },
        zero=False,
    )

    def by(rule: str, interval: float) -> Interval:
        return Interval(rule, interval, waste(interval, delta, mtbf_s, restart))

    rules: dict[str, Callable[[float, float], float]] = {"Young": young_s, "Daly": daly_s, "least waste": best_s}
    intervals = tuple(by(rule, of(delta, mtbf_s)) for rule, of in rules.items())
    best = intervals[-1]
    fits = None if drain is None else drain <= best.interval_s
    take = by("drain", drain) if drain is not None and drain > best.interval_s else best
    return Advice(
        storage, delta, restart, intervals, take, drain, fits, take.waste > HOPELESS,
        tuple((tau, waste(tau, delta, mtbf_s, restart)) for tau in _around(best.interval_s)),
    )  # fmt: skip


def _around(best: float) -> list[float]:
    """Intervals from a thirtieth to thirty times the best one."""
    return [best * 30 ** (step / 60) for step in range(-60, 61)]


def _check(amounts: dict[str, float], zero: bool) -> None:
    for what, amount in amounts.items():
        if not 0 <= amount < math.inf or (amount == 0 and not zero):
            raise UsageError(f"{what}: {amount:g} is not a usable amount", "give a finite number above zero")
