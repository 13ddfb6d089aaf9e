"""Planned and actual dates: when the plan required each component to be over, and when it was over; and the measure ``late``.

Dates alone decide nothing. Only a criterion with the measure ``late`` decides, by the date of the plan in force.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from shakedown.metrics.judging.at_bound import at_bound
from shakedown.metrics.judging.floors import unit_of
from shakedown.metrics.judging.populations import Population, populations
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.table import Record
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.units import Quantity, show_duration

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Deadline(Struct, frozen=True):
    """A component with a deadline. ``planned`` and ``kept`` (when it was over) in seconds since 1970; ``kept`` is None while it is
    not over.

    ``late_s``: by how many seconds it was over too late; for a component that is not over, how late it is at the last event of the
    record. ``first``: the first date that a plan of the campaign gave; ``late_of_first_s``: the lateness against that date.
    ``planned`` is None where an amendment removed the date or the component; ``late_s`` is 0 then.
    """

    component: str
    planned: float | None
    kept: float | None
    late_s: float
    first: float
    late_of_first_s: float

    @property
    def state(self) -> str:
        """The state of the deadline: kept, missed, to come, or taken away."""
        if self.planned is None:
            return "taken away"
        if self.late_s > 0:
            return "missed"
        return "to come" if self.kept is None else "kept"

    @property
    def moved(self) -> bool:
        """Whether an amendment moved or removed the date."""
        return self.planned != self.first


def deadlines(
    document: Document, record: Record, people: Mapping[str, Population] | None = None
) -> tuple[Deadline, ...]:
    """Purpose: the deadlines of all components that have one, in the order of the plan; then those that amendments removed.

    Earlier plans are read from ``record.plans``; ``people``: the populations, if the caller has them.
    """
    first = first_dates(document, record)
    parts = {component.name: component for component in document.components}
    people = populations(document, record) if first and people is None else people or {}
    found = (_deadline(name, date, parts.get(name), people.get(name), record) for name, date in first.items())
    return tuple(sorted(found, key=lambda one: one.planned is None))


def missed_dates(document: Document, record: Record, people: Mapping[str, Population]) -> tuple[str, ...]:
    """Purpose: a sentence for each missed date that no criterion judges: the component and its lateness, against the date of the
    plan in force, else against the first date, where an amendment moved or removed it.
    """
    asked = {part.name for part in document.components if any(item.measure == "late" for item in part.criteria)}
    late = (one for one in deadlines(document, record, people) if one.component not in asked)
    return tuple(_missed(one) for one in late if one.late_s > 0 or one.late_of_first_s > 0)


def _missed(one: Deadline) -> str:
    so_far = " so far" if one.kept is None else ""
    if one.late_s > 0:
        return f"{one.component}: {show_duration(one.late_s)} late{so_far}"
    did = "took it away" if one.planned is None else "moved it"
    return f"{one.component}: {show_duration(one.late_of_first_s)} later than first planned{so_far}; an amendment {did}"


def first_dates(document: Document, record: Record) -> dict[str, float]:
    """Purpose: component -> the first date that a plan gave it: components of the plan in force first, then those of earlier plans
    only.
    """
    earlier = [record.plans[digest] for digest in record.documents if digest in record.plans]
    first: dict[str, float] = {}
    for component in (part for plan in (*earlier, document) for part in plan.components):
        if component.deadline is not None:
            first.setdefault(component.name, component.deadline)
    now = [component.name for component in document.components if component.name in first]
    return {name: first[name] for name in (*now, *(name for name in first if name not in now))}


def late(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``late``: by how much the component was over later than planned; it can still grow while the component is not
    over.
    """
    component, record = around.component, around.record
    if component.deadline is None:
        return Measured(None, 0, "", reason="the plan gives the component no deadline", whole=True)
    population = around.people.get(component.name, population)
    if not population.cases and not component.procedures:
        why = "no case of it can run here, so it is never over"
        return Measured(None, 0, "", reason=why, restricted=bool(population.unavailable), whole=True)
    kept = over_since(component, population, record)
    value = Quantity(_late_s(component.deadline, kept, record), "s").to(unit_of(criterion))
    told = f"{at_bound(value, criterion, unit_of(criterion))} late: to be over by {_moment(component.deadline)}, "
    told += "not over yet" if kept is None else f"over {_moment(kept)}"
    return Measured(value, 1, told, value, math.inf if kept is None else value, whole=True)


def _deadline(
    name: str, first: float, component: Component | None, population: Population | None, record: Record
) -> Deadline:
    planned = component.deadline if component is not None else None
    kept = over_since(component, population, record) if component is not None and population is not None else None
    late_s = 0.0 if planned is None else _late_s(planned, kept, record)
    of_first = 0.0 if component is None else _late_s(first, kept, record)
    return Deadline(name, planned, kept, late_s, first, of_first)


def _late_s(planned: float, kept: float | None, record: Record) -> float:
    return max(0.0, (record.last if kept is None else kept) - planned)


def over_since(component: Component, population: Population, record: Record) -> float | None:
    """Purpose: when the last result was in and the last procedure was attested; None while any of them is still to come."""
    said = [record.attestations.get((component.name, item.name)) for item in component.procedures]
    if population.unfinished or any(row is None for row in said):
        return None
    return max([*_results(population, record), *(row.time for row in said if row is not None)], default=None)


def _results(population: Population, record: Record) -> Iterator[float]:
    """When each counting run was over; a run that never began is over with its first verdict, however often it is judged again."""
    counted = {row.run for row in population.rows}
    counted |= {row.run for case in population.cases if case.time_over for row in case.open_undetermined}
    first: dict[str, float] = {}
    for row in record.runs:
        if row.run in counted:
            seen = first.setdefault(row.run, row.time)
            if not row.superseded_by:
                yield seen if row.over is None else row.over


def _moment(seconds: float) -> str:
    return f"{_EPOCH + timedelta(seconds=int(seconds)):%Y-%m-%d %H:%M:%S} UTC"
