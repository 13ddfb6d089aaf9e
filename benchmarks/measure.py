"""Timing whole commands side by side: interleaved, best of several, because the machine has other things to do."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Contender = Callable[[], float]  # runs once, returns seconds


@dataclass(frozen=True)
class Row:
    """A line of a table of ratios. ``limit`` is the most the ratio may be; None where it is only shown."""

    name: str
    seconds: float
    ratio: float
    limit: float | None = None

    @property
    def met(self) -> bool:
        return self.limit is None or self.ratio <= self.limit

    def __str__(self) -> str:
        judged = "" if self.limit is None else f"  at most {self.limit:g}: {'met' if self.met else 'NOT MET'}"
        return f"{self.name:<44} {self.seconds:9.4f} s  {self.ratio:8.2f}x{judged}"


def interleaved(contenders: Mapping[str, Contender], rounds: int) -> dict[str, float]:
    """Purpose: the best time of each contender over ``rounds`` rounds, in which each runs once in turn."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            best[name] = min(best[name], run())
    return best


def command_seconds(*command: str, cwd: str | None = None, statuses: tuple[int, ...] = (0,)) -> float:
    """Purpose: how long a command takes from start to end. Raises where it ends otherwise than it should."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, env=os.environ | {"NO_COLOR": "1"}, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return seconds
