"""The share of the machine that each test of a mix had, beside the share that the plan requires."""

from __future__ import annotations

from msgspec import Struct

from shakedown.metrics.clock import Clock, Hours
from shakedown.metrics.judging.floors import Hole, holes_of
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.node_hours import RIGHT
from shakedown.metrics.wanted import FILLER


class TestShare(Struct, frozen=True):
    """One test. ``runs``, ``right``: all runs, and those with the right answer, with the node-hours of both while the clock ran;
    ``share``, ``asked``: its actual and required share of the mix's node-hours; ``hole``: its longest hole. ``filler``: not in the
    mix.
    """

    component: str
    test: str
    runs: int
    right: int
    node_hours: float
    right_node_hours: float
    share: float | None
    asked: float | None
    hole: Hole | None = None
    filler: bool = False

    @property
    def points(self) -> float | None:
        """The difference from its required share, in percentage points."""
        return None if self.share is None or self.asked is None else 100 * (self.share - self.asked)


def shares_of(population: Population, around: MeasureContext, clock: Clock) -> tuple[TestShare, ...]:
    """Purpose: every test of the mix in the order of the plan, then the fillers."""
    hours, nodes, component = Hours(clock.spans), around.nodes, around.component
    holes = holes_of(population, around, clock)
    tests = list(dict.fromkeys(case.case.test for case in population.cases))
    rows = {test: [row for case in population.cases if case.case.test == test for row in case.rows] for test in tests}
    taken = {test: nodes.sum(mine, hours).node_hours for test, mine in rows.items()}
    whole, wanted = sum(taken.values()), dict(component.mix) or dict.fromkeys(tests, 1.0)
    asked = sum(wanted.values())
    found = []
    for test in tests:
        right = [row for row in rows[test] if row.verdict in RIGHT]
        share = taken[test] / whole if whole > 0 else None
        hole = max(holes[test], key=lambda hole: hole.seconds, default=None)
        numbers = (len(rows[test]), len(right), taken[test], nodes.sum(right, hours).node_hours)
        of_mix = wanted.get(test, 0.0) / asked if asked > 0 else None
        found.append(TestShare(component.name, test, *numbers, share, of_mix, hole))
    return (*found, *_fillers(around, hours))


def _fillers(around: MeasureContext, hours: Hours) -> list[TestShare]:
    component, cases = around.component, around.nodes.cases
    mine = [row for row in around.record.current() if row.component == component.name and row.mode == FILLER]
    known = [row for row in mine if row.case in cases]
    found = []
    for test in dict.fromkeys(cases[row.case].test for row in known):
        rows = [row for row in known if cases[row.case].test == test]
        right = [row for row in rows if row.verdict in RIGHT]
        took, of_right = (around.nodes.sum(some, hours).node_hours for some in (rows, right))
        numbers = (len(rows), len(right), took, of_right)
        found.append(TestShare(component.name, test, *numbers, share=None, asked=None, filler=True))
    return found
