"""All results for a component that runs for a time: its clock, days, shares, floors, interrupts and failure rates."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shakedown.metrics.clock import Clock, Word, words_of
from shakedown.metrics.days import Day, days_of
from shakedown.metrics.failure_rates import FailureRate, failure_rates
from shakedown.metrics.interrupts import Interrupts, interrupts
from shakedown.metrics.judging.populations import Population, populations
from shakedown.metrics.judging.scope import MeasureContext, arounds
from shakedown.metrics.mix import TestShare, shares_of
from shakedown.metrics.nodes_used import NodeTimes, node_times
from shakedown.metrics.rows.table import Record
from shakedown.metrics.utilisation import AVAILABLE, CALENDAR, CONTRACTUAL, OURS, Utilisation, of_component
from shakedown.model.nouns import Component, Document


class Stability(Struct, frozen=True):
    """One component with a duration. ``clock`` is None if it has not run; then only ``words`` and ``rates`` have content.

    ``utilisations``: name -> number; ``before``: how many runs do not count because they ran before the clock was restarted.
    """

    component: Component
    words: tuple[Word, ...]
    clock: Clock | None
    utilisations: Mapping[str, Utilisation]
    days: tuple[Day, ...]
    shares: tuple[TestShare, ...]
    nodes: NodeTimes | None
    interrupts: Interrupts | None
    rates: tuple[FailureRate, ...]
    before: int


def stability(document: Document, record: Record) -> tuple[Stability, ...]:
    """Purpose: every component with a duration that has ordered a run or has statements on its clock, in the order of the plan."""
    people = populations(document, record)
    return tuple(
        _of(around, people[around.component.name])
        for around in arounds(document, record)
        if around.component.duration_s
        and (around.component.name in record.first_orders or words_of(around.component, record))
    )


def _of(around: MeasureContext, population: Population) -> Stability:
    component, record, clock = around.component, around.record, around.clock
    numbers = {name: of_component(name, population, around) for name in (CONTRACTUAL, OURS, CALENDAR, AVAILABLE)}
    places = around.nodes.places(component)
    return Stability(
        component=component,
        words=words_of(component, record),
        clock=clock,
        utilisations=numbers,
        days=days_of(population, around, clock) if clock else (),
        shares=shares_of(population, around, clock) if clock else (),
        nodes=node_times(record.current(), around.nodes, places, clock) if clock else None,
        interrupts=interrupts(component, clock, record) if clock else None,
        rates=failure_rates(population, around),
        before=sum(len(case.before) for case in population.cases),
    )
