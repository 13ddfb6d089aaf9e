"""Sources of noise, and where processes are placed: what a person says of a machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from shakedown.model.errors import UsageError

MOST_PROCESSES = 20_000_000  # some 40 bytes each and source


@dataclass(frozen=True, slots=True)
class Source:
    """What takes time from processes: ``duration_s`` every ``period_s``.

    ``on`` core: on each core alike, a process there cannot get away. ``on`` node: once a node, on any of its cores; on an idle
    one it disturbs nobody. ``every``, ``at``: only on nodes number at, at + every, ...
    ``pattern`` periodic: to the clock, each place with its own random phase; random: gaps and lengths are exponential with
    those means. ``synchronised``: everywhere at the same time.
    """

    name: str
    period_s: float
    duration_s: float
    on: Literal["core", "node"] = "core"
    every: int = 1
    at: int = 0
    pattern: Literal["periodic", "random"] = "periodic"
    synchronised: bool = False

    def __post_init__(self) -> None:
        _check_source(self)

    @property
    def duty(self) -> float:
        """The share of a core's time that it takes where it is."""
        return self.duration_s / self.period_s


@dataclass(frozen=True, slots=True)
class Placement:
    """``processes``, ``per_node`` of them on each node of ``cores``; the last node may have fewer."""

    processes: int
    per_node: int
    cores: int

    def __post_init__(self) -> None:
        if not 1 <= self.processes <= MOST_PROCESSES:
            raise UsageError(f"{self.processes} processes: from 1 to {MOST_PROCESSES:,} can be modelled")
        if not 1 <= self.per_node <= self.cores:
            raise UsageError(
                f"{self.per_node} processes a node do not fit on {self.cores} cores",
                "give --cores, or fewer --per-node",
            )

    @property
    def nodes(self) -> int:
        return -(-self.processes // self.per_node)

    @property
    def full_nodes(self) -> int:
        """Nodes without an idle core."""
        return self.processes // self.per_node if self.per_node == self.cores else 0


def _check_source(source: Source) -> None:
    times = (source.period_s, source.duration_s)
    if not all(math.isfinite(seconds) and seconds > 0 for seconds in times):
        raise UsageError(f"source {source.name}: its period and its duration must be more than nothing")
    if source.duration_s >= source.period_s:
        raise UsageError(
            f"source {source.name}: {source.duration_s:g} s every {source.period_s:g} s leaves no time to anything else",
            "the duration must be shorter than the period",
        )
    if source.period_s > 1e9 or source.duration_s < 1e-12:
        raise UsageError(f"source {source.name}: a period of decades or a duration of no instruction is no noise")
    if source.every < 1 or not 0 <= source.at < source.every:
        raise UsageError(
            f"source {source.name}: there is no node number {source.at} of every {source.every}",
            "'at' counts from 0 to every - 1",
        )
