"""Failure rates by verdict and by class: as shares of runs and per thousand node-hours, before and after rulings."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from shakedown.metrics.clock import Hours
from shakedown.metrics.interrupts import rate_interval
from shakedown.metrics.judging.populations import Population, counts_as_passed
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rulings import Rate, somebody_elses

ALWAYS = Hours([(float("-inf"), float("inf"))])
THOUSAND = 1000.0


class FailureRate(Struct, frozen=True):
    """Failures of one kind in one component. ``by``: "verdict" or "class"; ``name``: which verdict or class; "" in both for all
    failures.

    ``before``: as a share of all attempts; ``after``: of the attempts without the failures that were ruled not to be the vendor's.
    ``node_hours``: used by all these attempts, including failed ones.
    """

    component: str
    by: str
    name: str
    before: Rate
    after: Rate
    node_hours: float

    @property
    def per_thousand(self) -> float | None:
        """Failures per 1,000 node-hours, before rulings."""
        return THOUSAND * self.before.hits / self.node_hours if self.node_hours > 0 else None

    @property
    def per_thousand_after(self) -> float | None:
        return THOUSAND * self.after.hits / self.node_hours if self.node_hours > 0 else None

    @property
    def per_thousand_interval(self) -> tuple[float, float] | None:
        """The exact (Poisson) 95 % interval of ``per_thousand``, before rulings."""
        return rate_interval(self.before.hits, self.node_hours / THOUSAND)


def failure_rates(population: Population, around: MeasureContext) -> tuple[FailureRate, ...]:
    """Purpose: one line for all failures of a component, then one for each verdict and each class among them, the commonest first.

    A failure is an attempt that neither passed nor ended as its case expects.
    """
    cases = {case.case.id: case.case for case in population.cases}
    rows = population.rows
    bad = [row for row in rows if not counts_as_passed(row, cases[row.case])]
    left = [row for row in bad if not somebody_elses(row)]
    took = around.nodes.sum(rows, ALWAYS).node_hours
    after = len(rows) - len(bad) + len(left)

    def line(by: str, name: str, hits: int, hits_after: int) -> FailureRate:
        return FailureRate(around.component.name, by, name, Rate(hits, len(rows)), Rate(hits_after, after), took)

    found = [line("", "", len(bad), len(left))] if rows else []
    for by, kind in (("verdict", _verdict), ("class", _class)):
        every, rest = Counter(map(kind, bad)), Counter(map(kind, left))
        names = sorted((name for name in every if name), key=lambda name: (-every[name], name))
        found += [line(by, name, every[name], rest[name]) for name in names]
    return tuple(found)


def _verdict(row: RunRow) -> str:
    return row.verdict


def _class(row: RunRow) -> str:
    """The class of the run's failure; "" if its verdict has none."""
    return row.cause
