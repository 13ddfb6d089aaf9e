"""Campaigns as rows, from a machine whose nodes are as good or bad as told: who ran where, what failed, how long it took.

Jobs start as nodes fall idle, the longest idle first; one that fails ends early and frees its nodes for the next.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shakedown.metrics.rows.rows import RunRow


@dataclass(frozen=True)
class Load:
    """A case: its width in nodes, its usual run time, the share of its runs that fail for reasons of its own."""

    case: str
    width: int = 1
    seconds: float = 600.0
    fails: float = 0.02


@dataclass(frozen=True)
class Machine:
    """``bad``: node -> the share of runs that it makes fail; ``slow``: node -> factor on run times. ``noise``: of the logarithm
    of run times. ``outage(t)``: the share of runs starting at t that fail whatever their nodes; ``drift(t)``: a factor for all.
    ``epoch(t)`` numbers epochs. ``lowest``: nodes are given out by number, not by how long they were idle.
    """

    nodes: int
    bad: Mapping[int, float] = field(default_factory=dict)
    slow: Mapping[int, float] = field(default_factory=dict)
    noise: float = 0.02
    outage: Callable[[float], float] = lambda t: 0.0
    drift: Callable[[float], float] = lambda t: 1.0
    epoch: Callable[[float], int] = lambda t: 1
    lowest: bool = False


def name_of(node: int) -> str:
    return f"n{node:05d}"


def campaign(machine: Machine, loads: Sequence[Load], runs: int, seed: int) -> list[RunRow]:
    """Purpose: the rows of a campaign of so many runs, cases drawn at random."""
    dice = np.random.default_rng(seed)
    free = dice.random(machine.nodes)  # when each node falls idle
    factor = np.array([machine.slow.get(node, 1.0) for node in range(machine.nodes)])
    spoils = np.array([machine.bad.get(node, 0.0) for node in range(machine.nodes)])
    chosen = dice.integers(len(loads), size=runs)
    noises = np.exp(machine.noise * dice.standard_normal(runs))
    early = dice.random(runs)
    rows, now = list[RunRow](), 0.0
    for number in range(runs):
        load = loads[chosen[number]]
        mine, now = _place(machine, free, load.width, now)
        fails = bool((dice.random(len(mine)) < spoils[mine]).any())
        fails |= dice.random() < load.fails or dice.random() < machine.outage(now)
        took = float(load.seconds * machine.drift(now) * noises[number] * factor[mine].max())
        took = 0.01 + took * float(early[number]) * 0.3 if fails else took
        free[mine] = now + took
        rows.append(_row(number, load, mine, fails, now, took, machine.epoch(now)))
    return rows


def clean_campaign(seed: int) -> list[RunRow]:
    """A machine without bad nodes, of any shape: outages, slowing down, epochs, a case that always fails, wide and narrow."""
    dice = random.Random(seed)
    nodes, span = dice.choice([16, 16, 32, 64, 128, 256]), dice.choice([3600.0, 86400.0])
    loads = []
    for number in range(dice.randint(1, 5)):
        width, seconds = min(nodes, dice.choice([1, 1, 2, 4, 16])), dice.choice([5.0, 60.0, 600.0])
        loads.append(Load(f"t{number}/x", width, seconds, dice.choice([0.0, 0.02, 0.05, 0.2])))
    if dice.random() < 0.3:
        loads.append(Load("broken/x", 1, 60.0, dice.choice([0.9, 1.0])))
    moment = dice.random() * span
    kinds = {
        "outage": {"outage": lambda t: 0.95 * (moment < t % span < moment + 600.0)},
        "slower": {"drift": lambda t: 1.0 + min(t / span, 10.0)},
        "waves": {"drift": lambda t: 1.0 + 0.5 * math.sin(20.0 * t / span) ** 2},
        "epochs": {"drift": lambda t: 1.0 + (t > span / 2), "epoch": lambda t: 1 + (t > span / 2)},
        "worse": {"outage": lambda t: 0.4 * min(1.0, t / span)},
        "even": {},
    }
    more = kinds[dice.choice([*kinds, "even", "even"])]
    machine = Machine(nodes, noise=dice.choice([0.001, 0.02, 0.2]), lowest=dice.random() < 0.5, **more)  # type: ignore[arg-type]
    return campaign(machine, loads, dice.choice([50, 200, 500, 1000]), seed)


def _place(machine: Machine, free: np.ndarray, width: int, now: float) -> tuple[np.ndarray, float]:
    """The nodes that the next run gets, and when it starts: when enough of them are idle, never before the run before it."""
    order = np.argpartition(free, width - 1)[:width] if width < machine.nodes else np.arange(machine.nodes)
    start = max(float(now), float(free[order].max()))
    if machine.lowest:
        order = np.flatnonzero(free <= start)[:width]
    return order, start


def _row(number: int, load: Load, nodes: np.ndarray, failed: bool, start: float, took: float, epoch: int) -> RunRow:
    return RunRow(
        run=f"r{number + 1:06d}", case=load.case, component="main", repeat=number + 1, attempt=1,
        verdict="failed" if failed else "passed", reason="", seq=number + 1, time=start + took, result=number + 1,
        epoch=epoch, started=start, ended=start + took, elapsed_s=took, job=f"j{number + 1:06d}",
        nodes=",".join(name_of(int(node)) for node in np.sort(nodes)),
    )  # fmt: skip
