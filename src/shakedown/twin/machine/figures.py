"""The figures that runs measure on the simulated machine, including their run time.

A figure with a law in the scenario is drawn from that law. Any other figure is made up, and the rehearsal says so: if the contract
has rows for it, its values lie around a value that meets all rows. If a run took longer than on a healthy machine (slow nodes, a
busy file system), its figures become worse by the same factor.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shakedown.model.contracts import rows_of
from shakedown.model.figures import with_rows
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import FigureSpec
from shakedown.model.ports import CollectOrder
from shakedown.twin.machine.run_times import is_run_time, seconds_in

if TYPE_CHECKING:
    from shakedown.twin.machine.jobs import Execution
    from shakedown.twin.machine.world import World

_SPREAD = 0.005  # of the value, where the bounds leave so much room
_SIGMAS = 5.0  # between the value and the nearest bound, at least
_MARGIN = 0.02  # between a value and the only bound there is, as a share of it
_LONGER = 1.000001  # times what it would take on a healthy machine: what is less is the clock's rounding
_NO_ROW = (100.0, 2.0)  # mean and spread of a figure that no contract asks for


def figures_of(world: World, order: CollectOrder, lot: random.Random) -> tuple[tuple[str, float], ...]:
    """Purpose: the value of every figure of the run's test, in the unit of its spec."""
    known = execution_of(world, order.run)
    elapsed = known.end - known.start if known is not None and known.end is not None else None
    healthy = known.healthy_s if known is not None else 0.0
    stretch = elapsed / healthy if healthy and elapsed is not None and elapsed > healthy * _LONGER else 1.0
    laws = world.physics.figures if world.physics is not None else {}
    rows = rows_of(world.document, order.case)
    found = []
    for figure in _with_asked_rows(order.test.figures, rows):
        drawn = lot.gauss(0.0, 1.0)
        law = laws.get((order.case.id, figure.name)) or laws.get((order.case.test, figure.name))
        if law is not None:
            value = _worse(law.mean + law.spread * drawn, figure, stretch)
        elif is_run_time(figure.name, figure.unit):
            if elapsed is None:
                continue  # missing, not zero
            value = elapsed / (seconds_in(figure.unit or "s") or 1.0)
        else:
            value = _worse(_around([row for row in rows if row.figure == figure.name], drawn), figure, stretch)
        found.append((figure.name, float(f"{value:.12g}")))
    return tuple(found)


def _with_asked_rows(specs: Sequence[FigureSpec], rows: Sequence[ContractRow]) -> tuple[FigureSpec, ...]:
    """Give tables the rows that the contract asks about, because other rows that a program prints are not known."""
    return with_rows(specs, (row.figure for row in rows))


def took(world: World, run: str) -> tuple[float, float]:
    """Purpose: (run time, run time on a healthy machine) of a run, in seconds; 0 = not known."""
    known = execution_of(world, run)
    if known is None or known.end is None:
        return 0.0, 0.0
    return known.end - known.start, known.healthy_s


def execution_of(world: World, run: str) -> Execution | None:
    """Purpose: the execution of a run; None if it was never executed."""
    return world.known.get(world.called.get(run, run)) or world.known.get(run)


def _around(rows: Sequence[ContractRow], drawn: float) -> float:
    """A value around one that meets all rows; ``drawn``: its distance from that value, in standard deviations."""
    rows = [row for row in rows if row.statistic != "sd"]
    if not rows:
        return _NO_ROW[0] + _NO_ROW[1] * drawn
    low = max((row.low for row in rows if row.low is not None), default=None)
    high = min((row.high for row in rows if row.high is not None), default=None)
    value = _centre(low, high, [row.value for row in rows if row.value is not None])
    room = min(abs(value - bound) for bound in (low, high) if bound is not None)
    return value + drawn * min(abs(value) * _SPREAD, room / _SIGMAS)


def _centre(low: float | None, high: float | None, stated: Sequence[float]) -> float:
    """A central value of the rows well inside all bounds; else the middle of the bounds, or a value near the only bound."""
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
