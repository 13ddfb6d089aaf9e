"""Node-hours of runs: how much of the machine a run uses inside some periods."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from shakedown.metrics.clock import Hours
from shakedown.metrics.overlap import Span, Steps, span_of
from shakedown.metrics.rows.record_rows import RecordRows
from shakedown.metrics.rows.rows import OpenRun, RunRow
from shakedown.model.events import NEVER_STARTED
from shakedown.model.nouns import Case, Component, Document, Partition
from shakedown.model.shared_nodes import place_of

RIGHT = ("passed", "performance")  # verdicts of runs that ran to their end with the right answer


def never_ran(row: RunRow) -> bool:
    """Purpose: whether a run certainly used no node-hours: it never started, or was withdrawn before its start."""
    return row.verdict in NEVER_STARTED or row.was_taken_back


class Taken(Struct, frozen=True):
    """Node-hours of some runs. ``runs``: how many used some; ``untimed``: how many do not count because their times are unknown."""

    node_hours: float
    runs: int
    untimed: int


class Nodes:
    """The cases of a plan, and how many nodes a run of each holds: ``units`` times nodes per unit. Simultaneous runs in one
    allocation share its nodes: each holds its part of them, so no node counts twice. ``record``: gives all runs, to find the
    simultaneous ones, and the earlier plans: a run holds what the plan at its order said of its case.
    """

    def __init__(self, document: Document, record: RecordRows | None = None) -> None:
        self._together = _together(record.current() if record is not None else ())
        self._earlier = _earlier(record) if record is not None else []
        self.cases: Mapping[str, Case] = {case.id: case for case in document.cases}
        counts = {place_of(partition): partition.count for partition in document.system.partitions()}
        capacities = document.system.capacities()
        self._per_unit = {place: counts[place] / units for place, units in capacities.items() if units > 0}
        self.partitions: Mapping[str, Partition] = {place_of(one): one for one in document.system.partitions()}

    def held_by(self, row: RunRow | OpenRun) -> float:
        """The number of nodes that a run held, by the plan in force at its order if that is known."""
        case = self.cases[row.case]
        ordered = row.ordered_by if isinstance(row, RunRow) else row.seq
        before = next((nodes for until, nodes in self._earlier if 0 < ordered < until), None)
        return before.held(before.cases[case.id]) if before and case.id in before.cases else self.held(case)

    def held(self, case: Case) -> float:
        """The number of nodes that a run of a case holds; a fraction if the partition counts cores."""
        return case.shape.units * self._per_unit.get(case.partition, 1.0)

    def taken(self, row: RunRow, hours: Hours) -> float | None:
        """Node-hours of a run inside ``hours``; 0 if it never ran, None if its times or its case are unknown."""
        span, case = span_of(row), self.cases.get(row.case)
        if span is None and never_ran(row):
            return 0.0
        if span is None or case is None:
            return None
        return self.seconds(row, span, hours) / 3600 * self.held_by(row)

    def seconds(self, row: RunRow, span: Span, hours: Hours) -> float:
        """Seconds inside ``hours`` in which a run had its nodes; shared time counts by the run's share."""
        if row.job not in self._together:
            return hours.inside(span)
        return math.fsum(hours.inside(piece) * share for piece, share in self.parts(row, span))

    def parts(self, row: RunRow, span: Span) -> list[tuple[Span, float]]:
        """The periods of a run, each with the share of its nodes that it had."""
        if row.job not in self._together:
            return [(span, 1.0)]
        return [(piece, 1 / max(1, count)) for piece, count in self._together[row.job].pieces(span)]

    def sum(self, rows: Iterable[RunRow], hours: Hours) -> Taken:
        """The node-hours of these runs together."""
        amounts = [self.taken(row, hours) for row in rows]
        known = [amount for amount in amounts if amount is not None]
        return Taken(math.fsum(known), sum(amount > 0 for amount in known), len(amounts) - len(known))

    def places(self, component: Component) -> set[str]:
        """The partitions that a component's cases run on."""
        return {self.cases[name].partition for name in component.cases if name in self.cases}


def _earlier(record: RecordRows) -> list[tuple[int, Nodes]]:
    """(event of an amendment, node counts of the plan until then), in order, for the earlier plans that are given."""
    amended = [epoch.seq for epoch in record.epochs if epoch.opened_by == "amended"]
    pairs = zip(amended, record.documents, strict=False)  # the last plan is in force
    return [(until, Nodes(record.plans[digest])) for until, digest in pairs if digest in record.plans]


def _together(rows: Iterable[RunRow]) -> dict[str, Steps]:
    """Job -> how many of its runs ran at each time, for allocations that held several runs at once."""
    spans: dict[str, list[Span]] = defaultdict(list)
    for row in rows:
        span = span_of(row) if row.job else None
        if span is not None:
            spans[row.job].append(span)
    steps = {job: Steps(mine) for job, mine in spans.items() if len(mine) > 1}
    return {job: mine for job, mine in steps.items() if max(mine.counts, default=0) > 1}
