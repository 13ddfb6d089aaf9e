"""Utilisation: four numbers, each with its denominator, from the rows alone. ``DEFINITIONS`` describes them.

A component's clock runs from its first order, or from when it was declared, to the end of its last run, without the time in which
it stood still. Node-hours of a run are its nodes times its hours; on a machine whose partitions count cores, a run holds the
fraction of a node that its cores are.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from shakedown.metrics.clock import Clock, Hours, length
from shakedown.metrics.judging.populations import Population, populations
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.node_hours import RIGHT, Nodes
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import UNCOUNTED
from shakedown.metrics.words import plural, show_number, show_share
from shakedown.model.clocks import without
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.shared_nodes import different_nodes

CONTRACTUAL = "contractual node-hours / clock node-hours"
OURS = "our node-hours / clock node-hours"
CALENDAR = "delivered node-hours / calendar node-hours"
AVAILABLE = "delivered node-hours / available node-hours"
DEFINITIONS = {
    CONTRACTUAL: "Contractual: runs of the component that ran to their end with the right answer, warm-up and filler not counted. "
    "Clock: all nodes of the partitions that its cases run on, each once, down, drained and excluded ones too, from its first "
    "order, or from when it was declared or started anew, to the end of its last run, without the time in which the clock stood "
    "still.",
    OURS: "Ours: every run of every component on these partitions in that time, warm-up, filler, failed and wrong ones too. "
    "Clock: as above.",
    CALENDAR: "Delivered: runs of all components that ran to their end with the right answer, warm-up and filler not counted. "
    "Calendar: all nodes of the whole system, each once, 24 hours a day, from the beginning to the end of the component's clock, "
    "whatever stood still or was down in between (how NERSC counted Hopper's utilisation).",
    AVAILABLE: "Delivered: as above. Available: as the calendar, without the time of announced maintenance.",
}


class Utilisation(Struct, frozen=True):
    """One of the four numbers of one component. ``share`` is None if the clock has not run.

    ``runs``: how many used some of the clock's time; ``untimed``: how many do not count because their times or nodes are unknown.
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
        """The calculation: 216736 contractual node-hours of 3757 runs / (1920 nodes x 240 h = 460800 clock node-hours) = 47.0%."""
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
    """Purpose: the numbers of every component that has ordered a run, in the order of the plan.

    The fourth number, without announced maintenance, exists only for components that run for a time.
    """
    people = populations(document, record)
    return tuple(
        of_component(name, people[around.component.name], around)
        for around in arounds(document, record)
        if around.component.name in record.first_orders
        for name in names_of(around.component)
    )


def names_of(component: Component) -> list[str]:
    """The numbers that are reported for a component, whether a criterion uses them or not."""
    return [name for name in DEFINITIONS if name != AVAILABLE or component.duration_s]


def of_component(name: str, population: Population, around: MeasureContext) -> Utilisation:
    """Purpose: one of the four numbers of one component; ``population``: the component's own runs."""
    nodes, hours = around.nodes, Hours(_time(name, around.clock))
    mine = nodes.places(around.component)
    whole = name in (CALENDAR, AVAILABLE)
    count = different_nodes([one for place, one in nodes.partitions.items() if whole or place in mine])
    taken = nodes.sum(_counted_rows(name, population, around, nodes, mine), hours)
    lasted = length(hours.spans) / 3600
    return Utilisation(
        around.component.name, name, taken.node_hours, count * lasted, count, lasted, taken.runs, taken.untimed
    )


def _time(name: str, clock: Clock | None) -> tuple[tuple[float, float], ...]:
    """The spans of time that a number covers."""
    if clock is None:
        return ()
    if name in (CONTRACTUAL, OURS):
        return clock.spans
    spans: tuple[tuple[float, float], ...] = ((clock.begin, clock.end),) if clock.end > clock.begin else ()
    for stretch in clock.maintenance if name == AVAILABLE else ():
        spans = without(spans, stretch)
    return spans


def _counted_rows(
    name: str, population: Population, around: MeasureContext, nodes: Nodes, mine: set[str]
) -> Iterable[RunRow]:
    """The runs in the numerator of a number."""
    if name == CONTRACTUAL:
        return [row for row in population.rows if row.verdict in RIGHT]
    every = list(around.record.current())
    if name == OURS:
        return [row for row in every if row.case not in nodes.cases or nodes.cases[row.case].partition in mine]
    return [row for row in every if row.verdict in RIGHT and row.mode not in UNCOUNTED]


# ---- as measures -----------------------------------------------------------------------------------------------------


def contractual_utilisation(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure of ``CONTRACTUAL``: contractual node-hours as a share of the clock's node-hours."""
    return _measured(CONTRACTUAL, criterion, population, around)


def our_utilisation(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure of ``OURS``: node-hours of all the campaign's runs as a share of the clock's node-hours."""
    return _measured(OURS, criterion, population, around)


def calendar_utilisation(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure of ``CALENDAR``: delivered node-hours as a share of 24-hour days of the whole machine."""
    return _measured(CALENDAR, criterion, population, around)


def available_utilisation(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure of ``AVAILABLE``: delivered node-hours as a share of 24-hour days, without announced maintenance."""
    return _measured(AVAILABLE, criterion, population, around)


def _measured(name: str, criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    found = of_component(name, population, around)
    if found.share is None:
        return Measured(None, 0, "", reason=around.no_clock)
    text = found.arithmetic(criterion.bound)
    if population.unfinished:
        return Measured(found.share, found.runs, text + (", more to come" if population.more else ", not over yet"))
    if population.cut_off and name != OURS:  # what could not be judged may have been right
        cut = f", {population.cut_off} undetermined when the time was over"
        return Measured(found.share, found.runs, text + cut, reason=population.why_open)
    return Measured(found.share, found.runs, text, found.share, found.share)
