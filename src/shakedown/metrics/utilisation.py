"""Utilisation: three numbers, each with its denominator stated, from the rows alone. ``DEFINITIONS`` says them in words.

A component's clock runs from its first order to the end of its last run. Node-hours of a run are the nodes it held times the
hours it ran; on a machine whose partitions count cores, a run holds the share of a node that its cores are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from msgspec import Struct

from shakedown.metrics.around import Around
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.populations import Population, populations
from shakedown.metrics.rows import RunRow
from shakedown.metrics.scorecard import Measured
from shakedown.metrics.table import Record
from shakedown.metrics.wanted import WARM_UP
from shakedown.metrics.words import plural, show_number, show_share
from shakedown.model.events import NEVER_STARTED
from shakedown.model.nouns import Case, Component, Criterion, Document
from shakedown.model.places import different_nodes

CONTRACTUAL = "contractual node-hours / clock node-hours"
OURS = "our node-hours / clock node-hours"
CALENDAR = "delivered node-hours / calendar node-hours"
_RIGHT = ("passed", "performance")  # verdicts of runs that ran to their end with the right answer
DEFINITIONS = {
    CONTRACTUAL: "Contractual: runs of the component that ran to their end with the right answer, warm-up not counted. "
    "Clock: all nodes of the partitions that its cases run on, each once, down and drained ones too, from its first order to the "
    "end of its last run.",
    OURS: "Ours: every run of every component on these partitions in that time, warm-up, failed and wrong ones too. Clock: as "
    "above.",
    CALENDAR: "Delivered: runs of all components that ran to their end with the right answer, warm-up not counted. Calendar: "
    "all nodes of the whole system, each once, 24 hours a day, from the component's first order to the end of its last run, "
    "whatever stood still or was down in between (how NERSC counted Hopper's utilisation).",
}


class Utilisation(Struct, frozen=True):
    """One of the three numbers of one component. ``share`` is None where the clock has not run.

    ``runs`` took some of the clock's time, ``untimed`` are not counted: when they ran, or what they took, is not known.
    """

    component: str
    name: str
    node_hours: float
    of_node_hours: float
    nodes: int
    hours: float
    runs: int
    untimed: int

    @property
    def share(self) -> float | None:
        return self.node_hours / self.of_node_hours if self.of_node_hours > 0 else None

    def arithmetic(self, bound: float = 1.0) -> str:
        """216736 contractual node-hours of 3757 runs / (1920 nodes x 240 h = 460800 clock node-hours) = 47.0%."""
        if self.share is None:
            return ""
        top, bottom = self.name.split(" / ")
        below = (
            f"{plural(self.nodes, 'node')} x {show_number(self.hours)} h = {show_number(self.of_node_hours)} {bottom}"
        )
        text = f"{show_number(self.node_hours)} {top} of {plural(self.runs, 'run')} / ({below})"
        text += f" = {show_share(self.share, bound)}"
        return text + (f" ({plural(self.untimed, 'run')} of unknown times not counted)" if self.untimed else "")


def utilisation(document: Document, record: Record) -> tuple[Utilisation, ...]:
    """Purpose: the three numbers of every component that has ordered anything, in the order of the plan."""
    people = populations(document, record)
    asked = [(component, Around(document, record, component)) for component in document.components]
    return tuple(
        of_component(name, people[component.name], around)
        for component, around in asked
        if component.name in record.first_orders
        for name in DEFINITIONS
    )


def of_component(name: str, population: Population, around: Around) -> Utilisation:
    """Purpose: one of the three numbers of one component; ``population`` has the runs that are its own."""
    system, cases = around.document.system, {case.id: case for case in around.document.cases}
    clock = component_clock(around.component, around.record)
    counts = {f"{partition.cluster}:{partition.name}": partition.count for partition in system.partitions()}
    mine = {cases[case].partition for case in around.component.cases if case in cases}
    places = [one for one in system.partitions() if name == CALENDAR or f"{one.cluster}:{one.name}" in mine]
    nodes = different_nodes(places)
    per_unit = {place: counts[place] / units for place, units in system.capacities().items() if units > 0}
    hours = [
        _node_hours(row, cases.get(row.case), per_unit, clock) for row in _rows(name, population, around, cases, mine)
    ]
    known = [amount for amount in hours if amount is not None]
    length = (clock[1] - clock[0]) / 3600 if clock else 0.0
    return Utilisation(
        around.component.name,
        name,
        math.fsum(known),
        nodes * length,
        nodes,
        length,
        sum(amount > 0 for amount in known),
        len(hours) - len(known),
    )


def component_clock(component: Component, record: Record) -> Span | None:
    """From the component's first order to the end of its last run that is judged; None where there is none.

    A run whose end is not known was over when it was first judged; judging it again moves no end.
    """
    mine = [row for row in record.runs if row.component == component.name]
    judged = {row.run: row.time for row in mine if not row.supersedes}
    current = (row for row in mine if not row.superseded_by)
    ends = [span[1] if (span := span_of(row)) else judged.get(row.run, row.time) for row in current]
    begin = record.first_orders.get(component.name)
    return (begin, max(begin, *ends)) if begin is not None and ends else None


def _rows(
    name: str, population: Population, around: Around, cases: Mapping[str, Case], mine: set[str]
) -> Iterable[RunRow]:
    """The runs that the numerator counts."""
    if name == CONTRACTUAL:
        return [row for row in population.rows if row.verdict in _RIGHT]
    every = list(around.record.current())
    if name == OURS:
        return [row for row in every if row.case not in cases or cases[row.case].partition in mine]
    return [row for row in every if row.verdict in _RIGHT and row.mode != WARM_UP]


def _node_hours(row: RunRow, case: Case | None, per_unit: Mapping[str, float], clock: Span | None) -> float | None:
    """What a run took of the clock's time; None where its times or its case are not known. One that never ran took nothing."""
    span = span_of(row)
    if row.verdict in NEVER_STARTED and span is None:
        return 0.0
    if span is None or case is None or clock is None:
        return None
    seconds = max(0.0, min(span[1], clock[1]) - max(span[0], clock[0]))
    return seconds / 3600 * case.shape.units * per_unit.get(case.partition, 1.0)


# ---- as measures -----------------------------------------------------------------------------------------------------


def contractual_utilisation(criterion: Criterion, population: Population, around: Around) -> Measured:
    """Work of the contract, of the clock."""
    return _measured(CONTRACTUAL, criterion, population, around)


def our_utilisation(criterion: Criterion, population: Population, around: Around) -> Measured:
    """All our work, of the clock."""
    return _measured(OURS, criterion, population, around)


def calendar_utilisation(criterion: Criterion, population: Population, around: Around) -> Measured:
    """What was delivered, of 24-hour days of the whole machine."""
    return _measured(CALENDAR, criterion, population, around)


def _measured(name: str, criterion: Criterion, population: Population, around: Around) -> Measured:
    found = of_component(name, population, around)
    if found.share is None:
        return Measured(None, 0, "", reason="the clock has not run: nothing of the component is judged")
    text = found.arithmetic(criterion.bound)
    if population.to_come:
        return Measured(found.share, found.runs, text + (", more to come" if population.more else ", not over yet"))
    return Measured(found.share, found.runs, text, found.share, found.share)
