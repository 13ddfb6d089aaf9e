"""Utilisation day by day: 24-hour days from the start of a component's clock; the last day may be shorter."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from shakedown.metrics.clock import Clock, Hours, cut, length
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.node_hours import RIGHT
from shakedown.metrics.overlap import span_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.wanted import UNCOUNTED
from shakedown.model.shared_nodes import different_nodes

DAY_S = 86400.0
DAYS_LIMIT = 1000  # the most days for one component


class Day(Struct, frozen=True):
    """One day of a component. ``nodes``: those of its partitions; ``all_nodes``: those of the system; ``clock_s``: how long its
    clock ran; ``maintenance_s``: announced maintenance. Node-hours: ``contractual`` and ``ours`` while the clock ran, ``delivered``
    at any time.
    """

    component: str
    number: int
    begin: float
    end: float
    nodes: int
    all_nodes: int
    clock_s: float
    maintenance_s: float
    contractual: float
    ours: float
    delivered: float

    @property
    def share(self) -> float:
        """The delivered node-hours as a share of the day's node-hours of all nodes of the system."""
        return self.delivered / (self.all_nodes * (self.end - self.begin) / 3600)

    @property
    def of_clock(self) -> float | None:
        """The contractual node-hours as a share of the component's node-hours while its clock ran; None if it never ran."""
        return self.contractual / (self.nodes * self.clock_s / 3600) if self.clock_s > 0 else None

    @property
    def ours_of_clock(self) -> float | None:
        return self.ours / (self.nodes * self.clock_s / 3600) if self.clock_s > 0 else None


def days_of(population: Population, around: MeasureContext, clock: Clock) -> tuple[Day, ...]:
    """Purpose: every day of a component's clock, at most DAYS_LIMIT, including days without work."""
    count = min(DAYS_LIMIT, math.ceil((clock.end - clock.begin) / DAY_S))
    windows = [(clock.begin + n * DAY_S, min(clock.end, clock.begin + (n + 1) * DAY_S)) for n in range(count)]
    running = [Hours(cut(clock.spans, window)) for window in windows]
    whole = [Hours([window]) for window in windows]
    nodes, mine = around.nodes, around.nodes.places(around.component)
    every = [row for row in around.record.current() if row.case in nodes.cases]
    beside = [row for row in every if nodes.cases[row.case].partition in mine]
    right = [row for row in every if row.verdict in RIGHT and row.mode not in UNCOUNTED]
    contractual = _by_day([row for row in population.rows if row.verdict in RIGHT], around, running, clock.begin)
    ours, delivered = _by_day(beside, around, running, clock.begin), _by_day(right, around, whole, clock.begin)
    own = different_nodes([nodes.partitions[place] for place in mine if place in nodes.partitions])
    total = different_nodes(list(nodes.partitions.values()))
    return tuple(
        Day(
            around.component.name, n + 1, *window, own, total, length(running[n].spans),
            length(cut(clock.maintenance, window)), contractual[n], ours[n], delivered[n],
        )
        for n, window in enumerate(windows)
    )  # fmt: skip


def _by_day(rows: Iterable[RunRow], around: MeasureContext, days: list[Hours], begin: float) -> list[float]:
    """Node-hours of the runs in each day; only the days that a run touches are computed for it."""
    amounts: list[list[float]] = [[] for _ in days]
    for row in rows:
        span = span_of(row)
        if span is None:
            continue
        first, last = (math.floor((time - begin) / DAY_S) for time in span)
        held = around.nodes.held_by(row)
        for place in range(max(first, 0), min(last, len(days) - 1) + 1):
            amounts[place].append(around.nodes.seconds(row, span, days[place]) / 3600 * held)
    return [math.fsum(day) for day in amounts]
