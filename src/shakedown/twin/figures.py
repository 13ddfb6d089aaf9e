"""What runs measure on the simulated machine: their own run time, and figures that a healthy machine's contract would see.

A figure that its contract has rows for lies around a value that meets all of them; how much longer the run took than on a healthy
machine (slow nodes, a busy file system) makes it that much worse, in the direction that is worse for it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shakedown.model.contracts import rows_of
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import FigureSpec
from shakedown.model.ports import CollectOrder
from shakedown.twin.run_times import is_run_time, seconds_in

if TYPE_CHECKING:
    from shakedown.twin.world import World

_SPREAD = 0.005  # of the value, where the bounds leave so much room
_SIGMAS = 5.0  # between the value and the nearest bound, at least
_MARGIN = 0.02  # between a value and the only bound there is, as a share of it
_LONGER = 1.000001  # times what it would take on a healthy machine: what is less is the clock's rounding
_NO_ROW = (100.0, 2.0)  # mean and spread of a figure that no contract asks for


def figures_of(world: World, order: CollectOrder, lot: random.Random) -> tuple[tuple[str, float], ...]:
    """Purpose: every figure of the run's test, in the unit of its spec."""
    elapsed, healthy = took(world, order.run)
    stretch = elapsed / healthy if healthy and elapsed > healthy * _LONGER else 1.0
    rows = rows_of(world.document, order.case)
    found = []
    for figure in order.test.figures:
        drawn = lot.gauss(0.0, 1.0)
        if is_run_time(figure.name, figure.unit):
            if not elapsed:
                continue  # missing, not zero
            value = elapsed / (seconds_in(figure.unit or "s") or 1.0)
        else:
            value = _worse(_around([row for row in rows if row.figure == figure.name], drawn), figure, stretch)
        found.append((figure.name, float(f"{value:.12g}")))
    return tuple(found)


def took(world: World, run: str) -> tuple[float, float]:
    """Purpose: how long a run took and how long it would have on a healthy machine, in seconds; 0 = nobody knows."""
    known = world.known.get(world.called.get(run, run)) or world.known.get(run)
    if known is None or known.end is None:
        return 0.0, 0.0
    return known.end - known.start, known.healthy_s


def _around(rows: Sequence[ContractRow], drawn: float) -> float:
    """A value that lies inside all of the rows that ask for one; ``drawn``: how far off it is, in standard deviations."""
    rows = [row for row in rows if row.statistic != "sd"]
    if not rows:
        return _NO_ROW[0] + _NO_ROW[1] * drawn
    low = max((row.low for row in rows if row.low is not None), default=None)
    high = min((row.high for row in rows if row.high is not None), default=None)
    value = _centre(low, high, [row.value for row in rows if row.value is not None])
    room = min(abs(value - bound) for bound in (low, high) if bound is not None)
    return value + drawn * min(abs(value) * _SPREAD, room / _SIGMAS)


def _centre(low: float | None, high: float | None, stated: Sequence[float]) -> float:
    """Of the values that rows are written around, one well inside the bounds; else the middle, or beside the only bound."""
    for value in stated:
        if (low is None or value > low) and (high is None or value < high):
            return value
    if low is not None and high is not None:
        return (low + high) / 2
    only = low if low is not None else high
    assert only is not None
    width = abs(only) * _MARGIN or _MARGIN
    return only + width if low is not None else only - width


def _worse(value: float, figure: FigureSpec, stretch: float) -> float:
    return value / stretch if figure.better == "higher" else value * stretch if figure.better == "lower" else value
